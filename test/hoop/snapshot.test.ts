import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { decryptBytes, encryptBytes } from '../../src/disk/sealed-cache.ts';
import { asArray, asObject, asText, isObject, type JsonObject } from '../../src/model/json.ts';
import { connection, guardrail, type Files } from '../e2e/project.ts';
import { auditorToken, type CommandResult, hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';

const key = 'a-random-text-of-enough-characters-0123';
const canary = 'canary-value-of-a-secret';
const auditor = { OSTIARY_TOKEN: auditorToken, OSTIARY_SNAPSHOT_KEY: key };
const keyAlone = { OSTIARY_TOKEN: '', OSTIARY_SNAPSHOT_KEY: key };
const names = ['orders-db', 'users-db', 'logs-db', 'cache-db'];
const first: Files = {
  ...Object.fromEntries(
    names.map((name) => [`access/${name}.yaml`, connection(name, { secret: { 'envvar:PASS': { value: canary } }, reviewers: ['dba'] })]),
  ),
  'access/no-drop.yaml': guardrail('no-drop', ['DROP'], { connection_ids: names.slice(0, 2) }),
};
const repositories = useHoopRepositories();
let project: HoopProject;

beforeAll(async () => {
  project = await hoopProject();
  project.write(first);
  await project.ostiary(['apply', '--yes', '--quiet']);
  await project.send('POST', '/users', { name: 'Grace', email: 'grace@example.com', slack_id: canary, groups: ['dba'] });
});

const file = (): string => join(project.folder, 'snapshot.bin');
const take = (args: readonly string[] = []): Promise<CommandResult> =>
  project.ostiary(['drift', '--secrets', 'unresolved', '--snapshot', 'snapshot.bin', ...args], auditor);
const plan = (args: readonly string[] = [], env: Readonly<Record<string, string>> = keyAlone): Promise<CommandResult> =>
  project.ostiary(['plan', '--snapshot', 'snapshot.bin', ...args], env);

const sealKey = createHmac('sha256', key).update('ostiary/snapshot/v1').digest();
const head = 'ostiary snapshot\n';

/** Returns the plan of a document without what only one of two plans can have. */
function comparable({ stdout }: CommandResult): unknown {
  const document: unknown = JSON.parse(stdout);
  const [only] = asArray(asObject(document)['plans']);
  const { digest: _, snapshot: __, notCompared, ...rest } = asObject(only);
  const paths = asArray(notCompared).map((one) => ({ ...asObject(one), reason: '' }));
  return { ...rest, notCompared: paths };
}

describe('a plan from a snapshot', () => {
  test.each<readonly [string, Files]>([
    ['no change', {}],
    ['a weaker connection', { 'access/orders-db.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: canary } } }) }],
    ['another host of an inherited secret', { 'access/logs-db.yaml': connection('logs-db', { agent_id: 'other', reviewers: ['dba'] }) }],
    [
      'a new connection and a wider rule',
      {
        'access/new-db.yaml': connection('new-db', { reviewers: ['sre'], attributes: ['pci'] }),
        'access/no-drop.yaml': guardrail('no-drop', ['DROP', 'TRUNCATE'], { connection_ids: [...names, 'new-db'] }),
      },
    ],
    ['a rule that lets more through', { 'access/no-drop.yaml': guardrail('no-drop', ['TRUNCATE'], { connection_ids: [] }) }],
  ])('of %s is that of the gateway, sends nothing, and says its age', async (_, files) => {
    project.write(first);
    expect(await take(['--quiet'])).toMatchObject({ code: 0, stderr: '' });
    project.write(files);
    const read = await project.ostiary(['plan', '--secrets', 'unresolved', '--format', 'json'], auditor);
    const made = await plan(['--format', 'json']);
    expect([made.code, made.requests]).toEqual([read.code, []]);
    expect(comparable(made)).toEqual(comparable(read));
    expect((await plan()).stdout).toMatch(/^Plan for prod from a snapshot \d+ s old: /);
  });

  test('has no value of a secret, and is sealed', async () => {
    project.write(first);
    await take();
    await project.ostiary(['drift', '--snapshot', 'snapshot.bin', '--quiet'], { OSTIARY_SNAPSHOT_KEY: key });
    const sealed = readFileSync(file(), 'latin1');
    const text = inflateRawSync(decryptBytes(sealed.slice(head.length), sealKey) ?? Buffer.alloc(0)).toString();
    expect(JSON.parse(text)).toMatchObject({ target: 'prod', gateway: { dialect: 'hoop' } });
    for (const secret of [canary, Buffer.from(canary).toString('base64'), auditorToken, key]) {
      expect(text).not.toContain(secret);
      expect(sealed).not.toContain(secret);
    }
    expect(sealed).not.toContain('orders-db');
  });
});

/** Seals a snapshot after an edit. */
function resealed(edit: (saved: JsonObject) => JsonObject): string {
  const packed = decryptBytes(readFileSync(file(), 'latin1').slice(head.length), sealKey);
  const saved: unknown = JSON.parse(inflateRawSync(packed ?? Buffer.alloc(0)).toString());
  if (!isObject(saved)) throw new Error('no snapshot');
  return head + encryptBytes(deflateRawSync(JSON.stringify(edit(saved))), sealKey);
}

const taken = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString();

describe('a snapshot is refused', () => {
  beforeAll(async () => {
    project.write(first);
    await take();
  });

  test.each<readonly [string, () => string, string]>([
    [
      'of another target',
      () => resealed((saved) => ({ ...saved, target: 'staging' })),
      'snapshot/other-target  the snapshot is of staging',
    ],
    [
      'of another gateway',
      () => resealed((saved) => ({ ...saved, gateway: { ...asObject(saved['gateway']), url: 'https://other.test' } })),
      'the snapshot is of prod (https://other.test), but this is prod',
    ],
    ['that is old', () => resealed((saved) => ({ ...saved, taken: taken(8) })), 'more than 7 days ago'],
    ['from the future', () => resealed((saved) => ({ ...saved, taken: taken(-1) })), 'which is in the future'],
    ['of another version', () => resealed((saved) => ({ ...saved, tool: '9.9.0' })), 'was taken by Ostiary 9.9.0'],
    ['that is cut short', () => readFileSync(file(), 'latin1').slice(0, -100), 'is not whole, or was changed'],
    [
      'of which a byte was changed',
      () => readFileSync(file(), 'latin1').replace(/.(.{40})$/, (_, end: string) => `~${end}`),
      'was sealed with another key',
    ],
    ['that is empty', () => '', 'is not a snapshot'],
    ['that is a saved plan', () => '{"version":1}', 'is not a snapshot'],
  ])('%s', async (_, text, reason) => {
    const whole = readFileSync(file());
    writeFileSync(file(), text(), 'latin1');
    const ended = await plan();
    writeFileSync(file(), whole);
    expect([ended.code, ended.stdout, ended.stderr, ended.requests]).toEqual([3, '', expect.stringContaining(reason), []]);
  });

  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['without a key', [], { OSTIARY_TOKEN: '' }, 'missing key: snapshots are encrypted'],
    ['with a short key', [], { OSTIARY_SNAPSHOT_KEY: 'short' }, 'has fewer than 32 characters'],
    ['with another key', [], { OSTIARY_SNAPSHOT_KEY: key.replace('0', '1') }, 'was sealed with another key'],
    ['where a plan is to be saved', ['--out', 'plan.json'], keyAlone, '--snapshot and --out cannot be combined'],
    ['where sessions are to be read', ['--replay', '3d'], keyAlone, '--snapshot and --replay cannot be combined'],
    ['where secrets are to be read', ['--secrets', 'resolve'], keyAlone, '--snapshot and --secrets resolve cannot be combined'],
    [
      'where the config names another dialect',
      ['--dialect', 'interface'],
      keyAlone,
      'of a gateway with the dialect hoop, but the target has interface',
    ],
  ])('%s', async (_, args, env, reason) => {
    const ended = await plan(args, env);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([3, '', expect.stringContaining(reason)]);
  });

  test('after another apply, whose writes would be drift', async () => {
    const { run, change } = await repositories.apply(project, first);
    expect(await run('drift --snapshot snapshot.bin --quiet', auditorToken, { OSTIARY_SNAPSHOT_KEY: key })).toMatchObject({ code: 0 });
    expect(await run('plan --snapshot snapshot.bin', '', keyAlone)).toMatchObject({ code: 0 });
    await change({ 'access/orders-db.yaml': connection('orders-db', { reviewers: ['dba', 'sre'] }) });
    const ended = await run('plan --snapshot snapshot.bin', '', keyAlone);
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(/an apply was recorded since the snapshot was taken, at 20/)]);
  });

  test('by an apply, whatever digest its plan shows', async () => {
    project.write({ 'access/orders-db.yaml': connection('orders-db', { reviewers: ['dba', 'sre'] }) });
    const found: unknown = JSON.parse((await plan(['--format', 'json'])).stdout);
    const digest = asText(asObject(asArray(asObject(found)['plans'])[0])['digest']);
    const shown = await plan(['--full']);
    expect([shown.stdout.includes(digest), shown.stdout]).toEqual([false, expect.stringContaining('It approves no apply.')]);
    const applied = await project.ostiary(['apply', '--yes', '--digest', digest], { OSTIARY_SNAPSHOT_KEY: key });
    expect([applied.code, applied.stdout]).toEqual([6, expect.stringContaining('plan/other-digest')]);
    const given = await project.ostiary(['apply', '--yes', '--snapshot', 'snapshot.bin'], { OSTIARY_SNAPSHOT_KEY: key });
    expect([given.code, given.stderr]).toEqual([3, expect.stringContaining('unknown option "--snapshot"')]);
  });
});
