import { findApprovedPlan, mergedPullRequests, type PullRequestHead } from '../forge/approved-plan.ts';
import { allowCommandFor, applyCommandFor } from '../forge/comment-commands.ts';
import { type CommentDecision, type DecidedPlan, readOverrideComments } from '../forge/override-comments.ts';
import { withForgeErrors } from '../forge/forge-errors.ts';
import type { Forge } from '../forge/forge.ts';
import { mergedTree } from '../git/authored-commits.ts';
import { commitsSince, parentsOf, readCommit } from '../git/repository.ts';
import { type ActionTask, configFlags, type Findings, openRunForge, type TaskResult } from './task.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { defaultApprovals } from '../model/config.ts';
import { noDigest, type Plan } from '../model/plan/plan.ts';
import { openConfig } from '../project/open-project.ts';
import { unprovenRecordCodes } from '../reconcile/guard/record-refusals.ts';
import { shortList } from '../report/wording/phrases.ts';
import type { CommentLink } from '../report/markdown/comment.ts';
import type { CliContext, PlanDecisions } from '../commands/context/cli-context.ts';
import { findChangeAuthors, findOrFetch } from './change-authors.ts';
import { digestFromComment } from './inputs.ts';
import { findMergedSince, missingTokenOf, mostCommits, planNameOf } from './pull-requests.ts';

/** What people decide in comments about the plan of a task. */
export type Decisions = {
  /** Returns what they decided about a plan; the command that made the plan asks. */
  readonly decide: (plan: Plan) => Promise<PlanDecisions>;
  /** Returns the comments that counted. */
  readonly comments: () => readonly CommentLink[];
  /** Returns notices about what is left to decide: the commands that override the refusals, and other pull requests in the plan. */
  readonly noticesAbout: (findings: Findings) => Promise<readonly Diagnostic[]>;
};

type At = Pick<TaskResult, 'waits' | 'context'>;

/** Opens the decisions about a task; undefined if its inputs ask for none. Throws UsageError if they cannot be read. */
export function openDecisions(task: ActionTask, at: At): Decisions | undefined {
  const { inputs, run } = task;
  const { digest, plan: file } = inputs.flags;
  const asksForDigest = digest === digestFromComment;
  if (!asksForDigest && !inputs.overrides) return undefined;
  if (asksForDigest && file !== undefined)
    throw new UsageError('digest: comment has no effect on a saved plan', 'remove plan, or pass its digest');
  if (inputs.token === '') {
    if (asksForDigest) throw new UsageError('digest: comment requires a token to read the comment', run.names.tokenHint);
    at.context.onEvent?.({ diagnostics: missingTokenOf(run) });
    return undefined;
  }
  const forge = openRunForge(task, at);
  let request: PullRequestHead | undefined;
  let counted: readonly CommentDecision[] = [];
  return {
    async decide(plan) {
      if (!asksForDigest && plan.refusals.length === 0) return { allow: [] };
      const requests = await pullRequestsOf(forge, task);
      const [only, ...others] = requests;
      request = others.length === 0 ? only : undefined;
      const found = request === undefined ? none : await readComments(forge, task, { plan, request, context: at.context });
      const agreed = asksForDigest ? (found.digest ?? (await approvedDigest(forge, task, requests, at.context))) : undefined;
      const allow = inputs.overrides ? found.allow : [];
      counted = found.decisions.filter(({ command }) => (command.startsWith(applyCommandFor('')) ? asksForDigest : inputs.overrides));
      return { allow, digest: agreed };
    },
    comments: () =>
      counted.map(({ author, command, comment }) => ({
        author,
        command,
        url: `${run.page}${run.names.commentPath(request?.number ?? 0, comment)}`,
      })),
    async noticesAbout(findings) {
      if (request === undefined || findings.result !== undefined) return [];
      return [...(await otherMerges(forge, task, { findings, request })), ...commandsFor(task, { findings, request })];
    },
  };
}

type Comments = Awaited<ReturnType<typeof readOverrideComments>>;

const none: Comments = { allow: [], digest: undefined, decisions: [], ignored: [] };

/** Returns the pull request of the event, or the merged ones that the commit of the run belongs to. */
async function pullRequestsOf(forge: Forge, { inputs: { mode }, run }: ActionTask): Promise<readonly PullRequestHead[]> {
  if (run.pullRequest !== undefined) return [run.pullRequest];
  return mode === 'apply' ? mergedPullRequests(forge, run.commit, run.branch) : [];
}

type Asked = { readonly plan: Plan; readonly request: PullRequestHead; readonly context: CliContext };

/** Reads the commands in the comments; a forge that refuses is a warning, and nothing is overridden. */
async function readComments(forge: Forge, task: ActionTask, { plan, request, context }: Asked): Promise<Comments> {
  const { inputs, run, proposal } = task;
  // The rules are those before the change, which could name its own author.
  const selection = { ...configFlags(inputs), configRef: plan.base ?? configFlags(inputs, proposal?.configRef).configRef };
  const decided = decidedPlan(forge, task, { plan, request });
  const { value: found = none, diagnostics } = await withForgeErrors(() =>
    readOverrideComments({ ...forge, names: run.names }, decided, async () => {
      const { approvals = defaultApprovals } = (await openConfig(selection, context)).config;
      return approvals;
    }),
  );
  const unused = found.ignored.map((message): Diagnostic => {
    return { code: 'forge/ignored-override', severity: 'warning', message, hint: `see ${run.names.guide}, overrides` };
  });
  context.onEvent?.({ diagnostics: [...diagnostics, ...unused] });
  return found;
}

