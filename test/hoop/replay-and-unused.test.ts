import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { run } from '../../src/program.ts';
import { config, connection, guardrail, manifest } from '../e2e/project.ts';
import { file, oneLine, open, type AccessProject, useAccessProjects } from '../support/access-project.ts';
import { formsOf } from '../support/canary-forms.ts';
import { createTestContext } from '../support/cli-context.ts';
import { adminToken, auditorToken, standardToken } from '../support/hoop-project.ts';
import { recordSessions, type StartedSession } from '../support/record-sessions.ts';

const accessProject = useAccessProjects();
const canary = 'kanarie-script-Vb7nMq2wEr';
const people: Readonly<Record<string, readonly string[]>> = {
  'dev@example.com': ['dev'],
  'ops@example.com': ['ops'],
  'both@example.com': ['dev', 'ops'],
  'none@example.com': [],
};
const scripts = [`select '${canary}'`, `DROP TABLE "${canary}"`, `delete from t -- ${canary}`, ''] as const;

const files = (words: readonly string[], groups: readonly string[], asks: readonly string[]): Readonly<Record<string, string>> => ({
  [file('orders-db')]: connection('orders-db', { ...open, access_groups: ['dev', 'ops'] }),
  [file('ledger-db')]: connection('ledger-db', { ...open, access_groups: groups, reviewers: asks }),
  'access/no-drop.yaml': guardrail('no-drop', words, { connection_ids: ['orders-db', 'ledger-db'] }),
});

let access: AccessProject;

async function replay(line = ''): Promise<{ readonly text: string; readonly requests: readonly string[] }> {
  const { code, stdout, stderr, requests } = await access.project.ostiary(`plan --replay 30d ${line}`.trim().split(' '));
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return { text: stdout, requests };
}

async function addPeople({ project }: AccessProject): Promise<void> {
  for (const [email, groups] of Object.entries(people))
    await project.send('POST', '/users', { email, name: email, password: 'tries-everything', status: 'active', groups });
}

beforeAll(async () => {
  access = await accessProject(files(['TRUNCATE'], ['dev', 'ops'], []));
  await access.run('apply --yes --allow plan/access-control-on=test');
  await addPeople(access);
});

const session = { user: 'dev@example.com', connection: 'orders-db', verb: 'exec', script: scripts[1] } as const;
const sessions: readonly StartedSession[] = [
  ...Array.from({ length: 5 }, () => session),
  { user: 'ops@example.com', connection: 'orders-db', verb: 'exec', script: scripts[1] },
  { user: 'ops@example.com', connection: 'ledger-db', verb: 'connect', script: '' },
  { user: 'dev@example.com', connection: 'ledger-db', verb: 'exec', script: scripts[0] },
  { user: 'gone@example.com', connection: 'ledger-db', verb: 'exec', script: scripts[0] },
  { user: 'dev@example.com', connection: 'deleted-db', verb: 'exec', script: scripts[1] },
  { user: 'gone@example.com', connection: 'deleted-db', verb: 'connect', script: '' },
];

async function scriptsRead(): Promise<number> {
  return (await replay()).requests.filter((one) => one.includes('/sessions/')).length;
}

/** Returns the lines of the replay in Markdown. */
async function replayLines(): Promise<readonly string[]> {
  const { text } = await replay('--format markdown');
  return text.split('\n').filter((line) => /^- (Of|Sessions since|\*\*(Blocked|Refused|Need|Newly|Less|Not known))/.test(line));
}

