import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { isOpen } from '../../src/model/kind.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { otherEnd } from '../../src/model/plan/plan.ts';
import { type Step, stepKeyText } from '../../src/model/plan/schedule.ts';
import { specAfterStep, writesOnlyPart } from '../../src/model/plan/step-spec.ts';
import { isWithinAny, pointer } from '../../src/model/pointer.ts';
import { kindOf, type Spec } from '../../src/model/resource.ts';
import { normalizeObject } from '../../src/model/spec/normalize.ts';
import { isLessProtected } from '../../src/protection/compare/plan-differences.ts';
import { afterWrites, type ProtectionSnapshot } from '../../src/protection/posture/protection-snapshot.ts';

import { reconcile, rescheduleSteps } from '../../src/reconcile/reconcile.ts';
import { desiredState } from '../support/desired-state.ts';
import { connection } from '../support/manifests.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { inputOf, reviewOf, testTarget } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';
import { smallPlan, type SmallPlan, storedAs } from '../support/small-plans.ts';
import { tangledPlan } from '../support/tangled-plans.ts';

const dialect = { dialect: 'hoop' } as const;

/** A step that the gateway has accepted; `half`: it saved the object, and rejected what it saves in a second transaction. */
type Accepted = { readonly step: Step; readonly isHalf: boolean };

async function readLive(manifests: readonly Manifest[]): Promise<LiveState> {
  const gateway = memoryGateway({ registry, agents: ['default'], resources: manifests.map(storedAs), dialect });
  const { value } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error('incomplete listing');
  return { ...value, rowFields: { 'Connection.access_groups': 'on' }, watched: [] };
}

/** Returns what the gateway may have accepted after each round, whichever writes it rejects: those that need one of these are skipped. */
function selectionsOf(steps: readonly Step[]): readonly (readonly Accepted[])[] {
  const all = new Map<string, readonly Accepted[]>([['', []]]);
  let reached: readonly (readonly Accepted[])[] = [[]];
  for (const round of new Set(steps.map((step) => step.round))) {
    for (const step of steps.filter((one) => one.round === round))
      reached = reached.flatMap((some) => {
        const done = new Set(some.flatMap((one) => (one.isHalf ? [] : [stepKeyText(one.step.key)])));
        if (!step.needs.every((need) => done.has(stepKeyText(need)))) return [some];
        const halves = hasHalf(step) ? [[...some, { step, isHalf: true }]] : [];
        return [some, ...halves, [...some, { step, isHalf: false }]];
      });
    if (reached.length > mostStates) break;
    for (const some of reached) all.set(some.map(({ step, isHalf }) => `${stepKeyText(step.key)} ${isHalf}`).join(','), some);
  }
  return [...all.values()];
}

/** States double with each write: the last rounds of a plan with more of them are not tried. */
const mostStates = 3000;

function hasHalf({ part, change, kind }: Step): boolean {
  if (change.action === 'delete' || part === 'name' || writesOnlyPart(part)) return false;
  const late = kind.fields.flatMap((field) => (field.late === undefined ? [] : [pointer(field.name)]));
  return change.fields.some(({ path, held }) => held !== true && isWithinAny(path, late));
}

/** Returns the state that accepted steps leave, one after the other. */
function stateAfter(before: ProtectionSnapshot, accepted: readonly Accepted[]): ProtectionSnapshot {
  let state = before;
  for (const { step, isHalf } of accepted) {
    const { key, kind, part, change, edges } = step;
    if (part === 'name') continue;
    const now = state.resources.get(key.id)?.spec ?? {};
    const made = part === 'delete' ? undefined : normalizeObject(kind.fields, specAfterStep(step, now));
    const isPart = writesOnlyPart(part);
    const written = edges.filter((edge) => part !== 'gain' || edge.action === 'attach');
    // Rules about access keep the name of a connection that is gone.
    const ends = part === 'delete' ? written.filter((edge) => !keepsNames.includes(kindOf(otherEnd(edge, key.id)))) : written;
    const spec = made === undefined || !isHalf ? made : { ...made, ...lateFields(step, now) };
    const stated = new Set(isPart ? [] : change.fields.map(({ path }) => path));
    state = afterWrites(state, [{ id: key.id, spec, stated, edges: isPart ? [] : ends }]);
  }
  return state;
}

const keepsNames = ['RunbookRule', 'AccessRequestRule'];

function lateFields({ kind }: Step, now: Spec): Spec {
  return Object.fromEntries(kind.fields.flatMap(({ name, late, empty }) => (late === undefined ? [] : [[name, now[name] ?? empty]])));
}

function textOf({ round, part, key, needs }: Step): string {
  return `${round} ${part} ${stepKeyText(key)} < ${needs.map(stepKeyText).join(', ')}`;
}

type Counts = { plans: number; states: number; closed: number };

