import { findApprovedPlan, mergedPullRequests, type PullRequestHead } from '../forge/approved-plan.ts';
import { allowCommandFor, applyCommandFor, type OverrideComments, readOverrideComments } from '../forge/override-comments.ts';
import { withForgeErrors } from '../forge/forge-errors.ts';
import type { Forge } from '../forge/forge.ts';
import { type ActionTask, configFlags, type Findings, openRunForge, type TaskResult } from './task.ts';
import type { CiRun, ForgeNames } from '../forge/ci-system.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { type ApprovalRules, defaultApprovals } from '../model/config.ts';
import { openConfig } from '../project/open-project.ts';
import { shortList } from '../report/wording/summary.ts';
import type { CommentLink } from '../report/markdown/comment.ts';
import type { CliContext } from '../console/context/cli-context.ts';
import { type ActionInputs, linesOf } from './inputs.ts';
import type { Proposal } from './proposal.ts';
import { commentKeyOf, findMergedSince, missingTokenOf, sectionNameOf } from './pull-requests.ts';

type DecisionContext = {
  readonly run: CiRun;
  readonly proposal: Proposal | undefined;
  readonly context: CliContext;
  readonly waits: TaskResult['waits'];
};

/** The value of the input `digest` that means: the digest in the comment on the merged pull request. */
export const digestFromComment = 'comment';

/**
 * Adds what people decided on the pull request: with `digest: comment` the digest of the plan that they merged, with `overrides` the
 * commands in their comments. Returns other inputs unchanged.
 */
export async function withDecisions(inputs: ActionInputs, asking: DecisionContext): Promise<Decisions> {
  const { digest } = inputs.flags;
  if (digest !== digestFromComment && !inputs.overrides) return { inputs, comments: [] };
  if (inputs.token === '') {
    if (digest === digestFromComment)
      throw new UsageError('digest: comment requires a token to read the comment', asking.run.names.tokenHint);
    asking.context.onEvent?.({ diagnostics: missingTokenOf(asking.run) });
    return { inputs, comments: [] };
  }
  const { run, proposal, context, waits } = asking;
  const forge = openRunForge({ inputs, run }, { waits, context });
  const pulls = await pullRequestsOf(forge, inputs, run);
  const overrides = inputs.overrides ? await readOverrides(forge, pulls, { inputs, proposal, context, names: run.names }) : none;
  const given = linesOf(inputs.flags['allow'] ?? '');
  const codes = new Set(given.map(codeIn));
  const allow = [...given, ...overrides.allow.filter((one) => !codes.has(codeIn(one)))];
  const agreed = digest !== digestFromComment ? digest : (overrides.digest ?? (await approvedDigest(forge, inputs, pulls, asking)));
  const flags = {
    ...inputs.flags,
    ...(allow.length === 0 ? {} : { allow: allow.join('\n') }),
    ...(agreed === undefined ? {} : { digest: agreed }),
  };
  const [pullRequest, ...others] = pulls;
  const decided: Decisions = { inputs: { ...inputs, flags }, comments: listComments(overrides, pullRequest, run) };
  return pullRequest === undefined || others.length > 0 ? decided : { ...decided, pullRequest };
}

/** The inputs with the decisions, the comments that made them, and the one pull request that they come from. */
export type Decisions = {
  readonly inputs: ActionInputs;
  readonly comments: readonly CommentLink[];
  readonly pullRequest?: PullRequestHead;
};

/** Returns the commands that count, with links to their comments. */
function listComments(
  { decisions }: OverrideComments,
  pullRequest: PullRequestHead | undefined,
  { page, names }: CiRun,
): readonly CommentLink[] {
  const number = pullRequest?.number ?? 0;
  return decisions.map(({ author, command, comment }) => ({ author, command, url: `${page}${names.commentPath(number, comment)}` }));
}

/** Returns the code of an override, `CODE=REASON`. */
function codeIn(allowance: string): string {
  return allowance.slice(0, allowance.indexOf('='));
}

const none: OverrideComments = { allow: [], digest: undefined, decisions: [], ignored: [], unchecked: [] };

/** Returns the pull request of the event, or the merged ones that the commit of the run belongs to. */
async function pullRequestsOf(forge: Forge, { mode }: ActionInputs, run: CiRun): Promise<readonly PullRequestHead[]> {
  if (run.pullRequest !== undefined) return [run.pullRequest];
  return mode === 'apply' ? mergedPullRequests(forge, run.commit, run.branch) : [];
}

