import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catchOriginError, listOriginAppliedRefs, pushAppliedRef } from '../../src/git/applied-refs.ts';
import { runGit } from '../../src/git/run-git.ts';
import type { GitContext } from '../../src/git/git-environment.ts';
import { AppError } from '../../src/model/errors.ts';
import { withGitCredentials } from '../../src/forge/git-credentials.ts';
import { allowNetwork, fetchOrigin } from '../../src/git/origin.ts';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { commitFiles, installProgram, startGitServer, type GitServer } from '../support/git-repository.ts';
import { hostileConfig, makeWitness, plantHooks, plantRepository } from '../support/planted-programs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../support/repository.ts';

const { make, makeOrigin, place } = useRepositories();
const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-programs-')));
const login = { user: 'ada', password: 'canary' };
let server: GitServer;
const run = promisify(execFile);

beforeAll(async () => {
  await commitFiles(join(root, 'served', 'x.git'), { 'a.yaml': '' });
  server = await startGitServer({ root: join(root, 'served'), login });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

async function open(repository: TestRepository, env: GitContext['env'] = {}): Promise<Repository> {
  const found = await openRepository({ folder: repository.folder, env: { ...gitEnv, ...env } });
  if (found === undefined) throw new Error('no repository found');
  return found;
}

/** A repository with two branches, a signed commit, attributes and alternates, so that git would run the program of each key. */
function makeVulnerable(): { readonly repository: TestRepository; readonly origin: TestRepository } {
  const repository = make({ '.gitattributes': 'a.* filter=x diff=x merge=x\n', 'a.yaml': 'one\n', 'b.yaml': 'one\n' });
  const origin = makeOrigin(repository);
  repository.git('checkout', '--quiet', '-b', 'topic');
  repository.save({ 'a.yaml': 'two\n' });
  repository.git('checkout', '--quiet', 'main');
  repository.save({ 'a.yaml': 'three\n', 'b.yaml': 'two\n' });
  mkdirSync(join(repository.folder, '.git/objects/info'), { recursive: true });
  const other = make({ 'c.yaml': '' });
  writeFileSync(join(repository.folder, '.git/objects/info/alternates'), `${other.folder}/.git/objects\n`);
  const signed = repository
    .git('cat-file', 'commit', 'HEAD')
    .replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n');
  const { stdout } = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: repository.folder,
    env: gitEnv,
    input: signed,
  });
  repository.git('tag', 'signed', stdout.toString().trim());
  return { repository, origin };
}

/** Commands that make git run the program of a key, unless something prevents it. */
const commands: readonly (readonly [string, readonly string[]])[] = [
  ['core.sshCommand', ['ls-remote', 'ssh://127.0.0.1:1/x']],
  ['core.gitProxy', ['ls-remote', 'git://127.0.0.1:1/x']],
  ['core.askPass', ['ls-remote', 'SERVER']],
  ['credential.helper', ['ls-remote', 'SERVER']],
  ['credential.http://127.0.0.1:PORT.helper', ['ls-remote', 'SERVER']],
  ['core.alternateRefsCommand', ['fetch', 'ORIGIN']],
  ['core.fsmonitor', ['status']],
  ['core.editor', ['commit', '--allow-empty', '--no-gpg-sign']],
  ['gpg.program', ['log', '-1', 'signed']],
  ['gpg.openpgp.program', ['show', 'signed']],
  ['alias.x', ['x']],
  ['diff.external', ['diff', 'HEAD~', 'HEAD', '--', 'b.yaml']],
  ['diff.x.command', ['diff', 'HEAD~', 'HEAD', '--', 'a.yaml']],
  ['diff.x.textconv', ['log', '-p', '-1', 'HEAD', '--', 'a.yaml']],
  ['filter.x.clean', ['hash-object', 'a.yaml']],
  ['filter.x.process', ['hash-object', 'a.yaml']],
  ['filter.x.smudge', ['cat-file', '--filters', 'HEAD:a.yaml']],
  ['merge.x.driver', ['merge', '--no-commit', 'topic']],
  ['sequence.editor', ['rebase', '--interactive', 'HEAD~']],
  ['tar.x.command', ['archive', '--format=x', 'HEAD']],
  ['trailer.x.cmd', ['interpret-trailers', '--trailer', 'x=1', 'a.yaml']],
  ['trailer.x.command', ['interpret-trailers', 'a.yaml']],
  ['hook-reference-transaction', ['update-ref', 'refs/x', 'HEAD']],
  ['hook-post-checkout', ['checkout', '--quiet', '--detach']],
  ['hook-post-index-change', ['update-index', '--add', '--cacheinfo', '100644,HASH,z']],
];

