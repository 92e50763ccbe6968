import * as fc from 'fast-check';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readWorkflowRun, openJobLog, maskCommands, outputLines } from '../../../../src/forge/github/workflow-run.ts';
import { githubSystem } from '../../../../src/forge/github/github-system.ts';
import { startFlakyServer, text as answer } from '../../../support/flaky-server.ts';
import { nastyText } from '../../report/nasty-text.ts';

/** What the runner makes of a command's data. */
function unescaped(data: string): string {
  return data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

describe('masks', () => {
  test('cover the secret, each of its lines and the form that it travels in, one command a line', () => {
    fc.assert(
      fc.property(nastyText, (secret) => {
        const lines = maskCommands(secret).split('\n').slice(0, -1);
        expect(lines.every((line) => line.startsWith('::add-mask::'))).toBe(true);
        const masked = lines.map((line) => unescaped(line.slice('::add-mask::'.length)));
        const well = Buffer.from(secret).toString();
        const parts = [well, ...well.split(/\r\n|\r|\n/), Buffer.from(secret).toString('base64')].map((part) => part.trim());
        expect(new Set(masked)).toEqual(new Set(parts.filter((part) => part !== '')));
      }),
    );
  });
});

describe('the log of a job', () => {
  test('reads no command from any text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), nastyText)), (parts) => {
        let log = '';
        const { text, command, close } = openJobLog((more) => void (log += more), 'the-token');
        for (const [ours, more] of parts) {
          if (ours) command('::notice::ours\n');
          else text(more);
        }
        close();
        expect(commandsIn(log)).toEqual(parts.filter(([ours]) => ours).map(() => '::notice::ours'));
      }),
    );
  });
});

/** The commands that the runner carries out. */
function commandsIn(log: string): readonly string[] {
  const commands: string[] = [];
  let stopped = false;
  for (const line of log.split(/\r\n|\r|\n/).map((one) => one.trimStart())) {
    if (line === '::the-token::') stopped = false;
    else if (line === '::stop-commands::the-token') stopped = true;
    else if (!stopped && (line.startsWith('::') || line.includes('##['))) commands.push(line);
  }
  return commands;
}

test('no output ends another', () => {
  fc.assert(
    fc.property(nastyText, nastyText, (left, right) => {
      const [first = ''] = outputLines({ left, right }).split('\n');
      const delimiter = first.slice('left<<'.length);
      expect(outputLines({ left, right }).replaceAll(/ostiary-[0-9a-f-]{36}/g, delimiter)).toBe(
        `left<<${delimiter}\n${left}\n${delimiter}\nright<<${delimiter}\n${right}\n${delimiter}\n`,
      );
      expect(`${left}${right}`).not.toContain(delimiter);
    }),
  );
});

/** One end of a pull request. */
function side(sha: string, repository: string | null): object {
  return { ref: 'main', sha: sha.repeat(40), repo: repository === null ? null : { full_name: repository } };
}

function payload(from: string | null): string {
  const ends = { head: side('b', from), base: side('c', 'octo/access') };
  return JSON.stringify({ pull_request: { number: 3, merged: false, user: { login: 'ada' }, ...ends } });
}

