import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { installProgram } from '../../support/git-repository.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { connection, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone, place } = useRepositories();

const defaults = 'apiVersion: ostiary/v1\nkind: Defaults\nspec:\n  Connection:\n    reviewers: [admin]\n';
const policy =
  'apiVersion: ostiary/v1\nkind: Policy\nmetadata: { name: reviewed }\nspec: { message: no reviewer, require: ["size(connection.reviewers) > 0"] }\n';

function configOf(more = 'manifests: [access]'): string {
  return `apiVersion: ostiary/v1\nkind: Config\n${more}\ntargets:\n  production: { url: '${gateway.url()}', prune: true }\n`;
}

/** Makes a project with an origin, and applies it. */
async function applied(
  files: Files,
  config = configOf(),
  below = '',
): Promise<{ readonly ours: TestRepository; readonly origin: TestRepository }> {
  const ours = make({ [`${below}ostiary.yaml`]: config, ...files });
  const origin = makeOrigin(ours);
  expect(await gateway.run('apply --yes', `${ours.folder}/${below}`)).toMatchObject({ code: 0 });
  return { ours, origin };
}

const commands = ['plan', 'apply --yes', 'drift', 'validate', 'plan --own HEAD'];

/** Expects that a command names the file and does nothing; all load their manifests in one way. */
async function expectNamed(
  folder: string,
  text: string,
  names: readonly string[],
  lines: readonly string[] = ['apply --yes'],
): Promise<void> {
  const ended = [];
  for (const command of lines) {
    const { code, stdout, stderr } = await gateway.run(command, folder);
    const all = `${stdout}${stderr}`;
    ended.push([command, code, all.includes(text), all.includes('No changes')]);
  }
  expect(ended).toEqual(lines.map((command) => [command, 3, true, false]));
  const live = await Promise.all(names.map((name) => gateway.isLive(name)));
  expect(live).toEqual(names.map(() => true));
}

