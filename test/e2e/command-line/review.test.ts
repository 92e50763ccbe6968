import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { requestReview, createPerson, reviewedConnection, type Person } from '../../server/reviews/review-people.ts';
import type { Ended } from '../../support/cli.ts';
import { useProjects, config } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

// What happens to the next decision, from outside.
let fault: { readonly dropAfter: true } | { readonly status500AfterCommit: true } | undefined;
const gateway = useGateway({
  chaos: ({ method, path }) => {
    if (method !== 'PUT' || !path.startsWith('/reviews/')) return undefined;
    const now = fault;
    fault = undefined;
    return now;
  },
});
const makeProject = useProjects();
let folder: string;
let people: Readonly<Record<'owner' | 'dba' | 'sec' | 'sre' | 'auditor', Person>>;

beforeAll(async () => {
  folder = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  await reviewedConnection(gateway.call, 'orders-db', { reviewers: ['dba', 'sec'], force_approve_groups: ['sre'] });
  const make = (name: string, group: string): Promise<Person> => createPerson(gateway.server(), name, [group]);
  people = {
    owner: await make('otto', 'devs'),
    dba: await make('ada', 'dba'),
    sec: await make('sam', 'sec'),
    sre: await make('sue', 'sre'),
    auditor: await make('audrey', 'auditor'),
  };
});

/** Runs a command as a caller; `ID` is replaced by the review. */
function as(who: Person, line: string, path: string): Promise<Ended> {
  return gateway.run(line.replace('ID', path.slice('/reviews/'.length)), folder, { OSTIARY_TOKEN: who.key });
}

describe('a review on the gateway of its own', () => {
  test('is listed, approved group by group, and revoked', async () => {
    const path = await requestReview(people.owner, 'orders-db', { input: 'select 1\nfrom \u001b[2Korders' });
    const listed = await as(people.dba, 'get reviews', path);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toMatch(/PENDING +30 min +orders-db\n {2}requested \d+ s ago by otto; waits for dba sec\n/);
    expect(listed.stdout).toContain(String.raw`  input: select 1\nfrom \u001b[2Korders`);
    expect(JSON.parse((await as(people.dba, 'get reviews --format json', path)).stdout)[0]).toMatchObject({
      connection: 'orders-db',
      requester: 'otto',
      input: 'select 1\nfrom \u001b[2Korders',
      remaining_seconds: null,
    });
    const first = await as(people.dba, 'review approve ID --window 00:00-23:59 --format json', path);
    expect(JSON.parse(first.stdout)).toMatchObject({ status: 'PENDING', time_window: { configuration: { start_time: '00:00' } } });
    expect([first.code, first.stderr]).toEqual([0, 'approved; the review still waits for other groups\n']);
    const second = await as(people.sec, 'review approve ID', path);
    expect([second.code, second.stdout, second.stderr]).toEqual([
      0,
      expect.stringMatching(
        / {2}APPROVED\n {2}access +jit, 30 min\n {2}remaining +(?:29|30) min\n {2}window +00:00 to 23:59 UTC\n {2}dba +APPROVED by ada at .*Z\n {2}sec +APPROVED by sam at .*Z\n$/,
      ),
      expect.stringMatching(
        / {2}PENDING\n {2}connection +orders-db\n {2}requester +otto\n {2}input +select 1\\nfrom \\u001b\[2Korders\n {2}session .*\n {2}requested .*\n {2}access +jit, 30 min\n[^]* {2}sec +PENDING\n$/,
      ),
    ]);
    expect((await as(people.dba, 'get reviews', path)).stdout).toMatch(/APPROVED +(?:29|30) min left +orders-db\n/);
    const quiet = await as(people.sec, 'review approve ID --quiet', path);
    expect(quiet.code).toBe(6);
    const revoked = await as(people.sec, 'review revoke ID --format yaml', path);
    expect(parse(revoked.stdout)).toMatchObject((await gateway.call('GET', path)).body);
    expect(parse(revoked.stdout)).toMatchObject({ status: 'REVOKED', revoke_at: expect.stringMatching(/Z$/) });
  });

  test.each([
    ['owner', 'review approve ID', 6, /error review\/refused {2}PUT http.*users cannot approve their own requests/],
    ['sre', 'review approve ID', 6, /none of your groups reviews it/],
    ['dba', 'review approve ID --force', 6, /none of your groups can force-approve/],
    ['dba', 'review revoke ID', 6, /only an approved review can be revoked; reject it instead/],
    ['auditor', 'review reject ID', 4, /error api\/read-only-role {2}http.*auditor/],
  ] as const)('is refused to %s: %s exits %i', async (name, line, code, message) => {
    const path = await requestReview(people.owner, 'orders-db');
    const ended = await as(people[name], line, path);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, '', expect.stringMatching(message)]);
    expect((await gateway.call('GET', path)).body['status']).toBe('PENDING');
  });

  test.each([{ dropAfter: true }, { status500AfterCommit: true }] as const)('is decided once if the response is lost: %o', async (how) => {
    const path = await requestReview(people.owner, 'orders-db');
    fault = how;
    const ended = await as(people.dba, 'review approve ID', path);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/ {2}dba +APPROVED by ada/)]);
    expect(fault).toBeUndefined();
  });
});
