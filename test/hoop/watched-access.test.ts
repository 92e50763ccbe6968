import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { config, connection, guardrail, manifest } from '../e2e/project.ts';
import { type CommandResult, hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { expectValid } from '../support/documents.ts';
import { open } from '../support/access-project.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';
import { type TestRepository } from '../support/repository.ts';

const repositories = useHoopRepositories();

const canary = 'canary-of-a-description';

const jit = {
  name: 'prod-jit',
  description: canary,
  access_type: 'jit',
  connection_names: ['orders-db'],
  attributes: [],
  approval_required_groups: [],
  reviewers_groups: ['dba', 'security'],
  force_approval_groups: [],
  skip_review_groups: [],
  min_approvals: 2,
  access_max_duration: 3600,
};

const runbook = {
  name: 'nightly',
  description: canary,
  runbooks: [{ repository: 'github.com/acme/ops', name: 'ops/' }],
  connections: ['orders-db'],
  user_groups: ['sre'],
};

const analyzer = {
  name: 'risky',
  description: canary,
  custom_prompt: canary,
  connection_names: ['orders-db'],
  risk_evaluation: {
    low_risk: { action: 'allow_execution' },
    medium_risk: { action: 'allow_execution' },
    high_risk: { action: 'block_execution' },
  },
};

/** A project in git whose manifests were applied to a model of the public gateway. */
type WatchedProject = HoopRepository & {
  /** Sends a request of another admin, which has to succeed. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>;
  readonly uidOf: (connection: string) => string | undefined;
};

async function appliedProject(more = ''): Promise<WatchedProject> {
  const project = await hoopProject({ rulepacks: 'default' });
  project.model.settings.listeners = true;
  const repository = await repositories.apply(project, {
    'ostiary.yaml': `${config(project.url)}${more}`,
    'access/orders.yaml': connection('orders-db', { ...open, attributes: ['pii'] }),
    'access/sales.yaml': connection('sales-db', open),
  });
  const send: WatchedProject['send'] = async (method, path, body) => {
    const { status, body: answer } = await project.send(method, path, body);
    expect([method, path, answer, status < 300]).toEqual([method, path, answer, true]);
    return Object(answer);
  };
  return { ...repository, send, uidOf: (name) => project.model.store.connections.get(name)?.id };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Returns a report without its first lines and its end. */
function sectionOf({ stdout }: CommandResult): string {
  return oneLine(stdout.slice(stdout.indexOf('Changed outside Ostiary'))).trim();
}

describe('a change by hand of an object that no manifest declares', () => {
  let watched: WatchedProject;
  beforeAll(async () => {
    watched = await appliedProject();
  });

  type Step = readonly [title: string, change: (one: WatchedProject) => Promise<unknown>, verdict: string, object: string];

  /** Each change, what it does to protection, and the object as the report names it; unit/reconcile/record-content/watched-drift has every list. */
  const steps: readonly Step[] = [
    [
      'the first runbook rule',
      ({ send }) => send('POST', '/runbooks/rules', runbook),
      '2 connections allow only the runbooks of rules',
      '+ RunbookRule/nightly',
    ],
    [
      'an access-request rule is added',
      ({ send }) => send('POST', '/access-requests/rules', jit),
      'orders-db gains approval.',
      '+ AccessRequestRule/prod-jit',
    ],
    [
      'it is weakened',
      ({ send }) => send('PUT', '/access-requests/rules/prod-jit', { ...jit, min_approvals: 1, skip_review_groups: ['sre'] }),
      'people in sre no longer need approval on orders-db.',
      '~ AccessRequestRule/prod-jit',
    ],
    [
      'it is deleted',
      ({ send }) => send('DELETE', '/access-requests/rules/prod-jit'),
      'everybody else no longer needs approval on orders-db; orders-db allows longer access.',
      '- AccessRequestRule/prod-jit',
    ],
    [
      'access control is switched on',
      ({ send, uidOf }) => send('POST', '/plugins', { name: 'access_control', connections: [{ id: uidOf('sales-db'), config: ['sre'] }] }),
      'orders-db is visible to no group: everybody loses access; only sre can reach sales-db.',
      '~ access control: switched on',
    ],
    [
      'the groups of a connection change',
      ({ send, uidOf }) => send('PUT', `/plugins/access_control/conn/${uidOf('sales-db')}`, { config: ['sre', 'interns'] }),
      'interns can reach sales-db.',
      '~ Connection/sales-db',
    ],
    [
      'an attribute grants',
      ({ send }) => send('PUT', '/attributes/pii', { name: 'pii', access_control_group_names: ['interns'] }),
      'interns can reach orders-db.',
      '+ Attribute/pii',
    ],
    [
      'the last runbook rule is deleted',
      ({ send, project }) => send('DELETE', `/runbooks/rules/${[...project.model.store.runbookRules.values()][0]?.id}`),
      '2 connections let everybody with access run every runbook',
      '- RunbookRule/nightly',
    ],
  ];

  test.each(steps)('%s: drift reports it until the next apply records it', async (_, change, verdict, object) => {
    const { run, repository } = watched;
    const before = await run('drift');
    await change(watched);
    const [drift, plan] = [await run('drift'), await run('plan --detailed-exitcode')];
    const apply = await run('apply --yes --report markdown=apply.md');
    const after = await run('drift');
    expect([before.code, drift.code, plan.code, apply.code, after.code]).toEqual([0, 2, 0, 0, 0]);
    const [first = ''] = oneLine(drift.stdout).split(' http');
    const what = object.includes('Connection/') ? 'connection in fields that no manifest states' : 'object that no manifest declares';
    expect(first).toContain(`1 ${what} changed outside Ostiary.`);
    for (const text of [first, sectionOf(drift), oneLine(plan.stdout)])
      expect(text.toLowerCase()).toContain((text === first ? verdict : object).toLowerCase());
    expect(oneLine(plan.stdout).toLowerCase()).toContain(
      `1 change outside ostiary that manifests do not declare: ${verdict.toLowerCase()}`,
    );
    expect(apply.stdout.match(/in no manifest/g)).toHaveLength(1);
    expect(readFileSync(join(repository.folder, 'apply.md'), 'utf8')).toContain('in no manifest: 1 change');
  });
});

function packId({ model }: HoopProject): string | undefined {
  return [...model.store.rulepacks.values()].find(({ displayName }) => displayName === 'PostgreSQL Security Pack')?.id;
}

/** Makes one object of each list by hand, most of them on both connections. */
async function fillLists({ send, project, uidOf }: WatchedProject): Promise<void> {
  const names = ['orders-db', 'sales-db'];
  await send('POST', '/access-requests/rules', { ...jit, connection_names: names });
  await send('POST', '/runbooks/rules', { ...runbook, connections: names });
  await send('POST', '/ai/session-analyzer/rules', { ...analyzer, connection_names: names });
  await send('POST', `/rulepacks/${packId(project)}/apply`, { connection_names: names });
  await send('POST', '/machineidentities', { name: 'deployer', connection_names: names, attributes: ['pii'] });
  const rows = names.map((name) => ({ id: uidOf(name), config: ['payments', 'sre'] }));
  await send('POST', '/plugins', { name: 'access_control', connections: rows });
  await send('PUT', '/attributes/pii', { name: 'pii', access_control_group_names: ['interns'] });
}

/** Returns the record of applies as git has it. */
function recordIn({ git }: TestRepository): string {
  return git('log', '-1', '--format=%B', 'refs/ostiary/applied/production');
}

test('what Ostiary itself creates, changes, replaces and deletes is no change of these objects', async () => {
  const watched = await appliedProject();
  const { repository, run } = watched;
  await fillLists(watched);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const pii = { supported_entity_types: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }], attributes: ['pci', 'pii'] };
  const states: readonly (() => void)[] = [
    () => {
      repository.write({
        'access/new.yaml': connection('new-db', { ...open, attributes: ['pii', 'fresh'] }),
        'access/rule.yaml': guardrail('no-drop', ['DROP'], { attributes: ['pii', 'pci'] }),
        'access/mask.yaml': manifest('DataMaskingRule', 'pii', pii),
      });
    },
    () => {
      repository.write({
        'access/orders.yaml': connection('orders-db', { ...open, attributes: ['pci'], reviewers: ['dba'] }),
        'access/rule.yaml': guardrail('no-drop', ['DROP', 'TRUNCATE'], { attributes: ['fresh'] }),
      });
    },
    () => {
      repository.remove('access/sales.yaml', 'access/mask.yaml');
      repository.write({ 'access/shop.yaml': connection('shop-db', { ...open, attributes: ['pii'] }, { replaces: 'sales-db' }) });
    },
    () => repository.remove('access/orders.yaml', 'access/rule.yaml', 'access/new.yaml'),
  ];
  for (const change of states) {
    change();
    repository.commit();
    const applied = await run('apply --yes --prune --allow plan/replaces-references=tested');
    expect([applied.code, applied.stdout]).toEqual([0, expect.not.stringContaining('in no manifest')]);
    const drift = await run('drift');
    expect([drift.code, drift.stdout]).toEqual([0, expect.stringContaining('No drift on production.')]);
  }
  expect([...watched.project.model.store.connections.keys()]).toEqual(['shop-db']);
});

