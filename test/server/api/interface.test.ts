import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, asText, type Json, type JsonObject } from '../../../src/model/json.ts';
import { databases, idOf, type ApiAnswer } from '../client.ts';
import { createPerson } from '../reviews/review-people.ts';
import { useServer } from '../use-server.ts';
import { connectionRows, guardrailRows, limitRows, maskRows, type BodyRows } from './interface-bodies.ts';
import { answerRows, requestRows } from './interface-requests.ts';

const content = '{{ .name | description "Who" | required "r" }}';
const head = {
  commit: '0123abc',
  author: 'Ada <ada@example.com>',
  message: 'Add a runbook',
  files: [
    { path: 'ops/a.runbook.sh', content },
    { path: 'ops/b.runbook.sh', content: '{{' },
  ],
};
const refused = { message: expect.any(String) };
const runbooks = {
  read: async ({ url }: { readonly url: string }) => (url.endsWith('broken') ? { failure: 'no such repository' } : { head }),
};

describe.each(databases)('the interface, row by row, on %s', (_name, start) => {
  const gateway = useServer(start, { runbooks });
  const { call } = gateway;
  const made: Record<string, string> = { unknown: '00000000-0000-4000-8000-000000000000' };
  const keys: Record<string, string> = {};
  let writes = 0;

  /** Sends a request in which `$name` stands for an id. */
  async function send(method: string, path: string, body?: Json, key = gateway.server.key): Promise<ApiAnswer> {
    const text = body === undefined ? undefined : fill(JSON.stringify(body));
    return call(method, fill(path), { key, ...(text === undefined ? {} : { text }) });
  }

  function fill(template: string): string {
    return template.replaceAll(/\$([a-z]+)/g, (_, name: string) => made[name] ?? name);
  }

  /** Creates an object with a name that is not taken, `$new`. */
  function create({ path, least }: BodyRows, body: JsonObject): Promise<ApiAnswer> {
    made['new'] = `new-${(writes += 1)}`;
    return send('POST', path, { ...least, ...body });
  }

  beforeAll(async () => {
    made['agent'] = gateway.agent;
    keys['manager'] = gateway.server.managerKey;
    for (const [name, group] of [
      ['owner', 'devs'],
      ['reviewer', 'dba'],
      ['forcer', 'sre'],
    ] as const)
      keys[name] = (await createPerson(gateway.server, name, [group])).key;
    const more = { type: 'database', subtype: 'postgres', reviewers: ['dba'], force_approve_groups: ['sre'] };
    const agent = await send('POST', '/agents', { name: 'alive' });
    await send('POST', '/agents/heartbeat', {}, asText(agent.body['token']));
    made['alive'] = idOf(agent);
    made['connection'] = idOf(await send('POST', '/connections', { ...connectionRows.least, ...more, name: 'orders' }));
    made['guardrail'] = idOf(await send('POST', '/guardrails', { name: 'no-drop' }));
    made['mask'] = idOf(await send('POST', '/datamasking-rules', { name: 'cards' }));
    const repository = { git_url: 'https://git.example.com/ops/runbooks', git_password: 'p' };
    made['configuration'] = idOf(await send('POST', '/runbooks/configurations', repository));
    await send('POST', '/runbooks/configurations', { git_url: 'https://git.example.com/ops/broken' });
    for (const name of ['review', 'second', 'third'])
      made[name] = idOf(await send('POST', '/reviews', { connection: 'orders', type: 'jit' }, keys['owner']));
  });

  test.each(answerRows)('a read of $path has every field of its rows, $list', async ({ path, list, fields }) => {
    const { status, body } = await send('GET', path);
    const [first] = list === undefined ? [body] : asArray(body[list]);
    expect(status).toBe(200);
    for (const [row, value] of fields) {
      const field = row.split(' | ')[0]?.slice(2) ?? '';
      expect({ row, value: asObject(first)[field] }).toEqual({ row, value });
    }
  });

  test('each request of an endpoint has the response of its row', async () => {
    for (const { row, by, send: asked, status, body } of requestRows) {
      const [method, path, sent] = asked;
      const answer = await send(method, path, sent, by === undefined ? gateway.server.key : keys[by]);
      const expected = status < 400 ? body : refused;
      expect({ row, asked, status: answer.status, body: answer.body }).toMatchObject({ row, asked, status, body: expected });
    }
  });

  const tables = [connectionRows, maskRows, guardrailRows];

  test.each(tables.flatMap((table) => table.fields.map((field) => [table.path, field.row, table, field] as const)))(
    '%s: %s',
    async (_path, row, table, { accepts = [], refuses = [], omitted = expect.anything() }) => {
      const cells = row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, ''));
      const field = cells.length === 4 ? (cells[0] ?? '') : 'secret';
      const isNamed = {
        body: { errors: expect.arrayContaining([expect.objectContaining({ field: expect.stringMatching(`^/${field}\\b`) })]) },
      };
      for (const value of accepts) {
        const { status, body } = await create(table, { [field]: value });
        const wanted: Json = JSON.parse(fill(JSON.stringify(value)));
        expect({ value, status, [field]: body[field] }).toEqual({ value, status: 201, [field]: wanted });
        expect((await send('GET', `${table.path}/${idOf({ body })}`)).body).toEqual(body);
      }
      const there = await create(table, cells[2] === 'RO' ? { [field]: 'sent' } : {});
      expect(there.body[field]).toEqual(omitted === '$new' ? made['new'] : omitted);
      for (const value of refuses) {
        expect(await create(table, { [field]: value })).toMatchObject({ status: 422, ...isNamed });
        const replaced = await send('PUT', `${table.path}/${idOf(there)}`, {
          ...table.least,
          name: there.body['name'] ?? '',
          [field]: value,
        });
        expect({ value, ...replaced }).toMatchObject({ value, status: 422, ...isNamed });
      }
      const rest = Object.entries({ ...table.least, name: 'least' }).filter(([name]) => name !== field);
      for (const body of cells[2] === 'R' ? [Object.fromEntries(rest)] : []) {
        expect(await send('POST', table.path, body)).toMatchObject({ status: 422, ...isNamed });
      }
    },
  );

  test.each(limitRows)('$row', async ({ fits, exceeds }) => {
    for (const body of fits) expect([body, (await create(connectionRows, body)).status]).toEqual([body, 201]);
    for (const body of exceeds) expect([body, (await create(connectionRows, body)).status]).toEqual([body, 422]);
  });
});