describe('plan --replay', () => {
  test('says in at most six lines whom the plan stops and why, and names people only in text in full and in JSON', async () => {
    recordSessions(access.project.model, sessions);
    access.project.write(files(['DROP'], ['dev'], ['sre']));
    const lines = await replayLines();
    expect(lines.map((line) => line.replace(/\d{4}-\d\d-\d\d/, 'DAY'))).toEqual([
      '- Of 11 sessions since `DAY` (2 without a script, checked for access alone), **6 by 2 people** would now be blocked, **1 by 1 person** would be refused, **1 by 1 person** would need approval, 0 would be newly possible, **1 by 1 person** cannot be known.',
      '- **Blocked**: 6 by `no-drop` `access/no-drop.yaml:10`',
      '- **Refused**: 1 by `ledger-db` `access/ledger-db.yaml:15`',
      '- **Need approval, or another one**: 1 by `ledger-db` `access/ledger-db.yaml:18`',
      '- **Not known**: 1 because the gateway does not list the person',
    ]);
    for (const line of ['', '--format markdown --full', '--format markdown'])
      expect((await replay(line)).text).not.toContain('@example.com');
    expect((await replay('--full')).text).toContain('5 by dev@example.com');
    const json: unknown = JSON.parse((await replay('--format json')).text);
    expect(json).toMatchObject({
      plans: [
        {
          replay: {
            sessions: 11,
            isWhole: true,
            withoutScript: 2,
            changes: [{ turn: 'blocked', users: [{ name: 'dev@example.com', sessions: 5 }, {}] }, {}, {}, {}],
          },
        },
      ],
    });
    const inJob = await access.project.ostiary('plan --replay 30d --full --format json'.split(' '), { CI: 'true' });
    expect(inJob.stdout).not.toContain('@example.com');
    expect((await access.project.ostiary('plan --replay 30d --full'.split(' '), { CI: '1' })).stdout).not.toContain('@example.com');
    await replay('--full --report html=replay.html');
    const page = readFileSync(join(access.project.folder, 'replay.html'), 'utf8');
    expect([page.includes('Of 11 sessions'), page.includes('@example.com')]).toEqual([true, false]);
  });

  test('reads the scripts that decide, and no others, in pages of a hundred', async () => {
    recordSessions(access.project.model, [...sessions, ...Array.from({ length: 250 }, () => ({ ...session, script: scripts[0] }))]);
    access.project.write(files(['TRUNCATE'], ['dev'], []));
    const { requests } = await replay();
    expect(requests.filter((one) => one.includes('/sessions?'))).toHaveLength(3);
    // The access that changes decides only about the session of a person that the gateway does not list.
    expect(requests.filter((one) => one.includes('/sessions/'))).toHaveLength(1);
  });

  test('reads no script again that it tried with the same rules, and says if it cannot keep what they found', async () => {
    recordSessions(access.project.model, sessions);
    access.project.write(files(['DROP'], ['dev', 'ops'], []));
    const first = await replayLines();
    expect([await scriptsRead(), await replayLines()]).toEqual([0, first]);
    access.project.write(files(['DROP', 'delete'], ['dev', 'ops'], []));
    expect(await scriptsRead()).toBe(8);
    // What it keeps of a rule does not grow with the entries that match.
    const many = Array.from({ length: 300 }, (_, index) => ({ name: `words-${index}`, type: 'deny_words_list', words: ['DROP'] }));
    access.project.write({
      'access/no-drop.yaml': manifest('GuardrailRule', 'no-drop', { connection_ids: ['orders-db', 'ledger-db'], input: { rules: many } }),
    });
    expect(await scriptsRead()).toBe(8);
    const folder = join(access.project.folder, '.ostiary');
    expect(Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size))).toBeLessThan(10_000);
    const { stderr } = await access.project.ostiary('plan --replay 30d --cache ostiary.yaml'.split(' '));
    expect(stderr).toContain('cache/cannot-write');
  });

  test('reads the newest thousand, and says since when', async () => {
    recordSessions(
      access.project.model,
      Array.from({ length: 1100 }, () => ({ user: 'dev@example.com', connection: 'orders-db', verb: 'connect', script: '' })),
    );
    expect((await replayLines())[0]).toMatch(/^- Of the newest 1000 sessions, all since /);
    // A day behind the clock of the gateway, at the border, and before it.
    for (const [daysAgo, count] of [
      [-1, 11],
      [29.99, 11],
      [30.01, 0],
    ] as const) {
      recordSessions(access.project.model, sessions, daysAgo);
      expect((await replayLines())[0]).toContain(`Of ${count} sessions since `);
    }
  });

  test('reads the sessions of each of several targets', async () => {
    recordSessions(access.project.model, sessions);
    const { model, url, folder } = access.project;
    const alone = readFileSync(join(folder, 'ostiary.yaml'), 'utf8');
    access.project.write({ 'ostiary.yaml': config({ prod: url, copy: url }) });
    model.setFault(({ route, routeIndex }) =>
      route === 'GET /sessions' && routeIndex > before ? { kind: 'answer', when: 'before', status: 403 } : undefined,
    );
    const before = model.log.count('GET /sessions') + 1;
    const { text } = await replay('--all-targets --format json');
    model.setFault(undefined);
    access.project.write({ 'ostiary.yaml': alone });
    const { plans }: { readonly plans: readonly { readonly replay: unknown }[] } = JSON.parse(text);
    expect(plans.map((plan) => plan.replay)).toMatchObject([
      { sessions: 11 },
      { missing: 'the gateway has no sessions, or does not show them to this token' },
    ]);
  });

  test('is one line where sessions cannot be read', async () => {
    recordSessions(access.project.model, sessions);
    const { model } = access.project;
    for (const status of [403, 404, 500]) {
      model.setFault(({ route }) => (route === 'GET /sessions' ? { kind: 'answer', when: 'before', status } : undefined));
      expect(await replayLines()).toEqual([expect.stringMatching(/^- Sessions since .* are not known: /)]);
    }
    model.setFault(({ route }) => (route === 'GET /sessions/:session_id' ? { kind: 'answer', when: 'before', status: 403 } : undefined));
    access.project.write(files(['DROP'], ['dev', 'ops'], []));
    expect((await replayLines()).at(-1)).toContain('because the gateway does not show the script');
    model.setFault(undefined);
    const whole = await access.project.ostiary('plan --replay 30d'.split(' '), { OSTIARY_TOKEN: auditorToken });
    expect(whole.stdout).toContain('Of 11 sessions');
    const own = await access.project.ostiary('unused'.split(' '), { OSTIARY_TOKEN: standardToken });
    expect([own.code, own.stdout, own.stderr]).toEqual([4, '', expect.stringContaining('role standard cannot see all objects')]);
  });

  test('does not wait for scripts that are too long, or when it takes too long', async () => {
    const { model, folder, url } = access.project;
    access.project.write(files(['DROP'], ['dev', 'ops'], []));
    recordSessions(model, [...sessions.slice(0, 2), { ...session, script: 'x'.repeat(1_100_000) }]);
    expect((await replayLines()).slice(1)).toEqual([
      '- **Blocked**: 2 by `no-drop` `access/no-drop.yaml:10`',
      '- **Not known**: 1 because the script is longer than 1 MiB',
    ]);
    recordSessions(model, sessions.slice(0, 2));
    const before = model.log.count('GET /sessions');
    const { context, printed } = createTestContext({
      cwd: folder,
      env: { OSTIARY_TOKEN: adminToken },
      transportTo: (target) => (target === url ? model.transport : undefined),
      now: () => new Date(Date.now() + (model.log.count('GET /sessions') > before ? 121_000 : 0)),
    });
    expect(await run('plan --replay 30d --format markdown'.split(' '), context)).toBe(0);
    expect(printed().stdout).toContain('- **Not known**: 2 because not all scripts were read within 2 minutes');
  });

  test('prints and stores nothing of a script, in no format', async () => {
    recordSessions(access.project.model, sessions);
    access.project.write(files(['DROP'], ['dev'], ['sre']));
    const printed: string[] = [];
    for (const format of ['text', 'json', 'markdown'])
      for (const line of [
        `plan --replay 30d --full --verbose --format ${format} --out out.json --report html=r.html --report json=r.json --report markdown=r.md`,
        'unused --since 90d --edit --verbose',
        'unused --since 90d --format csv',
      ]) {
        const { stdout, stderr } = await access.project.ostiary(line.split(' '));
        printed.push(stdout, stderr);
      }
    const { folder } = access.project;
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (statSync(join(folder, name)).isFile()) printed.push(readFileSync(join(folder, name), 'latin1'));
    for (const { path, body, headers } of access.project.model.log.requests) printed.push(path, body, JSON.stringify(headers));
    const digests = [...scripts.filter((text) => text !== ''), canary].flatMap((text) =>
      (['md5', 'sha1', 'sha256', 'sha512'] as const).flatMap((name) => {
        const digest = createHash(name).update(text).digest();
        return [digest.toString('hex'), digest.toString('base64url')].map((form) => form.slice(0, 12));
      }),
    );
    for (const form of [...formsOf(canary), ...digests]) expect(printed.filter((text) => text.includes(form))).toEqual([]);
  });
});

