import { beforeEach, describe, expect, test } from 'vitest';
import { withPlanMarks } from '../../../src/forge/approved-plan.ts';
import type { Ended } from '../../support/cli.ts';
import { projectBot } from '../../support/gitlab-people.ts';
import { git } from '../../support/workflow.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';
import { useGitLab } from './use-gitlab.ts';

const makeProject = useProjects();
const gateway = useGateway();
const limited = (rules = ''): string => `${rules}${config(gateway.url()).replace("' }", "', limits: { from: 1, updates: 10% } }")}`;
const bench = useGitLab(makeProject, gateway, () => ({ 'ostiary.yaml': limited(), 'access/first.yaml': connection('first') }));
const { ci, push, planRequest, notesOn } = bench;

// Several runs with some twenty git processes each.
const patient = { timeout: 120_000 };

let duration = 6000;
let branches = 0;

type Proposed = { readonly by?: string; readonly opener?: string; readonly message?: string };

/** Proposes an update, which the limits refuse, as a merge request of a new branch. */
function propose({ by = 'mallory', opener = by, message = 'Change' }: Proposed = {}): { readonly iid: number; readonly head: string } {
  duration -= 60;
  branches += 1;
  const branch = `topic-${branches}`;
  const head = push(branch, { 'access/first.yaml': connection('first', { access_max_duration: duration }) }, message, by);
  return { iid: bench.gitlab().open(branch, { author: opener }), head };
}

const command = (commit: string): string => `/ostiary allow ${commit} plan/too-many-updates=tested`;

function apply(line = '--overrides'): Promise<Ended> {
  return ci(`apply ${line}`, { source: 'push' });
}

async function isApplied(): Promise<boolean> {
  const { body } = await gateway.call('GET', '/connections/first');
  return body['access_max_duration'] === duration;
}

/** Applies what is left, so that it is the base of the next test. */
async function settle(): Promise<void> {
  expect(await apply('--allow plan/too-many-updates=settled')).toMatchObject({ code: 0 });
}

/** Applies, and expects that the note is ignored for a reason. */
async function ignored(reason: string): Promise<void> {
  const ended = await apply();
  expect({ code: ended.code, errors: ended.stderr }).toEqual({ code: 6, errors: expect.stringContaining(reason) });
  expect(await isApplied()).toBe(false);
}

beforeEach(settle);

