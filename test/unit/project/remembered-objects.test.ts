import { expect, test } from 'vitest';
import { emptyRecord, type PendingObject } from '../../../src/model/applied-record.ts';
import type { EdgeEnds, ResourceId } from '../../../src/model/resource.ts';
import { onlyDeclared } from '../../../src/project/remembered-objects.ts';
import { desiredState } from '../../support/desired-state.ts';

const names = (prefix: ResourceId, count: number): readonly ResourceId[] =>
  Array.from({ length: count }, (_, index): ResourceId => `${prefix}-${index}`);
const declared = desiredState([{ kind: 'GuardrailRule', metadata: { name: 'rule-0', renamedFrom: 'former' }, spec: {} }]);

test('a pending attachment is proven by the names or the live keys of its ends', () => {
  const edges = names('GuardrailRule/rule', 2).flatMap((rule) =>
    names('Connection/db', 3).map((connection) => ({ rule, connection, declarations: [] })),
  );
  const state = { ...declared, edges };
  const [rule] = declared.resources;
  const renamed: EdgeEnds = { rule: rule?.key ?? 'GuardrailRule/none', connection: 'Connection/db-0' };
  const forged: EdgeEnds = { rule: 'GuardrailRule/rule-0', connection: 'Connection/other' };
  const ours: PendingObject = { id: 'GuardrailRule/rule-0', ours: true };
  const theirs: PendingObject = { ...ours, id: 'Connection/theirs' };
  const pending = [{ commit: 'c', objects: [ours, theirs], edges: [...state.edges, renamed, forged] }];
  const { record, unproven } = onlyDeclared({ ...emptyRecord, pending }, new Map([['c', state]]), new Set());
  expect(unproven).toEqual(['Connection/theirs']);
  expect(record.pending[0]?.objects).toEqual([ours]);
  expect(record.pending[0]?.edges).toEqual([...state.edges, renamed]);
});
