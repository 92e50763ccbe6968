import * as fc from 'fast-check';
import lists from '../support/hoop-lists.json' with { type: 'json' };
import { afterAll, expect, test } from 'vitest';
import { joinedSpecs, orderInput } from '../../src/reconcile/order/order-writes.ts';
import { fromWire, toWire } from '../../src/gateway/dialects/hoop/fields.ts';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { AppError } from '../../src/model/errors.ts';
import { isObject, type Json } from '../../src/model/json.ts';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { runCount } from '../support/property-runs.ts';
import { loadState } from '../support/desired-state.ts';
import { startFlakyServer } from '../support/flaky-server.ts';
import { adminToken, hoopProject } from '../support/hoop-project.ts';
import { openHoop, planHoop, scenarioToken } from '../support/hoop-scenario.ts';
import { startHoopModel } from '../support/hoop/start.ts';
import { checkedPlan } from '../support/run-pipeline.ts';
import { applyAndExpectInSync } from '../hoop/expectations.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('_aws:', '_envjson:a:b', '_cloudsecrets:a:b', 'X2F3czph', '_aws_iam_rds:x'),
);

test('a secret reaches the gateway unchanged, whatever its text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const encoded = Buffer.from(text).toString('base64');
      for (const stored of [encoded, text.startsWith('_cloudsecrets:') ? encoded : text]) {
        if (stored.startsWith('_')) continue;
        expect(toWire(fromWire(stored))).toBe(stored);
      }
    }),
    { numRuns: runCount(120) },
  );
});

/** The answers of a gateway that holds something of everything. */
async function recorded(): Promise<ReadonlyMap<string, Json>> {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', {
      attributes: ['pci'],
      secret: { 'envvar:PASS': { value: 'x' } },
      guardrail_rules: ['no-drop'],
    }),
    'access/b.yaml': guardrail('no-drop'),
    'access/c.yaml': manifest('DataMaskingRule', 'pii', { connection_ids: ['orders-db'] }),
    'access/d.yaml': manifest('RunbookConfiguration', 'ops', { git_url: 'https://git.example.com/ops.git' }),
  });
  await applyAndExpectInSync(project);
  const read = async (path: string): Promise<Json> => {
    const query = path === '/resources' ? '?page=1&page_size=100' : '';
    const answer = await fetch(`${project.url}${path}${query}`, { headers: { authorization: `Bearer ${adminToken}` } });
    const body: Json = JSON.parse(await answer.text());
    return body;
  };
  const answers = new Map<string, Json>();
  for (const path of [...lists, '/resources']) {
    const body = await read(path);
    answers.set(path, body);
    // Each object of a list has an answer of its own: without it, the answers contradict each other.
    const ids = Array.isArray(body) ? body.flatMap((row) => (isObject(row) && typeof row['id'] === 'string' ? [row['id']] : [])) : [];
    for (const id of ids) answers.set(`${path}/${id}`, await read(`${path}/${id}`));
  }
  return answers;
}

/** How many places a value has: itself, and all inside it. */
function placesIn(value: Json): number {
  const inside = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return inside.reduce((sum: number, entry: Json) => sum + placesIn(entry), 1);
}

/** The value with another one at a place, counted from the outside in. */
function replaced(value: Json, place: number, other: Json): Json {
  if (place === 0) return other;
  let left = place - 1;
  const visit = (entry: Json): Json => {
    const count = placesIn(entry);
    const result = left >= 0 && left < count ? replaced(entry, left, other) : entry;
    left -= count;
    return result;
  };
  if (Array.isArray(value)) return value.map(visit);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, visit(entry)])) : value;
}

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled', access_schema: 'enabled' };

