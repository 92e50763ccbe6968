import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { isObject } from '../../src/model/json.ts';
import type { LiveResource } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import { isPointerWithin } from '../../src/model/pointer.ts';
import { seal, type LiveSecret } from '../../src/model/secret.ts';
import { planSummaryText } from '../../src/report/wording/summary.ts';
import { verdictText } from '../../src/report/wording/phrases.ts';
import { planVerdict } from '../../src/report/subjects/verdict.ts';
import { desiredState } from '../support/desired-state.ts';
import { runCount } from '../support/property-runs.ts';
import { planOf } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

const texts = ['a', 'b'] as const;

/** Every form of a secret in a map. */
const notation: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...texts).map((value) => ({ value })),
  fc.constantFrom(...texts).map((text) => Buffer.from(text).toString('base64')),
  fc.constantFrom('_envjson:app:a', '_envjson:app:b', '_cloudsecrets:app:a'),
  fc.constantFrom('OSTIARY_SECRET_A', 'OSTIARY_SECRET_B').map((env) => ({ valueFrom: { env } })),
  fc.constantFrom('a.pem', 'b.pem').map((file) => ({ valueFrom: { file } })),
);
const keep: Json = { keep: true };
const keys = ['envvar:HOST', 'envvar:PASS', 'envvar:TOKEN'] as const;

/** The whole map, or none. */
const map = (one: fc.Arbitrary<Json>): fc.Arbitrary<Readonly<Record<string, Json>> | undefined> =>
  fc.option(fc.dictionary(fc.constantFrom(...keys), one, { maxKeys: 3 }), { nil: undefined, freq: 4 });
const plain = fc.option(
  fc.oneof(
    fc.constantFrom(...texts).map((value) => ({ value })),
    fc.constantFrom('OSTIARY_SECRET_A', 'OSTIARY_SECRET_B').map((env) => ({ valueFrom: { env } })),
    fc.constant(null),
  ),
  { nil: undefined },
);

/** The manifests of one commit: what they say of secrets, and the content of the committed files. */
type Commit = {
  readonly secret: Readonly<Record<string, Json>> | undefined;
  readonly password: Json | undefined;
  readonly reviewers: readonly string[];
  readonly content: string;
};

const commit: fc.Arbitrary<Commit> = fc.record({
  secret: map(fc.oneof({ weight: 5, arbitrary: notation }, { weight: 1, arbitrary: fc.constant(keep) })),
  password: plain,
  reviewers: fc.subarray(['dba', 'sre']),
  content: fc.constantFrom('one', 'two'),
});

/** What a token sees of secrets: all, the keys of maps, or nothing. */
const sight = fc.constantFrom('values', 'keys', 'nothing');

const world = fc
  .record({
    base: commit,
    head: commit,
    isSame: fc.constantFrom(true, false),
    live: fc.constantFrom('base', 'head', 'other'),
    sight,
    resolves: fc.boolean(),
    moved: fc.boolean(),
  })
  .map((one) => (one.isSame ? { ...one, head: one.base } : one));

const git = 'https://git.example.com/a.git';

function manifestsOf({ secret, password, reviewers }: Commit): readonly Manifest[] {
  const modes = {
    access_mode_connect: 'disabled',
    access_mode_exec: 'enabled',
    access_mode_runbooks: 'disabled',
    access_schema: 'disabled',
  };
  const spec = { type: 'custom', agent_id: 'default', ...modes, reviewers, ...(secret === undefined ? {} : { secret }) };
  const given: JsonObject = password === undefined ? {} : { git_password: password };
  return [
    { kind: 'Connection', metadata: { name: 'db' }, spec },
    { kind: 'RunbookConfiguration', metadata: { name: 'books' }, spec: { git_url: git, ...given } },
  ];
}

function stateOf(one: Commit, resolves: boolean): DesiredState {
  return desiredState(manifestsOf(one), {
    isUnresolved: !resolves,
    sourceValue: (source) => ('env' in source ? source.env : `${one.content} ${source.file}`),
    content: one.content,
  });
}

/** Returns what is live after an apply of a commit, as a token sees it; kept secrets have a value that is not ours. */
function liveAfter(one: Commit, more: Pick<LiveResource, 'changedSecrets'>, seen: string): readonly LiveResource[] {
  const hidden: LiveSecret = { state: 'hidden', source: 'live' };
  return stateOf(one, true).resources.map(({ id, key, spec, secrets }): LiveResource => {
    const values = Object.entries(secrets).map(([path, secret]): readonly [string, LiveSecret] => {
      return [path, secret.state === 'value' ? secret.withSource('live') : seal('live', 'b3RoZXI=')];
    });
    const top = id.startsWith('Connection') ? '/secret' : '/git_password';
    const known = { id: key, uid: id, spec: { ...spec }, edges: {}, raw: undefined, ...more };
    if (seen === 'values') return { ...known, secrets: Object.fromEntries(values), unknown: [] };
    if (seen === 'nothing') return { ...known, secrets: {}, unknown: [top] };
    return { ...known, secrets: Object.fromEntries(values.map(([path]) => [path, hidden])), unknown: values.map(([path]) => path) };
  });
}

