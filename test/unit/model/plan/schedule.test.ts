import { expect, test } from 'vitest';
import type { Action, FieldChange } from '../../../../src/model/plan/plan.ts';
import { exposureWindowText } from '../../../../src/model/plan/schedule.ts';
import { changeOf } from '../../protection/protection-fixtures.ts';

const absent = { absent: true } as const;

function added(path: FieldChange['path']): FieldChange {
  return { path, before: absent, after: { value: 'x' } };
}

function removed(path: FieldChange['path']): FieldChange {
  return { path, before: { value: 'x' }, after: absent };
}

/** The text of a window after a write with some fields, and before one that adds a reviewer. */
function windowText(fields: readonly FieldChange[], lost: readonly FieldChange['path'][], action: Action = 'update'): string {
  const window = {
    from: 'AccessRequestRule/rule',
    lost,
    until: 'Connection/db',
    missing: ['/reviewers/sre'],
    connections: ['Connection/db'],
  } as const;
  const changes = [{ ...changeOf('AccessRequestRule/rule', [...fields]), action }, changeOf('Connection/db', [added('/reviewers/sre')])];
  return exposureWindowText(window, changes);
}

const groups = [removed('/approval_required_groups/sre'), added('/approval_required_groups/dev')];

test.each([
  ['removes input.rules.drop', [removed('/input/rules/drop')], ['/input/rules/drop']],
  ['changes min_approvals', [{ path: '/min_approvals', before: { value: 2 }, after: { value: 1 } }], ['/min_approvals']],
  ['grants access to dba', [added('/access_groups/dba'), ...groups], ['/access_groups/dba']],
  ['revokes access of dba', [removed('/access_groups/dba')], ['/access_groups/dba']],
  ['removes an attachment', groups, ['/connection_names']],
  // Where no field alone has the effect, all are named.
  ['removes approval_required_groups.sre and adds approval_required_groups.dev', groups, []],
  ['adds a, b, c and changes 1 more', ['a', 'b', 'c', 'd'].map((name) => added(`/${name}`)), []],
  ['is written', [], []],
] as const)('the text of an exposure window names what the first write does and the other has not yet done: %s', (what, fields, lost) => {
  expect(windowText(fields, lost)).toBe(
    `Connection/db is less protected after AccessRequestRule/rule ${what}, and before Connection/db adds reviewers.sre`,
  );
});

test.each([
  ['create', 'is created'],
  ['delete', 'is deleted'],
] as const)('the text of an exposure window names a whole object: %s', (action, what) => {
  expect(windowText(groups, [], action)).toContain(`after AccessRequestRule/rule ${what}, and before`);
});
