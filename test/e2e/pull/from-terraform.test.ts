import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGateway } from '../use-gateway.ts';
import { filesBelow, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway({ agents: ['prod-agent'] });
const example = 'examples/terraform';
const oldSide = ['README.md', 'main.tf', 'terraform.tfstate'];

/** Replaces the digest key, which each pull of a new project makes anew. */
function withoutKey(text: string): string {
  return text.replace(/^digest_key: \S+$/m, 'digest_key: KEY');
}

test('examples/terraform is what a pull writes for its state', async () => {
  const cwd = makeProject({});
  cpSync(example, cwd, { recursive: true });
  const names = readFileSync(join(cwd, 'secrets.env.example'), 'utf8').matchAll(/^(OSTIARY_SECRET_\w+)=$/gm);
  const env = Object.fromEntries([...names].map(([, name = '']) => [name, 'value-on-the-gateway']));
  expect(Object.keys(env)).toHaveLength(6);
  const applied = await gateway.run(`apply --yes --url ${gateway.url()}`, cwd, env);
  expect({ code: applied.code, stdout: applied.stdout }).toEqual({ code: 0, stdout: expect.stringContaining(': 3 created.') });

  const moved = makeProject({ 'terraform.tfstate': readFileSync(join(example, 'terraform.tfstate'), 'utf8') });
  const pull = `pull new --url ${gateway.url()} --from-state terraform.tfstate --secrets stubs`;
  const { code, stdout } = await gateway.run(pull, moved);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Terraform can forget 3 objects. 6 variables to fill in.')]);
  expect(stdout).toContain('hoop_user.ada  manifests do not support this type');
  const written = filesBelow(join(moved, 'new')).filter((path) => !path.startsWith('schemas/'));
  expect(written).toEqual(filesBelow(example).filter((path) => !oldSide.includes(path)));
  for (const path of written) {
    const text = readFileSync(join(moved, 'new', path), 'utf8').replace(gateway.url(), 'https://gateway.example.com/api');
    expect(withoutKey(text)).toBe(withoutKey(readFileSync(join(example, path), 'utf8')));
  }
  const again = await gateway.run('plan --detailed-exitcode', join(moved, 'new'), env);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('No changes.')]);
});

test('its removed blocks name resources of the old side', () => {
  const removed = readFileSync(join(example, 'terraform-removed.tf'), 'utf8');
  const main = readFileSync(join(example, 'main.tf'), 'utf8');
  const blocks = [...removed.matchAll(/^ {2}from = (\w+)\.(\w+)$/gm)].map(([, type, name]) => `resource "${type}" "${name}" {`);
  expect(blocks).toHaveLength(3);
  for (const block of blocks) expect(main).toContain(block);
});
