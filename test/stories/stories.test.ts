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

/** Returns the first line below the verdict of a plan, without positions. */
function firstLine(plan: string): string {
  const [, block = ''] = plan.split('\n\n');
  return block.startsWith('Digest') ? '' : (block.trim().split(/ {2}|\n/)[0] ?? '');
}

describe('what a reviewer reads first', () => {
  test.each(Object.entries(stories))('%s', { timeout: 60_000 }, async (_name, { after = {}, removed = [], verdict = '', says, lines }) => {
    const { repository, run, commit } = await ready;
    repository.git('checkout', '--quiet', '-B', 'change', 'main');
    commit(after, removed);
    const { stdout } = await run('plan --own HEAD~1 --prune', undefined, secrets);
    repository.git('checkout', '--quiet', 'main');
    expect(stdout).toContain(`Plan for production: ${verdict}`);
    expect([firstLine(stdout), stdout.trim().split('\n').length]).toEqual([says, lines]);
    expect(stdout).not.toContain('canary');
  });
});
