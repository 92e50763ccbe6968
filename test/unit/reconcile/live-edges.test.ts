import { describe, expect, it } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { liveEdges } from '../../../src/model/live.ts';
import { liveOf, stateOf } from '../../support/resources.ts';

const [db, rule] = ['Connection/db', 'GuardrailRule/rule'] as const;

describe('liveEdges', () => {
  it('finds each edge once, from either side, and no edge of an unknown kind', () => {
    const state = stateOf(
      liveOf(db, { edges: { guardrail_rules: [rule] } }),
      liveOf(rule, { edges: { connection_ids: [db, 'Connection/uid'] } }),
      liveOf('Other/x', { edges: { connection_ids: [db] } }),
    );
    expect(liveEdges(state, registry)).toEqual([
      { rule, connection: db },
      { rule, connection: 'Connection/uid' },
    ]);
  });
});