type Can = { readonly answer: string; readonly approval: boolean };

/** A runbook of a session. */
const ofRunbook = { runbookRepository: 'github.com/acme/runbooks', runbookFile: 'ops/count.sh' };

/** Asks `can` about a person before or after the plan. */
async function can({ user, verb, connection: name, labels }: StartedSession, state: '--live' | '--plan'): Promise<Can> {
  const { stdout } = await access.project.ostiary([
    'can',
    '--user',
    user,
    labels === undefined ? verb : 'runbooks',
    name,
    state,
    '--format',
    'json',
  ]);
  const { answer, approval }: { readonly answer: string; readonly approval?: unknown } = JSON.parse(stdout);
  return { answer, approval: approval !== undefined && approval !== null };
}

/** Asks `test` whether a rule with the words blocks a script. */
async function isBlocked({ verb, script }: StartedSession, words: readonly string[]): Promise<boolean> {
  if (verb === 'connect' || script === '') return false;
  const rule = {
    apiVersion: 'ostiary/v1',
    kind: 'GuardrailRule',
    metadata: { name: 'tried' },
    spec: { input: { rules: [{ type: 'deny_words_list', words }] } },
    tests: [{ input: script, expect: 'blocked' }],
  };
  access.project.write({ 'tried/ostiary.yaml': config('http://127.0.0.1:1'), 'tried/access/rule.yaml': JSON.stringify(rule) });
  const { code, stdout } = await access.project.runIn(join(access.project.folder, 'tried'), ['test', '--format', 'json']);
  expect([0, 3]).toContain(code);
  expect(stdout).toContain('"outcome"');
  return code === 0;
}

