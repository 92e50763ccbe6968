import { expect, test } from 'vitest';
import { useRepositories, withPush, type TestRepository } from '../../support/repository.ts';
import { connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make, makeOrigin, clone } = useRepositories();

function configOf(...targets: readonly (readonly [string, string])[]): string {
  const all = targets.map(([name, url]) => `  ${name}: { url: '${url}', prune: true }\n`).join('');
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\ntargets:\n${all}`;
}

/** Applies two connections to a target called prod, then removes one of them in a commit with another config. */
async function renamedProject(
  name: string,
  config: (url: string) => string,
): Promise<{ readonly ours: TestRepository; readonly origin: TestRepository }> {
  const ours = withPush(
    make({
      'ostiary.yaml': configOf(['prod', gateway.url()]),
      'access/stay.yaml': connection(`${name}-stay`),
      'access/gone.yaml': connection(`${name}-gone`),
    }),
  );
  const origin = makeOrigin(ours);
  expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
  ours.remove('access/gone.yaml');
  ours.save({ 'ostiary.yaml': config(gateway.url()) });
  return { ours, origin };
}

test('a target that is renamed in the config keeps its record, in any clone', async () => {
  const { ours, origin } = await renamedProject('rt1', (url) => configOf(['production', url]));
  const other = clone(origin);
  for (const { folder } of [ours, other]) {
    const { stdout, stderr } = await gateway.run('plan', folder);
    expect(stderr + stdout).toContain('"production" is recorded as "prod"');
    expect(stdout).toContain('- Connection/rt1-gone');
  }
  expect(await gateway.run('apply --yes', other.folder)).toMatchObject({ code: 0 });
  expect(ours.git('ls-remote', 'origin', 'refs/ostiary/applied/*')).toContain('refs/ostiary/applied/production');
  const { stdout, stderr } = await gateway.run('plan', other.folder);
  expect(stderr + stdout).not.toContain('git/earlier-target');
  expect(stdout).toContain('No changes');
});

test('the record of another target is not that of a new one', async () => {
  const { ours } = await renamedProject('rt2', (url) => configOf(['production', url], ['prod', url]));
  const { stdout, stderr } = await gateway.run('plan --target production', ours.folder);
  expect(stderr + stdout).not.toContain('git/earlier-target');
  expect(stdout).not.toContain('- Connection/rt2-gone');
});
