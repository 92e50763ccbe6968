import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { connectionBody, databases } from '../client.ts';
import { useServer } from '../use-server.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

const connections: readonly (readonly [text: string, more: JsonObject, field: string])[] = [
  ['an unknown field', { pasword: 'x' }, '/pasword'],
  ['a name with a slash', { name: 'a/b' }, '/name'],
  ['a name that looks like an id', { name: unknownId }, '/name'],
  ['a secret to keep that is not there', { secret: { 'envvar:A': null } }, '/secret/envvar:A'],
  ['a NUL', { command: ['a\u0000b'] }, '/command'],
  ['half a character', { reviewers: ['\ud800'] }, '/reviewers/0'],
];

const rules: readonly (readonly [text: string, path: string, body: JsonObject, field: string])[] = [
  ['an address of another scheme', '/runbooks/configurations', { git_url: 'file:///etc' }, '/git_url'],
  ['an address with credentials', '/runbooks/configurations', { git_url: 'https://user:canary@example.com/r' }, '/git_url'],
  ['an address with a token in its query', '/runbooks/configurations', { git_url: 'https://example.com/r?token=canary' }, '/git_url'],
  ['an address beyond an index entry', '/runbooks/configurations', { git_url: `https://example.com/${'ä'.repeat(2000)}` }, '/git_url'],
];

describe.each(databases)('invalid bodies on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  beforeAll(async () => {
    await call('POST', '/connections', { body: connectionBody('there', gateway.agent) });
  });

  test.each(connections)('a connection with %s is rejected with 422 on create and replace', async (_text, more, field) => {
    const body = connectionBody('there', gateway.agent, more);
    const answers = [
      await call('POST', '/connections', { body: { ...connectionBody('new', gateway.agent), ...more } }),
      await call('PUT', '/connections/there', { body }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(fieldsOf(answer.body['errors'])).toContain(field);
    }
  });

  test.each(rules)('%s is rejected with 422', async (_text, path, body, field) => {
    const answer = await call('POST', path, { body });
    expect(answer.status).toBe(422);
    expect(fieldsOf(answer.body['errors'])).toContain(field);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  test('all problems are reported at once', async () => {
    const { body } = await call('POST', '/connections', { body: { secret: { x: 'y' }, type: 1 } });
    expect(fieldsOf(body['errors'])).toEqual(expect.arrayContaining(['/name', '/agent_id', '/type', '/secret/x']));
  });

  test('nothing invalid was stored', async () => {
    expect((await call('GET', '/connections')).list).toHaveLength(1);
    for (const path of ['/guardrails', '/datamasking-rules', '/runbooks/configurations'])
      expect((await call('GET', path)).list).toEqual([]);
  });
});

function fieldsOf(errors: Json | undefined): readonly Json[] {
  return Array.isArray(errors) ? errors.map((error: Readonly<Record<string, Json>>) => error['field'] ?? null) : [];
}
