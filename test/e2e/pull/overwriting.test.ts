import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/program.ts';
import { createTestContext } from '../../support/cli-context.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeFolder = useProjects();
const { make, makeOrigin } = useRepositories();

type Answered = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The questions that were asked. */
  readonly asked: readonly string[];
};

/** Runs a command at a terminal where every question gets the same answer. */
async function runAnswering(answer: boolean, line: string, cwd: string): Promise<Answered> {
  const { context, printed } = createTestContext({ cwd, env: { ...gitEnv, ...gateway.env() } });
  const asked: string[] = [];
  const confirm = (message: string): Promise<boolean> => {
    asked.push(message);
    return Promise.resolve(answer);
  };
  const code = await run(line.split(' '), { ...context, interactive: true, confirm });
  return { code, ...printed(), asked };
}

async function setReviewers(name: string, reviewers: readonly string[]): Promise<void> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  expect((await gateway.call('PUT', `/connections/${name}`, { body: { ...body, reviewers } })).status).toBe(200);
}

const filesOf = (name: string) => ({
  'ostiary.yaml': config(gateway.url()),
  'access/a.yaml': connection(name, { reviewers: ['dba'] }),
});

test('pull --dry-run prints what a pull would write, and writes nothing', async () => {
  const empty = makeFolder({});
  const repository = make(filesOf('dry-a'));
  expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 0 });
  const fresh = await gateway.run(`pull project --dry-run --url ${gateway.url()}`, empty);
  expect([fresh.code, fresh.stdout]).toEqual([
    0,
    expect.stringMatching(/^A pull from production would write 1 object; nothing was written\.[\s\S]*would write .*ostiary\.yaml/),
  ]);
  expect(existsSync(join(empty, 'project'))).toBe(false);
  await setReviewers('dry-a', ['sre']);
  const before = readFileSync(join(repository.folder, 'access/a.yaml'), 'utf8');
  const edits = await gateway.run('pull --dry-run', repository.folder);
  expect([edits.code, edits.stdout]).toEqual([0, expect.stringContaining('would edit access/a.yaml')]);
  const document = await gateway.run('pull --dry-run --format json', repository.folder);
  expect(JSON.parse(document.stdout)).toMatchObject({ preview: true, edited: ['access/a.yaml'] });
  expect(readFileSync(join(repository.folder, 'access/a.yaml'), 'utf8')).toBe(before);
  expect(await gateway.run('pull', repository.folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('edited access/a.yaml') });
  expect(readFileSync(join(repository.folder, 'access/a.yaml'), 'utf8')).toContain('sre');
});

test('pull asks before it overwrites uncommitted edits, and refuses without a terminal', async () => {
  const repository = make(filesOf('over-a'));
  const path = join(repository.folder, 'access/a.yaml');
  expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 0 });
  await setReviewers('over-a', ['sre']);
  repository.write({ 'access/a.yaml': connection('over-a', { reviewers: ['mine'] }) });
  const refused = await gateway.run('pull', repository.folder);
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringMatching(/overwrite uncommitted changes in access\/a\.yaml[\s\S]*--yes/),
  ]);
  expect(readFileSync(path, 'utf8')).toContain('mine');
  const declined = await runAnswering(false, 'pull', repository.folder);
  expect([declined.code, declined.asked]).toEqual([3, ['Overwrite 1 uncommitted manifest with the live state (access/a.yaml)?']]);
  expect(readFileSync(path, 'utf8')).toContain('mine');
  expect(await runAnswering(true, 'pull', repository.folder)).toMatchObject({ code: 0 });
  expect(readFileSync(path, 'utf8')).toContain('sre');
  repository.write({ 'access/a.yaml': connection('over-a', { reviewers: ['mine'] }) });
  expect(await gateway.run('pull --yes', repository.folder)).toMatchObject({ code: 0 });
  expect(readFileSync(path, 'utf8')).toContain('sre');
  repository.commit();
  await setReviewers('over-a', ['other']);
  expect((await runAnswering(false, 'pull', repository.folder)).asked).toEqual([]);
  expect(readFileSync(path, 'utf8')).toContain('other');
});

test('drift --adopt asks before it pushes; declined, the branch stays local', async () => {
  const repository = make(filesOf('push-a'));
  const origin = makeOrigin(repository);
  expect(await gateway.run('apply --yes', repository.folder)).toMatchObject({ code: 0 });
  await setReviewers('push-a', ['sre']);
  const branch = 'ostiary/adopt/production';
  const declined = await runAnswering(false, 'drift --adopt', repository.folder);
  expect([declined.code, declined.asked]).toEqual([0, [`Push the branch ${branch} to origin?`]]);
  expect(declined.stdout).toContain('not pushed');
  expect(repository.git('rev-parse', branch)).toMatch(/^[0-9a-f]{40}/);
  expect(origin.git('branch', '--list', branch)).toBe('');
  const accepted = await runAnswering(true, 'drift --adopt', repository.folder);
  expect([accepted.code, accepted.asked.length]).toEqual([0, 1]);
  expect(origin.git('branch', '--list', branch)).toContain(branch);
  expect((await runAnswering(false, 'drift --adopt --yes', repository.folder)).asked).toEqual([]);
});