const ways: readonly Pick<StartedSession, 'verb' | 'labels'>[] = [
  { verb: 'exec' },
  { verb: 'exec', labels: ofRunbook },
  { verb: 'connect' },
];

function turnOf([had, has]: readonly [Can, Can], [was, is]: readonly [boolean, boolean]): string | undefined {
  if (was && !is) return has.answer === 'yes' ? 'blocked' : 'refused';
  if (!was && is) return 'possible';
  return is && had.approval !== has.approval ? (has.approval ? 'approval' : 'unapproved') : undefined;
}

type Counted = { readonly turn: string; readonly sessions: number };

test('a replay agrees with can and test about each session', async () => {
  const one = fc
    .record({
      user: fc.constantFrom(...Object.keys(people)),
      connection: fc.constantFrom('orders-db', 'ledger-db'),
      way: fc.constantFrom(...ways),
      script: fc.constantFrom(...scripts),
    })
    .map(({ way, ...rest }): StartedSession => ({ ...rest, ...way }));
  const proposal = fc.record({
    words: fc.subarray(['DROP', 'delete', 'TRUNCATE'], { minLength: 1 }),
    groups: fc.constantFrom(['dev', 'ops'], ['dev'], ['ops'], []),
    asks: fc.subarray(['sre']),
    all: fc.array(one, { minLength: 20, maxLength: 30 }),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(proposal, async ({ words, groups, asks, all }) => {
      access.project.write(files(words, groups, asks));
      const expected: Record<string, number> = {};
      const known = new Map<string, Promise<Can>>();
      const answerTo = (asked: StartedSession, state: '--live' | '--plan'): Promise<Can> => {
        const key = JSON.stringify([asked.user, asked.connection, asked.verb, asked.labels, state]);
        const answer = known.get(key) ?? can(asked, state);
        known.set(key, answer);
        return answer;
      };
      for (const asked of all) {
        const [had, has] = [await answerTo(asked, '--live'), await answerTo(asked, '--plan')];
        const [was, is] = [await isBlocked(asked, ['TRUNCATE']), await isBlocked(asked, words)];
        const turn = turnOf([had, has], [had.answer === 'yes' && !was, has.answer === 'yes' && !is]);
        if (turn !== undefined) expected[turn] = (expected[turn] ?? 0) + 1;
      }
      recordSessions(access.project.model, all);
      const [{ replay: found }] = JSON.parse((await replay('--format json')).text).plans;
      const counted = Object.fromEntries(found.changes.map(({ turn, sessions: count }: Counted) => [turn, count]));
      expect(counted).toEqual(expected);
      for (const turn of Object.keys(counted)) seen.add(turn);
    }),
    { numRuns: 5, seed: 62, endOnFailure: true },
  );
  expect([...seen].toSorted()).toEqual(expect.arrayContaining(['approval', 'blocked', 'refused']));
});

/** A connection with a list of groups that is spelled like this, and an anchor. */
const shared = (groups: string): string =>
  connection('ledger-db', { ...open, reviewers: 'REVIEWERS', access_groups: 'GROUPS' })
    .replace('"REVIEWERS"', '&ops [ops]')
    .replace('"GROUPS"', groups);

describe('unused', () => {
  test('lists grants, rules and groups that nothing used, and edits the manifests', async () => {
    access.project.write(files(['TRUNCATE'], ['dev', 'ops'], []));
    recordSessions(access.project.model, [
      { user: 'dev@example.com', connection: 'orders-db', verb: 'exec', script: scripts[0] },
      { user: 'dev@example.com', connection: 'ledger-db', verb: 'exec', script: scripts[0] },
      { user: 'ops@example.com', connection: 'orders-db', verb: 'connect', script: '' },
    ]);
    const { code, stdout, stderr } = await access.project.ostiary('unused --since 90d --format csv'.split(' '));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Of 3 sessions since \S+: 9 grants, 0 rules, 0 groups unused, 1 not known\.$/m);
    const rows = stdout.split('\r\n').map((line) => line.split(',').slice(0, 6).join(','));
    expect(rows).toContain('grant,unused,ops,orders-db,exec,');
    expect(rows).not.toContain('grant,unused,dev,orders-db,exec,');
    expect(rows).toContain('rule,not known,GuardrailRule/no-drop,,,sessions without a script used its connections');
    const edited = await access.project.ostiary('unused --since 90d --edit'.split(' '));
    expect(edited.stderr).toContain('edited: access/ledger-db.yaml');
    expect(readFileSync(join(access.project.folder, file('ledger-db')), 'utf8')).not.toContain('ops');
    expect(readFileSync(join(access.project.folder, file('orders-db')), 'utf8')).toContain('ops');
    // Who used it loses nothing, and no one gets more.
    expect((await access.project.ostiary(['plan'])).stdout).toMatch(/ops (?:can no longer reach|loses? access to) ledger-db/);
    // Other entries keep their ends, and a shared list its other uses.
    for (const [before, after] of [
      ['[{ group: dev, until: 2099-01-01, reason: on call }, ops]', '[{ group: dev, until: 2099-01-01, reason: on call }]'],
      ['*ops', '[]'],
    ] as const) {
      access.project.write({ [file('ledger-db')]: shared(before) });
      await access.run('apply --yes');
      await access.project.ostiary('unused --since 90d --edit'.split(' '));
      expect(readFileSync(join(access.project.folder, file('ledger-db')), 'utf8')).toBe(shared(after));
    }
    access.project.write(files(['TRUNCATE'], ['dev', 'ops'], []));
    await access.run('apply --yes');
  });

  test('says which other target reads the manifests that it edits', async () => {
    const { url } = access.project;
    access.project.write({ 'ostiary.yaml': config({ prod: url, staging: url }) });
    const { stderr } = await access.project.ostiary('unused --edit --target prod'.split(' '));
    access.project.write({ ...files(['TRUNCATE'], ['dev', 'ops'], []), 'ostiary.yaml': config({ prod: url }) });
    expect(oneLine(stderr)).toContain('the target staging reads the same files, so its manifests also change: Connection/ledger-db');
  });

  test('does not know what is unused where no session was recorded', async () => {
    recordSessions(access.project.model, []);
    const { stdout, stderr } = await access.project.ostiary('unused --since 90d --edit'.split(' '));
    expect(oneLine(stderr)).toMatch(/Of 0 sessions since \S+: 0 grants, 0 rules, 0 groups unused, \d+ not known\. nothing to edit/);
    expect(oneLine(stdout)).toMatch(/dev on orders-db: connect, exec, runbooks not known .* no session was recorded/);
  });

  test('does not know what older sessions used, and leaves the manifests', async () => {
    recordSessions(
      access.project.model,
      Array.from({ length: 10_001 }, () => ({ user: 'none@example.com', connection: 'orders-db', verb: 'connect', script: '' })),
    );
    const { stdout, stderr } = await access.project.ostiary('unused --since 90d --edit'.split(' '));
    expect(oneLine(stderr)).toMatch(
      /Of the newest 10000 sessions, all since \S+: 0 grants, 0 rules, 0 groups unused, \d+ not known\. nothing to edit/,
    );
    expect(oneLine(stdout)).toMatch(
      /dev on orders-db: connect, exec, runbooks not known access\/orders-db.yaml:\d+ older sessions were not read/,
    );
  });

  test('says of rules of each kind whether they matched', async () => {
    const manifests = {
      [file('orders-db')]: connection('orders-db', { ...open, access_groups: ['dev', 'ops'] }),
      [file('idle-db')]: connection('idle-db', { ...open, access_groups: ['dev', 'ops'] }),
      'access/rules.yaml': [
        manifest('GuardrailRule', 'no-drop', { connection_ids: ['orders-db'], input: denies('DROP') }),
        manifest('GuardrailRule', 'no-truncate', { connection_ids: ['orders-db'], input: denies('TRUNCATE') }),
        manifest('GuardrailRule', 'no-keys', { connection_ids: ['orders-db'], input: denies('KEY'), output: denies('KEY') }),
        manifest('GuardrailRule', 'idle', { connection_ids: ['idle-db'], input: denies('DROP') }),
        manifest('GuardrailRule', 'nowhere', { input: denies('DROP') }),
        manifest('AccessRequestRule', 'asks-dev', { ...asks, connection_names: ['orders-db'], approval_required_groups: ['dev'] }),
        manifest('AccessRequestRule', 'asks-natives', { ...asks, access_type: 'jit', connection_names: ['orders-db'] }),
        manifest('RunbookRule', 'of-ops', { ...books, connections: ['orders-db'], user_groups: ['ops'] }),
        manifest('RunbookRule', 'of-night', { ...books, connections: ['orders-db'], user_groups: ['night'] }),
      ].join('---\n'),
    };
    const one = await accessProject(manifests);
    one.project.write(manifests);
    await one.run('apply --yes --allow plan/access-control-on=test');
    await addPeople(one);
    recordSessions(one.project.model, [
      { user: 'dev@example.com', connection: 'orders-db', verb: 'exec', script: scripts[0] },
      { user: 'dev@example.com', connection: 'orders-db', verb: 'exec', script: 'select 1', guardrail: 'no-drop' },
      { user: 'ops@example.com', connection: 'orders-db', verb: 'exec', script: 'select 1', labels: ofRunbook },
    ]);
    const { code, stdout, stderr } = await one.project.ostiary('unused --format csv'.split(' '));
    expect([code, stderr]).toEqual([0, expect.stringContaining('Of 3 sessions')]);
    const rows = stdout.split('\r\n').filter((line) => line.startsWith('rule'));
    expect(rows.map((line) => line.split(',').slice(1, 6).join(','))).toEqual([
      'unused,AccessRequestRule/asks-natives,,,',
      'not known,GuardrailRule/idle,,,no session used its connections',
      'not known,GuardrailRule/no-keys,,,"it checks output',
      'unused,GuardrailRule/no-truncate,,,',
      'unused,GuardrailRule/nowhere,,,',
      'unused,RunbookRule/of-night,,,',
    ]);
  });
});

const denies = (word: string): JsonObject => ({ rules: [{ name: 'words', type: 'deny_words_list', words: [word] }] });
const asks = { access_type: 'command', reviewers_groups: ['sre'], min_approvals: 1 };
const books = { runbooks: [{ repository: 'github.com/acme/runbooks', name: 'ops/' }] };
