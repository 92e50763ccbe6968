import { describe, expect, test } from 'vitest';
import { hoopProject } from '../support/hoop-project.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';
import { common, stories } from './stories.ts';

const repositories = useHoopRepositories();
const secrets = { OSTIARY_SECRET_ORDERS: 'canary-orders', OSTIARY_SECRET_SHELL: 'canary-shell' };

/** Applies the common repository; plans write nothing, so that all stories share its gateway. */
async function applyCommon(): Promise<HoopRepository> {
  const created = repositories.create(await hoopProject(), common);
  const applied = await created.run('apply --yes --allow plan/access-control-on=start', undefined, secrets);
  expect(applied).toMatchObject({ code: 0 });
  return created;
}
const ready = applyCommon();

test('a plan without changes has a digest on request', async () => {
  const { repository, run } = await ready;
  repository.git('checkout', '--quiet', '-B', 'change', 'main');
  const hasDigest = async (options: string, env: Readonly<Record<string, string>> = {}): Promise<boolean> => {
    const { stdout } = await run(`plan ${options}`.trim(), undefined, { ...secrets, ...env });
    expect(stdout).toContain('Plan for production: No changes.');
    return /Digest [0-9a-f]{64}\n/.test(stdout);
  };
  expect([await hasDigest(''), await hasDigest('', { CI: 'true' })]).toEqual([false, true]);
  expect([await hasDigest('--detailed-exitcode'), await hasDigest('--full')]).toEqual([true, true]);
});

describe('what a reviewer reads first', () => {
  test.each(Object.entries(stories))('%s', async (_name, { after = {}, removed = [], verdict }) => {
    const { repository, run, commit } = await ready;
    repository.git('checkout', '--quiet', '-B', 'change', 'main');
    commit(after, removed);
    const { stdout } = await run('plan --own HEAD~1 --prune', undefined, secrets);
    repository.git('checkout', '--quiet', 'main');
    expect(stdout).toContain(`Plan for production: ${verdict}`);
    expect(stdout).not.toContain('canary');
  });
});