type OverrideSource = { readonly inputs: ActionInputs; readonly names: ForgeNames } & Pick<DecisionContext, 'proposal' | 'context'>;

async function readOverrides(
  forge: Forge,
  [only, ...others]: readonly PullRequestHead[],
  { inputs, proposal, context, names }: OverrideSource,
): Promise<OverrideComments> {
  const { people } = forge;
  if (people === undefined)
    throw new UsageError(`comments do not override refusals on ${names.forge}`, 'remove --overrides; set --allow CODE=REASON in the job');
  if (only === undefined || others.length > 0) return none;
  const rulesOf = async (): Promise<ApprovalRules> => {
    const { approvals = defaultApprovals } = (await openConfig(configFlags(inputs, proposal?.configRef), context)).config;
    return approvals;
  };
  const { value: found = none, diagnostics } = await withForgeErrors(() =>
    readOverrideComments({ ...forge, ...people, names }, only, rulesOf),
  );
  const unused = [
    ...found.ignored.map((message) => warningOf('forge/ignored-override', message, `see ${names.guide}, overrides`)),
    ...found.unchecked.map((message) => warningOf('forge/unknown-author', message, names.authorHint)),
  ];
  context.onEvent?.({ diagnostics: [...diagnostics, ...unused] });
  return found;
}

function warningOf(code: Diagnostic['code'], message: string, hint: string): Diagnostic {
  return { code, severity: 'warning', message, hint };
}

/** Returns the digest that the comment on the merged pull request showed; with a warning `none`, which lets only a plan without changes pass. */
async function approvedDigest(
  forge: Forge,
  inputs: ActionInputs,
  merged: readonly PullRequestHead[],
  { context, run }: DecisionContext,
): Promise<string> {
  const agreed = await findApprovedPlan(
    forge,
    { key: commentKeyOf(inputs, 'plan'), section: sectionNameOf(inputs) },
    merged,
    run.names.request,
  );
  if ('digest' in agreed) return agreed.digest;
  const message = `no plan was approved: ${agreed.reason}`;
  const hint = 'Ostiary applies only a plan without changes; for any other, review the plan and run the job with its digest';
  context.onEvent?.({ diagnostics: [{ code: 'forge/no-agreed-plan', severity: 'warning', message, hint }] });
  return 'none';
}

/** Returns the notice that names the commands with which a comment overrides the refusals of a plan. */
export function overrideCommands(
  { plan, result }: Findings,
  { inputs, pullRequest }: Decisions,
  { request, mayDecide }: ForgeNames,
): readonly Diagnostic[] {
  if (!inputs.overrides || pullRequest === undefined || plan === undefined || result !== undefined) return [];
  // Limits do not refuse the plan that a digest names, so that command comes alone.
  const isOther = plan.refusals.some(({ code }) => code === 'plan/other-digest');
  const allowable = plan.refusals.flatMap((one) => (one.allowable ? [allowCommandFor(pullRequest.head, one.code)] : []));
  const commands = isOther ? [applyCommandFor(plan.seals.digest)] : [...new Set(allowable)];
  if (commands.length === 0) return [];
  return [
    {
      code: 'forge/override',
      severity: 'notice',
      message: `to override once, another person with ${mayDecide} comments on ${request} ${pullRequest.number}: ${commands.join(' and ')}`,
      hint: 'then run this job again',
    },
  ];
}

/** Returns the notice that names the other pull requests whose changes are in a plan that is not the approved one. */
export async function otherMerges(
  { inputs, run, checkout }: Pick<ActionTask, 'inputs' | 'run' | 'checkout'>,
  { pullRequest }: Decisions,
  found: { readonly findings: Findings } & Pick<TaskResult, 'waits' | 'context'>,
): Promise<readonly Diagnostic[]> {
  const { plan, result } = found.findings;
  const isOther = inputs.flags['digest'] === digestFromComment && plan?.refusals.some(({ code }) => code === 'plan/other-digest');
  if (isOther !== true || pullRequest === undefined || result !== undefined) return [];
  const forge = openRunForge({ inputs, run }, found);
  const { value: since, diagnostics } = await withForgeErrors(() => findMergedSince(forge, { run, checkout }, found.findings));
  const others = (since?.numbers ?? []).filter((number) => number !== pullRequest.number).toSorted((left, right) => left - right);
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
