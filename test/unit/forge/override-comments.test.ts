import { expect, test } from 'vitest';
import { type ChangeAuthors, type DecidedPlan, type OverrideComments, readOverrideComments } from '../../../src/forge/override-comments.ts';
import { type ApprovalRules, defaultApprovals } from '../../../src/model/config.ts';

const [head, merged] = ['a'.repeat(40), 'b'.repeat(40)];
const digest = '1'.repeat(64);
const allow = `/ostiary allow ${head} plan/window=tested`;
const none: ChangeAuthors = { known: new Map(), unknown: [] };

type Scene = {
  readonly body?: string;
  readonly author?: string;
  readonly editor?: string;
  readonly plan?: Partial<DecidedPlan>;
  readonly authors?: ChangeAuthors;
  readonly rules?: Partial<ApprovalRules>;
};

/** Reads one comment on pull request 7. Ada and Grace have write access; the token is that of the account "machine", which has it, too. */
async function read({ body = allow, author = 'grace', editor, plan = {}, authors = none, rules = {} }: Scene): Promise<OverrideComments> {
  const comment = { id: 1, node: 'node', author, body };
  const forge = {
    whoAmI: () => Promise.resolve('Machine'),
    comments: () => Promise.resolve([comment]),
    latestOf: () => Promise.resolve({ body, editor }),
    names: { forge: 'GitHub', request: 'pull request', mayDecide: 'write access' } as const,
    people: {
      mayWrite: (login: string) => Promise.resolve(['ada', 'Grace', 'grace', 'machine', 'x[bot]'].includes(login)),
      accountsOf: () => Promise.resolve([]),
      isBot: (login: string) => login.endsWith('[bot]'),
      isTeamMember: (organization: string, team: string, login: string) =>
        Promise.resolve(`${organization}/${team}/${login}` === 'acme/dba/grace'),
    },
  };
  const decided = { number: 7, head, commit: head, isAlone: () => Promise.resolve(true), authors: () => Promise.resolve(authors), ...plan };
  return readOverrideComments(forge, decided, () => Promise.resolve({ ...defaultApprovals, ...rules }));
}

const known = (...logins: readonly string[]): ChangeAuthors => ({
  known: new Map(logins.map((login) => [login, 'commit c0ffee'])),
  unknown: [],
});
const unknown = (name: string, email: string): ChangeAuthors => ({
  known: new Map(),
  unknown: [{ part: 'commit c0ffee', address: { name, email } }],
});
const byBot: ChangeAuthors = { known: new Map(), unknown: [{ part: 'commit c0ffee, by x[bot]' }] };
const notAlone = { commit: merged, isAlone: () => Promise.resolve(false) };

test.each<readonly [string, Scene]>([
  ['by another person with write access', { authors: known('ada') }],
  ['by an author with self_approval', { authors: known('grace'), rules: { selfApproval: true } }],
  ['by an approver', { rules: { approvers: ['Grace'] } }],
  ['by a member of a team', { rules: { approvers: ['acme/dba'] } }],
  ['by an approver, beside a bot', { authors: byBot, rules: { approvers: ['grace'] } }],
  ['by an approver, beside an unknown address', { authors: unknown('Linus', 'linus@example.com'), rules: { approvers: ['grace'] } }],
  ['after the merge, of this pull request alone', { plan: { commit: merged } }],
  ['of the merged commit, whatever it contains', { plan: notAlone, body: allow.replace(head, merged) }],
])('a command counts %s', async (_, scene) => {
  const { allow: allowed, ignored, decisions } = await read(scene);
  expect({ allowed, ignored }).toEqual({ allowed: [{ code: 'plan/window', reason: 'tested (grace, pull request 7)' }], ignored: [] });
  expect(decisions).toEqual([{ author: 'grace', command: scene.body ?? allow, comment: 1 }]);
});

test.each<readonly [string, Scene, string]>([
  ['by a bot', { author: 'x[bot]' }, 'comments of bots do not count'],
  ['by the account of the token', { author: 'machine' }, 'the account of the token does not decide'],
  ['without write access', { author: 'guest' }, 'GitHub reports no write access for guest'],
  ['in a long comment', { body: `${allow}\n${' '.repeat(10_000)}` }, 'longer than 10000 characters'],
  ['in an edited comment', { editor: 'grace' }, 'grace edited the comment; a new comment counts'],
  ['of another form', { body: '/ostiary allow' }, 'write /ostiary allow COMMIT CODE=REASON'],
  ['of another commit', { body: allow.replace(head, merged) }, `the head of the pull request is ${head}`],
  [
    'of another commit, after the merge',
    { body: allow.replace(head, 'c'.repeat(40)), plan: { commit: merged } },
    `the applied commit is ${merged}`,
  ],
  [
    'of a part of an id',
    { body: allow.replace(head, head.slice(0, 39)) },
    `the whole ID of the commit; write /ostiary allow ${head} plan/window=REASON`,
  ],
  ['of a part of the merged id', { body: allow.replace(head, merged.slice(0, 12)), plan: notAlone }, `write /ostiary allow ${merged} `],
  [
    'of the head, if more was merged',
    { plan: notAlone },
    `commit ${merged} contains more than pull request 7; write /ostiary allow ${merged} `,
  ],
  ['of a part of a digest', { body: `/ostiary apply ${digest.slice(0, 12)}` }, 'the whole digest'],
  ['by another person than the approvers', { rules: { approvers: ['ada', 'acme/sre'] } }, 'grace is not one of the approvers'],
  [
    'by an author, whatever the case',
    { author: 'Grace', authors: known('grace') },
    'Grace made a part of what would be applied (commit c0ffee)',
  ],
  ['by an author who is an approver', { authors: known('grace'), rules: { approvers: ['grace'] } }, 'grace made a part'],
  ['beside a bot', { authors: byBot }, 'not all authors of what would be applied are known (commit c0ffee, by x[bot])'],
  ['beside an unknown address', { authors: unknown('Linus', 'linus@example.com') }, 'not all authors of what would be applied are known'],
  [
    'of an approver with that address',
    { authors: unknown('x', 'Grace@example.com'), rules: { approvers: ['grace'] } },
    'grace made a part',
  ],
  ['of an approver with that name', { authors: unknown('Grace Hopper', ''), rules: { approvers: ['grace'] } }, 'grace made a part'],
  ['of an approver, if the history is not known', { authors: { ...none, missing: 'shallow' }, rules: { approvers: ['grace'] } }, 'shallow'],
])('a command does not count %s', async (_, scene, reason) => {
  const { allow: allowed, ignored, decisions } = await read(scene);
  expect({ allowed, decisions, ignored }).toEqual({ allowed: [], decisions: [], ignored: [expect.stringContaining(reason)] });
});

test('a comment that agrees to a digest overrides nothing', async () => {
  expect(await read({ body: `/ostiary apply ${digest}\nthanks` })).toMatchObject({ allow: [], digest, ignored: [] });
  expect(await read({ body: `/ostiary apply ${digest}`, authors: known('grace') })).toMatchObject({ digest: undefined });
});
