import { expect, test } from 'vitest';
import { reviewedBranchOf } from '../../../src/git/reviewed-branch.ts';
import { connection } from '../../e2e/project.ts';
import { useRepositories } from '../../support/repository.ts';

const { make, makeOrigin, place } = useRepositories();

test('origin is asked once in a run if it does not answer, because each attempt may wait for a timeout', async () => {
  const repository = make({ 'access/a.yaml': connection('a') });
  const head = repository.git('rev-parse', 'HEAD');
  const origin = makeOrigin(repository);
  repository.git('remote', 'set-url', 'origin', place());
  const opened = await repository.open();
  const branch = reviewedBranchOf(opened, { branch: undefined, origin: true });
  await expect(branch.contains(head)).rejects.toMatchObject({ code: 'git/failed' });
  repository.git('remote', 'set-url', 'origin', origin.folder);
  for (const ask of [() => branch.contains(head), branch.tip, branch.latest])
    await expect(ask()).rejects.toMatchObject({ code: 'git/failed' });
  // The next run asks again.
  const next = reviewedBranchOf(await repository.open(), { branch: undefined, origin: true });
  expect([await next.contains(head), await next.latest(), await next.name()]).toEqual([true, head, 'main']);
});