/** Lists the connections that a plan says it exposes, or that some state exposes which rejected writes leave: all can be closed, so that neither has to be. */
async function exposuresOf([before, after]: SmallPlan, counts: Counts): Promise<readonly string[]> {
  const live = await readLive(before);
  const base = { commit: 'base', desired: desiredState(before), removedIn: new Map() };
  const consent = { imports: [], revert: [], prune: true };
  const input = inputOf({ desired: desiredState(after), live, base, consent, target: { ...testTarget, ...dialect } });
  const { value } = reconcile(input, reviewOf());
  if (value === undefined || value.steps.length < 2) return [];
  const { plan, steps, snapshots } = value;
  expect(plan.singleWrites).toEqual([]);
  expect(new Set(steps.map(({ round, key }) => `${round} ${key.id}`)).size).toBe(steps.length);
  expect(rescheduleSteps(plan, live, registry).map(textOf)).toEqual(steps.map(textOf));
  const sides = snapshots();
  const kind = registry.get('Connection');
  const selections = selectionsOf(steps);
  counts.plans += 1;
  counts.states += selections.length;
  counts.closed += plan.changes.filter(({ closed }) => closed === 'between').length;
  return selections.flatMap((accepted) => {
    const state = stateAfter(sides.before, accepted);
    return [...state.resources].flatMap(([id, { spec }]) => {
      if (kindOf(id) !== 'Connection' || kind === undefined || !isOpen(kind, spec)) return [];
      const ends = [sides.before, sides.after].filter(({ resources }) => resources.has(id));
      if (!ends.every((end) => isLessProtected(end, state, id))) return [];
      return [`${id} after ${accepted.map(({ step, isHalf }) => `${isHalf ? 'half of ' : ''}${textOf(step)}`).join('; ')}`];
    });
  });
}

const attributes = ['a0', 'a1'].map((name): Manifest => ({ kind: 'Attribute', metadata: { name }, spec: {} }));

function opened(name: string, spec: JsonObject, metadata: JsonObject = {}): Manifest {
  return connection(name, { access_mode_runbooks: 'enabled', access_schema: 'disabled', ...spec }, metadata);
}

function asking(name: string, type: string, spec: JsonObject): Manifest {
  return { kind: 'AccessRequestRule', metadata: { name }, spec: { access_type: type, min_approvals: 1, ...spec } };
}

const [other, all] = [opened('c2', { access_groups: ['g2'] }), ['g1', 'g2', 'g3']];

test.each<[string, SmallPlan]>([
  [
    'a rule that governs the successor by an attribute until it is deleted',
    [
      [
        opened('c0', { attributes: ['a1'], access_groups: all }),
        other,
        asking('r2', 'jit', { attributes: ['a0', 'a1'], reviewers_groups: ['g1'] }),
      ],
      [
        opened('new-c0', { attributes: ['a0', 'a1'], access_groups: ['g1'] }, { replaces: 'c0' }),
        other,
        asking('r0', 'jit', { connection_names: ['new-c0', 'c2'], reviewers_groups: ['g1', 'g3'], min_approvals: 2 }),
      ],
    ],
  ],
  [
    'a rule that takes the other step of what is created',
    [
      [
        opened('c1', { attributes: ['a0', 'a1'], access_groups: all }),
        asking('r0', 'jit', { attributes: ['a0', 'a1'], reviewers_groups: ['g2'] }),
        asking('r1', 'jit_command', { connection_names: ['c1'], reviewers_groups: ['g1', 'g2'] }),
      ],
      [
        opened('c0', { access_groups: ['g1', 'g2'] }),
        opened('new-c1', { attributes: ['a0', 'a1'], access_groups: all }, { replaces: 'c1' }),
        asking('r0', 'jit_command', { connection_names: ['c0'], reviewers_groups: all, min_approvals: 2 }),
        asking('r2', 'command', { attributes: ['a0'], reviewers_groups: ['g1'] }),
      ],
    ],
  ],
  [
    'a rule that lets go of what another one takes, and is written in that round, too',
    [
      [
        opened('new-c1', { attributes: ['a1'], access_groups: ['g2'] }),
        opened('c2', { attributes: ['a1'], access_groups: ['g2'] }),
        asking('r0', 'jit', { connection_names: ['new-c1', 'c2'], reviewers_groups: ['g3'] }),
      ],
      [
        opened('c0', { attributes: ['a0'], access_groups: ['g2'] }),
        opened('c1', { attributes: ['a1'], access_groups: ['g2'] }, { replaces: 'new-c1' }),
        opened('c2', { reviewers: ['g2'], access_groups: ['g1', 'g2'] }),
        opened('c3', { access_groups: ['g1', 'g3'] }),
        asking('r0', 'command', { connection_names: ['c1', 'c2', 'c3'], reviewers_groups: ['g1'] }),
        asking('r2', 'jit', { connection_names: ['c1', 'c2', 'c3'], reviewers_groups: ['g2', 'g3'], min_approvals: 2 }),
      ],
    ],
  ],
])('a predecessor is closed, so that no write exposes it: %s', async (_, [before, after]) => {
  const counts = { plans: 0, states: 0, closed: 0 };
  expect(
    await exposuresOf(
      [
        [...attributes, ...before],
        [...attributes, ...after],
      ],
      counts,
    ),
  ).toEqual([]);
  expect(counts.plans).toBe(1);
});

test.each([
  ['a small plan', smallPlan, 15],
  ['a plan in which rules exchange what they govern', tangledPlan, 15],
])('no combination of rejected and half-saved writes exposes a connection of %s', { timeout: 0 }, async (_, drawn, runs) => {
  const counts = { plans: 0, states: 0, closed: 0 };
  await fc.assert(
    fc.asyncProperty(drawn, async (plan) => {
      expect(await exposuresOf(plan, counts)).toEqual([]);
    }),
    { numRuns: runCount(runs) },
  );
  expect(counts.states).toBeGreaterThan(runCount(runs) * 5);
});
