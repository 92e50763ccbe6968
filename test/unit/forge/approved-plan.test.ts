import { beforeAll, expect, test } from 'vitest';
import { findApprovedPlan, planMark } from '../../../src/forge/approved-plan.ts';
import type { Comment } from '../../../src/forge/forge.ts';
import { memoryForge } from '../../support/memory-forge.ts';
import { keepSections } from '../../../src/forge/comment-sections.ts';

const place = { key: ['plan', '', '', ''], section: 'staging' };
const [head, older] = ['a'.repeat(40), 'b'.repeat(40)];
const [digest, other] = ['1'.repeat(64), '2'.repeat(64)];
const bot = 'ostiary-acme[bot]';
const names = { request: 'pull request', sharedAccount: 'github-actions[bot]' } as const;
const pull = { number: 7, head };

let marker = '';

beforeAll(async () => {
  const forge = memoryForge(bot);
  await keepSections(
    forge,
    {
      number: 7,
      key: place.key,
      names: [place.section],
      updates: [{ name: place.section, textAfter: () => '', onlyUpdate: false }],
    },
    () => Promise.resolve(),
  );
  marker = `${forge.bodies()[0]?.trimEnd()}\n`;
});

type Written = Partial<Comment> & { readonly editor?: string };

/** As much of GitHub as is asked, with these comments. */
function gitHub(written: readonly Written[], login = bot): Parameters<typeof findApprovedPlan>[0] {
  return {
    whoAmI: () => Promise.resolve(login),
    comments: () => Promise.resolve(written.map((one, id) => ({ id, node: `node-${id}`, author: login, body: '', ...one }))),
    latestOf: ({ id, body }) => Promise.resolve({ body, editor: written[id]?.editor }),
  };
}

/** A comment of ours that shows a plan. */
function shown(plan = digest, commit = head): string {
  return `${marker}${planMark(plan, commit)}### Plan`;
}

const found = { digest };

test.each<readonly [string, () => readonly Written[], object]>([
  ['is found', () => [{ body: 'talk', author: 'ada' }, { body: shown() }], found],
  ['is found, with the line ends of GitHub', () => [{ body: shown().replaceAll('\n', '\r\n') }], found],
  ['is found after we edited it ourselves', () => [{ body: shown(), editor: bot }], found],
  ['is found beside an older one', () => [{ body: shown(other, older) }, { body: shown() }], found],
  ['is the same in two comments', () => [{ body: shown() }, { body: shown() }], found],
  ['was edited by a person', () => [{ body: shown(), editor: 'ada' }], { reason: 'the comment on pull request 7 was edited by ada' }],
  ['was written by another author', () => [{ body: shown(), author: 'ada' }], { reason: 'pull request 7 has no comment by Ostiary' }],
  [
    'is of another step',
    () => [{ body: shown().replace(/[0-9a-f]{32}/, '0'.repeat(32)) }],
    { reason: 'pull request 7 has no comment by Ostiary' },
  ],
  [
    'is of an older commit',
    () => [{ body: shown(digest, older) }],
    { reason: 'the comment on pull request 7 shows the plan of commit bbbbbbbbbb, and commit aaaaaaaaaa was merged' },
  ],
  [
    'is elsewhere in the comment',
    () => [{ body: `${marker}### Plan\n${planMark(digest, head)}` }],
    { reason: 'the comment on pull request 7 shows no plan that was not refused, and commit aaaaaaaaaa was merged' },
  ],
  [
    'is in the section of another target',
    () => [{ body: shown().replace(/(?<=section )[0-9a-f]{32}/, '0'.repeat(32)) }],
    { reason: 'the comment on pull request 7 has no section for staging' },
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
