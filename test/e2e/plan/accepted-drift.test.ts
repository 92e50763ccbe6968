import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { expectValid } from '../../support/documents.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { useBothDialects, type DialectSide, mainDialect } from '../both-dialects.ts';
import { config, connection, guardrail, type Files } from '../project.ts';

const sides = useBothDialects();
const { make } = useRepositories();

type Ended = ReturnType<typeof ostiaryInProcess>;

/** What a person does on the gateway, and the manifests before and after a pull request that says the same. */
type Story = {
  readonly before: Files;
  readonly byHand: (side: DialectSide) => Promise<void>;
  readonly after: Files;
  readonly risk: string;
  readonly says: string;
  /** The changes that apply writes besides. */
  readonly writes?: number;
};

const reviewed = { reviewers: ['dba'], access_max_duration: 3600 };
const already = 'in the manifests; the gateway already has the change (changed outside Ostiary';

const stories: Readonly<Record<string, Story>> = {
  'a lost review': {
    before: { 'access/a.yaml': connection('lost', reviewed) },
    byHand: ({ tamper }) => tamper('/connections/lost', { reviewers: [] }),
    after: { 'access/a.yaml': connection('lost', { ...reviewed, reviewers: [] }) },
    risk: 'weakens',
    says: `loses review ${already}`,
  },
  'a lost review beside a stricter field': {
    before: { 'access/a.yaml': connection('beside', reviewed) },
    byHand: ({ tamper }) => tamper('/connections/beside', { reviewers: [] }),
    after: { 'access/a.yaml': connection('beside', { access_max_duration: 600 }) },
    risk: 'weakens',
    says: `loses review ${already}`,
    writes: 1,
  },
  'a lost review and a stricter field, both by hand': {
    before: { 'access/a.yaml': connection('mixed', reviewed) },
    byHand: ({ tamper }) => tamper('/connections/mixed', { reviewers: [], access_max_duration: 600 }),
    after: { 'access/a.yaml': connection('mixed', { access_max_duration: 600 }) },
    risk: 'weakens',
    says: `loses review ${already}`,
  },
  'a rule that was deleted': {
    before: {
      'access/a.yaml': connection('bare', reviewed),
      'access/r.yaml': guardrail('gone-rule', ['DROP'], { connection_ids: ['bare'] }),
    },
    byHand: (side) => remove(side, '/guardrails', 'gone-rule'),
    after: { 'access/a.yaml': connection('bare', reviewed) },
    risk: 'weakens',
    says: `loses guardrail gone-rule ${already}`,
  },
  'a host that was moved': {
    before: { 'access/a.yaml': connection('moved', { ...reviewed, secret: hostOf('canary-old-host') }) },
    byHand: ({ tamper }) =>
      tamper('/connections/moved', { secret: { 'envvar:HOST': base64('canary-new-host'), 'envvar:PASS': base64('canary-pass') } }),
    after: { 'access/a.yaml': connection('moved', { ...reviewed, secret: hostOf('canary-new-host') }) },
    risk: 'reroutes',
    says: 'sends a kept credential to another endpoint or with other settings in the manifests; the gateway already has the change (changed outside Ostiary',
  },
  'a connection that was created without review': {
    before: { 'access/a.yaml': connection('first', reviewed) },
    byHand: (side) => copy(side, 'first', { name: 'second', resource_name: 'second' }),
    after: { 'access/a.yaml': connection('first', reviewed), 'access/b.yaml': connection('second', { access_max_duration: 3600 }) },
    risk: 'exposes',
    says: 'in the manifests; the gateway already gives that access (changed outside Ostiary',
  },
  'a connection that was created in the resource of another one': {
    before: { 'access/a.yaml': connection('shared', reviewed) },
    byHand: (side) => copy(side, 'shared', { name: 'third' }),
    after: { 'access/a.yaml': connection('shared', reviewed), 'access/b.yaml': connection('third', { access_max_duration: 3600 }) },
    risk: 'weakens',
    says: 'joins another resource, whose secrets the sessions inherit in the manifests; the gateway already has the change',
  },
};

async function copy({ send }: DialectSide, name: string, more: JsonObject): Promise<void> {
  const { id: _, ...body } = { ...Object((await send('GET', `/connections/${name}`)).body) };
  expect((await send('POST', '/connections', { ...body, ...more, reviewers: [] })).status).toBe(201);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function hostOf(host: string): JsonObject {
  return { 'envvar:HOST': { value: host }, 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } };
}

function passwordOf(pass: JsonObject): Files {
  return { 'access/a.yaml': connection('inlined', { secret: { 'envvar:PASS': pass } }) };
}

async function remove({ send }: DialectSide, path: string, name: string): Promise<void> {
  const { body } = await send('GET', path);
  const found: unknown = Array.isArray(body) ? body.find((one) => Object(one).name === name) : undefined;
  expect((await send('DELETE', `${path}/${Object(found).id}`)).status).toBe(204);
}

function runAs(token: string, line: string, { folder }: TestRepository): Ended {
  return ostiaryInProcess(line.split(' '), { cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: token, OSTIARY_SECRET_PASS: 'canary-pass' } });
}

function digestIn(text: string): string {
  return /Digest ([0-9a-f]{64})\n/.exec(text)?.[1] ?? '';
}

