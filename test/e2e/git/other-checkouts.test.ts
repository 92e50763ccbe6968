import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { connection, writeFiles, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, place } = useRepositories();

function configOf(more = ''): string {
  return `apiVersion: ostiary/v1\nkind: Config\n${more}targets:\n  production: { url: '${gateway.url()}', prune: true }\n`;
}

const layouts = ['clone', 'worktree'] as const;

/** Adds another checkout with the files to a repository, as a job or a person does. */
function addCheckout(ours: TestRepository, how: (typeof layouts)[number], path: string, files: Files): string {
  const folder = join(ours.folder, path);
  if (how === 'worktree') {
    ours.git('worktree', 'add', '--quiet', '-b', `topic-${path.replaceAll('/', '-')}`, folder);
    writeFiles(folder, files);
  } else {
    ours.git('clone', '--quiet', `file://${make(files).folder}`, folder);
  }
  return folder;
}

const commands = ['validate', 'plan', 'drift', 'list', 'plan --base none', 'apply --yes'];

async function printed(line: string, folder: string): Promise<{ readonly code: number | null; readonly text: string }> {
  const { code, stdout, stderr } = await gateway.run(line, folder);
  return { code, text: stdout + stderr };
}

// security: proposal
describe('a second checkout below a config without manifests', () => {
  test.each(layouts)('is not read (%s), and named because it has manifests', async (how) => {
    const ours = make({ 'ostiary.yaml': configOf(), 'access/1.yaml': connection(`c1-${how}`) });
    const files = { 'access/2.yaml': connection(`c1-${how}-pr`), 'ostiary.yaml': configOf(), 'secret.yaml': 'apiVersion: v1\n' };
    addCheckout(ours, how, 'pr', files);
    addCheckout(ours, how, 'tools/deep/pr', files);
    for (const command of commands) {
      const { code, text } = await printed(command, ours.folder);
      expect([command, code, text.includes(`c1-${how}-pr`)]).toEqual([command, 0, false]);
      // A list prints no warnings.
      for (const path of command === 'list' ? [] : ['pr', 'tools/deep/pr'])
        expect(text).toContain(`"${path}" is a checkout of its own: its manifests are not read`);
    }
    expect([await gateway.isLive(`c1-${how}`), await gateway.isLive(`c1-${how}-pr`)]).toEqual([true, false]);
    const json = await gateway.run('validate --format json', ours.folder);
    expect(json.stdout).toContain('manifest/other-checkout');
  });

  test('is not read outside a repository either; named in the config it is', async () => {
    const folder = place();
    mkdirSync(folder);
    writeFiles(folder, { 'ostiary.yaml': configOf(), '1.yaml': connection('c4') });
    make().git('clone', '--quiet', `file://${make({ 'access/2.yaml': connection('c4-pr') }).folder}`, join(folder, 'pr'));
    const skipped = await printed('validate', folder);
    expect([skipped.text.includes('c4-pr'), skipped.text.includes('manifest/other-checkout')]).toEqual([false, true]);
    writeFiles(folder, { 'ostiary.yaml': configOf('manifests: [pr/access]\n') });
    expect(await printed('validate', folder)).toMatchObject({ code: 0, text: expect.stringContaining('Valid. 1 resource') });
  });
});