describe('a program that the repository names', () => {
  test.each(commands)('%s: plain git runs it, Ostiary does not: git %j', async (name, words) => {
    const key = name.replace('PORT', new URL(server.url).port);
    for (const isOurs of [false, true]) {
      const { repository, origin } = makeVulnerable();
      const witness = makeWitness(place());
      const hash = repository.git('rev-parse', 'HEAD:b.yaml');
      const args = words.map((word) => ({ SERVER: `${server.url}/x.git`, ORIGIN: origin.folder })[word] ?? word.replace('HASH', hash));
      if (name.startsWith('hook-')) plantHooks(join(repository.folder, '.git'), witness, [name.slice('hook-'.length)]);
      const keys = name.startsWith('hook-') ? [] : [key];
      appendFileSync(join(repository.folder, '.git/config'), hostileConfig(witness, origin.folder, { keys }));
      // The most that a user can allow.
      const env = { ...gitEnv, GIT_ALLOW_PROTOCOL: 'https:http:git:ssh:file:ext:fd', GIT_TERMINAL_PROMPT: '0', TERM: 'xterm' };
      if (isOurs) await runGit(allowNetwork(await open(repository, env)), args).catch(() => undefined);
      else await run('git', args, { cwd: repository.folder, env }).catch(() => undefined);
      expect(witness.ran()).toEqual(isOurs ? [] : [key.replaceAll('/', '_')]);
    }
  });

  test('does not run on the side of origin, even if origin is a folder', async () => {
    const { repository, origin } = makeVulnerable();
    const witness = makeWitness(place());
    appendFileSync(join(repository.folder, '.git/config'), hostileConfig(witness, origin.folder));
    const opened = await open(repository);
    expect(await listOriginAppliedRefs(opened)).toEqual(new Map());
    expect(await pushAppliedRef(opened, 'prod', { id: repository.git('rev-parse', 'HEAD'), expected: '' })).toBeUndefined();
    expect(witness.ran()).toEqual([]);
    expect(origin.git('for-each-ref', 'refs/ostiary/applied/prod')).not.toBe('');
  });

  test.each([
    ['origin', 'HEAD:sub'],
    ['origin', 'HEAD'],
    ['origin', 'HEAD~'],
    ['other', 'HEAD:sub'],
    ['other', 'HEAD'],
    ['other', 'HEAD~'],
  ])('does not fetch objects that a partial clone of %s lacks: %s', async (remote, missing) => {
    const failures: unknown[] = [];
    // As versions of git that ignore this variable.
    const old = await installProgram(place(), 'git', `unset GIT_NO_LAZY_FETCH; PATH='${gitEnv['PATH']}' exec git "$@"`);
    for (const isOurs of [false, true]) {
      const repository = make({ 'x.yaml': '' });
      const origin = makeOrigin(repository);
      const witness = makeWitness(place());
      repository.save({ 'sub/y.yaml': '' });
      const [id = '', object = ''] = repository.git('rev-parse', 'HEAD', missing).split('\n');
      rmSync(join(repository.folder, '.git/objects', object.slice(0, 2), object.slice(2)));
      const settings = { promisor: 'true', url: origin.folder, uploadpack: witness.command('upload') };
      for (const [name, value] of Object.entries(settings)) repository.git('config', `remote.${remote}.${name}`, value);
      repository.git('config', 'core.repositoryFormatVersion', '1');
      repository.git('config', 'extensions.partialClone', remote);
      if (isOurs) {
        // Some versions of git end when they look for the commit of HEAD, which fails already then.
        const opened = await catchOriginError(() => open(repository, old));
        if (opened instanceof AppError) failures.push(opened);
        else {
          failures.push(await pushAppliedRef(opened, 'prod', { id, expected: '' }));
          // Needs no missing object unless one is the commit of a ref, and may succeed.
          await fetchOrigin(opened, ['+refs/heads/main:refs/fetched'], 1).catch(() => undefined);
        }
      } else await run('git', ['push', 'origin', 'HEAD:refs/x'], { cwd: repository.folder, env: gitEnv }).catch(() => undefined);
      expect(witness.ran()).toEqual(isOurs ? [] : ['upload']);
    }
    expect(failures).toEqual([expect.objectContaining({ code: 'git/failed' })]);
  });

  test.each(['infra/planted', 'file://TOP/infra/planted', './infra/../infra/planted'])(
    'cannot be a hook among the checked-out files: %s',
    async (url) => {
      const repository = make({ 'x.yaml': '' });
      const witness = makeWitness(place());
      const planted = join(repository.folder, 'infra/planted');
      execFileSync('git', ['init', '--quiet', '--bare', planted]);
      writeFileSync(join(planted, 'hooks/pre-receive'), `#!/bin/sh\n${witness.command('pre-receive')}\n`);
      chmodSync(join(planted, 'hooks/pre-receive'), 0o755);
      repository.git('remote', 'add', 'origin', url.replace('TOP', repository.folder));
      const failure = await pushAppliedRef(await open(repository), 'prod', { id: repository.git('rev-parse', 'HEAD'), expected: '' });
      expect(failure).toMatchObject({ message: 'the URL of origin is a folder in this repository' });
      expect(witness.ran()).toEqual([]);
    },
  );

  test('is not found through a relative folder in PATH', async () => {
    const witness = makeWitness(place());
    const repository = make({ 'x.yaml': '', 'bin/git': `#!/bin/sh\n${witness.command('git')}\n` });
    repository.makeExecutable('bin/git');
    for (const first of ['bin', '', '.'])
      expect(await open(repository, { PATH: `${first}:${gitEnv['PATH']}` })).toMatchObject({ folder: repository.folder });
    expect(witness.ran()).toEqual([]);
  });

  test('does not run for a planted repository of plain files', async () => {
    const witness = makeWitness(place());
    const repository = make({ 'infra/x.yaml': '' });
    plantRepository(join(repository.folder, 'infra'), witness, `ext::${witness.command('address')}`);
    const opened = await openRepository({ folder: join(repository.folder, 'infra'), env: gitEnv });
    expect(opened).toMatchObject({ folder: repository.folder, gitFolder: join(repository.folder, '.git'), prefix: 'infra' });
  });
});

