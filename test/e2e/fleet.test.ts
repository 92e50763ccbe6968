import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGateway } from './gateway.ts';
import { config, connection, workshop } from './project.ts';

const makeProject = workshop();
const gateway = useGateway();

const nowhere = 'http://127.0.0.1:9';

test('several targets in one run: each has its section, one that is down stops nobody, the worst exit code stands', async () => {
  const cwd = makeProject({
    'ostiary.yaml': config({ one: gateway.url(), down: nowhere, two: gateway.url() }),
    'access/a.yaml': connection('a'),
  });
  const planned = await gateway.run('plan --all-targets --report json=plan-{target}.json', cwd);
  expect(planned.code).toBe(4);
  expect(planned.stdout).toMatch(/^one {2}http[\s\S]*\n\ndown\n\nNothing to show: exit 4, unreachable or denied\.\n\n\ntwo {2}http/);
  expect(planned.stderr).toMatch(
    /api\/unreachable[\s\S]*target: down\n[\s\S]*one {3}done\n {2}down {2}exit 4, unreachable or denied\n {2}two {3}done\n/,
  );
  for (const name of ['one', 'two']) {
    const written: { readonly plans: readonly { readonly target: { readonly name: string } }[] } = JSON.parse(
      readFileSync(join(cwd, `plan-${name}.json`), 'utf8'),
    );
    expect(written.plans.map(({ target }) => target.name)).toEqual([name]);
  }
  const markdown = await gateway.run('plan --all-targets --format markdown', cwd);
  expect(markdown.stdout).toMatch(
    /### Plan for `one`[\s\S]*### Nothing to show for down: exit 4[\s\S]*`api\/unreachable`[\s\S]*### Plan for `two`/,
  );
  const json = await gateway.run('plan --target one,two --format json --detailed-exitcode', cwd);
  const document: { readonly plans: readonly { readonly target: { readonly name: string } }[] } = JSON.parse(json.stdout);
  expect([json.code, document.plans.map(({ target }) => target.name)]).toEqual([2, ['one', 'two']]);

  expect((await gateway.run('apply --yes --target one,two --no-origin', cwd)).code).toBe(0);
  expect(await gateway.run('drift --target two,one', cwd)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/No drift[\s\S]*No drift/),
  });
  expect(await gateway.run('validate --all-targets --format json', cwd)).toMatchObject({ code: 0 });
  const { version, runs }: { version: string; runs: unknown[] } = JSON.parse(
    (await gateway.run('validate --all-targets --format sarif', cwd)).stdout,
  );
  expect([version, runs.length]).toEqual(['2.1.0', 3]);
});

test.each([
  ['plan --all-targets --target one', '--all-targets and --target exclude each other'],
  ['plan --target one,one', 'the target "one" is named twice'],
  ['plan --target one,', '--target cannot be "one,"'],
  ['plan --all-targets --report json=plan.json', 'several targets would write the one file "plan.json"'],
  ['plan --all-targets --url http://127.0.0.1:9', '--url goes with one target'],
  ['apply --yes --all-targets --plan plan.json', 'a saved plan or a digest is of one target'],
  ['plan --target one,tow', 'there is no target "tow"'],
])('%s: %s', async (line, message) => {
  const cwd = makeProject({ 'ostiary.yaml': config({ one: gateway.url(), two: gateway.url() }), 'access/a.yaml': connection('a') });
  expect(await gateway.run(line, cwd)).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
});
