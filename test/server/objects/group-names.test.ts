import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { connectionBody, createKey, databases } from '../client.ts';
import { useServer } from '../use-server.ts';

const refused: readonly (readonly [string, string])[] = [
  ['a space before', ' dba'],
  ['nothing', ''],
  ['a tab inside', 'db\ta'],
  ['a no-break space', 'dba\u{a0}'],
  ['a no-break space inside', 'db\u{a0}team'],
  ['a zero-width space', 'dba\u{200b}'],
  ['a byte order mark', '\u{feff}dba'],
  ['a right-to-left override', '\u{202e}abd'],
  ['a Hangul filler', 'dba\u{3164}'],
  ['a tag character', 'dba\u{e0020}'],
  ['half a surrogate pair', 'dba\u{d800}'],
  ['101 characters', 'x'.repeat(101)],
];
const accepted = ['x', 'dba', 'DBA', 'data base admins', 'Größe/Ünit', 'équipe', '数据库', 'a@b.example:ops_1', '😀', '😀'.repeat(100)];
const fields = ['reviewers', 'force_approve_groups', 'access_groups'] as const;
const hint = 'must have the form: 1 to 100 characters, no invisible characters, no spaces at the ends';

describe.each(databases)('group names on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  test.each(refused)('%s is refused wherever a group is stored', async (_case, group) => {
    for (const field of fields) {
      const body = connectionBody('refused', gateway.agent, { [field]: ['ok', group] });
      const answer = await call('POST', '/connections', { body });
      expect([field, answer.status]).toEqual([field, 422]);
      expect(answer.body['errors']).toContainEqual({ field: `/${field}/1`, reason: hint });
    }
    const key = await call('POST', '/api-keys', { body: { name: 'refused', groups: ['ok', group] } });
    expect([key.status, key.body['errors']]).toEqual([422, [{ field: '/groups/1', reason: hint }]]);
  });

  test.each(accepted)('%j is stored as it is', async (group) => {
    const name = `c${accepted.indexOf(group)}`;
    const groups: JsonObject = Object.fromEntries(fields.map((field) => [field, [group]]));
    const created = await call('POST', '/connections', { body: connectionBody(name, gateway.agent, groups) });
    expect([created.status, created.body]).toEqual([201, expect.objectContaining(groups)]);
    const key = await call('POST', '/api-keys', { body: { name, groups: [group] } });
    expect([key.status, key.body['groups']]).toEqual([201, [group]]);
  });

  test('names that differ in case are different groups', async () => {
    await call('POST', '/connections', { body: connectionBody('cased', gateway.agent, { access_groups: ['Ops'], reviewers: ['Ops'] }) });
    const [same, other] = [await createKey(call, 'same case', ['Ops']), await createKey(call, 'other case', ['ops'])];
    expect((await call('GET', '/connections/cased', { key: same })).status).toBe(200);
    expect((await call('GET', '/connections/cased', { key: other })).status).toBe(404);
    const admins = await createKey(call, 'not an admin', ['Admin']);
    expect((await call('GET', '/userinfo', { key: admins })).body['role']).toBe('standard');
  });
});
