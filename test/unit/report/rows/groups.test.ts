import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssessedChange, FieldChange, Plan } from '../../../../src/model/plan/plan.ts';
import { groupPlan } from '../../../../src/report/rows/groups.ts';
import { plan as anyPlan } from '../nasty-plan.ts';
import { quietPlan } from '../quiet-plan.ts';

function field(path: string, given: Partial<FieldChange> = {}): FieldChange {
  return { path: `/${path}`, before: { value: 'a' }, after: { value: 'b' }, ...given };
}

function update(name: string, fields: readonly FieldChange[], given: Partial<AssessedChange> = {}): AssessedChange {
  return { id: `Connection/${name}`, action: 'update', fields, needs: [], carried: [], risks: [], ...given };
}

/** Returns the name of each group, and the names and fields of its objects. */
function shown(changes: readonly AssessedChange[], given: Partial<Plan> = {}): unknown {
  const { groups } = groupPlan({ ...quietPlan(), base: 'a'.repeat(40), ...given, changes });
  return groups.map(({ name, changes: entries }) => [
    name,
    ...entries.map(({ change }) => [change.id.slice(11), ...change.fields.map(({ path }) => path)]),
  ]);
}

const intent = { origin: 'intent' } as const;
const drift = { origin: 'drift' } as const;
const held = { origin: 'drift', held: true } as const;

describe('groupsOf', () => {
  it('shows held drift, the pull request’s own changes, other changes and reverts, and unrelated drift last', () => {
    const changes = [
      update('elsewhere', [field('a', drift)], { own: false }),
      update('also', [field('a', intent)], { own: false }),
      update('mine', [field('a', drift), field('b', { ...intent, own: true }), field('c', held), field('d', { ...intent, own: false })], {
        own: true,
      }),
    ];
    expect(shown(changes)).toEqual([
      ['held', ['mine', '/c']],
      ['own', ['mine', '/b']],
      ['also', ['also', '/a'], ['mine', '/d']],
      ['undone', ['mine', '/a']],
      ['elsewhere', ['elsewhere', '/a']],
    ]);
  });

  it('groups a plan without ownership', () => {
    const changes = [update('drifted', [field('a', drift), field('b', intent)]), update('kept', [field('a', held)], { action: 'held' })];
    expect(shown(changes)).toEqual([
      ['held', ['kept', '/a']],
      ['changed', ['drifted', '/b']],
      ['undone', ['drifted', '/a']],
    ]);
    expect(shown([update('a', [field('a')])], {})).toEqual([['changed', ['a', '/a']]]);
  });

  it('loses and repeats nothing, is ordered, and has titles for several groups and for accepted drift', () => {
    const order = ['held', 'accepted', 'changed', 'own', 'also', 'undone', 'elsewhere'];
    fc.assert(
      fc.property(anyPlan, (some) => {
        const plan = {
          ...some,
          changes: some.changes.map((change, index): AssessedChange => ({
            ...change,
            id: `Connection/${index}`,
            key: `Connection/${index}`,
          })),
        };
        const { groups: all, others } = groupPlan(plan);
        const accepted = all.filter(({ name }) => name === 'accepted').flatMap(({ changes }) => changes);
        expect(accepted.map(({ change }) => change.fields)).toEqual(plan.accepted.map((one) => one.fields));
        const groups = all.filter(({ name }) => name !== 'accepted');
        const fields = groups.flatMap(({ changes: entries }) => entries.flatMap(({ change }) => change.fields));
        expect(new Set(fields)).toEqual(new Set(plan.changes.flatMap((change) => change.fields)));
        expect(fields).toHaveLength(plan.changes.flatMap((change) => change.fields).length);
        expect(new Set(groups.flatMap(({ changes: entries }) => entries.map(({ change }) => change.id))).size).toBe(plan.changes.length);
        const edges = groups.flatMap(({ changes: entries, edges: left }) => [...left, ...entries.flatMap((entry) => entry.edges)]);
        expect([...edges, ...others]).toHaveLength(plan.edges.length);
        expect(all.map(({ title }) => title !== '')).toEqual(all.map(({ name }) => all.length > 1 || name === 'accepted'));
        const places = all.map(({ name }) => order.indexOf(name));
        expect(places).toEqual([...new Set(places)].toSorted((left, right) => left - right));
      }),
    );
  });
});
