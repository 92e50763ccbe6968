import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Ended } from '../../support/cli.ts';
import { startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

// A gateway that mixes up reviews: what it answers, and the requests that it got.
const asked = '0000000a-0000-4000-8000-00000000000a';
const other = '0000000b-0000-4000-8000-00000000000b';
const answers = { read: asked, decided: asked, status: 200 };
const requests: { readonly method: string | undefined; readonly ifMatch: string | undefined }[] = [];
const gateway = useGateway();
const makeProject = useProjects();

function review(id: string, status: string): JsonObject {
  const group = { id: other, group: 'dba', status, forced_review: false, review_date: null, reviewed_by: null };
  return {
    id,
    created_at: '2026-11-20T12:00:00.000Z',
    session: other,
    type: 'onetime',
    status,
    access_duration: 0,
    revoke_at: '',
    review_groups_data: [group],
  };
}

let server: FlakyServer;

beforeAll(async () => {
  server = await startFlakyServer((response, { method, path, headers }) => {
    const isReview = path.startsWith('/reviews/');
    if (isReview) requests.push({ method, ifMatch: headers['if-match'] });
    const status = isReview ? (method === 'PUT' ? answers.status : 200) : 404;
    response.writeHead(status, { 'content-type': 'application/json', server: 'ostiary/0.1.0', ETag: '"seven"' });
    const body = method === 'PUT' ? review(answers.decided, 'APPROVED') : review(answers.read, 'PENDING');
    response.end(JSON.stringify(isReview && status === 200 ? body : { message: 'no' }));
  });
});
afterAll(() => server.close());

function approve(): Promise<Ended> {
  requests.length = 0;
  return gateway.run(`review approve ${asked} --url ${server.url} --dialect interface`, makeProject({}));
}

test('the decision names the version that was shown', async () => {
  Object.assign(answers, { read: asked, decided: asked, status: 200 });
  expect((await approve()).code).toBe(0);
  expect(requests).toEqual([
    { method: 'GET', ifMatch: undefined },
    { method: 'PUT', ifMatch: '"seven"' },
  ]);
});

test.each([
  ['a review that changed meanwhile', { status: 412 }, /error review\/changed .*the review changed after it was shown/, 'GET PUT'],
  ['another review in the answer to the read', { read: other }, /error review\/other-review .*the gateway returned another review/, 'GET'],
  [
    'another review in the answer to the decision',
    { decided: other },
    /error review\/other-review .*the gateway answered with another review/,
    'GET PUT',
  ],
])('%s is an error', async (_, answer, message, sent) => {
  Object.assign(answers, { read: asked, decided: asked, status: 200 }, answer);
  const { code, stderr } = await approve();
  expect([code, stderr]).toEqual([6, expect.stringMatching(message)]);
  expect(requests.map(({ method }) => method).join(' ')).toBe(sent);
});
