import { describe, expect, test } from 'vitest';
import type { TestRepository } from '../../support/repository.ts';
import { connection } from '../project.ts';
import { ref, useAppliedProjects } from './applied-projects.ts';

const { gateway, clone, configWith, appliedProject, run, push } = useAppliedProjects();

/** Creates a connection that no manifest declares. */
async function createUnmanaged(name: string): Promise<void> {
  const { spec } = JSON.parse(connection(name, { reviewers: ['hr'] }));
  const { agent_id: agent } = (await gateway.call('GET', `/connections/${await someConnection()}`)).body;
  expect((await gateway.call('POST', '/connections', { body: { name, ...spec, agent_id: agent } })).status).toBe(201);
}

async function someConnection(): Promise<string> {
  return (await gateway.names('/connections'))[0] ?? '';
}

// security: no-record
describe('a missing record hides no removal of', () => {
  type Removal = {
    readonly what: string;
    readonly isApplied?: true;
    readonly isWhole?: true;
    readonly remove: (ours: TestRepository, name: string) => void;
  };
  const removals: readonly Removal[] = [
    { what: 'a file', isWhole: true, remove: (ours) => ours.remove('access/b.yaml') },
    { what: 'a file, which was applied and is an orphan', isApplied: true, remove: (ours) => ours.remove('access/b.yaml') },
    {
      what: 'a file, where every commit counts as reviewed',
      remove(ours) {
        ours.remove('access/b.yaml');
        ours.write({ 'ostiary.yaml': configWith('reviewed: any\n') });
      },
    },
    {
      what: 'a document, by and by',
      remove(ours, name) {
        ours.remove('access/b.yaml');
        ours.save({ 'access/c.yaml': connection(`${name}-b`) });
        ours.write({ 'access/c.yaml': 'apiVersion: other/v1\n' });
      },
    },
    {
      what: 'a file from the list of the config',
      remove: (ours) => ours.write({ 'ostiary.yaml': configWith().replace('[access]', '[access/a.yaml]') }),
    },
    {
      what: 'a target of a manifest',
      remove(ours, name) {
        const text = connection(`${name}-b`, {}, { targets: ['staging'] });
        ours.write({ 'ostiary.yaml': `${configWith()}  staging: { url: 'https://staging.example.com' }\n`, 'access/b.yaml': text });
      },
    },
  ];

  test.each(removals.map((one, index) => ({ ...one, name: `hidden-${index}` })))(
    '$what',
    async ({ isApplied = false, isWhole = false, remove, name }) => {
      const { ours, origin } = await appliedProject({ 'access/a.yaml': connection(name), 'access/b.yaml': connection(`${name}-b`) });
      await createUnmanaged(`${name}-x`);
      remove(ours, name);
      ours.commit('Remove');
      push(ours);
      const target = '--target production';
      // With a record, the removed object is an orphan.
      if (isApplied) await run(`apply --yes --no-prune ${target}`, clone(origin));
      ours.git('push', '--quiet', 'origin', `:${ref}`);
      const lines = { drift: 2, plan: 6, 'apply --yes': 6 };
      for (const options of isWhole ? [[], ['--depth=1']] : [[]]) {
        const job = clone(origin, ...options);
        for (const [line, expected] of isWhole ? Object.entries(lines) : [['apply --yes', 6] as const]) {
          const { code, stdout } = await run(`${line} ${target}`, job);
          const text = stdout.replaceAll(/\s+/g, ' ');
          expect([line, code, text]).toEqual([
            line,
            expected,
            expect.stringContaining(`no apply to "production" is recorded, but Connection/${name}-b is live, and the manifests of `),
          ]);
          expect(text).not.toMatch(/No drift|matches the manifests/);
        }
      }
      if (!isWhole) return;
      const job = clone(origin);
      const [, commit = ''] = /--base ([0-9a-f]{40})/.exec((await run(`plan ${target}`, job)).stdout) ?? [];
      expect(await run(`apply --yes --base ${commit} ${target}`, job)).toMatchObject({ code: 0 });
      expect([await gateway.isLive(`${name}-b`), await gateway.isLive(`${name}-x`)]).toEqual([false, true]);
      expect(await run(`drift ${target}`, clone(origin))).toMatchObject({ code: 0 });
    },
  );

  test('but a released object is no removal', async () => {
    const { origin, ours } = await appliedProject({ 'access/a.yaml': connection('shown'), 'access/b.yaml': connection('shown-b') });
    ours.remove('access/b.yaml');
    ours.save({ 'ostiary.yaml': configWith().replace('prune: true', 'released: [Connection/shown-b]') });
    push(ours);
    ours.git('push', '--quiet', 'origin', `:${ref}`);
    expect(await run('drift', clone(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift') });
    expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 0 });
  });
});
