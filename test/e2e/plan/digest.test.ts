import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();
type Repository = ReturnType<typeof make>;

const key = (letter: string): string => `digest_key: ${letter.repeat(40)}\n`;
const sealed = (url: string, line: string): string => config(url).replace(/^digest_key: .*\n/m, line);
const secret = {
  'envvar:HOST': { value: '10.0.0.5' },
  'envvar:USER': 'dXNlcg==',
  'envvar:KEY': '_envjson:DB:KEY',
  'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } },
  'filesystem:CA': { valueFrom: { file: 'certs/ca' } },
};

async function run({ folder }: Pick<Repository, 'folder'>, line: string, more = {}): ReturnType<typeof ostiaryInProcess> {
  const env = { ...gateway.env(), ...gitEnv, OSTIARY_SECRET_PASS: 'pass', OSTIARY_SECRET_OTHER: 'pass', ...more };
  return ostiaryInProcess(line.split(' '), { cwd: folder, env });
}

async function planOf(repository: Repository, more = {}): Promise<{ readonly digest: string; readonly tree: string }> {
  return JSON.parse((await run(repository, 'plan --format json --quiet', more)).stdout).plans[0];
}

function project(name: string, digestKey: string, url = gateway.url()): Repository {
  return make({
    'ostiary.yaml': sealed(url, digestKey),
    'access/a.yaml': connection(name, { secret }),
    'certs/a': 'first\n-----\n',
    'certs/b': 'second\n-----\n',
  });
}

/** Commits a link to a file, instead of the one that was there. */
function link(repository: Repository, path: string, target: string): void {
  rmSync(join(repository.folder, path), { force: true });
  symlinkSync(target, join(repository.folder, path));
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '-m', `link to ${target}`);
}

const inline: readonly [string, object] = ['an inline value', { 'envvar:HOST': { value: 'evil.example.net' } }];
const changes: readonly (readonly [string, object])[] = [
  inline,
  ['base64', { 'envvar:USER': 'b3RoZXI=' }],
  ['a reference', { 'envvar:KEY': '_envjson:DB:OTHER' }],
  ['a source', { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_OTHER' } } }],
  ['keep instead of a source', { 'envvar:PASS': { keep: true } }],
  ['a key that is added', { 'envvar:NEW': { value: 'x' } }],
  ['a key that is removed', { 'envvar:USER': undefined }],
];

// The slow key takes most of the time.
describe.each<readonly [string, string, typeof changes]>([
  ['with a digest_key', key('k'), changes],
  ['without a digest_key', '', [inline]],
])('%s', (about, digestKey, changed) => {
  test.each(changed)(`the digest of an approved plan refuses %s that changed since`, async (what, other) => {
    const name = `${about}-${what}`.replaceAll(/[^a-z0-9]+/g, '-');
    const repository = project(name, digestKey);
    link(repository, 'certs/ca', 'a');
    expect((await run(repository, 'apply --yes')).code).toBe(0);
    repository.save({ 'access/a.yaml': connection(name, { secret, reviewers: ['dba'] }) });
    const { digest } = await planOf(repository);
    expect((await run(repository, 'plan --out plan.json')).code).toBe(0);
    repository.save({ 'access/a.yaml': connection(name, { secret: { ...secret, ...other }, reviewers: ['dba'] }) });
    const log = gateway.server().log.length;
    for (const line of [`apply --yes --digest ${digest}`, 'apply --yes --plan plan.json']) {
      const { code, stderr, stdout } = await run(repository, line);
      expect([line, code, stdout + stderr]).toEqual([line, 6, expect.stringMatching(/plan\/other-(?:digest|manifests)/)]);
    }
    expect(
      gateway
        .server()
        .log.slice(log)
        .filter((entry) => !entry.startsWith('GET ')),
    ).toEqual([]);
  });

  test('the digest covers the content of a committed file behind a link, and where a link leads', async () => {
    const name = `${about}-links`.replaceAll(/[^a-z0-9]+/g, '-');
    const repository = project(name, digestKey);
    link(repository, 'certs/ca', 'a');
    const { digest } = await planOf(repository);
    expect((await run(repository, 'plan --out plan.json')).code).toBe(0);
    link(repository, 'certs/ca', 'b');
    expect((await planOf(repository)).digest).not.toBe(digest);
    expect(await run(repository, 'apply --yes --plan plan.json')).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('file:certs/ca changed since the plan'),
    });
    link(repository, 'certs/ca', 'a');
    expect((await planOf(repository)).digest).toBe(digest);
    repository.save({ 'certs/a': 'third\n-----\n' });
    expect((await planOf(repository)).digest).not.toBe(digest);
  });
});

test('a digest and a saved plan of another repository with the same manifests do not help to guess values', async () => {
  const repository = project('guess', key('k'));
  const guesser = project('guess', key('g'));
  for (const one of [repository, guesser]) {
    link(one, 'certs/ca', 'a');
    expect((await run(one, 'plan --out plan.json')).code).toBe(0);
  }
  const [mine, theirs] = [repository, guesser].map(({ folder }) => JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')));
  expect(mine.plans[0].changes).toEqual(theirs.plans[0].changes);
  expect(mine.plans[0].digest).not.toBe(theirs.plans[0].digest);
  expect(mine.plans[0].tree).not.toBe(theirs.plans[0].tree);
  expect(mine.saved.seal).not.toBe(theirs.saved.seal);
  const contents = mine.saved.sources.map(({ content }: { readonly content?: string }) => content);
  expect(contents.filter((content: string | undefined) => content !== undefined)).toHaveLength(1);
  expect(contents).not.toEqual(theirs.saved.sources.map(({ content }: { readonly content?: string }) => content));
});

test('a pull request that adds the key, and one that is behind the branch that added it, have the digest of their merge', async () => {
  const repository = project('behind', '');
  link(repository, 'certs/ca', 'a');
  repository.git('checkout', '--quiet', '-b', 'change');
  repository.save({ 'access/a.yaml': connection('behind', { secret, reviewers: ['dba'] }) });
  repository.git('checkout', '--quiet', '-');
  repository.save({ 'ostiary.yaml': sealed(gateway.url(), key('k')) });
  const main = repository.git('rev-parse', '--abbrev-ref', 'HEAD').trim();
  repository.git('checkout', '--quiet', 'change');
  const proposed = JSON.parse((await run(repository, `plan --format json --quiet --config-ref ${main}`)).stdout).plans[0].digest;
  repository.git('checkout', '--quiet', main);
  repository.git('merge', '--quiet', 'change');
  expect((await planOf(repository)).digest).toBe(proposed);
});
