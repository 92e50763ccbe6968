import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectValid } from '../../support/documents.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();

const broken = connection('reports', { reviewer: ['dba'] });

const reports = (...formats: readonly string[]): string => formats.map((format) => `--report ${format}=out.${format}`).join(' ');

test.each(['plan', 'apply --yes', 'drift'])('%s writes every report also when a manifest is invalid', async (command) => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': broken });
  const formats = ['text', 'json', 'markdown', ...(command === 'plan' ? ['html'] : [])];
  for (const format of formats) writeFileSync(join(cwd, `out.${format}`), 'a report of yesterday');
  const ended = await gateway.run(`${command} ${reports(...formats)}`, cwd);
  expect(ended).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('error manifest/unknown-field') });
  expect(ended.stderr.match(/manifest\/unknown-field/g)).toHaveLength(1);
  for (const format of formats) {
    const text = readFileSync(join(cwd, `out.${format}`), 'utf8');
    expect([format, text]).toEqual([format, expect.stringMatching(/manifest\/unknown-field/)]);
  }
  const [name = ''] = command.split(' ');
  const json = readFileSync(join(cwd, 'out.json'), 'utf8');
  if (name !== 'drift') expectValid(name === 'plan' ? 'plan' : 'apply', json);
  expect(JSON.parse(json).failures).toEqual([{ exitCode: 3, diagnostics: [expect.objectContaining({ code: 'manifest/unknown-field' })] }]);
});

test('an unreachable gateway and an invalid config are reported, too', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config({ down: 'http://127.0.0.1:9' }), 'access/a.yaml': connection('reports') });
  expect((await gateway.run('plan --target down --report markdown=out.md', cwd)).code).toBe(4);
  expect(readFileSync(join(cwd, 'out.md'), 'utf8')).toMatch(
    /^### Failed on down: gateway unreachable or access denied \(exit 4\)\n[\s\S]*api\/unreachable/,
  );
  writeFileSync(join(cwd, 'ostiary.yaml'), 'apiVersion: ostiary/v1\nkind: Config\ntarget: {}\n');
  const formats = ['json', 'sarif', 'junit', 'codequality', 'markdown', 'text'];
  expect((await gateway.run(`validate ${reports(...formats)}`, cwd)).code).toBe(3);
  for (const format of formats) expect(readFileSync(join(cwd, `out.${format}`), 'utf8')).toContain('manifest/missing-field');
});

test('JUnit is well-formed whatever a manifest says, and a finding of Code Quality keeps its fingerprint', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': `# <&"\n${broken}` });
  const printed = async (format: string): Promise<string> => (await gateway.run(`validate --format ${format}`, cwd)).stdout;
  writeFileSync(join(cwd, 'access/b.yaml'), broken.replace('"reviewer":', '"reviewer<&\\"\\u0007":').replace('"reports"', '"others"'));
  const xml = await printed('junit');
  expect(xml).toMatch(/<failure type="manifest\/unknown-field" message="[^"<]*reviewer&lt;&amp;/);
  expect(xml).not.toContain(String.fromCodePoint(7));
  const fingerprints = async (): Promise<readonly string[]> =>
    JSON.parse(await printed('codequality')).map(({ fingerprint }: { readonly fingerprint: string }) => fingerprint);
  const before = await fingerprints();
  expect(new Set(before).size).toBe(2);
  writeFileSync(join(cwd, 'access/a.yaml'), `# a line\n# and one more\n${broken}`);
  expect(await fingerprints()).toEqual(before);
});