test('any response of a gateway is read or reported as an error of the gateway', async () => {
  const answers = await recorded();
  let broken: { readonly path: string; readonly text: string } | undefined;
  const server = await startFlakyServer((response, { path }) => {
    const name = (path.split('?')[0] ?? '').replace('/api', '');
    const body = answers.get(name);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json', server: 'hoopgateway/1.148' });
    response.end(broken?.path === name ? broken.text : JSON.stringify(body ?? { message: 'not found' }));
  });
  afterAll(() => server.close());
  const { value: desired } = loadState([
    {
      kind: 'Connection',
      metadata: { name: 'orders-db' },
      spec: { type: 'custom', agent_id: 'default', ...open, secret: {} },
    },
  ]);
  if (desired === undefined) throw new Error('the manifest is wrong');
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...answers.keys()), fc.nat(), fc.jsonValue(), fc.boolean(), async (path, at, other, cut) => {
      const body = answers.get(path) ?? null;
      const text = JSON.stringify(replaced(body, at % placesIn(body), JSON.parse(JSON.stringify(other))));
      broken = { path, text: cut ? text.slice(0, at % (text.length + 1)) : text };
      const place = { url: `${server.url}/api`, token: 'hpk_x', auth: 'auto', dialect: 'hoop', registry } as const;
      const gateway = await openGateway({ ...place, sleep: async () => {} });
      try {
        await gateway.identify();
        const { value: live } = await gateway.readAll([...registry.keys()]);
        if (live === undefined) return;
        for (const resource of live.resources) await gateway.readOne(resource);
        const { value: plan } = checkedPlan(desired, live);
        if (plan !== undefined)
          await gateway.preflight({ plan, accepted: [], desired, live, joined: joinedSpecs(orderInput(plan, live, registry)) });
        read += 1;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
      } finally {
        await gateway.close();
      }
    }),
    { numRuns: runCount(25) },
  );
  expect(read).toBeGreaterThan(6);
});

const nasty = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('a'.repeat(50_000), `${'a'.repeat(50_000)}!`, 'a-'.repeat(25_000), '(?'.repeat(20_000), '\\'.repeat(20_001)),
);

test('no text of a manifest makes the preflight throw', async () => {
  const model = await startHoopModel({
    licence: 'oss',
    provider: null,
    agents: [{ name: 'default' }],
    keys: [{ name: 'ci', token: scenarioToken, groups: ['admin'] }],
  });
  afterAll(() => model.close());
  const gateway = await openHoop(model);
  afterAll(() => gateway.close());
  // Short enough for the fields, and mostly with a name that a manifest may have: the preflight must see what validation accepts.
  const text = nasty.map((long) => long.slice(0, 60));
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('orders-db', 'ä b', 'a%2Fb', 'constructor') },
    { weight: 1, arbitrary: text },
  );
  await fc.assert(
    fc.asyncProperty(name, text, text, async (named, one, other) => {
      const state = loadState([
        {
          kind: 'Connection',
          metadata: { name: named },
          spec: {
            type: other,
            agent_id: 'default',
            ...open,
            connection_tags: { team: 'orders' },
            tags: [other],
            attributes: [one],
            reviewers: [other],
            issuetracker_issue_template_id: one,
          },
        },
        { kind: 'GuardrailRule', metadata: { name: named }, spec: { input: { rules: [{ type: 'pattern_match', pattern_regex: other }] } } },
        {
          kind: 'DataMaskingRule',
          metadata: { name: named },
          spec: { description: other, supported_entity_types: [{ name: one, entity_types: ['EMAIL_ADDRESS'] }] },
        },
      ]);
      fc.pre(state.value !== undefined);
      const { plan, live } = await planHoop(gateway, state.value).catch((error: unknown) => {
        if (error instanceof Error && error.message.includes('manifest/')) return { plan: undefined, live: undefined };
        throw error;
      });
      fc.pre(plan !== undefined);
      const found = await gateway.preflight({
        plan,
        accepted: [],
        desired: state.value,
        live,
        joined: joinedSpecs(orderInput(plan, live, registry)),
      });
      expect(found.diagnostics).toBeInstanceOf(Array);
    }),
    { numRuns: runCount(17) },
  );
});