/** Describes a plan to those who decide about it. A record that is not proven does not decide what is part of it. */
function decidedPlan(forge: Forge, { run, checkout }: ActionTask, { plan, request }: Omit<Asked, 'context'>): DecidedPlan {
  const { number, head } = request;
  const { repository } = checkout;
  const base = plan.refusals.some(({ code }) => unprovenRecordCodes.has(code)) ? undefined : plan.base;
  const isOpen = run.pullRequest?.merged === false;
  async function findAuthors(): ReturnType<DecidedPlan['authors']> {
    // A forge makes the test merge that is checked out for an open pull request.
    const merged = repository === undefined || !isOpen ? [checkout.commit] : await parentsOf(repository, checkout.commit);
    const tips = [head, ...merged, ...(isOpen && run.proposedFor !== undefined ? [run.proposedFor.commit] : [])];
    return findChangeAuthors(forge, { run, repository, base, tips, number });
  }
  let authors: ReturnType<DecidedPlan['authors']> | undefined;
  return {
    number,
    head,
    commit: isOpen ? head : checkout.commit,
    async isAlone() {
      if (repository === undefined || base === undefined) return false;
      const line = await commitsSince(repository, base, checkout.commit, mostCommits + 1);
      if (line.length > mostCommits) return false;
      for (const commit of line) {
        const merged = (await forge.pullRequestsOf(commit)).filter((one) => one.merged);
        if (merged.length === 0 || merged.some((one) => one.number !== number)) return false;
      }
      // The merge may contain more than the branch.
      const branch = await findOrFetch(repository, head);
      const applied = await readCommit(repository, checkout.commit);
      return branch !== undefined && applied !== undefined && (await mergedTree(repository, base, branch)) === applied.tree;
    },
    authors: () => (authors ??= findAuthors()),
  };
}

/** Returns the digest of the plan that the comment on the merged pull request shows, or the one that only a plan without changes has. */
async function approvedDigest(
  forge: Forge,
  { inputs, run }: ActionTask,
  merged: readonly PullRequestHead[],
  { onEvent }: CliContext,
): Promise<string> {
  const agreed = await findApprovedPlan(forge, planNameOf(inputs), merged, run.names);
  if ('digest' in agreed) return agreed.digest;
  const message = `no plan was approved: ${agreed.reason}`;
  const hint = 'Ostiary applies only a plan without changes; for any other, an approver comments /ostiary apply DIGEST';
  onEvent?.({ diagnostics: [{ code: 'forge/no-agreed-plan', severity: 'warning', message, hint }] });
  return noDigest;
}

type Undecided = { readonly findings: Findings; readonly request: PullRequestHead };

/** Returns the notice that names the commands with which comments override the refusals of a plan. */
function commandsFor({ inputs, run, checkout }: ActionTask, { findings: { plan }, request }: Undecided): readonly Diagnostic[] {
  const commit = run.pullRequest?.merged === false ? request.head : checkout.commit;
  const commands = (plan?.refusals ?? []).flatMap(({ code, allowable }) => {
    if (code === 'plan/other-digest')
      return inputs.flags['digest'] === digestFromComment && plan !== undefined ? [applyCommandFor(plan.seals.digest)] : [];
    return allowable && inputs.overrides ? [allowCommandFor(commit, code)] : [];
  });
  const [first, ...others] = new Set(commands);
  if (first === undefined) return [];
  const { request: noun, mayDecide } = run.names;
  const list = others.length === 0 ? first : `${[first, ...others].join(' and ')}, each as the first line of a comment`;
  const message = `to override once, another person with ${mayDecide} comments on ${noun} ${request.number}: ${list}`;
  return [{ code: 'forge/override', severity: 'notice', message, hint: 'then run this job again' }];
}

/** Returns the notice that names the other pull requests whose changes are in a plan that is not the approved one. */
async function otherMerges(
  forge: Forge,
  { inputs, run, checkout }: ActionTask,
  { findings, request }: Undecided,
): Promise<readonly Diagnostic[]> {
  const isOther = inputs.flags['digest'] === digestFromComment && findings.plan?.refusals.some(({ code }) => code === 'plan/other-digest');
  if (isOther !== true) return [];
  const { value: since, diagnostics } = await withForgeErrors(() => findMergedSince(forge, { run, checkout }, findings));
  const others = (since?.numbers ?? []).filter((number) => number !== request.number).toSorted((left, right) => left - right);
  if (others.length === 0) return diagnostics;
  const names = shortList(
    others.map((number) => `${run.names.request} ${number}`),
    mostNamed,
  ).join(', ');
  const message = `since the last complete apply, ${names} ${others.length === 1 ? 'was' : 'were'} merged, too: the plan contains what is not applied of ${others.length === 1 ? 'it' : 'them'}`;
  const hint = 'review this plan, which applies all of them, and approve its digest';
  return [...diagnostics, { code: 'forge/other-merges', severity: 'notice', message, hint }];
}

const mostNamed = 10;
