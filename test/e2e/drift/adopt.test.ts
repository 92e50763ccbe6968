import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expectValid } from '../../support/documents.ts';
import { commentedConnection } from '../../support/manifests.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, guardrail } from '../project.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

const run = (line: string, { folder }: TestRepository): ReturnType<typeof gateway.run> => gateway.run(line, folder, gitEnv);

async function change(path: string, spec: object): Promise<void> {
  const { body } = await gateway.call('GET', path);
  const { status } = await gateway.call('PUT', path, { body: { ...body, ...spec } });
  expect(status).toBe(200);
}

const orders = (name: string): string =>
  commentedConnection
    .replace('name: orders', `name: ${name}`)
    .replace('10.0.0.5', 'canary-host')
    .replace(/^ *envvar:PASS.*\n/m, '');

const branch = 'ostiary/adopt/production';

function parsed(text: string): { readonly drifts: readonly { readonly adoption: { readonly [key: string]: unknown } }[] } {
  return JSON.parse(text);
}

describe('drift --adopt', () => {
  test('edits only the drifted values, in place, on a branch; after the merge there is no drift', async () => {
    const rule = guardrail('one-rule', ['DROP'], { connection_selector: { match_tags: { env: 'prod' } } });
    const repository = make({
      'ostiary.yaml': config(gateway.url()),
      'access/a.yaml': orders('one-a'),
      'access/b.yaml': orders('one-b'),
      'access/rule.yaml': rule,
      'access/other.yaml': guardrail('one-other', ['TRUNCATE']),
    });
    const origin = makeOrigin(repository);
    expect((await run('apply --yes', repository)).code).toBe(0);
    await change('/connections/one-a', {
      access_max_duration: 600,
      reviewers: ['dba', 'security'],
      connection_tags: { env: 'prod', team: 'billing' },
    });
    const { list } = await gateway.call('GET', '/guardrails');
    const others = list.flatMap(({ id, name }) => (name === 'one-other' ? [id] : []));
    await change('/connections/one-b', { guardrail_rules: others });
    const before = repository.git('rev-parse', 'HEAD');
    const ended = await run('drift --adopt', repository);
    expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringContaining('adopt/')]);
    expect(ended.stdout).toMatch(
      /Accepted: \d objects, in \d files of the branch\s+ostiary\/adopt\/production \([0-9a-f]{10}, pushed to origin\)\./,
    );
    expect([repository.git('rev-parse', 'HEAD'), repository.git('status', '--porcelain')]).toEqual([before, '']);
    expect(repository.git('rev-parse', `${branch}^`)).toBe(before);
    expect(origin.git('rev-parse', branch)).toBe(repository.git('rev-parse', branch));
    const shown = repository.git('show', `${branch}:access/a.yaml`);
    expect(shown).toContain('# Orders.');
    expect(shown).toContain(
      "  access_max_duration: 600 # an hour\n  # Who looks at it.\n  reviewers:\n  - 'dba'   # always\n  - 'security'\n",
    );
    expect(shown).toContain('connection_tags: {env: prod, team: billing}');
    expect(repository.git('show', `${branch}:access/rule.yaml`)).toContain('one-b');
    expect(repository.git('show', '--no-patch', '--format=%an <%ae>%n%B', branch)).toMatch(
      /^Ada <ada@example.com>\nAccept drift on production\n\n- Connection\/one-a, by \S+, 2\S+ \S+ UTC\n[\s\S]*\n- GuardrailRule\/one-rule on Connection\/one-b, by \S+, 2[\s\S]*\nEffect on protection:\n- weakens by reviewers: one-a\n- weakens by attachments: one-b\n- strengthens by [\s\S]*- strengthens by access_max_duration: one-a\n\nOstiary-Adopt: production$/,
    );

    const first = repository.git('rev-parse', branch);
    const again = await run('drift --adopt --format json --quiet', repository);
    expect(repository.git('rev-parse', branch)).toBe(first);
    expect(parsed(again.stdout).drifts[0]?.adoption['branch']).toEqual({ name: branch, commit: first, unchanged: true, pushed: true });
    expectValid('drift', again.stdout);
    expect(`${again.stdout}${ended.stdout}`).not.toContain('canary-host');

    // Another change of the main branch leaves the branch alone; another drift moves it on.
    repository.save({ 'README.md': 'Something else.' });
    await run('drift --adopt', repository);
    expect(repository.git('rev-parse', branch)).toBe(first);
    await change('/connections/one-a', { access_max_duration: 900 });
    await run('drift --adopt', repository);
    expect(origin.git('rev-parse', branch)).toBe(repository.git('rev-parse', branch));
    expect(repository.git('rev-list', '--count', `main..${branch}`)).toBe('1');

    repository.git('merge', '--quiet', '--no-edit', branch);
    expect(await run('drift', repository)).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
    expect((await run('plan', repository)).stdout).toMatch(/Nothing to write: \d drifts accepted in the manifests, /);
    repository.git('push', '--quiet', 'origin', 'main');
    expect((await run('apply --yes', repository)).stdout).toContain('nothing to do');
    expect(await run('plan', repository)).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  });

  test('works in a shallow clone and behind a link, and keeps commits of others on the branch', async () => {
    const repository = make({ 'ostiary.yaml': config(gateway.url()), 'teams/a.yaml': orders('two-a') });
    repository.link('access/a.yaml', '../teams/a.yaml');
    repository.commit();
    const origin = makeOrigin(repository);
    expect((await run('apply --yes', repository)).code).toBe(0);
    await change('/connections/two-a', { access_max_duration: 600 });
    expect((await run('drift --adopt', clone(origin, '--depth=1'))).code).toBe(0);
    const first = origin.git('rev-parse', branch);
    expect(origin.git('diff', '--name-only', 'main', branch)).toBe('teams/a.yaml');
    expect((await run('drift --adopt', clone(origin, '--depth=1'))).code).toBe(0);
    expect(origin.git('rev-parse', branch)).toBe(first);
    const theirs = clone(origin);
    theirs.git('checkout', '--quiet', branch);
    theirs.save({ 'access/note.txt': 'mine' });
    theirs.git('push', '--quiet', 'origin', branch);
    const taken = await run('drift --adopt', repository);
    expect(taken).toMatchObject({ code: 3, stdout: expect.stringContaining('two-a'), stderr: expect.stringContaining('git/branch-taken') });
    expect(origin.git('rev-parse', branch)).toBe(theirs.git('rev-parse', 'HEAD'));
    expect(await run('drift --adopt', theirs)).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
  });

  test('commits no uncommitted work; --no-commit edits the files of the working tree', async () => {
    const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': orders('three-a') });
    expect((await run('apply --yes', repository)).code).toBe(0);
    await change('/connections/three-a', { access_max_duration: 600 });
    repository.git('branch', 'ostiary');
    expect(await run('drift --adopt', repository)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('git branch -m ostiary OTHER'),
    });
    repository.git('branch', '-D', 'ostiary');
    repository.write({ 'access/a.yaml': `# mine\n${orders('three-a')}` });
    const dirty = await run('drift --adopt', repository);
    expect(dirty).toMatchObject({ code: 3, stderr: expect.stringContaining('git/uncommitted') });
    expect(dirty.stderr).toContain('"access/a.yaml"');
    expect(repository.git('branch', '--list', branch)).toBe('');
    const here = await run('drift --adopt --no-commit', repository);
    expect(here).toMatchObject({ code: 0, stdout: expect.stringContaining('in 1 file here') });
    expect(readFileSync(`${repository.folder}/access/a.yaml`, 'utf8')).toBe(
      `# mine\n${orders('three-a').replace('access_max_duration: 3600', 'access_max_duration: 600')}`,
    );
    expect(repository.git('branch', '--list', branch)).toBe('');
  });

  test('skips pending changes and reports differences that manifests cannot declare', async () => {
    const repository = make({
      'ostiary.yaml': config(gateway.url()),
      'access/a.yaml': orders('four-a'),
      'access/b.yaml': orders('four-b'),
    });
    expect((await run('apply --yes', repository)).code).toBe(0);
    await change('/connections/four-a', { reviewers: ['dba', 'sre', 'security'] });
    await gateway.call('DELETE', '/connections/four-b');
    repository.save({ 'access/a.yaml': orders('four-a').replace('3600', '7200') });
    const ended = await run('drift --adopt', repository);
    expect(ended).toMatchObject({ code: 2, stdout: expect.stringContaining('Accepted: 1 object, in 1 file of the branch') });
    expect(ended.stderr).toMatch(/access\/b\.yaml:\d+:\d+ warning adopt\/removed/);
    const shown = repository.git('show', `${branch}:access/a.yaml`);
    expect(shown).toContain('access_max_duration: 7200 # an hour');
    expect(shown).toContain("  - 'security'");
    repository.git('merge', '--quiet', '--no-edit', branch);
    expect((await run('plan --only Connection/four-a', repository)).stdout).toContain('1 to update');
  });
});

