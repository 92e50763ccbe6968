import { describe, expect, test } from 'vitest';
import type { Limits } from '../../../../src/model/config.ts';
import { type JsonObject, textsIn } from '../../../../src/model/json.ts';
import type { Refusal } from '../../../../src/model/plan/plan.ts';
import { nameOf } from '../../../../src/model/resource.ts';
import { type AccessLists, withAccess, requestRule } from '../../../support/access-objects.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';
import { noLimits, runReconcile, testTarget, type TestInput } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const target = { name: 'test', url: 'http://hoop.test', dialect: 'hoop' } as const;

const closed: JsonObject = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
const exec: JsonObject = { ...closed, access_mode_exec: 'enabled', access_groups: ['dba'], reviewers: [] };

const db = (spec: JsonObject, name = 'db'): Manifest => connectionManifest(name, spec);

const thirty = (groups: (index: number) => readonly string[]): readonly Manifest[] =>
  Array.from({ length: 30 }, (_, index) => db({ ...exec, reviewers: [`r${index}`], access_groups: groups(index) }, `db-${index}`));

const tagged = (groups: readonly string[], env: string, name: string): Manifest =>
  db({ ...exec, access_groups: groups, connection_tags: { env, team: 'a' } }, name);

const until = (day: string | undefined, env = 'prod'): Manifest => {
  const dev = day === undefined ? 'dev' : { group: 'dev', until: day, reason: 'a migration' };
  return db({ ...exec, access_groups: ['dba', dev], connection_tags: { env } });
};

const grant = (day: string): readonly Manifest[] => [
  db({ ...exec, access_groups: [], attributes: ['payments'] }),
  { kind: 'Attribute', metadata: { name: 'payments' }, spec: { access_groups: [{ group: 'dev', until: day }] } },
];

type Sides = { readonly live: readonly Manifest[]; readonly head: readonly Manifest[]; readonly base?: readonly Manifest[] };

function refusalsOf(
  { live, head, base = live }: Sides,
  newAccess: Limits['newAccess'] = 'refuse',
  more: Partial<TestInput> = {},
): readonly Refusal[] {
  const found = liveAs(desiredState(live));
  const none = { connections: [], access_request_rules: [], guardrail_rules: [], masking_rules: [], managed_by: '' };
  const attributes = found.resources.flatMap(({ id, spec }) =>
    id.startsWith('Attribute/') ? [{ ...none, id, name: nameOf(id), groups: textsIn(spec['access_groups']) }] : [],
  );
  const { value, diagnostics } = runReconcile({
    desired: desiredState(head),
    live: { ...withAccess(found, { 'access-control': [], attributes }), longestAccess: 172_800 },
    target,
    base: { commit: 'a'.repeat(40), desired: desiredState(base), removedIn: new Map() },
    consent: { imports: [], revert: [], prune: true },
    limits: { ...noLimits, newAccess },
    ...more,
  });
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return value.refusals.filter(({ code }) => code === 'plan/new-access');
}

const messagesOf = (sides: Sides, limit?: Limits['newAccess']): readonly string[] => refusalsOf(sides, limit).map(({ message }) => message);