describe.each(mainDialect(Object.entries(sides)))('drift that the manifests accept, on the dialect %s', (dialect, open) => {
  let side: DialectSide;
  beforeAll(async () => {
    side = await open();
  });

  /** Returns a repository whose pull request accepts what was done by hand. */
  async function accept({ before, byHand, after }: Pick<Story, 'before' | 'byHand' | 'after'>): Promise<TestRepository> {
    const repository = make({ 'ostiary.yaml': config(side.url).replace("' }", "', prune: true }"), ...before });
    expect(await runAs(side.admin, 'apply --yes', repository)).toMatchObject({ code: 0 });
    await byHand(side);
    for (const path of Object.keys(before)) if (!Object.hasOwn(after, path)) repository.remove(path);
    repository.save(after);
    return repository;
  }

  test.each(Object.entries(stories))('%s is in the plan; the apply writes nothing for it, and is its end', async (_name, story) => {
    const repository = await accept(story);
    const { says, risk, writes = 0 } = story;
    const planned = await runAs(side.admin, 'plan --own HEAD~1 --detailed-exitcode', repository);
    expect([planned.code, planned.stdout.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(says)]);
    expect(planned.stdout).toMatch(writes === 0 ? /Nothing to write: 1 drift accepted/ : /1 to update, 1 drift accepted/);
    expect(planned.stdout).toContain(`risk: ${risk} (`);
    expect(planned.stdout).toContain('accepted by this pull request; ');
    expect(planned.stdout).not.toMatch(/matches the manifests|canary/);
    expect(planned.stdout).toMatch(dialect === 'interface' ? /outside Ostiary by ada, 20\d\d-/ : /outside Ostiary by \S+, 20\d\d-/);
    const refused = await runAs(side.auditor, 'plan --max-risk neutral', repository);
    expect([refused.code, refused.stdout]).toEqual([6, expect.stringContaining('Refused: risk/')]);
    const digest = digestIn(planned.stdout);
    expect(digestIn(refused.stdout)).toBe(digest);
    const applied = await runAs(side.admin, `apply --yes --digest ${digest}`, repository);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining(writes === 0 ? 'nothing to do' : '1 updated')]);
    expect((await runAs(side.admin, 'plan --detailed-exitcode', repository)).stdout).toContain(
      'No changes. The gateway matches the manifests',
    );
    expect((await runAs(side.admin, 'drift', repository)).code).toBe(0);
  });

  test('every report and explain state it; a saved plan keeps it', async () => {
    const repository = await accept({
      before: { 'access/a.yaml': connection('reported', reviewed) },
      byHand: ({ tamper }) => tamper('/connections/reported', { reviewers: [] }),
      after: { 'access/a.yaml': connection('reported', { access_max_duration: 3600 }) },
    });
    const { stdout } = await runAs(side.admin, 'plan --format json --quiet', repository);
    expectValid('plan', stdout);
    const entry = { id: 'Connection/reported', action: 'update', risks: [{ code: 'risk/review', class: 'weakens' }] };
    expect(JSON.parse(stdout).plans).toMatchObject([{ changes: [], accepted: [entry], counts: { accepted: 1 }, maxRisk: 'weakens' }]);
    const formats = { markdown: 'md', html: 'html' };
    const reports = Object.entries(formats).map(([format, end]) => `--report ${format}=out.${end}`);
    const planned = await runAs(side.admin, `plan --out saved.json ${reports.join(' ')}`, repository);
    expect(planned).toMatchObject({ code: 0 });
    for (const end of Object.values(formats)) {
      const text = readFileSync(join(repository.folder, `out.${end}`), 'utf8');
      expect([end, text]).toEqual([end, expect.stringMatching(/accept|loses review in the manifests/)]);
      expect(text).not.toContain('matches the manifests');
    }
    const explained = await runAs(side.admin, 'explain Connection/reported', repository);
    expect(explained.stdout).toContain(
      'nothing to write: the gateway matches the manifest; the manifests accept drift: changed outside Ostiary',
    );
    expect(await runAs(side.admin, 'apply --yes --plan saved.json', repository)).toMatchObject({ code: 0 });
    expect((await runAs(side.admin, 'plan', repository)).stdout).toContain('No changes.');
  });

  test('not a secret whose source alone changes: its value in a manifest, and back', async () => {
    const [referring, inlined] = [passwordOf({ valueFrom: { env: 'OSTIARY_SECRET_PASS' } }), passwordOf({ value: 'canary-pass' })];
    const repository = await accept({ before: referring, byHand: async () => {}, after: inlined });
    const planned = async (): Promise<string> => (await runAs(side.admin, 'plan --own HEAD~1', repository)).stdout;
    const first = await planned();
    expect(first).toContain(
      'Nothing to write: 1 manifest that changes nothing on the gateway, 1 changed secret that the gateway has already, or keeps',
    );
    expect(first).toContain('weakens (secret-inlined)');
    expect(await runAs(side.admin, 'apply --yes', repository)).toMatchObject({ code: 0 });
    repository.save(referring);
    const back = await planned();
    expect(back).toContain('strengthens (secret-referenced)');
    expect(`${first}${back}`).not.toMatch(/outside Ostiary|canary/);

    expect(await runAs(side.admin, 'apply --yes', repository)).toMatchObject({ code: 0 });
    await side.tamper('/connections/inlined', { secret: { 'envvar:PASS': base64('canary-other') } });
    repository.save(passwordOf({ value: 'canary-other' }));
    expect(await planned()).toContain('accepted by this pull request; changed outside Ostiary');
  });
});