test('the record has names and groups of these objects, and no description or prompt', async () => {
  const watched = await appliedProject();
  await fillLists(watched);
  expect(await watched.run('apply --yes')).toMatchObject({ code: 0 });
  const record = recordIn(watched.repository);
  for (const part of ['"prod-jit"', '"nightly"', '"risky"', '"deployer"', '"payments"', '"interns"', 'PostgreSQL Security Pack'])
    expect(record).toContain(part);
  expect(record).not.toContain(canary);
  expect(JSON.parse(record.slice(record.indexOf('{'))).access['access-control']).toEqual(
    ['orders-db', 'sales-db'].map((name) => ({ id: watched.uidOf(name), access_groups: ['payments', 'sre'] })),
  );
});

describe('a change that drift reports', () => {
  let watched: WatchedProject;
  beforeAll(async () => {
    watched = await appliedProject();
    await watched.send('POST', '/access-requests/rules', jit);
    await watched.run('apply --yes');
    await watched.send('DELETE', '/access-requests/rules/prod-jit');
  });

  test('is not reverted, adopted, or accepted by a part of the manifests', async () => {
    const { run, project } = watched;
    const requests = project.model.log.requests.length;
    expect(await run('drift --revert --yes')).toMatchObject({ code: 2 });
    expect(await run('drift --adopt --yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Ostiary never writes these; '),
    });
    expect(await run('apply --yes --only Connection/orders-db')).toMatchObject({ code: 0 });
    expect(await run('apply --yes --base none')).toMatchObject({ code: 0 });
    expect(await run('drift')).toMatchObject({ code: 2 });
    expect(project.model.log.requests.slice(requests).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('is in every format of plans and drifts, and does not change the digest', async () => {
    const { run, repository, send } = watched;
    for (const command of ['plan', 'drift'] as const) {
      // A drift has no page.
      const formats = ['json', 'markdown', ...(command === 'plan' ? ['html'] : [])];
      await run(`${command} ${formats.map((format) => `--report ${format}=${command}.${format}`).join(' ')}`);
      const [json = '', ...texts] = formats.map((format) => readFileSync(join(repository.folder, `${command}.${format}`), 'utf8'));
      expectValid(command, json);
      for (const text of texts) {
        expect(text).toContain('Changed outside Ostiary, in no manifest: 1 change');
        expect(oneLine(text.replaceAll(/[\\`]/g, ''))).toContain('AccessRequestRule/prod-jit: deleted');
        expect(text).toContain('1 connection loses approval');
      }
      const document = JSON.parse(json);
      const { outside } = command === 'plan' ? document.plans[0] : document.drifts[0].plan;
      expect(outside).toMatchObject({
        changes: [{ id: 'AccessRequestRule/prod-jit', happened: 'deleted' }],
        headlines: [{ direction: 'weakens', connections: ['Connection/orders-db'] }],
        unreadable: [],
        unrecorded: [],
      });
    }
    const digestOf = async (): Promise<unknown> => JSON.parse((await run('plan --format json')).stdout).plans[0].digest;
    const before = await digestOf();
    await send('POST', '/runbooks/rules', runbook);
    expect(await digestOf()).toBe(before);
  });
});

test('a flag that decides whether guardrails are enforced is watched; one that protects nothing is not', async () => {
  const { run, send } = await appliedProject();
  await send('PUT', '/feature-flags/experimental.tunnel_token_renewal', { enabled: true });
  expect(await run('drift')).toMatchObject({ code: 0 });
  await send('PUT', '/feature-flags/experimental.ssh_guardrails', { enabled: true });
  const on = await run('drift');
  expect([on.code, sectionOf(on)]).toEqual([2, expect.stringContaining('~ FeatureFlag/experimental.ssh_guardrails: changed')]);
  expect(sectionOf(on)).toContain('enabled false → true');
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('drift')).toMatchObject({ code: 0 });
  await send('PUT', '/feature-flags/experimental.ssh_guardrails', { enabled: false });
  expect(sectionOf(await run('drift'))).toContain('enabled true → false');
  expect((await run('get feature-flags')).stdout).toMatch(/experimental\.ssh_guardrails\s+no/);
});

describe('a change by hand of a connection without a manifest', () => {
  let one: WatchedProject;
  beforeAll(async () => {
    one = await appliedProject();
    const { body } = await one.project.send('GET', '/connections/sales-db');
    await one.send('POST', '/connections', { ...Object(body), name: 'legacy-db', reviewers: ['dba'], attributes: [] });
    await one.send('POST', '/plugins', { name: 'access_control', connections: [{ id: one.uidOf('legacy-db'), config: ['sre'] }] });
    await one.send('PUT', '/attributes/pii', { name: 'pii', access_control_group_names: ['interns'] });
    await one.run('apply --yes');
  });

  async function edit(more: object): Promise<void> {
    const { body } = await one.project.send('GET', '/connections/legacy-db');
    await one.send('PUT', '/connections/legacy-db', { ...Object(body), ...more });
  }

  type Step = readonly [title: string, change: () => Promise<unknown>, verdict: string, object: RegExp];

  const steps: readonly Step[] = [
    [
      'it gets an attribute',
      async () => edit({ attributes: ['pii'] }),
      'interns can reach legacy-db',
      /~ Connection\/legacy-db: changed attributes \+ pii/,
    ],
    [
      'it loses the attribute and a group',
      async () => {
        await edit({ attributes: [] });
        await one.send('PUT', `/plugins/access_control/conn/${one.uidOf('legacy-db')}`, { config: [] });
      },
      'legacy-db is visible to no group: interns and sre lose access',
      /1 change[^s].*~ Connection\/legacy-db: changed access_groups - sre attributes - pii/,
    ],
  ];

  test.each(steps)('%s: drift reports it until the next apply records it', async (_, change, verdict, object) => {
    const before = await one.run('drift');
    await change();
    const drift = await one.run('drift');
    expect([before.code, drift.code, await one.run('apply --yes')]).toEqual([0, 2, expect.objectContaining({ code: 0 })]);
    expect(oneLine(drift.stdout)).toContain(verdict);
    expect(sectionOf(drift)).toMatch(object);
    expect(await one.run('drift')).toMatchObject({ code: 0 });
  });

  test('an attribute that is renamed takes nothing from it, and gives it nothing', async () => {
    await edit({ attributes: ['pii'] });
    expect(await one.run('apply --yes')).toMatchObject({ code: 0 });
    await one.send('PUT', '/attributes/pii', { name: 'cards', access_control_group_names: ['interns'] });
    const { outside } = JSON.parse((await one.run('drift --format json')).stdout).drifts[0].plan;
    expect(outside).toMatchObject({ headlines: [], changes: [{ id: 'Attribute/cards', fields: [{ path: '/name' }] }] });
  });
});