describe('who decides', () => {
  // security: four-eyes
  test(
    'another maintainer decides, not who opened the merge request or wrote it, not a developer, a stranger or a bot',
    patient,
    async () => {
      const { iid, head } = propose();
      const line = 'plan --overrides';
      const { code, stderr } = await planRequest(iid, line);
      expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining(`/ostiary allow ${head} plan/too-many-updates=REASON`) });
      for (const author of ['mallory', 'dev', 'stranger', projectBot]) bench.gitlab().write(iid, command(head), author);
      bench.gitlab().write(iid, command(head.slice(0, 12)), 'grace');
      const refused = await planRequest(iid, line);
      expect(refused.code).toBe(6);
      for (const reason of [
        /by mallory is ignored: mallory made a part of what would be applied \(merge request \d+\)/,
        /by dev is ignored: GitLab reports no role Maintainer/,
        /by stranger is ignored: GitLab reports no role Maintainer/,
        new RegExp(`by ${projectBot} is ignored: comments of bots do not count`),
        new RegExp(`by grace is ignored: it does not have the whole ID of the commit; write /ostiary allow ${head} `),
        /^ {2}see docs\/how-to\/gitlab\.md, overrides$/m,
      ])
        expect(refused.stderr).toMatch(reason);
      bench.gitlab().merge(iid);
      await ignored('mallory made a part');
      bench.gitlab().write(iid, `${command(head)}\n\nI checked it.`, 'grace');
      expect(await apply()).toMatchObject({ code: 0 });
      expect(await isApplied()).toBe(true);
      expect(notesOn(iid).join('\n')).toMatch(/`grace`[^\n]*tested[^\n]*\/-\/merge_requests\/\d+#note_\d+/);
      expect({ wrong: bench.gitlab().wrong, actions: bench.gitlab().actions }).toEqual({ wrong: [], actions: [] });
    },
  );

  // security: four-eyes
  test('the author of an earlier commit does not decide, also if the branch was squashed', patient, async () => {
    const { iid } = propose({ by: 'mallory', opener: 'ada' });
    const last = push(`topic-${branches}`, { 'README.md': 'squash' }, 'A word', 'ada');
    bench.gitlab().write(iid, command(last), 'mallory');
    bench.gitlab().merge(iid, 'squash', 'ada');
    await ignored('mallory made a part');
    bench.gitlab().write(iid, command(last), 'grace');
    expect(await apply()).toMatchObject({ code: 0 });
  });

  // security: four-eyes
  test('a co-author and another committer do not decide', patient, async () => {
    const coAuthored = propose({ message: 'Change\n\nCo-authored-by: Grace <7-grace@users.noreply.gitlab.test>' });
    bench.gitlab().write(coAuthored.iid, command(coAuthored.head), 'grace');
    bench.gitlab().merge(coAuthored.iid);
    await ignored('grace made a part');
    bench.gitlab().write(coAuthored.iid, command(coAuthored.head), 'linus');
    expect(await apply()).toMatchObject({ code: 0 });

    const { iid } = propose({ by: 'ada' });
    git(bench.clone(), ['commit', '--quiet', '--amend', '--no-edit'], 'grace');
    git(bench.clone(), ['push', '--quiet', '--force', 'origin', `topic-${branches}`]);
    const head = git(bench.clone(), 'rev-parse HEAD');
    for (const author of ['grace', 'linus']) bench.gitlab().write(iid, command(head), author);
    bench.gitlab().merge(iid);
    const ended = await apply();
    expect(ended).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('by grace is ignored: grace made a part of what would be applied'),
    });
    // GitLab names no account for the address of a committer.
    expect(ended.stderr).toMatch(/by linus is ignored: not all authors .* by an account that GitLab does not know\)/);
  });

  // security: four-eyes
  test('a note on another merge request decides nothing, in a merge train either', patient, async () => {
    const first = propose();
    const merged = bench.gitlab().merge(first.iid);
    bench.gitlab().write(first.iid, command(first.head), 'mallory');
    await ignored('mallory made a part');
    // The next one of the train is built on the merge of the first.
    const head = push('train', { 'access/other.yaml': connection('other') }, 'Harmless', 'ada');
    const second = bench.gitlab().open('train', { author: 'ada' });
    expect(git(bench.clone(), `merge-base ${merged} ${head}`)).toBe(merged);
    const train = { CI_MERGE_REQUEST_EVENT_TYPE: 'merge_train', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head };
    for (const author of ['mallory', 'grace']) bench.gitlab().write(second, command(head), author);
    const inTrain = await ci('plan --overrides', { source: 'merge_request_event', iid: second }, { env: train });
    expect(inTrain).toMatchObject({ code: 6, stderr: expect.not.stringContaining('forge/') });
    expect(await ci('apply', { source: 'merge_request_event', iid: second }, { env: train })).toMatchObject({ code: 3 });

    const last = bench.gitlab().merge(second);
    const refused = await apply();
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`commit ${last} contains more than merge request ${second}; write`),
    });
    expect(refused.stderr).toContain(`comments on merge request ${second}: ${command(last).replace('tested', 'REASON')}`);
    bench.gitlab().write(second, command(last), 'mallory');
    await ignored('mallory made a part');
    bench.gitlab().write(second, command(last), 'grace');
    expect(await apply()).toMatchObject({ code: 0 });
  });
});

type Change = (iid: number, body: string) => void;

/** Writes a note with a text made of the command. */
function write(body: (line: string) => string, author = 'grace', kind = {}): Change {
  return (iid, line) => bench.gitlab().write(iid, body(line), author, kind);
}

