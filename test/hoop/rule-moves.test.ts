import { expect, test } from 'vitest';
import { connection, type Files } from '../e2e/project.ts';
import { exposedAt } from '../model/exposed-access.ts';
import type { AccessState } from '../model/access-model.ts';
import { readAccessState } from '../model/access-state.ts';
import { open } from '../support/access-project.ts';
import type { InjectedFault } from '../support/hoop/options.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { everyNth } from '../support/property-runs.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';
import { refuse } from './expectations.ts';

const { create } = useHoopRepositories();

const timeout = 240_000;

/** An access-request rule in a manifest. */
function rule(name: string, named: readonly string[], spec: object = {}): string {
  const usual = { access_type: 'jit', connection_names: named, reviewers_groups: ['dba'], min_approvals: 1 };
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'AccessRequestRule', metadata: { name }, spec: { ...usual, ...spec } });
}

const file = (name: string): string => `access/rule-${name}.yaml`;

/** The files of rules; undefined for a rule that is gone. */
function rules(given: Readonly<Record<string, readonly [readonly string[], object?] | undefined>>): Texts {
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [file(name), one && rule(name, ...one)]));
}

function connections(more: Readonly<Record<string, object>> = {}): Readonly<Record<string, string>> {
  const names = ['a-db', 'b-db', 'c-db', 'd-db'];
  return Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { ...open, ...more[name] })]));
}

const both = { access_type: 'jit_command' };
const command = { access_type: 'command' };

type Texts = Readonly<Record<string, string | undefined>>;

type Move = {
  readonly before: Texts;
  readonly after: Texts;
  /** The connections that are closed while they move. */
  readonly closed: readonly string[];
};

const tagged = (names: readonly string[]): Readonly<Record<string, string>> =>
  connections(Object.fromEntries(names.map((name) => [name, { connection_tags: { env: 'prod' } }])));
const selected = { connection_names: [], connection_selector: { match_tags: { env: 'prod' } } };

const attributed = connections({ 'a-db': { attributes: ['pii'] }, 'b-db': { attributes: ['pci'] } });

