import { expect, test } from 'vitest';
import { findApprovedPlan, withPlanMarks } from '../../../src/forge/approved-plan.ts';
import type { Comment } from '../../../src/forge/forge.ts';
import { writeStickyBody } from '../../../src/forge/sticky-body.ts';

const place = ['', '', 'staging'];
const [head, older] = ['a'.repeat(40), 'b'.repeat(40)];
const [digest, other] = ['1'.repeat(64), '2'.repeat(64)];
const bot = 'ostiary-acme[bot]';
const names = { request: 'pull request', sharedAccount: 'github-actions[bot]' } as const;
const pull = { number: 7, head };

type Written = Partial<Comment> & { readonly editor?: string };

/** As much of GitHub as is asked, with these comments. */
function gitHub(written: readonly Written[], login = bot): Parameters<typeof findApprovedPlan>[0] {
  return {
    whoAmI: () => Promise.resolve(login),
    comments: () => Promise.resolve(written.map((one, id) => ({ id, node: `node-${id}`, author: login, body: '', ...one }))),
    latestOf: ({ id, body }) => Promise.resolve({ body, editor: written[id]?.editor }),
  };
}

/** A comment of ours that shows a plan, with what people wrote around it. */
function shown(plan = digest, commit = head, around = { above: '', below: '' }): string {
  const text = withPlanMarks('### Plan\n\nA report', [
    { name: ['', '', 'eu-west'], digest: other, head },
    { name: place, digest: plan, head: commit },
  ]);
  return writeStickyBody(['plan'], undefined, text, around);
}

/** The hidden line of a plan. */
const forged = withPlanMarks('', [{ name: place, digest: other, head }]);

const found = { digest };

test.each<readonly [string, () => readonly Written[], object]>([
  ['is found', () => [{ body: 'talk', author: 'ada' }, { body: shown() }], found],
  ['is found, with the line ends of GitHub', () => [{ body: shown().replaceAll('\n', '\r\n') }], found],
  ['is found after we edited it ourselves', () => [{ body: shown(), editor: bot }], found],
  ['is found beside an older one', () => [{ body: shown(other, older) }, { body: shown() }], found],
  ['is the same in two comments', () => [{ body: shown() }, { body: shown() }], found],
  ['was edited by a person', () => [{ body: shown(), editor: 'ada' }], { reason: 'the comment on pull request 7 was edited by ada' }],
  ['was written by another author', () => [{ body: shown(), author: 'ada' }], { reason: 'pull request 7 has no comment by Ostiary' }],
  ['is found below what a person wrote', () => [{ body: shown(digest, head, { above: `${forged}Hi\n\n`, below: `\n${forged}` }) }], found],
  ['is in no comment of ours', () => [{ body: forged }], { reason: 'pull request 7 has no comment by Ostiary' }],
  [
    'is of an older commit',
    () => [{ body: shown(digest, older) }],
    { reason: 'the comment on pull request 7 shows the plan of commit bbbbbbbbbb, and commit aaaaaaaaaa was merged' },
  ],
  [
    'is elsewhere in the comment',
    () => [{ body: writeStickyBody(['plan'], undefined, `### Plan\n\n${forged}`) }],
    { reason: 'the comment on pull request 7 shows no plan that was not refused, and commit aaaaaaaaaa was merged' },
  ],
  ['is not the only one', () => [{ body: shown() }, { body: shown(other) }], { reason: 'pull request 7 has comments with several plans' }],
])('the plan that was agreed to %s', async (_, comments, expected) => {
  expect(await findApprovedPlan(gitHub(comments()), place, [pull], names)).toEqual(expected);
});

test('a commit that came with no pull request, or with several, brings no agreement', async () => {
  const github = gitHub([{ body: shown() }]);
  expect(await findApprovedPlan(github, place, [], names)).toEqual({ reason: 'the commit belongs to no pull request' });
  expect(await findApprovedPlan(github, place, [pull, { ...pull, number: 9 }], names)).toEqual({
    reason: 'the commit belongs to several pull requests (7, 9)',
  });
});

// security: approval
test('a comment of an account that jobs of others share brings no agreement', async () => {
  const { sharedAccount } = names;
  expect(await findApprovedPlan(gitHub([{ body: shown() }], sharedAccount), place, [pull], names)).toEqual({
    reason: 'every workflow of the repository can write comments as github-actions[bot], so they approve nothing',
  });
});
