import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentId, base64, connectionBody } from '../../server/client.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway({ agents: ['default', 'prod-agent', 'staging-agent'] });

/** The variables that an example asks its reader to set. */
function variablesOf(example: string): Readonly<Record<string, string>> {
  const sample = join(example, 'secrets.env.example');
  const text = readFileSync(existsSync(sample) ? sample : join(example, 'README.md'), 'utf8');
  const assignments = text.matchAll(/(?:^|\bexport | )(OSTIARY_SECRET_\w+)=('[^']*'|\S+)/gm);
  return Object.fromEntries([...assignments].map(([, name = '', value = '']) => [name, value.replaceAll("'", '')]));
}

describe.each([
  ['acme', 'staging', 57],
  ['acme', 'production', 60],
  ['overlays', 'staging', 1],
  ['overlays', 'production', 1],
  ['selectors', 'gateway', 5],
  ['keep-and-ignore', 'gateway', 1],
  ['access', 'serve', 4],
] as const)('examples/%s for %s', (name, target, count) => {
  const cwd = join('examples', name);
  const flags = (): string => `--target ${target} --url ${gateway.url()}`;
  const env = variablesOf(cwd);

  beforeAll(async () => {
    if (name !== 'keep-and-ignore') return;
    // Another process created it first.
    const body = connectionBody('billing-db', await agentId(gateway.call), { secret: { 'envvar:PASS': base64('theirs') } });
    await gateway.call('POST', '/connections', { body });
  });

  test.concurrent('is valid, without a gateway or a secret', async () => {
    const { code, stdout } = await gateway.run(`validate --target ${target} --quiet`, cwd);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Valid\\. ${count} resources?\\.`));
  });

  test.concurrent('plans without a complaint, twice the same bytes', async () => {
    const first = await gateway.run(`plan --format json ${flags()}`, cwd, env);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    const [plan] = JSON.parse(first.stdout).plans;
    expect({ refusals: plan.refusals, changes: plan.changes.length, unchanged: plan.unchanged }).toEqual({
      refusals: [],
      changes: count,
      unchanged: 0,
    });
    expect((await gateway.run(`plan --format json ${flags()}`, cwd, env)).stdout).toBe(first.stdout);
  });
});

test('the examples are formatted', async () => {
  const { code, stdout } = await gateway.run('fmt --check examples', process.cwd());
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

test('each example applies, and then is in sync', async () => {
  for (const [name, target] of [
    ['acme', 'production'],
    ['selectors', 'gateway'],
    ['keep-and-ignore', 'gateway'],
  ] as const) {
    const cwd = join('examples', name);
    const line = `--target ${target} --url ${gateway.url()} --quiet`;
    const applied = await gateway.run(`apply --yes ${line}`, cwd, variablesOf(cwd));
    expect({ name, code: applied.code, stderr: applied.stderr }).toEqual({ name, code: 0, stderr: '' });
    const again = await gateway.run(`plan --detailed-exitcode ${line}`, cwd, variablesOf(cwd));
    expect({ name, code: again.code }).toEqual({ name, code: 0 });
  }
});