const moves: Readonly<Record<string, Move>> = {
  'one connection moves to a rule that exists': {
    before: rules({ one: [['a-db', 'b-db']], two: [['c-db']] }),
    after: rules({ one: [['b-db']], two: [['a-db', 'c-db']] }),
    closed: ['a-db'],
  },
  'the only connection of a rule moves to a new one': {
    before: rules({ one: [['a-db']] }),
    after: rules({ one: [['b-db']], two: [['a-db']] }),
    closed: ['a-db'],
  },
  'connections move in a row': {
    before: rules({ one: [['a-db', 'd-db']], two: [['b-db', 'c-db']] }),
    after: rules({ one: [['d-db']], two: [['a-db', 'c-db']], three: [['b-db']] }),
    closed: ['a-db', 'b-db'],
  },
  'two rules exchange connections': {
    before: rules({ one: [['a-db', 'c-db']], two: [['b-db', 'd-db']] }),
    after: rules({ one: [['b-db', 'c-db']], two: [['a-db', 'd-db']] }),
    closed: ['a-db', 'b-db'],
  },
  'two rules exchange their only connections': {
    before: rules({ one: [['a-db']], two: [['b-db'], { reviewers_groups: ['sre'] }] }),
    after: rules({ one: [['b-db']], two: [['a-db'], { reviewers_groups: ['sre'] }] }),
    closed: ['a-db', 'b-db'],
  },
  'three rules pass their only connections on in a circle': {
    before: rules({ one: [['a-db'], both], two: [['b-db']], three: [['c-db']] }),
    after: rules({ one: [['c-db'], both], two: [['a-db']], three: [['b-db']] }),
    closed: ['a-db', 'b-db', 'c-db'],
  },
  'two pairs of rules exchange their only connections': {
    before: rules({ one: [['a-db']], two: [['b-db']], three: [['c-db']], four: [['d-db']] }),
    after: rules({ one: [['b-db']], two: [['a-db']], three: [['d-db']], four: [['c-db']] }),
    closed: ['a-db', 'b-db', 'c-db', 'd-db'],
  },
  'two rules exchange their only attributes': {
    before: { ...rules({ one: [[], { attributes: ['pii'] }], two: [[], { attributes: ['pci'] }] }), ...attributed },
    after: { ...rules({ one: [[], { attributes: ['pci'] }], two: [[], { attributes: ['pii'] }] }), ...attributed },
    closed: ['a-db', 'b-db'],
  },
  'a rule exchanges its only connection for the only attribute of another one': {
    before: { ...rules({ one: [['c-db']], two: [[], { attributes: ['pii'] }] }), ...attributed },
    after: { ...rules({ one: [[], { attributes: ['pii'] }], two: [['c-db']] }), ...attributed },
    closed: ['a-db', 'c-db'],
  },
  'the only connections of rules move on': {
    before: rules({ one: [['a-db']], two: [['b-db']] }),
    after: rules({ one: [['c-db']], two: [['a-db']], three: [['b-db']] }),
    closed: ['a-db', 'b-db'],
  },
  'a rule is split': {
    before: rules({ one: [['a-db', 'b-db', 'c-db'], both] }),
    after: rules({ one: [['a-db'], both], two: [['b-db', 'c-db'], { ...both, reviewers_groups: ['sre'] }] }),
    closed: ['b-db', 'c-db'],
  },
  'rules are merged': {
    before: rules({ one: [['a-db']], two: [['b-db', 'c-db']] }),
    after: rules({ one: undefined, two: [['a-db', 'b-db', 'c-db']] }),
    closed: ['a-db'],
  },
  'a rule by selector is replaced by names': {
    before: { ...rules({ one: [[], selected], two: [['d-db']] }), ...tagged(['a-db', 'b-db']) },
    after: { ...rules({ one: undefined, two: [['a-db', 'b-db', 'd-db']] }), ...tagged(['a-db', 'b-db']) },
    closed: ['a-db', 'b-db'],
  },
  'names are replaced by a selector': {
    before: { ...rules({ one: [['a-db', 'b-db']] }), ...tagged(['a-db', 'b-db']) },
    after: { ...rules({ one: undefined, two: [[], { ...selected, reviewers_groups: ['sre'] }] }), ...tagged(['a-db', 'b-db']) },
    closed: ['a-db', 'b-db'],
  },
  'a rule for both steps becomes one for each': {
    before: rules({ one: [['a-db'], both] }),
    after: rules({ one: [['a-db']], two: [['a-db'], command] }),
    closed: ['a-db'],
  },
  'rules for each step become one for both': {
    before: rules({ one: [['a-db']], two: [['a-db'], command] }),
    after: rules({ one: [['a-db'], both], two: undefined }),
    closed: ['a-db'],
  },
  'an attribute moves to another rule': {
    before: {
      ...rules({ one: [['c-db'], { attributes: ['pii'] }], two: [['d-db']] }),
      ...connections({ 'a-db': { attributes: ['pii'] } }),
    },
    after: { ...rules({ one: [['c-db']], two: [['d-db'], { attributes: ['pii'] }] }), ...connections({ 'a-db': { attributes: ['pii'] } }) },
    closed: ['a-db'],
  },
  'a rule changes its type and keeps the attributes of which another one takes one': {
    before: {
      ...rules({ one: [['c-db'], { attributes: ['pci', 'pii'] }] }),
      ...connections({ 'a-db': { attributes: ['pii'] }, 'b-db': { attributes: ['pci'] } }),
    },
    after: {
      ...rules({ one: [['c-db'], { ...command, attributes: ['pci', 'pii'] }], two: [['d-db'], { attributes: ['pii'] }] }),
      ...connections({ 'a-db': { attributes: ['pii'] }, 'b-db': { attributes: ['pci'] } }),
    },
    closed: ['a-db'],
  },
  'two rules swap the steps of a connection that both keep': {
    before: rules({ one: [['a-db', 'b-db']], two: [['a-db', 'c-db'], command] }),
    after: rules({ one: [['a-db', 'b-db'], command], two: [['a-db', 'c-db']] }),
    closed: ['a-db'],
  },
  'two rules swap the steps of their only connection': {
    before: rules({ one: [['a-db']], two: [['a-db'], command] }),
    after: rules({ one: [['a-db'], command], two: [['a-db']] }),
    closed: ['a-db'],
  },
  'two rules swap the steps of their only attribute': {
    before: { ...rules({ one: [[], { attributes: ['pii'] }], two: [[], { ...command, attributes: ['pii'] }] }), ...attributed },
    after: { ...rules({ one: [[], { ...command, attributes: ['pii'] }], two: [[], { attributes: ['pii'] }] }), ...attributed },
    closed: ['a-db'],
  },
  'a rule changes its type and keeps the connections of which another one takes one': {
    before: rules({ one: [['a-db', 'b-db']], two: [['c-db']] }),
    after: rules({ one: [['a-db', 'b-db'], command], two: [['a-db', 'c-db']] }),
    closed: ['a-db'],
  },
  'a rule by an attribute governs meanwhile': {
    before: {
      ...rules({ one: [['a-db', 'b-db']], all: [[], { attributes: ['pii'], reviewers_groups: ['security'] }] }),
      ...connections({ 'a-db': { attributes: ['pii'] } }),
    },
    after: {
      ...rules({ one: [['b-db']], two: [['a-db']], all: [[], { attributes: ['pii'], reviewers_groups: ['security'] }] }),
      ...connections({ 'a-db': { attributes: ['pii'] } }),
    },
    closed: [],
  },
  'names are replaced by an attribute': {
    before: { ...rules({ one: [['a-db']] }), ...connections({ 'a-db': { attributes: ['pii'] } }) },
    after: { ...rules({ one: undefined, two: [[], { attributes: ['pii'] }] }), ...connections({ 'a-db': { attributes: ['pii'] } }) },
    closed: [],
  },
  'a connection is replaced while it moves': {
    before: { ...rules({ one: [['a-db', 'b-db']], two: [['c-db']] }) },
    after: {
      ...rules({ one: [['b-db']], two: [['c-db', 'e-db']] }),
      'access/a-db.yaml': connection('e-db', open, { replaces: 'a-db' }),
    },
    closed: [],
  },
  'a rule that changes its type takes nothing meanwhile that another one takes for a connection that is replaced': {
    before: rules({ one: [['a-db']], two: [['b-db'], command] }),
    after: {
      ...rules({ one: [['e-db', 'b-db']], two: [['c-db']] }),
      'access/a-db.yaml': connection('e-db', open, { replaces: 'a-db' }),
    },
    closed: [],
  },
  'a connection changes while it moves': {
    before: rules({ one: [['a-db', 'b-db']], two: [['c-db']] }),
    after: {
      ...rules({ one: [['b-db']], two: [['a-db', 'c-db']] }),
      ...connections({ 'a-db': { access_mode_exec: 'disabled', reviewers: ['sre'] } }),
    },
    closed: ['a-db'],
  },
  'access control is switched on for two of the connections': {
    before: rules({ one: [['a-db', 'b-db']], two: [['c-db']] }),
    after: {
      ...rules({ one: [['b-db']], two: [['a-db', 'c-db'], { reviewers_groups: ['sre'] }] }),
      ...connections({ 'b-db': { access_groups: ['dev'] }, 'c-db': { access_groups: ['dev'] } }),
    },
    closed: ['a-db'],
  },
};

