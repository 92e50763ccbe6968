import { beforeAll, describe, expect, test } from 'vitest';
import { config, connection } from '../e2e/project.ts';
import { open } from '../support/access-project.ts';
import { adminToken, auditorToken, type CommandResult, hoopProject } from '../support/hoop-project.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';

const repositories = useHoopRepositories();

const canary = 'canary-of-a-credential';

const federation = {
  hook_source: 'builtin',
  builtin_provider: 'gcp_oauth',
  admin_credentials_json: JSON.stringify({ client_id: 'a', client_secret: canary }),
  identity_source_attribute: '$.user.email',
  identity_target_template: '{user.email}',
  fallback_policy: 'deny',
  token_ttl_seconds: 3600,
  extra_config: { project_id: 'orders' },
};

const path = '/connections/orders-bq/federation';

type FederatedProject = HoopRepository & {
  /** Sends a request of another admin, which has to succeed. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<void>;
};

/** A project whose connections, one to BigQuery and one to another database, were applied. */
async function appliedProject(): Promise<FederatedProject> {
  const project = await hoopProject();
  const repository = await repositories.apply(project, {
    'ostiary.yaml': config(project.url),
    'access/orders-bq.yaml': connection('orders-bq', { ...open, type: 'custom', subtype: 'bigquery', command: ['bq', 'query'] }),
    'access/orders-db.yaml': connection('orders-db', open),
  });
  const send: FederatedProject['send'] = async (method, to, body) => {
    const { status, body: answer } = await project.send(method, to, body);
    expect([method, to, answer, status < 300]).toEqual([method, to, answer, true]);
  };
  return { ...repository, send };
}

function oneLine({ stdout }: CommandResult): string {
  return stdout.replaceAll(/\s+/g, ' ');
}

function federationReads({ requests }: CommandResult): readonly string[] {
  return requests.filter((request) => request.includes('/federation'));
}

describe('a change by hand of a federation is drift', () => {
  let project: FederatedProject;
  beforeAll(async () => {
    project = await appliedProject();
  });

  const put =
    (fields: Partial<typeof federation>) =>
    ({ send }: FederatedProject): Promise<void> =>
      send('PUT', path, { ...federation, ...fields });

  const lost = 'orders-bq loses its federation: everybody works in the cloud with the shared credential';

  test.each<readonly [string, (one: FederatedProject) => Promise<void>, readonly string[]]>([
    ['it is created', put({}), ['orders-bq gains a federation', '+ Federation/orders-bq: created', 'orders-bq gains a federation']],
    [
      'its fallback becomes the shared credential',
      put({ fallback_policy: 'static' }),
      [
        'orders-bq opens with the shared credential for people without an identity in the cloud.',
        '~ Federation/orders-bq: changed fallback_policy deny → static',
        'orders-bq opens with the shared credential for people without an identity in the cloud',
      ],
    ],
    [
      'its fallback becomes a refusal',
      put({}),
      ['orders-bq no longer opens with the shared', 'fallback_policy static → deny', 'orders-bq no longer opens with the shared'],
    ],
    [
      'people become another identity',
      put({ identity_target_template: 'admin@orders.example' }),
      [
        '~ Federation/orders-bq: changed identity_target_template "{user.email}" → admin@orders.example',
        'changes the identity of people in the cloud in a way that cannot be compared',
      ],
    ],
    [
      'another provider',
      put({ identity_target_template: 'admin@orders.example', builtin_provider: 'gcp_iam' }),
      ['builtin_provider gcp_oauth → gcp_iam', 'changes the identity of people in the cloud in a way that cannot be compared'],
    ],
    ['it is removed', ({ send }) => send('DELETE', path), ['orders-bq loses its federation', '- Federation/orders-bq: deleted', lost]],
  ])('%s', async (_, change, texts) => {
    const { run } = project;
    await change(project);
    const drift = await run('drift');
    expect(drift.code).toBe(2);
    for (const text of texts) expect(oneLine(drift)).toContain(text);
    expect((await run('plan')).stdout).not.toContain(canary);
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    expect(await run('drift')).toMatchObject({ code: 0 });
  });
});

test('a federation is read of connections to BigQuery alone, and its credential nowhere', async () => {
  const { run, send, project, repository } = await appliedProject();
  const none = await run('plan');
  expect(none.stdout).not.toContain('ederation');
  expect(federationReads(none)).toEqual([expect.stringMatching(/^GET \/api\/connections\/[0-9a-f-]{36}\/federation/)]);
  await send('PUT', path, federation);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const listed = await project.ostiary(['get', 'federations', '--format', 'json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'orders-bq', connections: ['orders-bq'], fallback_policy: 'deny' }]);
  const record = repository.git('log', '-1', '--format=%B', 'refs/ostiary/applied/production');
  expect(record).toContain('"identity_target_template":"{user.email}"');
  expect(record + listed.stdout).not.toContain(canary);
});

test('a token that may not read federations says so, and claims no change', async () => {
  const { run, send } = await appliedProject();
  await send('PUT', path, federation);
  expect(await run('apply --yes', adminToken)).toMatchObject({ code: 0 });
  await send('DELETE', path);
  const hidden = await run('drift', auditorToken);
  expect([hidden.code, oneLine(hidden)]).toEqual([
    0,
    expect.stringMatching(/The role auditor cannot read (\w+, )*Federation(, \w+)*, only admin can: changes of these are not reported/),
  ]);
  expect(oneLine(hidden)).not.toContain('Federation/orders-bq');
  expect(await run('drift')).toMatchObject({ code: 2 });
});

test('a connection that Ostiary deletes takes its federation with it', async () => {
  const { run, send, repository } = await appliedProject();
  await send('PUT', path, federation);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  repository.git('rm', '--quiet', 'access/orders-bq.yaml');
  repository.commit();
  expect(await run('apply --yes --prune')).toMatchObject({ code: 0 });
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on production.') });
  repository.git('revert', '--no-edit', 'HEAD');
  expect((await run('plan')).stdout).not.toContain('Federation/');
});

test('a connection that others deleted comes back without its federation, and the plan says so', async () => {
  const { run, send } = await appliedProject();
  await send('PUT', path, federation);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  await send('DELETE', '/connections/orders-bq');
  const plan = await run('plan');
  expect(oneLine(plan)).toContain('- Federation/orders-bq: deleted');
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('drift')).toMatchObject({ code: 0 });
});
