import { expect, test } from 'vitest';
import { emptyRecord } from '../../../../src/model/applied-record.ts';
import { unmergedRecord } from '../../../../src/project/record/applied-record.ts';

test('the record of an apply that is not reviewed has the former names that the apply found', () => {
  const end = {
    complete: true,
    secrets: {},
    orphans: [],
    writes: { objects: [], edges: [] },
    deleted: new Set<never>(),
    names: [{ id: 'GuardrailRule/newer', former: ['GuardrailRule/new', 'GuardrailRule/old'] }],
  } as const;
  const before = { ...emptyRecord, names: [{ id: 'GuardrailRule/new', former: ['GuardrailRule/old'] }] } as const;
  expect(unmergedRecord(before, end, { commit: 'c', reviewed: 'r' }).names).toEqual(end.names);
  expect(unmergedRecord(before, { ...end, names: [] }, { commit: 'c', reviewed: 'r' }).names).toBeUndefined();
});