async function applied({ before }: Move): Promise<HoopRepository> {
  const one = create(await hoopProject(), { ...connections(), ...present(before) });
  expect(await one.run('apply --yes')).toMatchObject({ code: 0 });
  return one;
}

function present(files: Move['before']): Files {
  return Object.fromEntries(Object.entries(files).flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const])));
}

function commitAfter({ commit }: HoopRepository, { before, after }: Move): void {
  const gone = Object.keys(before).filter((path) => before[path] !== undefined && after[path] === undefined);
  commit(present(after), gone);
}

function stateOf({ send }: HoopProject): Promise<AccessState> {
  return readAccessState(async (path) => {
    const { status, body } = await send('GET', path);
    return status === 404 ? undefined : body;
  });
}

const line = 'apply --yes --prune --concurrency 1 --allow plan/access-control-on=test';

type Finished = { readonly requests: readonly string[]; readonly before: AccessState; readonly after: AccessState };

function weakens({ risks }: { readonly risks: readonly { readonly class: string }[] }): boolean {
  return risks.some((risk) => risk.class === 'weakens');
}

/** Plans and applies a move, and expects the closed connections, and that nothing is left to do. */
async function finish(move: Move): Promise<Finished> {
  const one = await applied(move);
  const before = await stateOf(one.project);
  commitAfter(one, move);
  const [{ changes, protection }] = JSON.parse((await one.run('plan --prune --format json')).stdout).plans;
  // A move alone weakens nothing, although one of its rules lets a connection go.
  const isMild = !protection.headlines.some(({ direction }: { readonly direction: string }) => direction === 'weakens');
  expect(isMild && changes.some(weakens)).toBe(false);
  const closed = changes.filter(({ reasons }: { readonly reasons: readonly string[] }) => reasons.includes('closed-between'));
  expect(closed.map(({ id }: { readonly id: string }) => id)).toEqual(move.closed.map((name) => `Connection/${name}`));
  const done = await one.run(line);
  expect([done.code, done.stdout]).toEqual([0, expect.any(String)]);
  expect(await one.run('plan --prune --detailed-exitcode')).toMatchObject({ code: 0 });
  return { requests: done.requests, before, after: await stateOf(one.project) };
}

