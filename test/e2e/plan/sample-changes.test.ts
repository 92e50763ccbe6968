import { expect, test } from 'vitest';
import { useGateway } from '../use-gateway.ts';
import { config, manifest, useProjects, writeFiles } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();

function rule(words: readonly string[], pattern = 'lo_import'): string {
  const rules = [
    { name: 'words', type: 'deny_words_list', words },
    { name: 'pattern', type: 'pattern_match', pattern_regex: pattern },
  ];
  const document = JSON.parse(manifest('GuardrailRule', 'no-shell', { input: { rules } }));
  return JSON.stringify({ ...document, tests: [{ input: 'exec xp_cmdshell', expect: 'blocked' }] }, null, 2);
}

test('a plan lists the samples whose result changes, and rejects a rule that cannot work', async () => {
  const folder = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': rule(['xp_cmdshell']) });
  expect(await gateway.run('apply --yes', folder)).toMatchObject({ code: 0 });
  expect(await gateway.run('plan', folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });

  writeFiles(folder, { 'access/rule.yaml': rule(['xp_dirtree']) });
  const loosened = await gateway.run('plan --out plan.json', folder);
  expect(loosened.code).toBe(0);
  expect(loosened.stdout).toContain('      - sample blocked → allowed: exec xp_cmdshell\n');
  expect(loosened.stderr).toContain('warning rule/sample-failed');
  const json = JSON.parse((await gateway.run('plan --format json', folder)).stdout);
  expect(json.plans[0].protection.changedSamples).toMatchObject([{ rule: 'GuardrailRule/no-shell', before: 'blocked', after: 'allowed' }]);
  expect(await gateway.run('validate', folder)).toMatchObject({ code: 3 });

  writeFiles(folder, { 'access/rule.yaml': rule(['xp_dirtree'], 'a(?!b)') });
  for (const command of ['plan', 'apply --yes']) {
    const { code, stderr } = await gateway.run(command, folder);
    expect({ code, reported: stderr.includes('error rule/pattern-refused') }).toEqual({ code: 3, reported: true });
  }
  const [live] = (await gateway.call('GET', '/guardrails')).list;
  expect(JSON.stringify(live)).toContain('xp_cmdshell');
  const id = typeof live?.['id'] === 'string' ? live['id'] : '';

  // What is broken on the gateway already is no reason to leave the rest as it is.
  const { input } = JSON.parse(rule(['xp_cmdshell'], 'a(?!b)')).spec;
  expect((await gateway.call('PUT', `/guardrails/${id}`, { body: { ...live, input } })).status).toBe(200);
  const old = await gateway.run('plan', folder);
  expect({ code: old.code, reported: old.stderr.includes('warning rule/pattern-refused') }).toEqual({ code: 0, reported: true });
  const before = JSON.parse(rule(['xp_cmdshell'])).spec.input;
  expect((await gateway.call('PUT', `/guardrails/${id}`, { body: { ...live, input: before } })).status).toBe(200);

  writeFiles(folder, { 'access/rule.yaml': rule(['xp_dirtree']) });
  const applied = await gateway.run('apply --plan plan.json --yes', folder);
  expect(applied.code).toBe(0);
  expect(JSON.stringify((await gateway.call('GET', '/guardrails')).list)).toContain('xp_dirtree');
});
