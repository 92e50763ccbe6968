import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AppliedRecord, RecordSignature } from '../../../src/model/applied-record.ts';
import { newRecordKey, readRecordSigner, recordHash, signRecord } from '../../../src/project/record/record-signature.ts';
import { commitRecord } from '../../support/commit-record.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { gitEnv, useRepositories, withPush, type TestRepository } from '../../support/repository.ts';
import { connection, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone, place } = useRepositories();

const [ours, other, next] = [newRecordKey(), newRecordKey(), newRecordKey()];
const ref = 'refs/ostiary/applied/production';

type Key = ReturnType<typeof newRecordKey>;

function configWith(keys: readonly Key[], more = ''): string {
  const record = keys.length === 0 ? '' : `record: { keys: ['${keys.map(({ key }) => key).join("', '")}'] }\n`;
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\n${record}targets:\n  production: { url: '${gateway.url()}' }\n${more}`;
}

const printed: string[] = [];

/** Runs a command, with the private half of a key in the environment. */
async function run(line: string, { folder }: TestRepository, key?: Key): ReturnType<typeof gateway.run> {
  const ended = await gateway.run(line, folder, { ...gitEnv, ...(key === undefined ? {} : { OSTIARY_RECORD_KEY: key.secret }) });
  printed.push(ended.stdout, ended.stderr);
  return ended;
}

type Project = { readonly repository: TestRepository; readonly origin: TestRepository };

/** Makes a project that is pushed and applied with a key. */
async function applied(files: Files, keys: readonly Key[] = [ours], more = ''): Promise<Project> {
  const repository = withPush(make({ 'ostiary.yaml': configWith(keys, more), ...files }));
  const origin = makeOrigin(repository);
  expect(await run('apply --yes --target production', repository, ours)).toMatchObject({ code: 0 });
  return { repository, origin };
}

type SignedRecord = AppliedRecord & { readonly version: number; readonly signature?: RecordSignature };

function recordOf({ git }: TestRepository, at = ref): SignedRecord {
  return JSON.parse(git('log', '-1', '--format=%b', at));
}

function signatureOf(record: SignedRecord): RecordSignature {
  if (record.signature === undefined) throw new Error('the record has no signature');
  return record.signature;
}

/** Pushes a record as anyone could who may push refs. */
function forge(repository: TestRepository, record: SignedRecord | object): void {
  repository.git('push', '--quiet', '--force', 'origin', `${commitRecord(repository, record)}:${ref}`);
}

/** Signs a record with the given key for any subject, as an apply elsewhere would have. */
function signedFor(record: SignedRecord, { url = gateway.url(), name = 'production', key = ours, counter = Date.now() }): object {
  const { signature: _, version: __, ...content } = record;
  const signer = readRecordSigner({ env: { OSTIARY_RECORD_KEY: key.secret } });
  if (typeof signer !== 'object') throw new Error('the key is broken');
  const { content: ___, ...signature } = signRecord(signer, { name, url }, { counter, content: recordHash(content) });
  return { ...record, signature };
}

// security: record-key
describe('a record of which one part was forged', () => {
  let project: Project;
  let genuine: SignedRecord;
  let genuineId: string;
  let first: string;

  beforeAll(async () => {
    project = await applied(
      { 'access/a.yaml': connection('key-a', { reviewers: ['dba'] }), 'access/b.yaml': connection('key-b') },
      [ours],
      "  staging: { url: 'http://127.0.0.1:9' }\n",
    );
    first = project.repository.git('rev-parse', 'HEAD');
    project.repository.save({ 'access/a.yaml': connection('key-a', { reviewers: ['dba', 'sre'] }) });
    await run('apply --yes --target production', project.repository, ours);
    genuine = recordOf(project.repository);
    genuineId = project.repository.git('rev-parse', ref);
  });

  // What else a signature covers: unit/project/record/record-signature.
  const cases: Readonly<Record<string, () => object>> = {
    'the target': () => signedFor(genuine, { name: 'staging' }),
    'the commit': () => ({ ...genuine, commit: first }),
    'the key, signed by the other one': () => signedFor(genuine, { key: other }),
    'no signature': () => ({ ...genuine, signature: undefined }),
  };

  // All commands ask the same question, so for the other parts a plan shows the answer.
  const ofEveryCommand = new Set(['the target', 'no signature']);

  test.each(Object.keys(cases))('is refused: %s', async (name) => {
    const { origin } = project;
    forge(clone(origin), cases[name]?.() ?? {});
    const job = clone(origin);
    expect(await run('plan --target production', job)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    if (!ofEveryCommand.has(name)) return;
    expect(await run('apply --yes --target production', job, ours)).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('git/unsigned-record'),
    });
    const drift = await run('drift --target production --format json', job);
    expect([drift.code, JSON.parse(drift.stdout).drifts[0].unproven]).toEqual([2, expect.stringContaining('the record of "production"')]);
    expect((await run('drift --target production', job)).stdout).not.toContain('No drift');
  });

  // security: record-key
  test('is refused: no ref at all', async () => {
    const { origin, repository } = project;
    repository.git('push', '--quiet', '--force', 'origin', `:${ref}`);
    const job = clone(origin);
    expect(await run('plan --target production', job)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    expect(await run('apply --yes --target production', job, ours)).toMatchObject({ code: 6 });
    expect((await run('drift --target production', job)).code).toBe(2);
  });

  test('is the genuine one again', async () => {
    const { origin, repository } = project;
    repository.git('push', '--quiet', '--force', 'origin', `${genuineId}:${ref}`);
    expect(await run('plan --target production --detailed-exitcode', clone(origin))).toMatchObject({ code: 0, stderr: '' });
    expect(await run('drift --target production', clone(origin))).toMatchObject({ code: 0 });
  });
});

describe('an earlier record', () => {
  // security: record-key
  test('is refused where a later one was seen: in the clone, or in its cache; an override repairs it', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('early-a') });
    const early = repository.git('rev-parse', ref);
    repository.save({ 'access/a.yaml': connection('early-a', { reviewers: ['dba'] }) });
    expect(await run('apply --yes', repository, ours)).toMatchObject({ code: 0 });
    const cache = place();
    expect(await run(`plan --cache ${cache}`, clone(origin))).toMatchObject({ code: 0 });
    repository.git('push', '--quiet', '--force', 'origin', `${early}:${ref}`);

    for (const [job, option] of [
      [repository, ''],
      [clone(origin), ` --cache ${cache}`],
    ] as const) {
      // The second time, the clone has fetched the earlier one.
      for (let count = 0; count < 2; count += 1)
        expect(await run(`plan${option}`, job)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/earlier-record') });
      expect(await run(`apply --yes${option}`, job, ours)).toMatchObject({
        code: 6,
        stdout: expect.stringContaining('git/earlier-record'),
      });
      expect((await run(`drift${option}`, job)).code).toBe(2);
    }
    expect(await run('apply --yes --allow git/earlier-record=repaired', repository, ours)).toMatchObject({ code: 0 });
    for (const [job, option] of [
      [repository, ''],
      [clone(origin), ` --cache ${cache}`],
    ] as const)
      expect(await run(`plan --detailed-exitcode${option}`, job)).toMatchObject({ code: 0 });
  });
});

// security: record-key
describe('the keys that count', () => {
  test('are not those that a branch adds', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('added-key') });
    const theirs = clone(origin);
    theirs.git('checkout', '--quiet', '-b', 'feature');
    theirs.save({ 'ostiary.yaml': configWith([ours, other]) });
    theirs.git('push', '--quiet', 'origin', 'feature');
    forge(theirs, signedFor(recordOf(repository), { key: other }));
    const job = clone(origin, '--branch=feature');
    for (const line of ['plan', 'plan --config-ref origin/main --own origin/main', 'apply --yes'])
      expect(await run(line, job, other)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    const planned = await run('plan --config-ref origin/main', job);
    expect(planned.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `Check changed: record.keys, from ${ours.key} to ${[ours.key, other.key].toSorted().join(', ')}`,
    );
    expect(await run('plan', clone(origin))).toMatchObject({ code: 6 });
  });

  test('are not those of an earlier commit, and not none because it had none', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('old-key') }, []);
    const before = repository.git('rev-parse', 'HEAD');
    repository.save({ 'ostiary.yaml': configWith([other]) });
    const old = repository.git('rev-parse', 'HEAD');
    repository.save({ 'ostiary.yaml': configWith([ours]) });
    expect(await run('apply --yes', repository, ours)).toMatchObject({ code: 0 });
    for (const [commit, forged] of [
      [before, { version: 1, commit: before, orphans: [], pending: [] }],
      [old, signedFor({ version: 1, commit: before, orphans: [], pending: [] }, { key: other })],
    ] as const) {
      forge(repository, forged);
      const rerun = clone(origin);
      rerun.git('checkout', '--quiet', '--detach', commit);
      expect(await run('apply --yes', rerun, other)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    }
  });

  test('are those of origin for an apply in a clone that does not know them yet', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('stale-key') });
    const stale = clone(origin);
    repository.save({ 'ostiary.yaml': configWith([other]) });
    expect(await run('apply --yes', stale, ours)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    expect(await run('apply --yes --allow git/unsigned-record=new', clone(origin), other)).toMatchObject({ code: 0 });
    // A plan asks only if it does not know the key of the record.
    expect(await run('plan', stale)).toMatchObject({ code: 0 });
  });

  test('change by two keys for a while', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('rotated') });
    repository.save({ 'ostiary.yaml': configWith([ours, next]) });
    expect(await run('apply --yes', clone(origin), next)).toMatchObject({ code: 0 });
    expect(signatureOf(recordOf(origin)).key).toBe(next.key);
    // Also without anything to write: the signature alone is new.
    expect(await run('apply --yes', clone(origin), ours)).toMatchObject({ code: 0 });
    expect(signatureOf(recordOf(origin)).key).toBe(ours.key);
    expect(await run('apply --yes', clone(origin), next)).toMatchObject({ code: 0 });
    repository.save({ 'ostiary.yaml': configWith([next]) });
    expect(await run('plan', clone(origin))).toMatchObject({ code: 0 });
    expect(await run('apply --yes', clone(origin), ours)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/no-record-key') });
    expect(await run('apply --yes', clone(origin), next)).toMatchObject({ code: 0 });
  });

  test('begin to count after a signed apply without a refusal, and otherwise after an override', async () => {
    const { repository, origin } = await applied({ 'access/a.yaml': connection('begun') }, []);
    expect(signatureOf(recordOf(origin)).key).toBe(ours.key);
    repository.save({ 'ostiary.yaml': configWith([ours]) });
    expect(await run('apply --yes', clone(origin), ours)).toMatchObject({ code: 0 });

    const late = withPush(make({ 'ostiary.yaml': configWith([]), 'access/a.yaml': connection('begun-late') }));
    const lateOrigin = makeOrigin(late);
    expect(await run('apply --yes', late)).toMatchObject({ code: 0 });
    late.save({ 'ostiary.yaml': configWith([ours]) });
    expect(await run('apply --yes', late, ours)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unsigned-record') });
    expect(await run('apply --yes --allow git/unsigned-record=first', late, ours)).toMatchObject({ code: 0 });
    expect(await run('apply --yes', clone(lateOrigin), ours)).toMatchObject({ code: 0 });
  });
});

describe('an apply that cannot sign', () => {
  test.each([
    ['no key', undefined, 'OSTIARY_RECORD_KEY is not set'],
    ['another key', other, `belongs to ${other.key}`],
    ['a broken key', { secret: 'c2VjcmV0', key: '' }, 'is not a key that ostiary record key makes'],
  ])('is refused before the first write: %s', async (name, key, message) => {
    const file = `sign-${name.replaceAll(' ', '-')}`;
    const { repository } = await applied({ 'access/a.yaml': connection(file) });
    const id = repository.git('rev-parse', ref);
    repository.save({ 'access/a.yaml': connection(file, { reviewers: ['dba'] }) });
    expect((await run('plan', repository)).code).toBe(0);
    const refused = await run('apply --yes', repository, key);
    expect([refused.code, refused.stdout.replaceAll(/\s+/g, ' ')]).toEqual([6, expect.stringMatching(/git\/no-record-key .*/)]);
    expect(refused.stdout.replaceAll(/\s+/g, ' ')).toContain(message);
    expect(await run('plan --out plan.json', repository)).toMatchObject({ code: 0 });
    expect(await run('apply --yes --plan plan.json', repository, key)).toMatchObject({ code: 6 });
    expect(await run('apply --yes --base HEAD~1', repository, key)).toMatchObject({ code: 6 });
    expect(await gateway.reviewersOf(file)).toEqual([]);
    expect(repository.git('rev-parse', ref)).toBe(id);
    expect(await run('apply --yes --allow git/no-record-key=incident', repository, key)).toMatchObject({ code: 0 });
    expect(await gateway.reviewersOf(file)).toEqual(['dba']);
  });
});

test('a base of the command line signs nothing that an unproven record says', async () => {
  const { repository, origin } = await applied({ 'access/a.yaml': connection('base-a'), 'access/b.yaml': connection('base-b') });
  const commit = repository.git('rev-parse', 'HEAD');
  const uid = (await gateway.call('GET', '/connections/base-b')).body['id'];
  repository.remove('access/b.yaml');
  const without = repository.save({ 'ostiary.yaml': configWith([ours]).replace("' }", "', released: [Connection/base-b] }") });
  expect(await run('apply --yes', repository, ours)).toMatchObject({ code: 0 });
  repository.save({ 'ostiary.yaml': configWith([ours]) });
  expect(recordOf(origin).orphans).toEqual([]);
  forge(clone(origin), { version: 1, commit: without, orphans: [{ id: 'Connection/base-b', uid, commit }], pending: [] });
  expect(await run('apply --yes --base HEAD', clone(origin), ours)).toMatchObject({ code: 0 });
  expect(recordOf(origin).orphans).toEqual([]);
});

describe('ostiary record key', () => {
  test('prints the private half on stdout, and the public half on stderr', async () => {
    const { code, stdout, stderr } = await ostiaryInProcess(['record', 'key'], { cwd: '/' });
    const signer = readRecordSigner({ env: { OSTIARY_RECORD_KEY: stdout } });
    expect(code).toBe(0);
    expect(stderr).toContain(typeof signer === 'object' ? signer.key : 'no key');
    expect(stderr).not.toContain(stdout.trim());
  });

  test('writes a file that only its owner can read, and replaces none', async () => {
    const { folder } = make({});
    const file = join(folder, 'key');
    const { code, stdout, stderr } = await ostiaryInProcess(['record', 'key', '--out', 'key'], { cwd: folder });
    expect([code, stdout]).toEqual([0, '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(stderr).not.toContain(readFileSync(file, 'utf8').trim());
    const before = readFileSync(file, 'utf8');
    expect((await ostiaryInProcess(['record', 'key', '--out', 'key'], { cwd: folder })).code).toBe(3);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('prints no private half into the log of a job', async () => {
    const { folder } = make({});
    const env = { GITHUB_ACTIONS: 'true' };
    expect(await ostiaryInProcess(['record', 'key'], { cwd: folder, env })).toMatchObject({ code: 3, stdout: '' });
    expect((await ostiaryInProcess(['record', 'key', '--out', 'key'], { cwd: folder, env })).code).toBe(0);
    expect(existsSync(join(folder, 'key'))).toBe(true);
  });
});

// security: record-key
test('no command prints a private half', () => {
  expect(printed.length).toBeGreaterThan(50);
  for (const { secret } of [ours, other, next]) expect(printed.filter((text) => text.includes(secret.slice(24)))).toEqual([]);
});
