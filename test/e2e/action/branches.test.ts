import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startGitServer } from '../../support/git-repository.ts';
import { commitAll, git } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

test("a private repository's record is read and written with the job's token, which is never printed", async () => {
  const root = makeProject({});
  const { token } = bench.github();
  git(root, 'init --quiet --bare --initial-branch=main access.git');
  git(join(root, 'access.git'), 'config http.receivepack true');
  const server = await startGitServer({ root, login: { user: 'x-access-token', password: token } });
  try {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('private-a') });
    const head = commitAll(cwd);
    git(cwd, `remote add origin ${server.url}/access.git`);
    git(cwd, ['push', '--quiet', join(root, 'access.git'), 'main']);
    git(cwd, `update-ref refs/remotes/origin/main ${head}`);
    git(cwd, 'symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main');
    const env = { ...gateway.env(), GITHUB_SERVER_URL: server.url, DEBUG: '*' };
    const step = { cwd, event: 'push', payload: {}, env };
    const applied = await bench.bundled({ ...step, inputs: { mode: 'apply' } });
    expect(applied).toMatchObject({ code: 0, summary: expect.stringContaining('here and on origin') });
    expect(git(join(root, 'access.git'), 'rev-parse refs/ostiary/applied/production^1')).toBe(head);
    git(cwd, 'update-ref -d refs/ostiary/applied/production');
    git(cwd, 'update-ref -d refs/ostiary/origin/production');
    const planned = await bench.step({ ...step, inputs: { mode: 'plan' } });
    expect(planned).toMatchObject({ code: 0, outputs: { changed: 'false' } });
    expect(git(cwd, 'rev-parse refs/ostiary/applied/production^1')).toBe(head);
    const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
    for (const { stdout, stderr, summary } of [applied, planned]) expect(`${stdout}${stderr}${summary}`).not.toContain(basic);
    const other = await bench.step({ ...step, inputs: { mode: 'plan', 'github-token': 'ghs_of-another-app', comment: 'false' } });
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/git\/origin-unreachable[\s\S]*could not read Username|Authentication failed/),
    });
  } finally {
    await server.close();
  }
});
