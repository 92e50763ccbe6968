import { expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { ostiary, type Ended, type Run } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { cut, json, reset, startFlakyServer, text, type FlakyServer, type Reply } from '../../support/flaky-server.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { startFaultProxy } from '../../torture/fault-proxy.ts';
import { config, connection, guardrail, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
const repositories = useRepositories();
const token = 'canary-token-of-the-tests';
const env = { OSTIARY_TOKEN: token };

/** Runs plan in the given way, and apply and get in this process, against a gateway that does not answer as it should. */
async function runAll(server: FlakyServer, plans: Run): Promise<readonly Ended[]> {
  const cwd = makeProject({ 'ostiary.yaml': config(server.url), 'access/rule.yaml': guardrail('no-drop') });
  const all = [
    [plans, ['plan']],
    [ostiaryInProcess, ['apply', '--yes']],
    [ostiaryInProcess, ['get', 'connections']],
  ] as const;
  const ended = await Promise.all(all.map(([runs, args]) => runs(args, { cwd, env })));
  await server.close();
  return ended;
}

/** What one line says, perhaps with a hint below it, and nothing else; the token never. */
function complaint(code: string, says: RegExp): RegExp {
  return new RegExp(`^error ${code} {2}(?!.*${token})${says.source}.*\\n(?: {2}hint: (?!.*${token}).*\\n)?$`);
}

type Failure = readonly [what: string, reply: Reply, code: string, says: RegExp];
const page = { data: [{ id: '11111111-1111-4111-8111-111111111111', name: 'one' }], pages: { page: 1, size: 1, total: 2 } };
const same = [1, 2].map(() => ({ id: '11111111-1111-4111-8111-111111111111', name: 'one' }));

/** Says who it is, then answers every list so. */
function lists(reply: Reply): Reply {
  return (response, seen) => (seen.path === '/serverinfo' ? json(200, { role: 'admin' }) : reply)(response, seen);
}

/** Shows no dialect, and answers every list so. */
function unnamed(reply: Reply): Reply {
  return (response, seen) => (seen.path === '/serverinfo' ? json(200, {}) : reply)(response, seen);
}

// Each code has a test of its own in unit/gateway.
const failures: readonly Failure[] = [
  ['401 that repeats the token', json(401, { message: `no key ${token}` }), 'api/unauthorized', /GET \S+\/serverinfo: .*401/],
  ['404', json(404, { message: 'not found' }), 'api/not-a-gateway', /GET \S+\/[\w-]+: .*\(404/],
  [
    'lists that nest 100,000 deep in a field that no kind has',
    lists(text(200, `[{"id":"1","name":"one","other":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`)),
    'api/too-large',
    /GET \S+\/[\w-]+: the answer is too large \(more than 128 levels of nesting\)/,
  ],
  // security: gateway
  ['a list with an id twice', lists(json(200, same)), 'api/list-not-whole', /GET \S+\/[\w-]+: incomplete listing: .*; nothing was changed/],
  [
    'pages that do not arrive',
    lists(json(200, page)),
    'api/list-not-whole',
    /GET \S+\/[\w-]+: incomplete listing: .*; nothing was changed/,
  ],
];

const broken: readonly (readonly [what: string, start: () => Promise<FlakyServer>, code: string, says: RegExp])[] = [
  [
    'no server listens',
    closed,
    'api/unreachable',
    /GET http:\/\/127\.0\.0\.1:\d+\/serverinfo: connection refused by 127\.0\.0\.1:\d+; tried 5 times/,
  ],
  ['the answer is cut', () => startFlakyServer(lists(cut('[{'))), 'api/unreachable', /GET \S+\/[\w-]+: .*; tried 5 times/],
];

async function closed(): Promise<FlakyServer> {
  const server = await startFlakyServer(reset);
  await server.close();
  return { ...server, close: () => Promise.resolve() };
}

/** Every command ends with the complaint, and none of them writes. */
async function expectComplaint(server: FlakyServer, says: RegExp, runs: Run): Promise<void> {
  const failed = { code: 4, stdout: '', stderr: expect.stringMatching(says) };
  expect(await runAll(server, runs)).toMatchObject([failed, failed, failed]);
  expect(server.seen.filter((one) => one.method !== 'GET')).toEqual([]);
}

test.concurrent.each(broken)('%s: exit 4 with the request', async (_what, start, code, says) => {
  // How a connection breaks is the process's own affair too.
  await expectComplaint(await start(), complaint(code, says), ostiary);
});

test.concurrent.each(failures)('%s: exit 4 with the request, and nothing is written', async (_what, reply, code, says) => {
  await expectComplaint(await startFlakyServer(reply), complaint(code, says), ostiaryInProcess);
});

// security: gateway
test('a gateway that names targets, limits, overrides and a record, and redirects, decides none of them', async () => {
  const ref = 'refs/ostiary/applied/production';
  const trap = await startFlakyServer(json(200, []));
  const proxy = await startFaultProxy(gateway.url(), () => Promise.resolve());
  const file = config(proxy.url).replace("' }", "', limits: { from: 1, updates: 10% } }");
  const ours = repositories.make({ 'ostiary.yaml': file, 'access/a.yaml': connection('hostile') });
  const origin = repositories.makeOrigin(ours);
  const run = (line: string): Promise<Ended> => gateway.run(line, ours.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const recorded = origin.git('rev-parse', ref);
  ours.save({ 'access/a.yaml': connection('hostile', { reviewers: ['dba'] }) });
  ours.git('push', '--quiet', 'origin', 'main');

  const orders = {
    targets: { production: { url: trap.url, limits: { updates: '100%' } } },
    limits: { from: 1000, updates: '100%' },
    allow: ['plan/too-many-updates=the gateway wants it'],
    record: { commit: '1'.repeat(40), lease: null },
  };
  const obey = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(obey) : typeof value === 'object' && value !== null ? { ...value, ...orders } : value;
  proxy.disturb(async ({ method, path, forward, send }) => {
    const location = { location: `${trap.url}${path}`, 'x-ostiary-allow': orders.allow[0] };
    if (method !== 'GET') return send({ status: 307, headers: location, body: Buffer.alloc(0) });
    const { status, headers, body } = await forward();
    const { 'content-length': _, ...rest } = headers;
    send({ status, headers: { ...rest, ...location }, body: Buffer.from(JSON.stringify(obey(JSON.parse(body.toString())))) });
  });
  for (const line of ['plan', 'apply --yes'])
    expect(await run(line)).toMatchObject({ code: 6, stdout: expect.stringContaining('plan/too-many-updates') });
  expect(origin.git('rev-parse', ref)).toBe(recorded);
  expect((await run('apply --yes --allow plan/too-many-updates=tested')).code).not.toBe(0);
  expect(trap.seen).toEqual([]);
  expect(await gateway.reviewersOf('hostile')).toEqual([]);
  proxy.disturb(undefined);
  expect(await run('apply --yes --allow plan/too-many-updates=tested')).toMatchObject({ code: 0 });
  await Promise.all([proxy.close(), trap.close()]);
});

test.each([
  ['a refusal', unnamed(json(403, { message: 'not for you' }))],
  ['no such list', json(404, {})],
])('the error of a gateway that is not recognized names dialect: for %s', async (_, reply) => {
  const server = await startFlakyServer(reply);
  const cwd = makeProject({ 'ostiary.yaml': config(server.url), 'access/rule.yaml': guardrail('no-drop') });
  const { stderr } = await ostiaryInProcess(['plan'], { cwd, env });
  expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(/hint: .*set dialect: interface or hoop in the config/);
  const { stderr: chosen } = await ostiaryInProcess(['plan', '--dialect', 'interface'], { cwd, env });
  expect(chosen).not.toContain('the gateway is not recognized: ');
  await server.close();
});

test('a certificate in NODE_EXTRA_CA_CERTS is trusted', async () => {
  const tls = selfSigned(new Date());
  const server = await startFlakyServer(json(200, []), { tls });
  const cwd = makeProject({ 'ca.pem': tls.cert });
  const url = server.url.replace('127.0.0.1', 'localhost');
  const { code, stderr } = await ostiary(['get', 'agents', '--url', url], { cwd, env: { ...env, NODE_EXTRA_CA_CERTS: 'ca.pem' } });
  await server.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