// security: proposal
describe('a second checkout that the config or a file names is an error', () => {
  test.each(layouts)('as manifests, overlays or through a link (%s)', async (how) => {
    const ours = make({ 'access/1.yaml': connection(`e1-${how}`) });
    addCheckout(ours, how, 'pr', { 'access/2.yaml': connection(`e1-${how}-pr`), 'access/sub/3.yaml': connection(`e1-${how}-sub`) });
    symlinkSync('pr/access', join(ours.folder, 'linked'));
    const listed = ['manifests: [access, pr/access]\n', 'manifests: [pr]\n', 'manifests: [pr/access/2.yaml]\n', 'manifests: [linked]\n'];
    for (const line of listed) {
      ours.write({ 'ostiary.yaml': configOf(line) });
      for (const command of commands) {
        const { code, text } = await printed(command, ours.folder);
        expect([line, command, code]).toEqual([line, command, 3]);
        expect(text).toMatch(/^ostiary\.yaml:3:\d+ error config\/other-checkout {2}"\S+" is in another checkout than ostiary\.yaml: pr$/m);
      }
    }
    ours.write({ 'ostiary.yaml': configOf('manifests: [access]\n').replace(', prune', ', overlays: [pr/access], prune') });
    expect(await printed('plan', ours.folder)).toMatchObject({ code: 3, text: expect.stringContaining('config/other-checkout') });
    expect(await gateway.isLive(`e1-${how}-pr`)).toBe(false);
  });

  test('as the target of a link among the manifests', async () => {
    const ours = make({ 'ostiary.yaml': configOf('manifests: [access]\n'), 'access/1.yaml': connection('e2') });
    addCheckout(ours, 'clone', 'pr', { 'access/2.yaml': connection('e2-pr'), '_defaults.yaml': '' });
    const links = { 'access/link': '../pr/access', 'access/2.yaml': '../pr/access/2.yaml', '_defaults.yaml': 'pr/_defaults.yaml' };
    for (const [path, target] of Object.entries(links)) {
      symlinkSync(target, join(ours.folder, path));
      const { code, text } = await printed('validate', ours.folder);
      expect([path, code, text.includes('manifest/symlink-escape')]).toEqual([path, 3, true]);
      rmSync(join(ours.folder, path));
    }
  });

  test('as the file of a secret', async () => {
    const secret = { 'envvar:CA': { valueFrom: { file: 'pr/ca.pem' } } };
    const ours = make({ 'ostiary.yaml': configOf('manifests: [access]\n'), 'access/1.yaml': connection('e3', { secret }) });
    addCheckout(ours, 'clone', 'pr', { 'ca.pem': 'x' });
    const { code, text } = await printed('plan', ours.folder);
    expect([code, text]).toEqual([3, expect.stringContaining('secret/file-outside  the secret file "pr/ca.pem" is in another checkout')]);
  });
});

describe('what a commit declares is not removed', () => {
  test('because its folder got a .git of its own', async () => {
    const ours = make({ 'ostiary.yaml': configOf(), 'access/1.yaml': connection('k1'), 'team/2.yaml': connection('k1-team') });
    expect(await printed('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    ours.git('init', '--quiet', 'team');
    for (const command of commands) {
      const { code, text } = await printed(command, ours.folder);
      expect([command, code]).toEqual([command, 3]);
      expect(text).toContain('git/not-checked-out  "team/2.yaml" is in HEAD, but not read: "team" has a .git of its own');
    }
    expect(await gateway.isLive('k1-team')).toBe(true);
  });

  test('because it is a repository in the repository that is no submodule', async () => {
    const ours = make({ 'ostiary.yaml': configOf(), 'access/1.yaml': connection('k2') });
    addCheckout(ours, 'clone', 'team', { '2.yaml': connection('k2-team') });
    ours.commit('Add a repository by mistake');
    const { code, text } = await printed('apply --yes', ours.folder);
    expect([code, text]).toEqual([3, expect.stringContaining('the submodule "team" is not named in .gitmodules')]);
  });
});

test('a submodule belongs to the tree, whatever its path and however .gitmodules spells it', async () => {
  const inner = make({ '2.yaml': connection('s1-inner') });
  const middle = make({ '3.yaml': connection('s1-middle') });
  middle.git('submodule', '--quiet', 'add', `file://${inner.folder}`, 'inner');
  middle.commit('Add a submodule');
  const ours = make({ 'ostiary.yaml': configOf(), '1.yaml': connection('s1') });
  for (const path of ['sub', 'a # b', 'deep/er/sub']) ours.git('submodule', '--quiet', 'add', `file://${middle.folder}`, path);
  ours.git('submodule', '--quiet', 'update', '--init', '--recursive', 'sub');
  ours.remove('a # b/3.yaml', 'deep/er/sub/3.yaml');
  ours.write({ 'a # b/4.yaml': connection('s1-odd'), 'deep/er/sub/5.yaml': connection('s1-deep') });
  const { code, text } = await printed('list', ours.folder);
  expect([code, text.includes('other-checkout')]).toEqual([0, false]);
  for (const name of ['s1', 's1-middle', 's1-inner', 's1-odd', 's1-deep']) expect(text).toContain(`Connection  ${name} `);
});