/** A repository whose origin requires a login, and which names its own credential helpers. */
function makeProtected(extraConfig: string): { readonly repository: TestRepository; readonly ran: () => readonly string[] } {
  const repository = make({ 'x.yaml': '' });
  const witness = makeWitness(place());
  appendFileSync(join(repository.folder, '.git/config'), `${hostileConfig(witness, `${server.url}/x.git`)}${extraConfig}`);
  return { repository, ran: witness.ran };
}

describe('the credentials of origin', () => {
  test('come from the credential helper or the askpass program of the user', async () => {
    const folder = place();
    const PATH = `${(await installProgram(folder, 'answers', `echo username=${login.user}; echo password=${login.password}\n`))['PATH']}`;
    await installProgram(folder, 'says', `case "$1" in User*) echo ${login.user} ;; *) echo ${login.password} ;; esac\n`);
    const file = join(folder, 'gitconfig');
    const configs = [
      `[credential]\n\thelper = !answers\n`,
      `[credential "${server.url}"]\n\thelper = !answers\n`,
      `[core]\n\taskPass = says\n`,
    ];
    for (const text of configs) {
      writeFileSync(file, text);
      const { repository, ran } = makeProtected('');
      expect(await listOriginAppliedRefs(await open(repository, { PATH, GIT_CONFIG_GLOBAL: file }))).toEqual(new Map());
      expect(ran()).toEqual([]);
    }
    const { repository, ran } = makeProtected('');
    const variables = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'credential.helper', GIT_CONFIG_VALUE_0: '!answers' };
    expect(await listOriginAppliedRefs(await open(repository, { PATH, ...variables }))).toEqual(new Map());
    expect(await listOriginAppliedRefs(await open(repository, { PATH, GIT_ASKPASS: 'says' }))).toEqual(new Map());
    expect(ran()).toEqual([]);
  });

  test('come from a header that the checkout action stores', async () => {
    const basic = Buffer.from(`${login.user}:${login.password}`).toString('base64');
    const { repository, ran } = makeProtected(`[http "${server.url}/"]\n\textraheader = AUTHORIZATION: basic ${basic}\n`);
    expect(await listOriginAppliedRefs(await open(repository))).toEqual(new Map());
    expect(ran()).toEqual([]);
  });

  test.each(['a setting', 'a redirect'])('of a job go to its server alone, wherever %s leads', async (how) => {
    const other = await startGitServer({ root: join(root, 'served') });
    const first = await startGitServer({
      root: join(root, 'served'),
      intercept(request, response) {
        if (how === 'a redirect') response.writeHead(302, { location: `${other.url}${request.url}` }).end();
        return how === 'a redirect';
      },
    });
    try {
      const rewritten = how === 'a setting' ? `[url "${other.url}/"]\n\tinsteadOf = ${first.url}/\n` : '';
      const repository = make({ 'x.yaml': '' });
      repository.git('remote', 'add', 'origin', `${first.url}/x.git`);
      appendFileSync(join(repository.folder, '.git/config'), rewritten);
      const env = withGitCredentials(gitEnv, 'x-access-token', 'canary', first.url);
      await listOriginAppliedRefs(await open(repository, env));
      expect(other.requests.map(({ authorization }) => authorization ?? 'none')).toEqual(other.requests.map(() => 'none'));
      expect(other.requests.length + first.requests.length).toBeGreaterThan(0);
    } finally {
      await Promise.all([first.close(), other.close()]);
    }
  });

  test('never come from a helper of the repository', async () => {
    const { repository, ran } = makeProtected('');
    expect(await listOriginAppliedRefs(await open(repository))).toMatchObject({ code: 'git/failed' });
    expect(ran()).toEqual([]);
  });
});