function lastNote(iid: number): number {
  return bench.gitlab().requests[iid - 1]?.notes.at(-1)?.id ?? 0;
}

describe('notes', () => {
  // security: four-eyes
  // Other texts and authors: unit/forge.
  test('a note decides nothing if it was edited or deleted, or is internal', patient, async () => {
    const { iid, head } = propose();
    const edited =
      (editor: string | null): Change =>
      (_, body) => {
        bench.gitlab().write(iid, 'Looks good', 'grace');
        bench.gitlab().edit(iid, lastNote(iid), body, editor);
      };
    const all: readonly (readonly [Change, readonly RegExp[]])[] = [
      [edited('grace'), [/grace edited the comment; a new comment counts/]],
      [edited(null), [/a deleted account edited the comment/]],
      [write((line) => line, 'grace', { internal: true }), []],
      [write((line) => line, 'grace', { system: true }), []],
    ];
    for (const [change, reason] of all) {
      change(iid, command(head));
      const note = lastNote(iid);
      const { code, stderr } = await planRequest(iid, 'plan --overrides');
      const ignoredNotes = stderr.split('\n').filter((line) => line.includes('forge/ignored-override'));
      expect({ code, ignoredNotes }).toEqual({ code: 6, ignoredNotes: reason.map((one) => expect.stringMatching(one)) });
      bench.gitlab().remove(iid, note);
    }
    // GitLab runs the actions of a note, with the permissions of its author, and stores the rest.
    bench.gitlab().write(iid, `${command(head)}\n/label ~urgent\nthanks`, 'grace');
    const note = lastNote(iid);
    expect(await planRequest(iid, 'plan --overrides')).toMatchObject({ code: 0 });
    expect(bench.gitlab().actions).toEqual(['/label ~urgent']);
    bench.gitlab().remove(iid, note);
    expect(await planRequest(iid, 'plan --overrides')).toMatchObject({ code: 6 });
  });
});

// security: approval
test('--digest comment: a refused plan is not approved by the merge, and a digest overrides no limit', patient, async () => {
  const { iid, head } = propose();
  expect(await planRequest(iid, 'plan --overrides')).toMatchObject({ code: 6 });
  const [note = ''] = notesOn(iid);
  expect(note).toContain('plan/too-many-updates');
  expect(note).not.toContain('<!-- ostiary plan');
  // A mark like that of Ostiary, by another account.
  const mark = withPlanMarks('', [{ name: Array.from({ length: 8 }, () => ''), digest: '1'.repeat(64), head }]);
  bench.gitlab().write(iid, note.replace(/(?<=<!-- ostiary \w+ \w+ -->\n)/, mark.trimStart()), 'mallory');
  bench.gitlab().merge(iid);
  const line = '--digest comment --overrides';
  const refused = await apply(line);
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('shows no plan that was not refused') });
  const [, digest = ''] = /\/ostiary apply ([0-9a-f]{64})/.exec(refused.stderr) ?? [];
  bench.gitlab().write(iid, `/ostiary apply ${digest}`, 'mallory');
  expect(await apply(line)).toMatchObject({ code: 6, stderr: expect.stringContaining('mallory made a part') });
  bench.gitlab().write(iid, `/ostiary apply ${digest.slice(0, 12)}`, 'grace');
  expect(await apply(line)).toMatchObject({ code: 6, stderr: expect.stringContaining('the whole digest') });
  bench.gitlab().write(iid, `/ostiary apply ${digest}`, 'grace');
  const agreed = await apply(line);
  expect(agreed).toMatchObject({ code: 6, stdout: expect.stringContaining('plan/too-many-updates') });
  expect(agreed.stdout + agreed.stderr).not.toContain('plan/other-digest');
  bench.gitlab().write(iid, command(head), 'grace');
  expect(await apply(line)).toMatchObject({ code: 0 });
  expect(await isApplied()).toBe(true);
});
