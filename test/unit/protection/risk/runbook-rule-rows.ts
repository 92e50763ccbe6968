import type { JsonObject } from '../../../../src/model/json.ts';
import { connectionManifest as connection } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';
import type { Row } from './credential-rows.ts';

const open = { access_mode_runbooks: 'enabled' };
const runbook = (name: string): JsonObject => ({ repository: 'git.example.com/ops/runbooks', name });

/** Two connections, and a rule that allows one folder of runbooks on the first, beside another rule. */
function ruled(spec: JsonObject = {}): readonly Manifest[] {
  const usual = { runbooks: [runbook('ops/')], connections: ['one'], user_groups: ['sre'] };
  return [
    connection('one', open),
    connection('two', open),
    ruleOf('other', { ...usual, user_groups: ['dba'] }),
    ruleOf('nightly', { ...usual, ...spec }),
  ];
}

function ruleOf(name: string, spec: JsonObject): Manifest {
  return { kind: 'RunbookRule', metadata: { name }, spec };
}

const without = ruled().slice(0, 3);
const none = ruled().slice(0, 2);
const first = [...none, ...ruled().slice(3)];

/** Runbook rules, in both directions. */
export const runbookRuleRows: readonly Row[] = [
  ['a runbook rule beside another', without, ruled(), 'weakens runbooks', ''],
  ['the first runbook rule', none, first, 'strengthens runbooks', ''],
  ['a connection that it includes', ruled(), ruled({ connections: ['one', 'two'] }), 'weakens runbooks'],
  ['a runbook', ruled(), ruled({ runbooks: [runbook('ops/'), runbook('dev/')] }), 'weakens runbooks'],
  ['every runbook', ruled(), ruled({ runbooks: [] }), 'weakens runbooks'],
  ['a group', ruled(), ruled({ user_groups: ['sre', 'dev'] }), 'weakens runbooks'],
  ['every group', ruled(), ruled({ user_groups: [] }), 'weakens runbooks'],
];
