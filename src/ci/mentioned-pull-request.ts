import { firstLineOf, planCommand } from '../forge/comment-commands.ts';
import { mayDecide } from '../forge/override-comments.ts';
import type { Forge, PullRequest } from '../forge/forge.ts';
import type { ForgeNames, PullRequestMention } from '../forge/ci-system.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { type ActionTask, openRunForge, type TaskResult } from './task.ts';

/**
 * Returns the task with the pull request that its event only mentions: the one below a comment that asks for a plan, or the one whose head
 * another workflow has run for. Undefined, with a diagnostic, if the event asks for no plan; a task without such an event stays as it is.
 */
export async function findMentioned(task: ActionTask, at: Pick<TaskResult, 'context' | 'waits'>): Promise<ActionTask | undefined> {
  const { inputs, run } = task;
  const { mention } = run;
  if (inputs.mode !== 'plan' || (mention === undefined && run.event !== 'issue_comment')) return task;
  if (mention === undefined) {
    at.context.onEvent?.({ diagnostics: [{ ...noCommand, message: 'the event is not a new comment on a pull request' }] });
    return undefined;
  }
  if (inputs.token === '')
    throw new UsageError(`mode: plan on ${run.event} requires a token to find the pull request`, run.names.tokenHint);
  const forge = openRunForge(task, at);
  const objection = mention.by === 'comment' ? await objectionTo(forge, mention, run.names) : undefined;
  const pullRequest = objection === undefined ? await findPullRequest(forge, mention) : undefined;
  const reason = objection ?? (pullRequest === undefined ? noPullRequest(mention, run.names) : reasonNotToPlan(pullRequest, run.names));
  if (reason !== undefined) at.context.onEvent?.({ diagnostics: [reason] });
  if (pullRequest === undefined || reason !== undefined) return undefined;
  const proposedFor = { commit: pullRequest.base, branch: pullRequest.baseBranch };
  return { ...task, run: { ...run, pullRequest, proposedFor } };
}

const noCommand: Diagnostic = {
  code: 'forge/no-command',
  severity: 'notice',
  message: `the first line of the comment is not ${planCommand}`,
};

type CommentMention = Extract<PullRequestMention, { readonly by: 'comment' }>;

/** Returns why a comment starts no plan; undefined if it does. */
async function objectionTo({ people }: Forge, { body, author }: CommentMention, names: ForgeNames): Promise<Diagnostic | undefined> {
  if (firstLineOf(body) !== planCommand) return noCommand;
  const isByBot = people.isBot(author);
  if (!isByBot && (await mayDecide(people, author))) return undefined;
  const message = `"${planCommand}" by ${author} is ignored: ${isByBot ? 'comments of bots do not count' : `${names.forge} reports no ${names.mayDecide.replace(/^the /, '')} for ${author}`}`;
  return { code: 'forge/ignored-override', severity: 'warning', message, hint: `a person with ${names.mayDecide} can ask for the plan` };
}

async function findPullRequest(forge: Forge, mention: PullRequestMention): Promise<PullRequest | undefined> {
  if (mention.by !== 'run') return forge.readPullRequest(mention.number);
  const { owner, branch, head } = mention;
  return (await forge.openPullRequestsFrom(owner, branch)).find((one) => one.head === head);
}

function noPullRequest(mention: PullRequestMention, { forge, request }: ForgeNames): Diagnostic {
  const message =
    mention.by !== 'run'
      ? `${forge} does not show ${request} ${mention.number}`
      : `no open ${request} from ${mention.owner}:${mention.branch} has the head ${mention.head.slice(0, 12)}`;
  return { code: 'forge/newer-commit', severity: 'notice', message };
}

/** A merged pull request keeps the plan that its comment showed at the merge. */
function reasonNotToPlan({ number, merged }: PullRequest, { request }: ForgeNames): Diagnostic | undefined {
  if (!merged) return undefined;
  return { code: 'forge/merged', severity: 'notice', message: `${request} ${number} is merged` };
}
