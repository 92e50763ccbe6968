import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { Json } from '../../../../src/model/json.ts';
import { orderInput, orderWrites } from '../../../../src/reconcile/order/order-writes.ts';
import { desiredOf, edgeOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';

function blocking(...words: readonly string[]): { readonly spec: { readonly input: Json } } {
  return { spec: { input: { rules: words.map((word) => ({ name: word, type: 'deny_words_list', words: [word], pattern_regex: '' })) } } };
}

test('of two rules with the same word, none lets go of it before a third one has it: either alone, and all together, would be safe', () => {
  const [db, a, b, c] = ['Connection/db', 'GuardrailRule/a', 'GuardrailRule/b', 'GuardrailRule/c'] as const;
  const open = { spec: { access_mode_connect: 'enabled' } };
  const on = { edges: { connection_ids: [db] } };
  const state = stateOf(
    liveOf(db, open),
    liveOf(a, { ...blocking('x'), ...on }),
    liveOf(b, { ...blocking('x'), ...on }),
    liveOf(c, { ...blocking('y'), ...on }),
  );
  const desired = [desiredOf(db, open), desiredOf(a, blocking('z')), desiredOf(b, blocking('z')), desiredOf(c, blocking('x', 'y'))];
  const plan = planOf(wantedOf(desired, [edgeOf(a, db), edgeOf(b, db), edgeOf(c, db)]), state);
  const { steps } = orderWrites(orderInput(plan, state, registry));
  expect(steps.map(({ round, part, key, needs }) => [round, part, key.id, needs.map(({ id }) => id)])).toEqual([
    [1, 'whole', c, []],
    [2, 'whole', a, [c]],
    [2, 'whole', b, [c]],
  ]);
});