describe('the run', () => {
  const env = {
    GITHUB_REPOSITORY: 'octo/access',
    GITHUB_SERVER_URL: 'https://github.example.com',
    GITHUB_API_URL: 'https://github.example.com/api/v3',
    GITHUB_GRAPHQL_URL: 'https://github.example.com/api/graphql',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_SHA: 'a'.repeat(40),
    GITHUB_REF: 'refs/pull/3/merge',
    GITHUB_RUN_ID: '12',
    GITHUB_WORKSPACE: '/work',
    RUNNER_TEMP: '/temp',
  };

  test('knows the pull request, and a fork, a deleted one too', () => {
    const run = readWorkflowRun(env, payload('octo/access'));
    expect(run).toMatchObject({
      owner: 'octo',
      repo: 'access',
      proposedFor: { commit: 'c'.repeat(40), branch: 'main' },
      url: 'https://github.example.com/octo/access/actions/runs/12',
    });
    expect(run.pullRequest).toEqual({
      number: 3,
      head: 'b'.repeat(40),
      base: 'c'.repeat(40),
      baseBranch: 'main',
      fork: false,
      author: 'ada',
      merged: false,
    });
    expect(readWorkflowRun(env, payload('another/access')).pullRequest?.fork).toBe(true);
    expect(readWorkflowRun(env, payload(null)).pullRequest?.fork).toBe(true);
  });

  test('in a merge queue is checked by its branch', () => {
    expect(
      readWorkflowRun(env, JSON.stringify({ merge_group: { base_sha: 'd'.repeat(40), base_ref: 'refs/heads/main' } })).proposedFor,
    ).toEqual({
      commit: 'd'.repeat(40),
      branch: 'main',
    });
  });

  test.each(Object.keys(env).filter((name) => name !== 'GITHUB_REF'))('needs %s', (name) => {
    expect(() => readWorkflowRun({ ...env, [name]: undefined }, '{}')).toThrow(`${name} is not set`);
  });

  test.each(['pull_request', 'pull_request_target', 'merge_group'])(
    'counts no proposal (%s) as merged because its payload lacks something',
    (event) => {
      const ends = { head: side('b', 'octo/access'), base: side('c', 'octo/access') };
      const pulls = [
        undefined,
        null,
        [],
        {},
        { number: '3', ...ends },
        { number: 3, base: ends.base },
        { number: 3, head: ends.head, base: { sha: 'main' } },
      ];
      for (const pull of pulls)
        expect(() =>
          readWorkflowRun({ ...env, GITHUB_EVENT_NAME: event }, JSON.stringify({ pull_request: pull, merge_group: pull })),
        ).toThrow(`the payload of this ${event} has no commits`);
      expect(readWorkflowRun({ ...env, GITHUB_EVENT_NAME: 'push' }, '{}').proposedFor).toBeUndefined();
    },
  );

  test('puts nothing into a link that could end it', () => {
    for (const bad of ['https://x/)<script>', 'javascript:1', 'https://a b'])
      expect(() => readWorkflowRun({ ...env, GITHUB_SERVER_URL: bad }, '{}')).toThrow('GITHUB_SERVER_URL is not what GitHub sets it to');
    expect(() => readWorkflowRun(env, '[]')).toThrow('not a JSON object');
    expect(() => readWorkflowRun(env, '')).toThrow('not a JSON object');
  });
});

describe('credentials', () => {
  test('are sent only to the server of the repository, and replace those of the checkout', () => {
    const env = githubSystem.gitEnvironment(
      { PATH: '/bin', GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' },
      'tok',
      'https://g.example/o/r',
    );
    expect(env).toEqual({
      PATH: '/bin',
      GIT_CONFIG_COUNT: '4',
      GIT_CONFIG_KEY_0: 'a.b',
      GIT_CONFIG_VALUE_0: 'c',
      GIT_CONFIG_KEY_1: 'http.https://g.example/.extraheader',
      GIT_CONFIG_VALUE_1: '',
      GIT_CONFIG_KEY_2: 'http.https://g.example/.extraheader',
      GIT_CONFIG_VALUE_2: `AUTHORIZATION: basic ${Buffer.from('x-access-token:tok').toString('base64')}`,
      GIT_CONFIG_KEY_3: 'http.https://g.example/.followRedirects',
      GIT_CONFIG_VALUE_3: 'false',
    });
    expect(githubSystem.gitEnvironment({ PATH: '/bin' }, '', 'https://g.example/o/r')).toEqual({ PATH: '/bin' });
  });

  test('reach the server once, whatever the checkout keeps', async () => {
    const received: string[] = [];
    const server = await startFlakyServer((response, seen) => {
      received.push(...response.req.rawHeaders);
      answer(401, 'no')(response, seen);
    });
    const folder = mkdtempSync(join(tmpdir(), 'ostiary-credentials-'));
    const git = async (env: Readonly<Record<string, string | undefined>>, ...args: readonly string[]): Promise<unknown> =>
      promisify(execFile)('git', args, { cwd: folder, env: { ...env, GIT_TERMINAL_PROMPT: '0' } }).catch(() => undefined);
    const { PATH } = process.env;
    await git({ PATH }, 'init', '--quiet');
    await git({ PATH }, 'config', `http.${server.url}/.extraheader`, 'AUTHORIZATION: basic kept');
    await git(githubSystem.gitEnvironment({ PATH }, 'tok', `${server.url}/octo/access`), 'ls-remote', `${server.url}/octo/access`);
    await server.close();
    rmSync(folder, { recursive: true });
    const sent = received.flatMap((name, index) => (name.toLowerCase() === 'authorization' ? [received[index + 1]] : []));
    expect(new Set(sent)).toEqual(new Set([`basic ${Buffer.from('x-access-token:tok').toString('base64')}`]));
    expect(sent).toHaveLength(server.seen.length);
  });
});
