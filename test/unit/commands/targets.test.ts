import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Files } from '../../e2e/project.ts';
import { connection, guardrail, manifest } from '../../e2e/project.ts';
import { useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';

const repositories = useRepositories();

const overlay = (host: string): string =>
  `apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: orders }\nspec: { secret: { 'envvar:HOST': { value: ${host} }, 'filesystem:CA': { valueFrom: { file: certs/ca.pem } } } }\n`;

function configOf(targets: Readonly<Record<string, string>>, more = ''): string {
  const lines = Object.entries(targets).map(
    ([name, rest]) => `  ${name}: { url: 'https://${name}.test', overlays: [over/${name}]${rest} }\n`,
  );
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\n${more}targets:\n${lines.join('')}`;
}

const policy = (message: string): string => manifest('Policy', 'reviewed', { require: ['size(connection.reviewers) > 0'], message });
const accessTest = (wanted: string): string =>
  `apiVersion: ostiary/v1\nkind: AccessTest\nmetadata: { name: contractors }\nspec: [{ group: contractors, on: orders, expect: ${wanted} }]\n`;

const files: Files = {
  'ostiary.yaml': configOf({ a: '', b: '', c: '' }),
  'access/orders.yaml': connection('orders', { reviewers: ['dba'], guardrail_rules: ['words'] }),
  'access/words.yaml': guardrail('words'),
  'access/only-b.yaml': connection('only-b', {}, { targets: ['b'] }),
  'access/policy.yaml': policy('needs a reviewer'),
  'access/test.yaml': accessTest('denied'),
  'over/a/orders.yaml': overlay('a.internal'),
  'over/b/orders.yaml': overlay('b.internal'),
  'over/c/orders.yaml': overlay('c.internal'),
  'certs/ca.pem': 'one',
};

const lineOfAll = (text: string): readonly string[] => [`a, b, c: ${text}`];

const edits: Readonly<Record<string, readonly [Files, readonly string[]]>> = {
  'no edit': [{}, []],
  'a comment and moved lines': [
    { 'access/orders.yaml': `# why\n\n${connection('orders', { guardrail_rules: ['words'], reviewers: ['dba'] })}` },
    [],
  ],
  'a new name of a file': [{ 'access/words.yaml': '', 'access/sub/words.yaml': guardrail('words') }, []],
  'the overlay of one target': [{ 'over/b/orders.yaml': overlay('other.internal') }, ['b: manifests Connection/orders']],
  'a manifest for one target': [
    { 'access/only-b.yaml': connection('only-b', { reviewers: ['dba'] }, { targets: ['b'] }) },
    ['b: manifests Connection/only-b'],
  ],
  'a shared rule': [{ 'access/words.yaml': guardrail('words', ['drop']) }, lineOfAll('manifests GuardrailRule/words')],
  'an attachment': [{ 'access/orders.yaml': connection('orders', { reviewers: ['dba'] }) }, lineOfAll('manifests Connection/orders')],
  'a committed file of a secret': [{ 'certs/ca.pem': 'two' }, lineOfAll('manifests Connection/orders')],
  'a policy': [{ 'access/policy.yaml': policy('needs two reviewers') }, lineOfAll('policies reviewed')],
  'an access test': [{ 'access/test.yaml': accessTest('allowed') }, lineOfAll('access tests contractors')],
  'an accepted finding': [
    { 'access/words.yaml': `# ostiary:ok rule/matches-harmless it is a demo\n${guardrail('words')}` },
    lineOfAll('accepted findings rule/matches-harmless'),
  ],
  'a setting of one target': [{ 'ostiary.yaml': configOf({ a: '', b: ', prune: true', c: '' }) }, ['b: config prune']],
  'a setting of all targets': [{ 'ostiary.yaml': configOf({ a: '', b: '', c: '' }, 'approvers: [ada]\n') }, lineOfAll('config approvers')],
  'another folder of overlays': [
    {
      'ostiary.yaml': configOf({ a: '', b: '', c: '' }).replace('over/c', 'moved/c'),
      'over/c/orders.yaml': '',
      'moved/c/orders.yaml': overlay('c.internal'),
    },
    [],
  ],
  'a new target': [
    { 'ostiary.yaml': configOf({ a: '', b: '', c: '', d: '' }), 'over/d/orders.yaml': overlay('d.internal') },
    ['a, b, c: config target d', 'd: not compared the target is new'],
  ],
  'a manifest that is invalid': [
    { 'over/a/orders.yaml': 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: orders }\nspec: { nonsense: 1 }\n' },
    [expect.stringMatching(/^a: not compared over.a.orders.yaml:4:9 unknown field "nonsense"/)],
  ],
};

describe('ostiary targets', () => {
  const repository = repositories.make(files);
  const base = repository.commit();
  const list = (more: readonly string[] = []): ReturnType<typeof ostiaryInProcess> =>
    ostiaryInProcess(['targets', '--own', base, ...more], { cwd: repository.folder });

  test.each(Object.entries(edits))('lists what is affected by %s', async (_, [edit, lines]) => {
    const written = Object.entries(edit).filter(([, text]) => text !== '');
    const removed = Object.keys(edit).filter((path) => edit[path] === '');
    repository.git('checkout', '--quiet', '--force', base);
    repository.git('clean', '--quiet', '--force', '-d');
    repository.remove(...removed);
    repository.write(Object.fromEntries(written));
    const { code, stdout, stderr } = await list();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(
      stdout
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.trim()),
    ).toEqual(lines);
  });

  test('writes the names of affected targets as a JSON list, also an empty one', async () => {
    repository.git('checkout', '--quiet', '--force', base);
    const out = join(repository.folder, 'affected.json');
    await list(['--out', 'affected.json']);
    expect(readFileSync(out, 'utf8')).toBe('[]\n');
    repository.write({ 'over/b/orders.yaml': overlay('other.internal') });
    const { stdout } = await list(['--out', 'affected.json', '--format', 'json']);
    expect(readFileSync(out, 'utf8')).toBe('["b"]\n');
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      since: base,
      targets: [{ target: 'b', reasons: [{ reason: 'manifests', names: ['Connection/orders'] }] }],
      unaffected: ['a', 'c'],
    });
  });

  test('what cannot be compared with anything is an error', async () => {
    const { folder } = repository;
    const plan = (...args: readonly string[]): ReturnType<typeof ostiaryInProcess> => ostiaryInProcess(['plan', ...args], { cwd: folder });
    expect(await plan('--all-targets', '--affected')).toMatchObject({ code: 3, stderr: expect.stringContaining('--own origin/main') });
    expect(await plan('--target', 'a', '--affected', '--own', base)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--affected requires --all-targets'),
    });
    expect(await ostiaryInProcess(['targets', '--own', 'main'], { cwd: repositories.place() })).toMatchObject({ code: 3 });
  });
});
