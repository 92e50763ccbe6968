import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { proposeExpectations } from '../../../../src/protection/permission/propose-access-tests.ts';
import { desiredSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { largeAccess } from '../../../support/large-access.ts';

type Specs = readonly (readonly [name: string, spec: JsonObject])[];

/** Returns the entries for connections of ostiary serve. */
function propose(specs: Specs): readonly JsonObject[] {
  const desired = desiredState(specs.map(([name, spec]) => ({ kind: 'Connection', metadata: { name }, spec })));
  const declared = desiredSnapshot(desired, registry, 'interface');
  return proposeExpectations({ declared, live: declared });
}

test('1,000 connections of 40 teams with three tags need three lines for each group', { timeout: 60_000 }, () => {
  const lines = propose(largeAccess(1000, 40));
  const own = (group: string): readonly JsonObject[] => lines.filter((one) => one['group'] === group);
  expect(lines.length).toBe(42 * 3);
  const verb = ['connect', 'exec'];
  const approval = { from: ['dba', 'security'], at_least: 2 };
  expect(own('contractors')).toEqual([
    { group: 'contractors', on: { match_tags: { env: 'prod' } }, expect: 'denied' },
    { group: 'contractors', on: { match_tags: { env: 'dev' } }, verb, expect: 'allowed' },
    { group: 'contractors', on: { match_tags: { env: 'test' } }, verb, expect: 'allowed' },
  ]);
  expect(own('team-3')).toEqual([
    { group: 'team-3', on: { match_tags: { tier: 'plain' } }, expect: 'denied' },
    { group: 'team-3', on: { match_tags: { env: 'prod', team: 'team-3' } }, verb, expect: { approval }, max_duration: '1h' },
    { group: 'team-3', on: { match_tags: { team: 'team-3' } }, verb, expect: 'allowed' },
  ]);
});
