import { afterEach, expect, test } from 'vitest';
import type { ChaosEffect } from '../../support/chaos.ts';
import { startOstiary } from '../../support/cli.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { config, connection, guardrail } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => chaos(request) });
const { make } = useRepositories();
afterEach(() => {
  chaos = () => undefined;
});

async function modeOf(name: string): Promise<unknown> {
  return (await gateway.call('GET', `/connections/${name}`)).body['access_mode_connect'];
}

/** Applies two connections under one rule, and removes the manifest of the first one. */
async function removeOne(name: string): Promise<TestRepository> {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/old.yaml': connection(name, { reviewers: ['dba'] }),
    'access/kept.yaml': connection(`${name}-kept`),
    'access/rule.yaml': guardrail(`${name}-rule`, ['DROP'], { connection_ids: [name, `${name}-kept`] }),
  });
  expect(await gateway.run('apply --yes', repository.folder, gitEnv)).toMatchObject({ code: 0 });
  repository.remove('access/old.yaml');
  repository.save({ 'access/rule.yaml': guardrail(`${name}-rule`, ['DELETE'], { connection_ids: [`${name}-kept`] }) });
  return repository;
}

const endings = {
  'is refused its next write': async ({ folder }: TestRepository): Promise<number | null> => {
    chaos = ({ method, path }) =>
      method !== 'GET' && !(method === 'PUT' && path.startsWith('/connections/')) ? { status: 500 } : undefined;
    return (await gateway.run('apply --yes --prune', folder, gitEnv)).code;
  },
  'is killed before its next write': async ({ folder }: TestRepository): Promise<number | null> => {
    const { child, ended } = await startOstiary(['apply', '--yes', '--prune'], { cwd: folder, env: { ...gitEnv, ...gateway.env() } });
    chaos = ({ method, path }) => {
      if (method === 'GET' || (method === 'PUT' && path.startsWith('/connections/'))) return undefined;
      child.kill('SIGKILL');
      return { status: 500 };
    };
    return (await ended).code;
  },
};

test.each(Object.entries(endings))(
  'a connection that an apply closed before it %s is open again once its manifest is restored',
  async (what, end) => {
    const name = what.includes('killed') ? 'killed' : 'refused';
    const repository = await removeOne(name);
    expect(await end(repository)).not.toBe(0);
    chaos = () => undefined;
    expect(await modeOf(name)).toBe('disabled');
    repository.git('revert', '--no-edit', 'HEAD');
    const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
    const plan = await run('plan --format json');
    const [{ changes }] = JSON.parse(plan.stdout).plans;
    expect(changes).toMatchObject([{ id: `Connection/${name}`, action: 'update' }]);
    expect(changes[0].fields.filter(({ held }: { held?: boolean }) => held === true)).toEqual([]);
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    expect(await modeOf(name)).toBe('enabled');
    expect((await run('plan')).stdout).toContain('No changes.');
  },
);
