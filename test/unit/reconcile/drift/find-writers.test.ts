import { expect, test } from 'vitest';
import type { Position } from '../../../../src/model/diagnostic.ts';
import type { AuditedWrite } from '../../../../src/model/result/drift.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { findWriters } from '../../../../src/reconcile/drift/find-writers.ts';
import { empty } from '../../../support/pull-fixtures.ts';

const ids = ['a', 'b', 'c', 'd'].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`);
const [uid = '', other = '', third = ''] = ids;
const gone: ResourceId = 'GuardrailRule/gone';

function write(method: string, ...names: readonly string[]): AuditedWrite {
  return { at: '2026-11-20T03:12:00Z', by: 'ada', own: false, from: '', method, path: '', kind: 'GuardrailRule', names };
}

const locate = (): Position => ({ file: '', line: 1, column: 1 });
const blank = {
  spec: {},
  stated: new Set<string>(),
  secrets: {},
  wholeSecrets: [],
  ignore: [],
  protect: false,
  adopt: false,
  locate,
  locateIgnore: locate,
};

/** Returns the writers of a deleted rule, when another rule exists. */
function writersOf(writes: readonly AuditedWrite[], there: ResourceId = 'GuardrailRule/there', declares = true): readonly AuditedWrite[] {
  const live = { id: there, uid: other, spec: {}, secrets: {}, edges: {}, raw: undefined, unknown: [] };
  const declared = { ...blank, id: there, key: there };
  const found = findWriters(
    { changes: [{ id: gone, action: 'create', fields: [], needs: [], carried: [] }], edges: [] },
    { desired: { ...empty, resources: declares ? [declared] : [] }, live: { resources: [live], lookups: {} }, writes },
  );
  return found.get(gone) ?? [];
}

test.each([
  ['by its name', [write('DELETE', 'gone'), write('PUT', 'there')], [0]],
  ['by the id that the log has beside its name', [write('DELETE', uid), write('PUT', uid, 'gone'), write('DELETE', third)], [0, 1]],
  ['where nothing else was deleted', [write('DELETE', uid), write('DELETE', other), write('DELETE', 'another')], [0]],
  ['not where something else was deleted, too', [write('DELETE', uid), write('DELETE', third)], []],
] as const)('what is gone is found in the log %s', (_, writes, wanted) => {
  expect(writersOf(writes)).toEqual(wanted.map((index) => writes[index]));
});

test('an object that may have been renamed has no known author of a deletion', () => {
  expect(writersOf([write('DELETE', uid)], 'GuardrailRule/renamed', false)).toEqual([]);
});

test.each([
  ['attributes alone, which no log has when they are attached from their own side', ['/attributes/pii'], 0],
  ['attributes and something else', ['/attributes/pii', '/reviewers/dba'], 1],
])('the last writer is named for a change of %s', (_, paths, count) => {
  const id: ResourceId = 'GuardrailRule/there';
  const fields = paths.map((path) => ({ path, before: { absent: true }, after: { value: 'x' } }) as const);
  const live = { id, uid: other, spec: {}, secrets: {}, edges: {}, raw: undefined, unknown: [] };
  const found = findWriters(
    { changes: [{ id, action: 'update', fields, needs: [], carried: [] }], edges: [] },
    { desired: { ...empty, resources: [] }, live: { resources: [live], lookups: {} }, writes: [write('PUT', 'there', other)] },
  );
  expect(found.get(id) ?? []).toHaveLength(count);
});