describe('a file of HEAD that git leaves out of the working tree is an error', () => {
  test('outside a sparse checkout, in a shallow clone with the HEAD detached', async () => {
    const { origin } = await applied({ 'access/a/1.yaml': connection('i1-a'), 'access/b/1.yaml': connection('i1-b') });
    const sparse = clone(origin, '--sparse', '--depth=1');
    sparse.git('sparse-checkout', 'set', 'access/a');
    sparse.git('checkout', '--quiet', '--detach');
    await expectNamed(sparse.folder, '"access/b/1.yaml" is in HEAD, but git leaves it out of the working tree', ['i1-a', 'i1-b'], commands);
    sparse.git('sparse-checkout', 'disable');
    expect(await gateway.run('plan', sparse.folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  });

  test('with skip-worktree or assume-unchanged, in a worktree, with the config in a folder', async () => {
    const { ours } = await applied(
      { 'sub/access/1.yaml': connection('i2-a'), 'sub/access/2.yaml': connection('i2-b') },
      configOf(),
      'sub/',
    );
    for (const mark of ['skip-worktree', 'assume-unchanged']) {
      const tree = `${ours.folder}-${mark}`;
      ours.git('worktree', 'add', '--quiet', '--detach', tree);
      ours.git('-C', tree, 'update-index', `--${mark}`, 'sub/access/2.yaml');
      rmSync(`${tree}/sub/access/2.yaml`);
      await expectNamed(`${tree}/sub`, '"access/2.yaml" is in HEAD', ['i2-a', 'i2-b']);
    }
  });

  test.each([
    ['access/_defaults.yaml', defaults, 'manifests: [access]', ''],
    ['policies/reviewed.yaml', policy, 'manifests: [access, policies]', ''],
    ['overlays/x.yaml', connection('i3-15', { reviewers: ['admin'] }), 'manifests: [access]', ', overlays: [overlays]'],
  ])('also %s, without which values or checks differ', async (path, text, manifests, more) => {
    const name = `i3-${path.length}`;
    const config = configOf(manifests).replace(', prune', `${more}, prune`);
    const one = connection(name, { reviewers: ['admin'] });
    const { ours } = await applied({ 'access/team/1.yaml': one, 'policies/keep.txt': '', [path]: text }, config);
    ours.git('update-index', '--skip-worktree', path);
    ours.remove(path);
    ours.write({ 'policies/keep.txt': '', 'overlays/keep.txt': '' });
    await expectNamed(ours.folder, `"${path}" is in HEAD`, [name]);
  });

  test('a submodule that is not checked out, or does not have the commit that HEAD names', async () => {
    const inner = make({ 'i4-b.yaml': connection('i4-b') });
    const { ours, origin } = await applied({ 'access/1.yaml': connection('i4-a'), 'access/sub/i4-b.yaml': connection('i4-b') });
    ours.git('rm', '-r', '--quiet', 'access/sub');
    ours.git('submodule', '--quiet', 'add', `file://${inner.folder}`, 'access/sub');
    ours.commit('Move to a submodule');
    ours.git('push', '--quiet', 'origin', 'main');
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    const fresh = clone(origin);
    await expectNamed(fresh.folder, 'the submodule "access/sub" is not checked out', ['i4-a', 'i4-b']);
    fresh.git('submodule', '--quiet', 'update', '--init');
    expect(await gateway.run('plan', fresh.folder)).toMatchObject({ code: 0 });
    fresh.git('-C', 'access/sub', 'update-index', '--skip-worktree', 'i4-b.yaml');
    fresh.remove('access/sub/i4-b.yaml');
    await expectNamed(fresh.folder, '"access/sub/i4-b.yaml" is in HEAD', ['i4-a', 'i4-b']);
  });
});

test.each(['old', 'new'])('a partial clone says what it is (%s git), and plans once it is complete', async (age) => {
  // A new git does not try to fetch; an old one does not know the variable, and fails.
  const script = age === 'old' ? 'unset GIT_NO_LAZY_FETCH; exec git "$@"' : 'exec git -c remote.origin.promisor=false "$@"';
  const env = await installProgram(place(), 'git', `PATH='${gitEnv['PATH']}'; ${script}`);
  const { ours, origin } = await applied({ 'access/1.yaml': connection('p-a'), 'access/2.yaml': connection('p-b') });
  origin.git('config', 'uploadpack.allowFilter', 'true');
  ours.remove('access/2.yaml');
  ours.save({ 'access/1.yaml': connection('p-a', { reviewers: ['dba'] }) });
  ours.git('push', '--quiet', 'origin', 'main');
  const partial = clone(origin, '--filter=blob:none');
  for (const line of ['plan', 'plan --config-ref HEAD~1', 'plan --own HEAD~1 --base none', 'apply --yes']) {
    const ended = await gateway.run(line, partial.folder, env);
    expect([line, ended]).toEqual([line, expect.objectContaining({ code: 4, stderr: expect.stringContaining('error git/partial-clone') })]);
    expect(ended.stderr).toContain('git fetch --refetch --no-filter origin');
  }
  partial.git('fetch', '--quiet', '--refetch', '--no-filter', 'origin');
  const whole = await gateway.run('plan --format json', ours.folder);
  expect(await gateway.run('plan --format json', partial.folder)).toMatchObject({ code: 0, stdout: whole.stdout });
});

describe('a removal that is not committed', () => {
  test('is planned, but not applied: of a file, a document, a folder and a list of the config', async () => {
    const both = `${connection('i6-c')}---\n${connection('i6-d')}`;
    const files = { 'access/a/1.yaml': connection('i6-a'), 'more/b.yaml': connection('i6-b'), 'access/both.yaml': both };
    const config = configOf('manifests: [access, more]');
    const { ours } = await applied(files, config);
    const expectRefused = async (text: string): Promise<void> => {
      const planned = await gateway.run('plan', ours.folder);
      expect(planned).toMatchObject({ code: 6, stdout: expect.stringContaining('1 to delete') });
      expect(planned.stdout).toContain(text);
      expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 6 });
      expect((await gateway.run('drift', ours.folder)).stderr).toContain(text);
      ours.git('checkout', '--quiet', '.');
      expect(await gateway.run('plan', ours.folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
    };
    ours.remove('access/a');
    await expectRefused('in HEAD, but not in the working tree: access/a/1.yaml');
    ours.write({ 'access/both.yaml': connection('i6-c') });
    await expectRefused('declared in HEAD, but not in the working tree: Connection/i6-d');
    ours.write({ 'ostiary.yaml': configOf() });
    await expectRefused('declared in HEAD, but not in the working tree: Connection/i6-b');
    ours.remove('access/a');
    expect(await gateway.run('apply --yes --allow git/uncommitted-removal=test', ours.folder)).toMatchObject({ code: 0 });
    expect(await gateway.isLive('i6-a')).toBe(false);
  });
});

test.each(['YAML', 'json'])('a manifest renamed to .%s is an error, and nothing is deleted', async (extension) => {
  const name = `i10-${extension.toLowerCase().replace('.', '-')}`;
  const { ours } = await applied({ 'access/keep.yaml': connection(`${name}-keep`), 'access/orders.yaml': connection(name) });
  ours.git('mv', 'access/orders.yaml', `access/orders.${extension}`);
  ours.commit('Rename');
  await expectNamed(ours.folder, `"orders.${extension}" looks like a manifest`, [name]);
});
