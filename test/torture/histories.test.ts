import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Files } from '../e2e/project.ts';
import { idOf } from '../server/client.ts';
import type { Ended } from '../support/cli.ts';
import { hoopScenario } from '../support/hoop-scenario.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { manifestId, scenario, selfContained, type Manifest } from '../support/scenario.ts';
import { passOn, startFaultProxy } from './fault-proxy.ts';
import { faults } from './faults.ts';
import { addUnmanaged, textsOf, tortureGateways, type TortureGateway } from './gateways.ts';
import { internalError } from './harmless.ts';
import { addToTally } from './tally.ts';
import { transitionConfig } from './transition.ts';

const { make } = useRepositories();

/** Steps of one history: 300 unless the run is small. */
const steps = Math.min(300, runCount(12));
/** Histories of each gateway. */
const histories = Math.ceil(runCount(1) / 50);

const harmful = Object.values(faults).filter(({ signals }) => signals === undefined);

/** Returns whether a masking rule has a threshold that its custom types may not reach, which is an error of the manifest. */
function mayMaskNothing({ spec }: Manifest): boolean {
  const { custom_entity_types: types, score_threshold: threshold } = spec;
  return typeof threshold === 'number' && Array.isArray(types) && types.length > 0;
}

const manifests: fc.Arbitrary<readonly Manifest[]> = scenario
  .map((one) => selfContained(hoopScenario({ manifests: one.manifests.filter((each) => !mayMaskNothing(each)), live: [] })))
  .filter((one) => one.length > 0);

/** One change of a field of an object, as another user makes it. */
const outside = fc.record({
  root: fc.constantFrom('/connections', '/connections', '/guardrails', '/datamasking-rules'),
  pick: fc.nat({ max: 9 }),
  change: fc.constantFrom<JsonObject | 'delete' | 'attach'>(
    { reviewers: ['security'] },
    { reviewers: [] },
    { access_mode_exec: 'disabled' },
    { access_mode_exec: 'enabled' },
    { connection_tags: { env: 'dev' } },
    { redact_types: ['PERSON'] },
    { description: 'changed outside' },
    { score_threshold: 0.9 },
    { input: { rules: [] } },
    'delete',
    'attach',
  ),
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ commit: manifests }) },
  { weight: 4, arbitrary: fc.record({ outside }) },
  { weight: 3, arbitrary: fc.record({ line: fc.constantFrom('apply --yes', 'apply --yes --prune', 'apply --yes --concurrency 1') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      line: fc.constantFrom('c0', 'c1', 'c2', 'c3').map((name) => `apply --yes --only Connection/connection-${name}`),
    }),
  },
  { weight: 1, arbitrary: fc.record({ line: fc.constantFrom('plan', 'drift', 'list', 'apply --yes --only GuardrailRule/g0') }) },
  { weight: 3, arbitrary: fc.record({ fault: fc.constantFrom(...harmful), at: fc.nat({ max: 60 }) }) },
);

function filesOf(some: readonly Manifest[]): Files {
  return Object.fromEntries(
    some.map((one) => [`access/${one.kind}-${one.metadata.name}.yaml`, JSON.stringify({ apiVersion: 'ostiary/v1', ...one })]),
  );
}

