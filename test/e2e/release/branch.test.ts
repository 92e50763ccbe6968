import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { appAccount } from '../../support/github.ts';
import { commentsOn, commitAll, mergePullRequest, openPullRequest, pullRequestPayload, type StepEnded } from '../../support/workflow.ts';
import { useAction } from '../action/use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const sources = '.gitignore LICENSE action.yml build package-lock.json package.json rolldown.config.js schemas src'.split(' ');

const { make, makeOrigin, clone } = useRepositories();
const makeFolder = useProjects();
let source: TestRepository;
let origin: TestRepository;
let said: string;

/** Runs `npm run release -- --branch` in a clone whose packages are installed. */
function releaseBranch({ folder }: TestRepository): string {
  return execFileSync('npm', ['run', '--silent', 'release', '--', '--branch'], { cwd: folder, encoding: 'utf8' });
}

/** Makes a repository of the sources, with the installed packages. */
function copySources(): TestRepository {
  const copy = make();
  for (const path of sources) cpSync(path, join(copy.folder, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy.folder, 'node_modules'));
  copy.write({ '.git/info/exclude': 'node_modules\n' });
  copy.git('add', '--all');
  copy.git('commit', '--quiet', '--message', 'One');
  return copy;
}

beforeAll(() => {
  source = copySources();
  origin = makeOrigin(source);
  said = releaseBranch(source);
  // What it prints publishes it.
  for (const line of said.match(/(?<=^ {2}git ).*$/gm) ?? []) source.git(...line.split(' '));
});

describe('the branch release', () => {
  test('has the source as its parent, and only what the action loads', () => {
    const { git } = source;
    const [head, commit] = [git('rev-parse', 'HEAD'), git('rev-parse', 'release')];
    expect(said).toContain(`The branch release is ${commit}\n`);
    expect(git('rev-parse', 'release^', 'main').split('\n')).toEqual([head, head]);
    expect(git('status', '--porcelain')).toBe('');
    const tag = `action-${head.slice(0, 12)}`;
    expect(origin.git('for-each-ref', '--format=%(objectname) %(refname)').split('\n')).toEqual([
      `${head} refs/heads/main`,
      `${commit} refs/heads/release`,
      `${commit} refs/tags/${tag}`,
    ]);
    expect(git('ls-tree', '--name-only', 'release').split('\n')).toEqual(['LICENSE', 'action.yml', 'dist', 'package.json']);
    expect(git('ls-tree', '--name-only', 'release:dist').split('\n')).toEqual(['action.js', 'chunks', 'licenses.txt', 'sbom.cdx.json']);
    const { components } = JSON.parse(git('show', 'release:dist/sbom.cdx.json'));
    const names = components.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['@octokit/rest', 'undici', 'yaml']));
    expect(names).not.toContain('hono');
    for (const name of names) expect(git('show', 'release:dist/licenses.txt')).toContain(`${name} `);
  });

  test('is the same commit wherever it is built', () => {
    const other = clone(source, '--branch', 'main');
    symlinkSync(resolve('node_modules'), join(other.folder, 'node_modules'));
    other.write({ '.git/info/exclude': 'node_modules\n' });
    other.git('config', 'core.autocrlf', 'true');
    releaseBranch(other);
    expect(other.git('rev-parse', 'release')).toBe(source.git('rev-parse', 'release'));
  });
});

describe('a clone of the branch release', () => {
  const gateway = useGateway();
  const bench = useAction(makeFolder, {
    other: () => {
      const { folder } = clone(origin, '--branch', 'release', '--depth', '1');
      return join(folder, parse(readFileSync(join(folder, 'action.yml'), 'utf8')).runs.main);
    },
    account: appAccount,
  });

  test('plans, applies and reports drift without an installation', async () => {
    const cwd = makeFolder({ 'ostiary.yaml': config(gateway.url()) });
    const base = commitAll(cwd);
    writeFiles(cwd, { 'access/db.yaml': connection('branch-db') });
    commitAll(cwd);
    const pull = await openPullRequest(bench.github(), 'branch');
    const run = (event: string, payload: object, mode: string): Promise<StepEnded> =>
      bench.bundled({ cwd, event, payload, inputs: { mode }, env: gateway.env() });
    expect(await run('pull_request', pullRequestPayload({ ...pull, base }), 'plan')).toMatchObject({
      code: 0,
      outputs: { changed: 'true' },
    });
    expect((await commentsOn(bench.github(), pull.number)).map(({ body }) => body)).toEqual([expect.stringContaining(' 1 to create')]);
    await mergePullRequest(bench.github(), pull.number);
    expect(await run('push', {}, 'apply')).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
    expect(await run('schedule', {}, 'drift')).toMatchObject({ code: 0, outputs: { outcome: 'clean' } });
  });
});
