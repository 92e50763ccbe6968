import { describe, expect, it } from 'vitest';
import { orderInput, orderWrites } from '../../../../src/reconcile/order/order-writes.ts';
import { registry } from '../../../../src/kinds/index.ts';
import type { DeclaredEdge, DesiredResource } from '../../../../src/model/desired.ts';
import type { Json } from '../../../../src/model/json.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import type { Change, Diff } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import type { StepKey } from '../../../../src/model/plan/schedule.ts';
import { desiredOf, edgeOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';

const [db, other, g, h] = ['Connection/db', 'Connection/other', 'GuardrailRule/g', 'GuardrailRule/h'] as const;

function blocking(...words: readonly string[]): { readonly spec: { readonly input: Json } } {
  return { spec: { input: { rules: words.map((word) => ({ name: word, type: 'deny_words_list', words: [word], pattern_regex: '' })) } } };
}

function guarded(...reviewers: readonly string[]): { readonly spec: { readonly reviewers: Json; readonly access_mode_connect: string } } {
  return { spec: { reviewers, access_mode_connect: 'enabled' } };
}

function on(...connections: readonly ResourceId[]): { readonly edges: LiveResource['edges'] } {
  return { edges: { connection_ids: connections } };
}

const open = { spec: { access_mode_connect: 'enabled' } };

/** The id of a step, with its phase unless that is the main one. */
function keyText({ id, phase }: StepKey): string {
  return phase === 'main' ? id : `${id}#${phase}`;
}

/** Returns the steps as text, in order: `round part key < needs`. */
function stepsFor(resources: readonly DesiredResource[], edges: readonly DeclaredEdge[], live: readonly LiveResource[]): readonly string[] {
  const state = stateOf(...live);
  const { steps } = orderWrites(orderInput(planOf(wantedOf(resources, edges), state), state, registry));
  return steps.map(({ round, part, key, needs }) =>
    [round, part, keyText(key), ...(needs.length === 0 ? [] : ['<', ...needs.map(keyText)])].join(' '),
  );
}

describe('the steps of a rule', () => {
  it('that does both beside many others is in two rounds, not a few of them in each', () => {
    const rules = Array.from({ length: 12 }, (_, index) => `GuardrailRule/g${index}` as const);
    const edges = rules.map((id) => edgeOf(id, db));
    const steps = stepsFor([desiredOf(db, open), ...rules.map((id, index) => desiredOf(id, blocking(`new ${index}`)))], edges, [
      liveOf(db, open),
      ...rules.map((id, index) => liveOf(id, { ...blocking(`old ${index}`), ...on(db) })),
    ]);
    expect(steps.map((step) => step.split(' ', 2).join(' '))).toEqual([...rules.map(() => '1 gain'), ...rules.map(() => '2 whole')]);
  });

  it.each<[string, readonly DesiredResource[], readonly DeclaredEdge[], readonly LiveResource[], string]>([
    ['that is new come first', [desiredOf(g)], [], [], `1 whole ${g}`],
    ['that gains come first', [desiredOf(g, blocking('a', 'b'))], [], [liveOf(g, blocking('a'))], `1 whole ${g}`],
    ['that loses come last', [desiredOf(g, blocking('a'))], [], [liveOf(g, blocking('a', 'b'))], `1 whole ${g}`],
    [
      'that attaches come first',
      [desiredOf(g)],
      [edgeOf(g, db), edgeOf(g, other)],
      [liveOf(g, on('Connection/theirs')), liveOf(db), liveOf(other, open)],
      `1 whole ${g}`,
    ],
    [
      'whose attachment the written connection lists, too, are not in its round',
      [desiredOf(g), desiredOf(db, { spec: { ...open.spec, command: ['psql'] } })],
      [edgeOf(g, db)],
      [liveOf(g), liveOf(db, open)],
      `1 whole ${db}, 2 whole ${g}`,
    ],
    ['that detaches come last', [desiredOf(g), desiredOf(db)], [], [liveOf(g, on(db)), liveOf(db, open)], `1 whole ${g}`],
    ['that does both alone are one', [desiredOf(g, blocking('a'))], [], [liveOf(g, { ...blocking('b'), ...on(db) })], `1 whole ${g}`],
    [
      'that do both on one connection are two each',
      [desiredOf(g, blocking('a')), desiredOf(h, blocking('b'))],
      [],
      [liveOf(g, { ...blocking('b'), ...on(db) }), liveOf(h, { ...blocking('a'), ...on(db) })],
      `1 gain ${g}#early, 1 gain ${h}#early, 2 whole ${g} < ${g}#early ${h}#early, 2 whole ${h} < ${h}#early ${g}#early`,
    ],
    [
      'that do both on connections apart are one each',
      [desiredOf(g, blocking('a')), desiredOf(h, blocking('b'))],
      [],
      [liveOf(g, { ...blocking('b'), ...on(db) }), liveOf(h, { ...blocking('a'), ...on(other) })],
      `1 whole ${g}, 1 whole ${h}`,
    ],
    [
      'that loses what another gains wait for it',
      [desiredOf(g, blocking()), desiredOf(h, blocking('a'))],
      [edgeOf(h, db)],
      [liveOf(g, { ...blocking('a'), ...on(db) }), liveOf(h), liveOf(db, open)],
      `1 whole ${h}, 2 whole ${g} < ${h}`,
    ],
    [
      'that loses what the connection gains wait for that',
      [desiredOf(g), desiredOf(db, guarded('dba'))],
      [],
      [liveOf(g, { ...blocking('a'), edges: {} }), liveOf(db, { ...open, edges: { guardrail_rules: [g] } })],
      `1 whole ${db}, 2 whole ${g} < ${db}`,
    ],
    [
      'that does both come last where the connection only gains',
      [desiredOf(g, blocking('a')), desiredOf(db, guarded('dba'))],
      [edgeOf(g, db)],
      [liveOf(g, { ...blocking('b'), ...on(db) }), liveOf(db, open)],
      `1 whole ${db}, 2 whole ${g} < ${db}`,
    ],
    [
      'that does both come first where the connection only loses',
      [desiredOf(g, blocking('a')), desiredOf(db, guarded())],
      [edgeOf(g, db)],
      [liveOf(g, { ...blocking('b'), ...on(db) }), liveOf(db, guarded('dba'))],
      `1 whole ${g}, 2 whole ${db} < ${g}`,
    ],
    [
      'that does both are two where the connection does, too',
      [desiredOf(g, blocking('a')), desiredOf(db, guarded('sre'))],
      [edgeOf(g, db)],
      [liveOf(g, { ...blocking('b'), ...on(db) }), liveOf(db, guarded('dba'))],
      `1 gain ${g}#early, 2 whole ${db} < ${g}#early, 3 whole ${g} < ${g}#early ${db}`,
    ],
    [
      'that does both are two where one connection is new and another gains',
      [desiredOf(g, blocking('a')), desiredOf(db, open), desiredOf(other, guarded('dba'))],
      [edgeOf(g, db), edgeOf(g, other)],
      [liveOf(g, { ...blocking('b'), ...on(other) }), liveOf(other, open)],
      `1 whole ${other}, 2 whole ${g} < ${other}, 3 whole ${db} < ${g}`,
    ],
  ])('%s', (_, resources, edges, live, expected) => {
    expect(stepsFor(resources, edges, live).join(', ')).toBe(expected);
  });
});

describe('the steps of an object', () => {
  it('that writes an edge to a new rule itself come after the rule', () => {
    const resources = [desiredOf(db, guarded('dba')), desiredOf(g)];
    const state = stateOf(liveOf(db, open));
    const plan = planOf(wantedOf(resources, [edgeOf(g, db)]), state);
    const edges = plan.edges.map((edge) => ({ ...edge, by: db }) as const);
    expect(
      orderWrites(orderInput({ ...plan, edges }, state, registry)).steps.map(({ key, needs }) => [key, ...needs].map(keyText).join(' < ')),
    ).toEqual([g, `${db} < ${g}`]);
  });
});

function planWith(one: Change): Diff {
  return { ...planOf(wantedOf([]), stateOf()), changes: [one] };
}

describe('a change that cannot be applied', () => {
  const change: Change = { id: db, action: 'update', fields: [], needs: [], carried: [] };

  it.each<[string, Change, string]>([['an unknown kind', { ...change, id: 'Other/x' }, 'Other/x has an unknown kind']])(
    'throws: %s',
    (_, one, message) => {
      expect(() => orderWrites(orderInput(planWith(one), stateOf(liveOf('Other/x')), registry))).toThrow(message);
    },
  );

  it('has no steps if a manager blocks it', () => {
    expect(orderWrites(orderInput(planWith({ ...change, action: 'blocked' }), stateOf(), registry)).steps).toEqual([]);
  });
});