// The model of access stops random moves after each write, without commands.
const stopped = [
  'one connection moves to a rule that exists',
  'two rules exchange their only connections',
  'a connection is replaced while it moves',
];

test.each(Object.entries(moves).filter(([name]) => !stopped.includes(name)))('%s', { timeout }, async (_, move) => {
  const { before, after } = await finish(move);
  expect(after).not.toEqual(before);
});

test.each(stopped)(
  'a stop at any write leaves approval or a closed connection, and the next apply finishes: %s',
  { timeout },
  async (name) => {
    const move = moves[name];
    if (move === undefined) throw new Error(name);
    const { requests, before, after } = await finish(move);
    expect(after).not.toEqual(before);
    const findings: string[] = [];
    for (const [stop] of everyNth(
      [...requests.entries()].filter(([, one]) => !one.startsWith('GET ')),
      3,
    )) {
      const one = await applied(move);
      commitAfter(one, move);
      const { model } = one.project;
      const first = model.log.count();
      model.setFault(({ index }) => faultAt(index - first - stop));
      const { code } = await one.run(line);
      expect(code).not.toBe(0);
      model.setFault(undefined);
      findings.push(...exposedAt(await stateOf(one.project), before, after).map((what) => `stop ${stop}: ${what}`));
      const ended = await one.run(line);
      const left = await one.run('plan --prune --detailed-exitcode');
      if (ended.code + left.code > 0) findings.push(`stop ${stop}: ${ended.stdout}${ended.stderr}${left.stdout}`);
      expect([findings, (await stateOf(one.project)).connections]).toEqual([[], after.connections]);
    }
    expect(findings).toEqual([]);
  },
);

/** The answer to one request is lost, and the token is rejected afterwards. */
function faultAt(distance: number): InjectedFault | undefined {
  if (distance < 0) return undefined;
  return distance === 0 ? { kind: 'lost', when: 'after' } : { kind: 'answer', when: 'before', status: 401, message: 'no' };
}

test('a connection that moves stays closed while a rule that governs it, too, cannot be deleted', { timeout }, async () => {
  const move = {
    before: rules({ one: [['a-db', 'b-db']], two: [['c-db']], also: [['a-db', 'd-db'], command] }),
    after: rules({ one: [['b-db']], two: [['a-db', 'c-db']], also: undefined }),
    closed: ['a-db'],
  };
  const one = await applied(move);
  commitAfter(one, move);
  refuse(one.project, 'DELETE');
  expect((await one.run(line)).code).toBe(5);
  const { connections: left } = await stateOf(one.project);
  expect([left['a-db']?.open, left['b-db']?.open]).toEqual([[], ['connect', 'exec', 'runbooks']]);
});