describe('new access', () => {
  test('a group that keeps its access for longer', () => {
    const [soon, later] = ['2030-01-01', '2030-06-30'];
    expect(messagesOf({ live: [until(soon)], head: [until(later)] })).toEqual([`dev: access on db: until ${later}, was ${soon}`]);
    expect(messagesOf({ live: [until(soon)], head: [until(undefined)] })).toEqual([`dev: access on db: without an end, was until ${soon}`]);
    expect(refusalsOf({ live: [until(soon)], head: [until(later)] })).toMatchObject([
      { newAccess: [{ connection: 'Connection/db', groups: ['dev'] }], at: { line: expect.any(Number) } },
    ]);
    for (const head of [until(soon), db({ ...exec, access_groups: ['dba'] })])
      expect(messagesOf({ live: [until(later)], head: [head] })).toEqual([]);
    const prod = { tags: { env: 'prod' } };
    expect(messagesOf({ live: [until(soon, 'dev')], head: [until(later, 'dev')] }, prod)).toEqual([]);
    expect(messagesOf({ live: [until(soon)], head: [until(later, 'dev')] }, prod)).toHaveLength(1);
  });

  test('a group of an attribute that keeps its access for longer', () => {
    expect(messagesOf({ live: grant('2030-01-01'), head: grant('2030-06-30') })).toEqual([
      'dev: access on db: until 2030-06-30, was 2030-01-01',
    ]);
  });

  test('everybody', () => {
    const sides = { live: [db(exec)], head: [db({ ...exec, access_groups: null })] };
    const onInterface = { live: liveAs(desiredState(sides.live)), target: testTarget, borrowed: ['Connection.access_groups'] };
    expect(refusalsOf(sides, 'refuse', onInterface).map(({ message }) => message)).toEqual([
      'people in no other group: exec on db: was no, will be yes without approval',
    ]);
  });

  test('a successor has the access of its predecessor', () => {
    const successor = (groups: readonly string[]): Manifest =>
      connectionManifest('next', { ...exec, access_groups: groups }, { replaces: 'db' });
    expect(messagesOf({ live: [db(exec)], head: [successor(['dba'])] })).toEqual([]);
    expect(messagesOf({ live: [db(exec)], head: [successor(['dba', 'dev'])] })).toEqual([
      'dev: exec on next: was no, will be yes without approval',
    ]);
  });

  test('drift that the manifests accept does not hide it', () => {
    const open = db({ ...exec, access_groups: ['dba', 'dev'] });
    expect(messagesOf({ base: [db(exec)], live: [open], head: [open] })).toEqual(['dev: exec on db: was no, will be yes without approval']);
  });

  test('access that was taken away outside Ostiary counts when the plan restores it', () => {
    const open = db({ ...exec, access_groups: ['dba', 'dev'] });
    expect(refusalsOf({ base: [open], live: [db(exec)], head: [open] })).toEqual([]);
    const reverted = refusalsOf({ base: [open], live: [db(exec)], head: [open] }, 'refuse', {
      consent: { imports: [], revert: ['Connection/db'], prune: true },
    });
    expect(reverted.map(({ message }) => message)).toEqual(['dev: exec on db: was no, will be yes without approval']);
  });

  test('tags limit it to connections that have them before or after', () => {
    const live = [tagged(['dba'], 'prod', 'left'), tagged(['dba'], 'dev', 'joined'), tagged(['dba'], 'dev', 'free')];
    const head = [tagged(['dev'], 'dev', 'left'), tagged(['dev'], 'prod', 'joined'), tagged(['dev'], 'dev', 'free')];
    expect(refusalsOf({ live, head }, { tags: { env: 'prod' } }).flatMap(({ newAccess = [] }) => newAccess)).toEqual([
      { connection: 'Connection/joined', groups: ['dev'], verb: 'exec' },
      { connection: 'Connection/left', groups: ['dev'], verb: 'exec' },
    ]);
    expect(refusalsOf({ live, head }, 'allow')).toEqual([]);
  });

  test.each<[what: string, to: JsonObject, why: string]>([
    ['leads where one with the tags does', { 'envvar:HOST': { value: 'ledger' } }, 'will be yes without approval at what ledger leads to'],
    [
      'may lead there',
      { 'envvar:HOST': '_cloudsecrets:a:b' },
      'cannot be compared, because it may lead to the place of another one that cannot be read',
    ],
  ])('tags limit it to what leads to a place of theirs, too: it %s', (_, to, why) => {
    const pass = { 'envvar:PASS': { value: 'x' } };
    const leading = (name: string, env: string, host: JsonObject, group: string): Manifest =>
      db({ ...exec, access_groups: [group], connection_tags: { env }, secret: { ...host, ...pass } }, name);
    const ledger = leading('ledger', 'prod', { 'envvar:HOST': { value: 'ledger' } }, 'dba');
    const live = [ledger, leading('sandbox', 'dev', { 'envvar:HOST': { value: 'sandbox' } }, 'dev')];
    const sides = { live, head: [ledger, leading('sandbox', 'dev', to, 'dev')] };
    expect(messagesOf(sides, { tags: { env: 'prod' } })).toEqual([expect.stringContaining(why)]);
    expect(messagesOf(sides, { tags: { env: 'qa' } })).toEqual([]);
  });

  test('names the line that grants it, can be overridden, and folds what is the same', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const grants = (groups: readonly string[]): readonly Manifest[] =>
      names.map((name) => db({ ...exec, access_groups: groups, reviewers: [] }, name));
    const rule = { access_type: 'command', connection_names: names, reviewers_groups: ['r1', 'r2'] };
    const ruled = (count: number): readonly Manifest[] => [
      ...grants(['dba']),
      { kind: 'AccessRequestRule', metadata: { name: 'prod' }, spec: { ...rule, min_approvals: count } },
    ];
    const lists: AccessLists = {
      'access-control': [],
      'access-request-rules': [
        requestRule('prod', { access_type: 'command', connections: names, reviewers_groups: ['r1', 'r2'], approvals: 2 }),
      ],
    };
    const more = { live: withAccess(liveAs(desiredState(ruled(2))), lists) };
    const [refusal, ...others] = refusalsOf({ live: ruled(2), head: ruled(1) }, 'refuse', more);
    expect(refusal).toMatchObject({
      message:
        'dba, admin, auditor: exec on a, b, c and 2 more: was yes after approval by r1 and r2, will be yes after approval by 1 of r1, r2',
      allowable: true,
    });
    expect(refusal?.at).toBeDefined();
    expect(refusal?.newAccess).toHaveLength(15);
    expect(others).toEqual([]);
    const allowed = [{ code: 'plan/new-access', reason: 'approved' }];
    expect(refusalsOf({ live: ruled(2), head: ruled(1) }, 'refuse', { ...more, allowed })).toEqual([]);
  });

  test('prints at most 20, and counts the rest', () => {
    const refusals = refusalsOf({ live: thirty(() => []), head: thirty((index) => [`g${index}`]) });
    expect(refusals).toHaveLength(20);
    expect(refusals.at(-1)?.message).toBe('and 11 more like these; the JSON output lists all');
    expect(refusals.flatMap(({ newAccess = [] }) => newAccess)).toHaveLength(30);
  });
});

test('without a record, drift of an object whose manifest the pull request removes is new access', () => {
  const other = db(exec, 'other');
  const [reviewed, open] = [db({ ...exec, reviewers: ['dba'] }), db(exec)];
  const { value } = runReconcile({
    desired: desiredState([other]),
    live: { ...withAccess(liveAs(desiredState([open, other])), { 'access-control': [] }), longestAccess: 172_800 },
    target,
    base: undefined,
    limits: { ...noLimits, newAccess: 'refuse' },
    start: desiredState([reviewed, other]),
  });
  expect(value?.refusals.map(({ code, newAccess = [] }) => [code, newAccess.map(({ connection }) => connection)])).toEqual([
    ['plan/new-access', expect.arrayContaining(['Connection/db'])],
  ]);
});
