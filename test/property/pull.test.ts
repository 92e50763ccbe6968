import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DesiredState } from '../../src/model/desired.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { isPointerWithin, pointer } from '../../src/model/pointer.ts';
import type { PulledSecrets } from '../../src/model/result/outcome.ts';
import { resourceId } from '../../src/model/resource.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredOf, gatewayOf, liveOf, made } from '../support/pull-fixtures.ts';
import { planOf } from '../support/run-pipeline.ts';
import { scenario } from '../support/scenario.ts';
import { nastyText } from '../unit/report/nasty-text.ts';

const forms = ['keep', 'stubs', 'omit'] as const;
const form = fc.constantFrom<PulledSecrets>(...forms);

/** What a plan with the manifests would do. */
function todo(desired: DesiredState, live: LiveState): unknown {
  const plan = planOf(desired, live);
  return { changes: plan.changes, edges: plan.edges.filter(({ action }) => action !== 'foreign') };
}

const nothing = { changes: [], edges: [] };

test('a plan after a pull is empty, for every secret form and every caller', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, form, fc.constantFrom('shown' as const, 'hidden' as const), async (one, secrets, seen) => {
      const live = await liveOf(gatewayOf({ resources: one.live, secrets: seen }));
      const pulled = made(live, secrets);
      const desired = desiredOf(pulled, live);
      expect(todo(desired, live)).toEqual(nothing);
      const ours = live.resources.filter(({ managedBy }) => managedBy === undefined);
      expect(desired.resources.map(({ key }) => key).toSorted()).toEqual(ours.map(({ id }) => id).toSorted());
      expect(planOf(desired, live).unwatched).toEqual([]);
      // Two entries of one name, and nothing else, cannot be said.
      for (const { ignore } of desired.resources) for (const path of ignore) expect(path).toMatch(/^\/(?:in|out)put\/rules\//);
    }),
    { numRuns: runCount(25) },
  );
});

test('the same gateway, read in any order, gives the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, form, async (one, secrets) => {
      const live = await liveOf(gatewayOf({ resources: one.live }));
      const turned = { ...live, resources: live.resources.toReversed() };
      expect(made(turned, secrets).manifests).toEqual(made(live, secrets).manifests);
    }),
    { numRuns: runCount(15) },
  );
});

test('no file contains a secret of the gateway', async () => {
  await fc.assert(
    fc.asyncProperty(form, fc.constantFrom('shown' as const, 'hidden' as const), async (secrets, seen) => {
      const canary = btoa('canary-value');
      const odd = ['envvar:PASS', 'envvar:NOT TEXT', 'PLAIN', 'filesystem:KEY'];
      const live = await liveOf(
        gatewayOf({
          secrets: seen,
          resources: [
            { id: 'Connection/one', spec: usual, secrets: Object.fromEntries(odd.map((key) => [pointer('secret', key), canary])) },
            {
              id: 'RunbookConfiguration/git.example.com/books',
              spec: { git_url: 'https://git.example.com/books' },
              secrets: { '/git_password': 'canary-value' },
            },
          ],
        }),
      );
      const { manifests, drafts, pulled } = made(live, secrets);
      expect(JSON.stringify([manifests, drafts.drafts, pulled])).not.toMatch(/canary|Y2FuYXJ5/);
      expect(todo(desiredOf({ manifests, drafts, pulled }, live), live)).toEqual(nothing);
    }),
    { numRuns: runCount(4) },
  );
});

const usual: JsonObject = {
  type: 'custom',
  agent_id: 'default',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'enabled',
  access_schema: 'enabled',
};

/** What a gateway may hold and no manifest may say: wrong types, words outside lists, empty and doubled entries. */
const odd = fc.record(
  {
    reviewers: fc.array(fc.constantFrom('', 'dba', 'sre'), { maxLength: 3 }),
    connection_tags: fc.dictionary(fc.constantFrom('', 'env', 'with space', 'team'), fc.constantFrom('', 'prod', 'é'), {
      noNullPrototype: true,
    }),
    access_max_duration: fc.constantFrom(0, -1, 60, 2 ** 40),
    access_mode_connect: fc.constantFrom('enabled', 'maybe', ''),
    redact_enabled: fc.boolean(),
    redact_types: fc.array(fc.constantFrom('', 'PERSON')),
    command: fc.constantFrom([], ['bash'], ['']),
    type: fc.constantFrom('database', 'custom', ''),
    subtype: fc.constantFrom('mongodb', 'mssql', 'postgres', 'x'.repeat(70)),
  },
  { requiredKeys: [] },
);

test('a value that no manifest can state is reported, and no plan changes it', async () => {
  await fc.assert(
    fc.asyncProperty(
      odd,
      fc.dictionary(fc.constantFrom('envvar:A', 'B', ''), fc.constantFrom('', btoa('x')), { noNullPrototype: true }),
      form,
      async (spec, values, secrets) => {
        const held = Object.fromEntries(Object.entries(values).map(([key, value]) => [pointer('secret', key), value]));
        const gateway = gatewayOf({ resources: [{ id: 'Connection/one', spec: { ...usual, ...spec }, secrets: held }] });
        const live = await liveOf(gateway);
        const pulled = made(live, secrets);
        const desired = desiredOf(pulled, live);
        expect(todo(desired, live)).toEqual(nothing);
        const reported = [...pulled.pulled.unstated.map(({ path }) => path), ...pulled.pulled.leftOut.map(() => '')];
        for (const path of desired.resources.flatMap(({ ignore }) => ignore)) {
          expect(reported.some((one) => isPointerWithin(path, `/${one.split('/')[1] ?? ''}`))).toBe(true);
        }
        expect(pulled.pulled.leftOut.length + desired.resources.length).toBe(1);
      },
    ),
    { numRuns: runCount(25) },
  );
});

test('any name gives a unique file name that every file system accepts, or is reported', async () => {
  const names = fc.uniqueArray(
    fc.oneof(
      nastyText,
      fc.constantFrom('../../x', 'CON', 'con.txt', 'a', 'A', '.hidden', 'dot.', 'space ', 'ostiary', '💥', 'n'.repeat(250)),
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(names, async (all) => {
      const live = await liveOf(
        gatewayOf({ resources: all.filter((name) => name !== '').map((name) => ({ id: resourceId('Connection', name), spec: usual })) }),
      );
      const pulled = made(live, 'keep');
      const paths = pulled.manifests.map(({ path }) => path);
      expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
      for (const path of paths) expect(path).toMatch(/^access\/connections\/[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,160}\.yaml$/);
      for (const path of paths) expect(path).not.toMatch(/\/(?:con|prn|aux|nul|com\d|lpt\d|ostiary)\./i);
      expect(paths.length + pulled.pulled.leftOut.length).toBe(live.resources.length);
      expect(todo(desiredOf(pulled, live), live)).toEqual(nothing);
    }),
    { numRuns: runCount(35) },
  );
});
