import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { nameOf } from '../../../../src/model/resource.ts';
import { checkAccessReferences } from '../../../../src/protection/permission/check-access-references.ts';
import { desiredSnapshot, type ProtectionSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { referenceOf } from '../../../support/access-reference.ts';
import { desiredState } from '../../../support/desired-state.ts';

type Specs = readonly (readonly [name: string, spec: JsonObject])[];

function snapshotOf(specs: Specs): ProtectionSnapshot {
  const desired = desiredState(specs.map(([name, spec]) => ({ kind: 'Connection', metadata: { name }, spec })));
  return desiredSnapshot(desired, registry, 'interface');
}

const db: JsonObject = {
  type: 'database',
  subtype: 'postgres',
  agent_id: 'default',
  access_mode_connect: 'disabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'enabled',
  access_groups: ['dev', 'ops'],
  reviewers: ['dba', 'sec'],
  min_review_approvals: 1,
  force_approve_groups: ['leads'],
  connection_tags: { env: 'prod' },
};

const approval = { from: ['dba', 'sec'], forced_by: ['leads'] };

test.each<readonly [string, 'denied' | 'unrestricted', readonly JsonObject[], readonly string[]]>([
  ['one group is denied', 'unrestricted', [{ group: 'dev', on: 'db', most: 'denied' }], ['dev']],
  ['by its tags', 'unrestricted', [{ group: 'dev', on: { match_tags: { env: 'prod' } }, most: 'denied' }], ['dev']],
  ['another tag', 'unrestricted', [{ group: 'dev', on: { match_tags: { env: 'dev' } }, most: 'denied' }], []],
  ['a group without access', 'unrestricted', [{ group: 'interns', on: '*', most: 'denied' }], []],
  ['the rest is denied', 'denied', [{ group: 'dev', on: 'db', most: 'allowed' }], ['ops']],
  ['every group may', 'denied', [{ group: '*', on: 'db', most: 'allowed' }], []],
  ['the approval is enough', 'unrestricted', [{ group: 'dev', on: 'db', verb: 'exec', most: { approval } }], []],
  [
    'too few approve',
    'unrestricted',
    [{ group: 'dev', on: 'db', verb: 'exec', most: { approval: { ...approval, at_least: 2 } } }],
    ['dev'],
  ],
  ['others approve', 'unrestricted', [{ group: 'dev', on: 'db', most: { approval: { ...approval, from: ['dba'] } } }], ['dev']],
  ['others force it', 'unrestricted', [{ group: 'dev', on: 'db', most: { approval: { from: ['dba', 'sec'] } } }], ['dev']],
  ['another verb is granted', 'unrestricted', [{ group: 'dev', on: 'db', verb: 'connect', most: 'allowed' }], ['dev']],
  ['another verb is denied', 'unrestricted', [{ group: 'dev', on: 'db', verb: 'connect', most: 'denied' }], []],
  ['admins are bound by name', 'unrestricted', [{ group: 'admin', on: 'db', most: 'denied' }], ['admin']],
])('%s', (_, others, entries, groups) => {
  const found = checkAccessReferences([referenceOf({ others, entries })], snapshotOf([['db', db]]));
  expect(found.map((one) => [nameOf(one.connection), one.verb, one.groups.join('+')])).toEqual(
    groups.map((group) => ['db', 'exec', group]),
  );
});
