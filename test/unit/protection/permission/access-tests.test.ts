import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { checkAccessTests } from '../../../../src/protection/permission/check-access-tests.ts';
import { desiredSnapshot, type ProtectionSnapshot } from '../../../../src/protection/posture/protection-snapshot.ts';
import { accessTestOf } from '../../../support/access-test.ts';
import { desiredState } from '../../../support/desired-state.ts';

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

function snapshotOf(spec: JsonObject, dialect = 'interface', ...more: Parameters<typeof desiredState>[0]): ProtectionSnapshot {
  const desired = desiredState([{ kind: 'Connection', metadata: { name: 'db' }, spec: { ...db, ...spec } }, ...more]);
  return desiredSnapshot(desired, registry, dialect);
}

const tools = { textOf: ({ id, path }: { readonly id: string; readonly path: string }) => `${id}${path}`, newPatterns: undefined };

function check(entries: readonly JsonObject[], snapshot: ProtectionSnapshot, earlier?: ProtectionSnapshot): readonly string[] {
  const results = checkAccessTests([accessTestOf(...entries)], snapshot, tools, earlier);
  return results.map(({ outcome, before, who, found }) => [before, outcome, who, found].filter((one) => one !== undefined).join(' | '));
}

const denied = { group: 'others', on: 'db', expect: 'denied' };
/** Names groups, whatever they can do. */
const naming = (...groups: readonly string[]): readonly JsonObject[] =>
  groups.map((group) => ({ group, on: 'db', verb: 'exec', expect: 'allowed' }));

describe('others', () => {
  const nightly = {
    kind: 'RunbookRule',
    metadata: { name: 'nightly' },
    spec: { connections: ['db'], user_groups: ['night'], runbooks: [{ repository: 'r', name: 'f' }] },
  };
  const runnable = { access_mode_exec: 'disabled', access_mode_runbooks: 'enabled', reviewers: [] };

  test('are people in several groups that together can do what none of them can', () => {
    const { listed, ...snapshot } = snapshotOf({ ...runnable, attributes: [] }, 'hoop', nightly);
    const known = { ...snapshot, listed: { ...listed, incomplete: new Set<never>() } };
    expect(check([denied], known)).toEqual(['failed | people in one of dev, ops and in night | runbooks allowed']);
    expect(check([denied, ...naming('night')], known).slice(0, 1)).toEqual(['passed | denied']);
  });

  test('cannot be known where groups that are not known may get in', () => {
    const [first] = check([denied], snapshotOf(runnable, 'hoop', nightly));
    expect(first).toBe('unknown | people in no other group | cannot be known: only dev, ops, and groups that are not known');
  });

  test('who fail already are not those who fail anew, although all of them do the same now', () => {
    const [before, after] = [snapshotOf({ access_groups: ['dev'] }), snapshotOf({ access_groups: ['dev', 'ops'] })];
    expect(check([denied], after, before)).toEqual(['failed | failed | dev | exec allowed', 'passed | failed | ops | exec allowed']);
    expect(check([denied], before, after)).toEqual(['failed | failed | dev | exec allowed']);
    expect(check([denied], after, after)).toEqual(['failed | failed | dev, ops | exec allowed']);
  });
});