/** Returns why origin is not reachable at an address, although the repository allows all protocols. */
async function failureAt(url: string, env: GitContext['env'] = {}): Promise<string> {
  const repository = make({ 'x.yaml': '' });
  repository.git('remote', 'add', 'origin', url);
  repository.git('config', 'protocol.allow', 'always');
  const result = await listOriginAppliedRefs(await open(repository, env));
  return result instanceof Error ? result.message : 'none';
}

describe('a protocol', () => {
  test.each(['ext::touch x', 'fd::1', 'git://127.0.0.1:1/x', 'http://example.invalid/x', 'ftp://127.0.0.1/x'])(
    'is refused: %s',
    async (url) => {
      const [protocol] = url.split(':');
      expect(await failureAt(url)).toContain(`the protocol ${protocol} is not allowed`);
      expect(await failureAt(url, { GIT_ALLOW_PROTOCOL: 'ext:fd:https' })).toContain(`the protocol ${protocol} is not allowed`);
    },
  );

  test('is refused if a setting rewrites the address', async () => {
    const repository = make({ 'x.yaml': '' });
    const witness = makeWitness(place());
    repository.git('remote', 'add', 'origin', 'https://example.invalid/x');
    repository.git('config', `url.ext::${witness.command('address')} %S .insteadOf`, 'https://example.invalid/');
    repository.git('config', 'protocol.ext.allow', 'always');
    expect(await listOriginAppliedRefs(await open(repository))).toMatchObject({
      message: expect.stringContaining('the protocol ext is not allowed'),
    });
    await run('git', ['ls-remote', 'origin'], { cwd: repository.folder, env: gitEnv }).catch(() => undefined);
    expect(witness.ran()).toEqual(['address']);
  });

  test('is allowed only by the variable of the user', async () => {
    expect(await failureAt('http://example.invalid/x', { GIT_ALLOW_PROTOCOL: 'http' })).not.toContain('not allowed');
    expect(await failureAt('https://127.0.0.1:1/x', { GIT_ALLOW_PROTOCOL: 'ssh' })).toContain('the protocol https is not allowed');
  });
});
