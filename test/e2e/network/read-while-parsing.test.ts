import { expect, test } from 'vitest';
import { json, type Reply, startFlakyServer } from '../../support/flaky-server.ts';
import { freePort } from '../../support/free-port.ts';
import { useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, guardrail } from '../project.ts';

const { make } = useRepositories();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };

const broken = 'kind: GuardrailRule\nspec: {}\n';
const oneError = {
  code: 3,
  stdout: '',
  stderr: expect.stringMatching(/^access\/broken\.yaml:1:1 error manifest\/missing-field .*\n(?:.*\n)+1 error\n$/),
};

const replies: readonly (readonly [what: string, reply: Reply])[] = [
  ['answers', json(200, [])],
  ['never answers', () => undefined],
  ['refuses the token', json(401, { message: 'unauthorized' })],
  ['is overloaded', json(503, {}, { 'retry-after': '60' })],
];

test.each(replies)('a gateway that %s is read beside the manifests, and only their errors are reported', async (_what, reply) => {
  const gateway = await startFlakyServer(reply);
  try {
    const { folder: cwd } = make({ 'ostiary.yaml': config(gateway.url), 'access/broken.yaml': broken });
    for (const args of [['plan'], ['apply', '--yes'], ['drift']]) {
      expect(await ostiaryInProcess(args, { cwd, env })).toMatchObject(oneError);
    }
    expect(gateway.seen.map(({ path }) => path)).toContain('/serverinfo');
    expect(gateway.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  } finally {
    await gateway.close();
  }
});

test('a gateway that cannot be reached is reported only if the manifests are valid', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { folder: cwd, write } = make({ 'ostiary.yaml': config(url), 'access/broken.yaml': broken });
  expect(await ostiaryInProcess(['plan'], { cwd, env })).toMatchObject(oneError);
  write({ 'access/broken.yaml': guardrail('no-drop') });
  const { code, stdout, stderr } = await ostiaryInProcess(['plan', '--quiet'], { cwd, env });
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toContain(`GET ${url}/serverinfo`);
});
