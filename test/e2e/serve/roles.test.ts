import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ostiary, startOstiary } from '../../support/cli.ts';
import { makeFolder } from '../../support/servers.ts';
import { callerOf } from '../../server/client.ts';
import { useProjects } from '../project.ts';

const makeProject = useProjects();

test('the first key is created once, printed only on stdout, and valid', async () => {
  const home = makeProject({});
  const folder = await makeFolder(join(home, 'db'));
  const made = await ostiary(['serve', '--init', '--database', folder], { cwd: home });
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^ostk_[\w-]{43}\n$/);
  const again = await ostiary(['serve', '--init', '--database', folder], { cwd: home });
  expect([again.code, again.stdout, again.stderr]).toEqual([3, '', expect.stringContaining('error serve/initialized')]);
  const server = await startOstiary(['serve', '--port', '0', '--database', folder], { cwd: home });
  while (!server.printed().stderr.includes('http://')) await new Promise((resolve) => void setTimeout(resolve, 10));
  const [url = ''] = /http:\/\/\S+/.exec(server.printed().stderr) ?? [];
  const call = callerOf({ url, key: made.stdout.trim() });
  expect((await call('GET', '/userinfo')).body).toMatchObject({ name: 'admin', role: 'admin' });
  expect((await call('GET', '/audit/logs')).body['data']).toMatchObject([
    { actor_name: 'ostiary serve --init', resource_type: 'api_keys' },
  ]);
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
});
