import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { makeWitness, type Witness } from '../../support/planted-programs.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection } from '../project.ts';

const gateway = useGateway();
const { make, makeOrigin } = useRepositories();

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-environment-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A gateway of another person: it must receive no request, because each has the token. */
let trap: FlakyServer;
let ours: TestRepository;
/** A repository of the other person, whose config names the trap. */
let theirs: TestRepository;
let witness: Witness;
let expected: readonly unknown[] = [];

const lines = [
  'plan --format json',
  'plan --format json --config-ref origin/main --own HEAD~1 --base HEAD~1',
  'report access --format json',
];

/** Runs all lines with variables of the environment; the time of a report is left out. */
async function runAll(more: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const ended: unknown[] = [];
  for (const line of lines) {
    const { code, stdout } = await gateway.run(line, ours.folder, { ...gitEnv, ...more });
    ended.push([line, code, stdout.replaceAll(/"[a-z]*[aA]t": ?"[^"]*"|"signature": ?"[^"]*"/g, '')]);
  }
  return ended;
}

beforeAll(async () => {
  trap = await startFlakyServer(json(200, {}));
  ours = make({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('environment-a', { reviewers: ['dba'] }) });
  makeOrigin(ours);
  await gateway.run('apply --yes', ours.folder, gitEnv);
  ours.save({ 'access/b.yaml': connection('environment-b'), 'access/a.yaml': connection('environment-a', { reviewers: ['dba', 'ops'] }) });
  ours.git('push', '--quiet', 'origin', 'main');
  ours.git('fetch', '--quiet', 'origin');
  theirs = make({ 'ostiary.yaml': config(trap.url), 'access/evil.yaml': connection('environment-evil') });
  // Refs and objects that a job may fetch from whoever may push.
  ours.git('fetch', '--quiet', `file://${theirs.folder}`, '+main:refs/replace-theirs/none');
  const evil = theirs.git('rev-parse', 'HEAD');
  for (const commit of ours.git('rev-list', 'HEAD').split('\n')) ours.git('update-ref', `refs/tags/replace/${commit}`, evil);
  witness = makeWitness(join(root, 'witness'));
  expected = await runAll({});
});
afterAll(() => trap.close());

test('without it, each command reads the repository of its folder', () => {
  expect(expected).toEqual(lines.map((line) => [line, 0, expect.stringContaining('environment-b')]));
});

/** Writes programs with the names of git's own into a folder of the working tree. */
function plantPrograms(folder: string): string {
  mkdirSync(join(ours.folder, folder), { recursive: true });
  for (const name of ['git', 'git-upload-pack', 'git-remote-http', 'git-ls-remote', 'git-fetch', 'ssh']) {
    cpSync(witness.command(`${folder}-${name}`), join(ours.folder, folder, name));
    chmodSync(join(ours.folder, folder, name), 0o755);
  }
  return folder;
}

function textFile(name: string, text: string): string {
  writeFileSync(join(root, name), text);
  return join(root, name);
}

const gitOf = ({ folder }: TestRepository): string => join(folder, '.git');

/** Variables of git: with each, git reads from another place, runs a program, or prints something else. */
const variables: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'one that says where the repository is': () => ({ GIT_DIR: gitOf(theirs), GIT_WORK_TREE: theirs.folder }),
  'one that says where its parts are': () => ({
    GIT_COMMON_DIR: gitOf(theirs),
    GIT_INDEX_FILE: join(gitOf(theirs), 'index'),
    GIT_OBJECT_DIRECTORY: join(gitOf(theirs), 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitOf(theirs), 'objects'),
    GIT_NAMESPACE: 'theirs',
    GIT_REFERENCE_BACKEND: `files://${gitOf(theirs)}`,
    GIT_CONFIG: textFile('config', `[remote "origin"]\n\turl = ${theirs.folder}\n`),
    GIT_PREFIX: 'access/',
    GIT_QUARANTINE_PATH: root,
    GIT_INTERNAL_SUPER_PREFIX: 'x/',
    GIT_TEMPLATE_DIR: root,
  }),
  'one that says what commits are': () => ({
    GIT_REPLACE_REF_BASE: 'refs/tags/replace/',
    GIT_NO_REPLACE_OBJECTS: '0',
    GIT_GRAFT_FILE: textFile('grafts', `${ours.git('rev-parse', 'HEAD')}\n`),
    GIT_SHALLOW_FILE: textFile('shallow', `${ours.git('rev-parse', 'HEAD')}\n`),
  }),
  'one that changes the output': () => ({
    GIT_DIFF_OPTS: '--unified=9',
    GIT_LITERAL_PATHSPECS: '0',
    GIT_GLOB_PATHSPECS: '1',
    GIT_ICASE_PATHSPECS: '1',
    GIT_TRACE: '1',
    GIT_TRACE2: '1',
    GIT_TRACE_PACKET: '1',
    LANGUAGE: 'de',
  }),
  'one that names a program': () => ({
    ...Object.fromEntries(
      ['GIT_EXTERNAL_DIFF', 'GIT_EDITOR', 'GIT_PAGER', 'GIT_SEQUENCE_EDITOR', 'EDITOR', 'PAGER', 'VISUAL'].map((name) => [
        name,
        witness.command(name),
      ]),
    ),
    GIT_ALLOW_PROTOCOL: 'ext:file',
    GIT_PROTOCOL_FROM_USER: '1',
    GIT_NO_LAZY_FETCH: '0',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: witness.command('fsmonitor'),
    GIT_CONFIG_KEY_1: 'core.hooksPath',
    GIT_CONFIG_VALUE_1: plantPrograms('planted-hooks'),
  }),
  'a relative folder of programs': () => ({
    GIT_EXEC_PATH: plantPrograms('planted-exec'),
    PATH: `${plantPrograms('planted-path')}:.:${gitEnv['PATH']}`,
  }),
};

test.each(Object.keys(variables))('a variable of git changes nothing that Ostiary reads, and runs no program: %s', async (name) => {
  expect(await runAll(variables[name]?.() ?? {})).toEqual(expected);
  expect(witness.ran()).toEqual([]);
  expect(trap.seen).toEqual([]);
});

// security: names
test('no setting or file of the clone changes which commit is read', async () => {
  const evil = theirs.git('rev-parse', 'HEAD');
  for (const commit of ours.git('rev-list', 'HEAD').split('\n')) ours.git('update-ref', `refs/replace/${commit}`, evil);
  ours.write({
    '.git/info/grafts': `${ours.git('rev-list', '--max-count=1', 'HEAD')} ${evil}\n`,
    '.git/info/attributes': '* filter=x diff=x merge=x export-ignore working-tree-encoding=UTF-16\n',
  });
  for (const [key, value] of Object.entries({
    'core.useReplaceRefs': 'true',
    'core.worktree': theirs.folder,
    'core.abbrev': '4',
    'core.quotePath': 'false',
    'log.showRoot': 'false',
    'log.follow': 'true',
    'diff.noprefix': 'true',
    'diff.context': '9',
    'diff.renames': 'copies',
    'diff.relative': 'true',
    'format.pretty': 'oneline',
    'filter.x.clean': witness.command('clean'),
    'filter.x.required': 'true',
    'diff.x.textconv': witness.command('textconv'),
    'core.fsmonitor': witness.command('fsmonitor'),
  }))
    ours.git('config', key, value);
  expect(await runAll({})).toEqual(expected);
  expect(witness.ran()).toEqual([]);
});
