import { join } from 'node:path';
import { expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { makeForeign } from '../../support/foreign-files.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const token = 'canary-token-of-the-tests';

/** Starts an empty gateway. */
async function startEmptyGateway(): Promise<FlakyServer> {
  return startFlakyServer((response, { path }) => json(200, path === '/serverinfo' ? { role: 'admin' } : [])(response, seenNothing));
}

const seenNothing = { method: 'GET', path: '', headers: {}, body: '' };

const commands: readonly (readonly string[])[] = [
  ['plan', 'access'],
  ['apply', '--yes', 'access'],
  ['drift', 'access'],
  ['get', 'connections'],
  ['get', 'agents'],
  ['search', 'x'],
];

test.each(commands.map((args) => [args.join(' '), args] as const))(
  '%s sends no token to a gateway above the repository',
  async (_, args) => {
    const [planted, mine] = await Promise.all([startEmptyGateway(), startEmptyGateway()]);
    const folder = makeProject({
      'ostiary.yaml': config(planted.url),
      'work/.git/HEAD': '',
      'work/access/rule.yaml': guardrail('no-drop'),
    });
    const cwd = join(folder, 'work');
    const without = await ostiaryInProcess(args, { cwd, env: { OSTIARY_TOKEN: token } });
    expect([without.code, without.stderr]).toEqual([3, expect.stringContaining('no gateway is configured')]);
    await ostiaryInProcess(args, { cwd, env: { OSTIARY_TOKEN: token, OSTIARY_URL: mine.url } });
    expect(mine.seen[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(planted.seen).toEqual([]);
    await Promise.all([planted.close(), mine.close()]);
  },
);

/** Returns the line below the verdict, without the digest of a plan. */
function placeIn(stdout: string): string | undefined {
  return stdout.split('\n')[1]?.replace(/ {2}Digest [0-9a-f]{64}$/, '');
}

test.each([
  ['OSTIARY_URL', [], true, 'OSTIARY_URL'],
  ['--url', ['--url'], false, '--url'],
  ['--url before OSTIARY_URL', ['--url'], true, '--url'],
] as const)('%s wins over the config, and the header names both', async (_, options, isSet, source) => {
  const [configured, other, last] = await Promise.all([startEmptyGateway(), startEmptyGateway(), startEmptyGateway()]);
  const cwd = makeProject({ 'ostiary.yaml': config(configured.url), 'access/rule.yaml': guardrail('no-drop') });
  const [url, variable] = options.length > 0 ? [other.url, last.url] : [undefined, other.url];
  const env = { OSTIARY_TOKEN: token, ...(isSet ? { OSTIARY_URL: variable } : {}) };
  const { code, stdout } = await ostiaryInProcess(['plan', ...(url === undefined ? [] : ['--url', url])], { cwd, env });
  expect(code).toBe(0);
  const place = placeIn(stdout);
  expect(place).toBe(`  ${other.url}  config ostiary.yaml, ${source} overrides its URL ${configured.url}`);
  const listed = await ostiaryInProcess(['get', 'rules', ...(url === undefined ? [] : ['--url', url])], { cwd, env });
  expect(listed.stderr).toBe(`production${place}\n`);
  expect(other.seen.length).toBeGreaterThan(0);
  expect([...configured.seen, ...last.seen]).toEqual([]);
  await Promise.all([configured.close(), other.close(), last.close()]);
});

// security: machine, apply-token
test('a config of another user receives no token', async () => {
  const [theirs, mine] = await Promise.all([startEmptyGateway(), startEmptyGateway()]);
  const cwd = makeProject({ 'ostiary.yaml': config(theirs.url), 'access/rule.yaml': guardrail('no-drop') });
  makeForeign(join(cwd, 'ostiary.yaml'));
  const env = { OSTIARY_TOKEN: token };
  const refused = await ostiaryInProcess(['plan'], { cwd, env });
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('config/foreign-owner')]);
  expect(refused.stderr).toContain('--config ostiary.yaml');
  const warned = await ostiaryInProcess(['plan', 'access'], { cwd, env: { ...env, OSTIARY_URL: mine.url } });
  expect([warned.code, warned.stderr]).toEqual([0, expect.stringContaining('config/foreign-owner')]);
  expect(theirs.seen).toEqual([]);
  expect((await ostiaryInProcess(['plan', '--config', 'ostiary.yaml'], { cwd, env })).code).toBe(0);
  expect(theirs.seen.length).toBeGreaterThan(0);
  await Promise.all([theirs.close(), mine.close()]);
});