describe.each(Object.entries(tortureGateways).filter(([name]) => name !== 'serve on PGlite'))('%s', (_name, start) => {
  test('after any history an apply converges, and no unmanaged object has changed', { timeout: 0 }, async () => {
    const all = fc.sample(fc.array(step, { minLength: steps, maxLength: steps, size: 'max' }), histories);
    for (const one of all) await expectConvergence(await start(), one);
  });
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Runs a history from an empty gateway to its end. */
async function expectConvergence(gateway: TortureGateway, all: readonly Step[]): Promise<void> {
  let states: ResourceStates[] = [];
  const proxy = await startFaultProxy(gateway.url, async () => {
    states.push(await gateway.states());
  });
  const [first = []] = fc.sample(manifests, 1);
  const project = make({ 'ostiary.yaml': transitionConfig(proxy.url), ...filesOf(first) });
  let declared = first;
  const env = { ...gitEnv, OSTIARY_TOKEN: gateway.token, OSTIARY_SECRET_X: 'x' };
  const run = async (args: readonly string[]): Promise<Ended> => {
    const ended = await ostiaryInProcess(args, { cwd: project.folder, env });
    const output = `${ended.stdout}${ended.stderr}`;
    expect([args, ended.code, output]).toEqual([args, expect.toBeOneOf([0, 2, 3, 4, 5, 6]), output]);
    expect([args, internalError.exec(output)?.[0], output]).toEqual([args, undefined, output]);
    return ended;
  };

  /** Applies with all consents that a history can need, as the refusals ask for them: objects that others made, and overrides. */
  async function applyWithConsent(args: readonly string[], ids: readonly string[]): Promise<void> {
    const consents = new Set<string>();
    for (;;) {
      const { code, stdout, stderr } = await run([...args, ...[...consents].flatMap((one) => one.split(' '))]);
      if (code === 0) return;
      const output = `${stdout}${stderr}`;
      const known = consents.size;
      for (const [, refusal = ''] of output.matchAll(/override: --allow (\S+)=REASON/g)) consents.add(`--allow ${refusal}=history`);
      if (output.includes('plan/adoption')) for (const id of ids) consents.add(`--import ${id}`);
      if (consents.size === known) throw new Error(`${args.join(' ')} exits with ${code}:\n${output}`);
    }
  }

  /** Applies, prunes and reverts until nothing is left to do. */
  async function converge(): Promise<void> {
    const ids = declared.map((one) => (one.kind === 'RunbookConfiguration' ? `${one.kind}/${one.metadata.name}` : manifestId(one)));
    for (const wish of [[], ['--prune', ...ids.flatMap((id) => ['--revert', id])]])
      await applyWithConsent(['apply', '--yes', ...wish], ids);
    const plan = await run(['plan', '--detailed-exitcode', '--prune']);
    expect([plan.code, plan.stdout, plan.stderr]).toEqual([0, plan.stdout, plan.stderr]);
  }

  const unmanaged = await addUnmanaged(gateway);
  const texts = await textsOf(gateway, unmanaged);
  const problems: string[] = [];
  for (const [index, one] of all.entries()) {
    states = [await gateway.states()];
    proxy.disturb(undefined);
    if ('commit' in one) {
      declared = one.commit;
      project.remove('access');
      project.save(filesOf(declared));
    } else if ('outside' in one) await changeOutside(gateway, one.outside);
    else if ('line' in one) {
      const { code } = await run(one.line.split(' '));
      const end = await gateway.states();
      const exposed = code === 0 ? states.flatMap((state) => exposedConnections(state, states[0] ?? {}, end)) : [];
      problems.push(...exposed);
    } else {
      proxy.disturb((exchange) => (exchange.index === one.at ? one.fault.disturb(exchange, () => undefined) : passOn(exchange)));
      await run(['apply', '--yes']);
      addToTally('c histories', { faults: 1 });
    }
    expect([index, one, problems, await textsOf(gateway, unmanaged)]).toEqual([index, one, [], texts]);
    addToTally('c histories', { inputs: 1 });
  }
  proxy.disturb(undefined);
  await converge();
  expect(await textsOf(gateway, unmanaged)).toEqual(texts);
  await proxy.close();
  await gateway.close();
}

/** Changes, attaches or deletes an object that is not one of the unmanaged ones. */
async function changeOutside(
  { call }: TortureGateway,
  { root, pick, change }: { root: string; pick: number; change: JsonObject | 'delete' | 'attach' },
): Promise<void> {
  const list = (await call('GET', root)).list.filter(({ name }) => typeof name === 'string' && !name.startsWith('unmanaged'));
  const body = list[pick % Math.max(1, list.length)];
  if (body === undefined) return;
  const path = `${root}/${idOf({ body })}`;
  if (change === 'delete') {
    await call('DELETE', path);
    return;
  }
  const connections = (await call('GET', '/connections')).list.filter(
    ({ name }) => typeof name === 'string' && !name.startsWith('unmanaged'),
  );
  const edges = root === '/connections' ? {} : { connection_ids: connections.map((one) => idOf({ body: one })) };
  const { body: whole } = await call('GET', path);
  await call('PUT', path, { body: { ...whole, ...(change === 'attach' ? edges : change) } });
}
