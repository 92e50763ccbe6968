import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectValid } from '../../support/documents.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();

const broken = connection('reports', { reviewer: ['dba'] });

const reports = (...formats: readonly string[]): string => formats.map((format) => `--report ${format}=out.${format}`).join(' ');

test.each(['plan', 'apply --yes', 'drift'])('%s writes every report also when a manifest is invalid', async (command) => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': broken });
  const formats = ['text', 'json', 'markdown', ...(command === 'drift' ? [] : ['html'])];
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

test('validate prints and writes JUnit, Code Quality and Markdown, with findings and without', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': guardrail('reports') });
  const printed = async (format: string): Promise<string> => (await gateway.run(`validate --format ${format}`, cwd)).stdout;
  expect(await printed('junit')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ostiary" tests="1" failures="0" errors="0" skipped="0" time="0">
  <testsuite name="ostiary.yaml" tests="1" failures="0" errors="0" skipped="0" time="0">
    <testcase classname="ostiary.yaml" name="the manifests are valid" file="ostiary.yaml" line="1" time="0"/>
  </testsuite>
</testsuites>
`);
  expect(await printed('codequality')).toBe('[]\n');
  expect(await printed('markdown')).toBe('### Valid. 1 resource.\n\n');
  writeFileSync(join(cwd, 'access/a.yaml'), `# <&"\n${broken}`);
  writeFileSync(join(cwd, 'access/b.yaml'), broken.replace('"reviewer":', '"reviewer<&\\"\\u0007":').replace('"reports"', '"others"'));
  const xml = await printed('junit');
  expect(xml).toContain('<testsuites name="ostiary" tests="2" failures="2"');
  expect(xml).toMatch(
    /<testsuite name="access\/b\.yaml"[^>]*>\n {4}<testcase [^>]*>\n {6}<failure type="manifest\/unknown-field" message="[^"<]*reviewer&lt;&amp;/,
  );
  expect(xml).not.toContain(String.fromCodePoint(7));
  const fingerprints = async (): Promise<readonly string[]> =>
    JSON.parse(await printed('codequality')).map(({ fingerprint }: { readonly fingerprint: string }) => fingerprint);
  const before = await fingerprints();
  expect(new Set(before).size).toBe(2);
  writeFileSync(join(cwd, 'access/a.yaml'), `# a line\n# and one more\n${broken}`);
  expect(await fingerprints()).toEqual(before);
});

test('several targets: one document for all is printed, and one file for each is written', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': broken });
  const printed = await gateway.run('validate --all-targets --format junit', cwd);
  expect(printed).toMatchObject({ code: 3, stderr: '', stdout: expect.stringContaining('in Connection (one, two); did you mean') });
  expect(printed.stdout.match(/<testsuites|<failure/g)).toEqual(['<testsuites', '<failure']);
  expect((await gateway.run('validate --all-targets --report junit={target}.xml', cwd)).code).toBe(3);
  for (const name of ['one.xml', 'two.xml']) expect(readFileSync(join(cwd, name), 'utf8')).not.toContain('(one');
});

test('{target} in the path of a report becomes the name of the target in every command', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': guardrail('words') });
  const files = (): readonly string[] => readdirSync(cwd).filter((name) => name.startsWith('out-'));
  const writes = async (line: string, format: string): Promise<readonly string[]> => {
    for (const name of files()) rmSync(join(cwd, name));
    expect((await gateway.run(`${line} --report ${format}=out-{target}`, cwd)).code).toBe(0);
    return files();
  };
  expect(await writes('test', 'junit')).toEqual(['out-one', 'out-two']);
  expect(await writes('test --target two', 'json')).toEqual(['out-two']);
  expect(readFileSync(join(cwd, 'out-two'), 'utf8')).toContain('"target": "two"');
  expect(await writes('validate', 'sarif')).toEqual(['out-one', 'out-two']);
  for (const line of ['plan --target one', 'apply --yes --no-origin --target one'])
    expect([line, await writes(line, 'json')]).toEqual([line, ['out-one']]);
  expect(await writes('drift --no-origin --target one', 'markdown')).toEqual(['out-one']);
  writeFileSync(join(cwd, 'access/a.yaml'), broken);
  rmSync(join(cwd, 'out-one'));
  expect((await gateway.run('test --report junit=out-{target}', cwd)).code).toBe(3);
  expect(files()).toEqual(['out-one', 'out-two']);
  expect(readFileSync(join(cwd, 'out-two'), 'utf8')).toContain('manifest/unknown-field');
});