test('edits the overlay that sets the value, separates it from shared anchors, and never moves a checked-out branch', async () => {
  const overlaid = `apiVersion: ostiary/v1
kind: Connection
metadata: { name: six-a }
spec: { access_max_duration: 1800 } # less in production
`;
  const anchored = [
    orders('six-a').replace('reviewers:', 'reviewers: &team'),
    orders('six-b').replace(/reviewers:\n.*\n.*\n/, 'reviewers: [dba, sre]\n'),
  ];
  const both = anchored.join('---\n');
  const repository = make({
    'ostiary.yaml': config(gateway.url()).replace(' }\n', ', overlays: [over/] }\n'),
    'access/both.yaml': both,
    'over/a.yaml': overlaid,
  });
  expect((await run('apply --yes', repository)).code).toBe(0);
  await change('/connections/six-a', { access_max_duration: 900, reviewers: ['dba'] });
  expect((await run('drift --adopt', repository)).code).toBe(0);
  expect(repository.git('show', `${branch}:over/a.yaml`)).toBe(overlaid.replace('1800', '900').trim());
  expect(repository.git('show', `${branch}:access/both.yaml`)).toBe(both.replace("  - 'sre'\n", '').trim());
  repository.git('checkout', '--quiet', branch);
  expect(await run('drift --adopt', repository)).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
  await change('/connections/six-a', { access_max_duration: 60 });
  expect(await run('drift --adopt', repository)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^\S+:\d+:\d+ warning adopt\/both-moved/m),
  });
  await change('/connections/six-b', { access_max_duration: 60 });
  expect(await run('drift --adopt', repository)).toMatchObject({ code: 3, stderr: expect.stringContaining('git/branch-checked-out') });
});