/** Returns the meaning of a notation: its value where the manifest has it, otherwise its source. */
function meaning(value: Json | undefined, content: string): string {
  if (isObject(value) && typeof value['value'] === 'string') return `inline ${Buffer.from(value['value']).toString('base64')}`;
  const from = isObject(value) && isObject(value['valueFrom']) ? value['valueFrom'] : {};
  if ('file' in from) return `${JSON.stringify(from)} ${content}`;
  return typeof value === 'string' && !value.startsWith('_') ? `inline ${value}` : JSON.stringify(value ?? null);
}

/** Returns whether a run compares a secret: it reads both sides, or there is nothing to read because the manifest keeps a live key. */
function isCompared(secret: Json, seen: string, resolves: boolean): boolean {
  if (secret === keep) return seen !== 'nothing';
  return seen === 'values' && (resolves || !isObject(secret) || !('valueFrom' in secret));
}

const connection = 'Connection/db';
const runbooks = 'RunbookConfiguration/books';

function isNamed({ changes, accepted, unwrittenSecrets }: Plan, id: string, path: string): boolean {
  const fields = [...changes, ...accepted].flatMap((change) => (change.id === id ? change.fields : []));
  const paths = [...fields, ...unwrittenSecrets.filter((one) => one.id === id)].map((one) => one.path);
  return paths.some((one) => isPointerWithin(path, one) || isPointerWithin(one, path));
}

test('a change of a secret in the manifests is never invisible, and what was not compared is never in sync', () => {
  const tally = { changed: 0, hidden: 0, uncompared: 0, drifted: 0 };
  fc.assert(
    fc.property(world, commit, (one, other) => {
      const { base: before, head, sight: seen, resolves } = one;
      // A kept secret must be live; only a readable one can be missing.
      const applied = { base: before, head, other }[one.live];
      const kept = Object.entries(head.secret ?? {}).filter(([, secret]) => secret === keep);
      const lived = { ...applied, secret: { ...Object.fromEntries(kept.map(([key]) => [key, { value: 'kept' }])), ...applied.secret } };
      const live = { resources: liveAfter(lived, one.moved ? { changedSecrets: 'gateway' } : {}, seen), lookups: {}, groups: [] };
      const base: BaseState = { commit: 'a'.repeat(40), desired: stateOf(before, false), removedIn: new Map() };
      const plan = planOf(stateOf(head, resolves), live, base);
      const changed = keys.filter((key) => meaning(before.secret?.[key], before.content) !== meaning(head.secret?.[key], head.content));
      const unread = Object.entries(head.secret ?? {}).flatMap(([key, secret]) => (isCompared(secret, seen, resolves) ? [] : [key]));
      const isCounted = (path: string): boolean => plan.notCompared.some((each) => each.id === connection && each.path === path);
      const drifted = plan.changes.flatMap(({ fields }) => fields.filter(({ cause }) => cause === 'gateway'));
      const verdict = verdictText(planVerdict(plan));
      const { length } = plan.notCompared;
      tally.changed += changed.length;
      tally.hidden += seen === 'values' ? 0 : changed.length;
      tally.uncompared += Math.min(length, 1);
      tally.drifted += drifted.length;
      expect({
        invisible: [
          ...changed.map((key) => `/secret/${key}`).filter((path) => !isNamed(plan, connection, path)),
          ...((before.secret === undefined) === (head.secret === undefined) || isNamed(plan, connection, '/secret') ? [] : ['/secret']),
          ...(meaning(before.password, '') === meaning(head.password, '') || isNamed(plan, runbooks, '/git_password') ? [] : ['password']),
        ],
        claimedInSync: unread.map((key) => `/secret/${key}`).filter((path) => !isCounted(path) && !isNamed(plan, connection, path)),
        isMatch: length > 0 && `${verdict} ${planSummaryText(plan)}`.includes('matches the manifests'),
        isCounted: length === 0 || verdict.includes(`${length} secret`),
        // What was not compared is drift only where the gateway is proven to have changed something.
        unprovenDrift: one.moved ? [] : drifted,
      }).toEqual({ invisible: [], claimedInSync: [], isMatch: false, isCounted: true, unprovenDrift: [] });
    }),
    { numRuns: runCount(150) },
  );
  for (const count of Object.values(tally)) expect(count).toBeGreaterThan(20);
});
