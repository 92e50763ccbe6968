import { expect, test } from 'vitest';
import { objectsIn } from '../../../../src/model/json.ts';
import type { Permission } from '../../../../src/model/protection/permission.ts';
import { accessReport } from '../../../../src/report/subjects/access-report.ts';
import { foldPermissions } from '../../../../src/report/subjects/permissions.ts';

function peopleIn(groups: readonly string[], answer: Permission['answer']): readonly Permission[] {
  return [{ connection: 'Connection/db', groups, verb: 'exec', answer, blocked: [], masked: [], tools: [], facts: [] }];
}

/** The groups and the answer of each row, in the report and in the list of a terminal. */
function rowsOf(people: readonly (readonly Permission[])[]): readonly (readonly unknown[])[] {
  const { rows } = accessReport({
    target: 'prod',
    source: 'live',
    commit: undefined,
    connections: [{ id: 'Connection/db', tags: {}, people }],
    placeOf: () => undefined,
    originOf: () => undefined,
  });
  const reported = objectsIn(rows).map(({ groups }) => groups);
  return [reported, foldPermissions(people).map(({ groups }) => groups)];
}

test('a group that can do nothing has a row only where everybody else can do something', () => {
  const all = [['(everybody)'], ['contractors']];
  expect(rowsOf([peopleIn([], 'yes'), peopleIn(['contractors'], 'no')])).toEqual([all, all]);
  expect(rowsOf([peopleIn([], 'no'), peopleIn(['contractors'], 'no'), peopleIn(['dba'], 'yes')])).toEqual([[['dba']], [['dba']]]);
});
