import { isUuid } from '../model/resource.ts';
import { ApiError, AppError, RefusedError, UsageError } from '../model/errors.ts';
import { equal } from '../model/json.ts';
import type { Decision, ReadReview, Review, ReviewDetails, ReviewedSession, Service, TimeWindow } from '../model/service.ts';
import { toYamlText } from '../manifest/yaml/write-yaml.ts';
import { toJsonText } from '../report/serialize.ts';
import { decisionText, reviewJsonOf, reviewText } from '../report/text/reviews.ts';
import { runPool } from '../model/concurrency.ts';
import { viewFormats, type ViewFlags, formatOption, groups, targetOptions, type DefineCommand } from './context/options.ts';
import { announceTarget, withService } from './session/connect.ts';
import { resolveProject } from '../project/project.ts';
import { printerFor } from './output/printer.ts';
import { waiting } from './output/progress.ts';
import type { CliContext } from './context/cli-context.ts';
import { Argument } from 'commander';

type ReviewFlags = ViewFlags & {
  readonly verdict: keyof typeof statusOf;
  readonly id: string;
  readonly force: boolean;
  readonly window?: string;
};

const statusOf = { approve: 'APPROVED', reject: 'REJECTED', revoke: 'REVOKED' } as const;

/** Defines `ostiary review`. */
export const defineReview: DefineCommand = (command, run) => {
  command
    .addArgument(new Argument('<verdict>', 'the decision').choices(['approve', 'reject', 'revoke']))
    .argument('<id>', 'the ID of the review (see ostiary get reviews)');
  targetOptions(command)
    .optionsGroup(groups.own)
    .option('--force', 'approve on behalf of all groups; requires membership in a force-approve group', false)
    .option('--window <hours>', 'approve only for these hours of the day in UTC, such as 09:00-18:00')
    .addOption(formatOption(viewFormats))
    .action((verdict, id, flags) => run((context) => runReview({ ...flags, verdict, id }, context)));
};

/** Decides a review and prints its new state; the gateway has the final decision. */
async function runReview(flags: ReviewFlags, context: CliContext): Promise<number> {
  const decision = readDecision(flags);
  const { print, hint, results, errors } = printerFor(context, flags);
  return withService(announceTarget(resolveProject(flags, context), flags, context), { flags, context }, async (service) => {
    const asText = flags.format === 'text';
    const before = await waiting('reading the review', { flags, context }, () => readDecidable(service, flags.id, decision));
    const about = await waiting('reading the session', { flags, context }, () => service.session(before));
    const detailsOf = (review: Review): ReviewDetails => ({ ...review, about, remaining: remainingOf(review, service, context.now()) });
    if (asText) hint(reviewText(detailsOf(before), errors));
    const decided = detailsOf(await waiting('waiting for the gateway', { flags, context }, () => decide(service, before, decision)));
    if (asText) print(flags.quiet ? reviewText(decided, results) : decisionText(decided, results));
    else print(flags.format === 'json' ? toJsonText(reviewJsonOf(decided)) : toYamlText(reviewJsonOf(decided)));
    if (decided.status === 'PENDING') hint('approved; the review still waits for other groups\n');
    return 0;
  });
}

function readDecision({ verdict, id, force, window }: ReviewFlags): Decision {
  if (!isUuid(id)) throw new UsageError(`invalid review ID "${id}"`, 'run ostiary get reviews for the list');
  if (verdict !== 'approve' && (force || window !== undefined))
    throw new UsageError(`--${force ? 'force' : 'window'} requires approve`, `remove it to ${verdict}`);
  return { status: statusOf[verdict], force, window: window === undefined ? undefined : readWindow(window) };
}

function readWindow(text: string): TimeWindow {
  const [, start = '', end = ''] = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? [];
  if (start === '' || start === end)
    throw new UsageError(`invalid value "${text}" for --window`, 'expected two hours of the day in UTC, such as 09:00-18:00');
  return { configuration: { start_time: start, end_time: end } };
}

const concurrency = 8;
/** The sessions that a list reads: each is a request. */
const maxSessions = 200;

/** Returns reviews with their sessions. Of a long list only those of open reviews, then of the newest, are read. */
export async function readReviewDetails(service: Service, reviews: readonly Review[], now: Date): Promise<readonly ReviewDetails[]> {
  const read = new Map<string, ReviewedSession | undefined>();
  const first = [...reviews.filter(isOpen), ...reviews.filter((one) => !isOpen(one))].slice(0, maxSessions);
  await runPool(first, concurrency, async (one) => void read.set(one.id, await service.session(one)));
  return reviews.map((one) => ({ ...one, about: read.get(one.id), remaining: remainingOf(one, service, now) }));
}

function isOpen({ status }: Review): boolean {
  return ['PENDING', 'APPROVED', 'PROCESSING'].includes(status);
}

/** Returns the whole seconds until an approved access ends. */
function remainingOf(review: Review, service: Service, now: Date): number | undefined {
  const seconds = Math.floor((Date.parse(service.accessEnds(review) ?? '') - now.getTime()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Reads the review. Throws `AppError` when the decision cannot work. */
async function readDecidable(service: Service, id: string, decision: Decision): Promise<ReadReview> {
  const { role, url } = await service.identify();
  if (role === 'auditor')
    throw new AppError('api/read-only-role', 4, `${url}: the token's role auditor can read reviews but not decide them`, {
      hint: 'use the token of a member of a reviewer group',
    });
  const before = await service.review(id);
  if (before === undefined)
    throw new AppError('review/unknown', 3, `GET ${url}/reviews/${id}: the review does not exist, or the token cannot see it`, {
      hint: 'run ostiary get reviews for the reviews that the token can see',
    });
  if (before.id !== id.toLowerCase())
    throw refused('review/other-review', `GET ${url}/reviews/${id}: the gateway returned another review, ${before.id}`, {
      hint: 'pass the ID of the review, not that of its session; run ostiary get reviews for the list',
    });
  const refusal = service.objection(before, decision) ?? windowRefusal(before, decision);
  if (refusal !== undefined) throw refused('review/refused', `the review ${id} is ${before.status}: ${refusal}`);
  return before;
}

/** Decides a review. Throws `RefusedError` when the gateway accepts the decision without effect. */
async function decide(service: Service, before: ReadReview, decision: Decision): Promise<Review> {
  const after = await decideOnce(service, before, decision);
  const { url } = await service.identify();
  if (after.id !== before.id)
    throw refused('review/other-review', `PUT ${url}/reviews/${before.id}: the gateway answered with another review, ${after.id}`, {
      hint: `run ostiary get reviews, and reject or revoke ${after.id} if it must not be approved`,
    });
  if (after.status === before.status && equal(after.review_groups_data, before.review_groups_data))
    throw refused(
      'review/no-effect',
      `PUT ${url}/reviews/${before.id}: the gateway accepted the request but changed nothing: none of your groups reviews this session`,
    );
  return after;
}

/** Decides once; reads the review again if the response was lost. */
async function decideOnce(service: Service, before: ReadReview, decision: Decision): Promise<Review> {
  // Some gateways reject a time window that is set already.
  const accepted = before.time_window ? { ...decision, window: undefined } : decision;
  try {
    return await service.decide(before, accepted);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { ambiguous, status } = error.failure;
    const found = ambiguous ? await service.review(before.id) : undefined;
    if (found !== undefined && isDone(before, found, decision)) return found;
    if (status === 412)
      throw refused('review/changed', `PUT ${error.failure.url}: the review changed after it was shown`, {
        hint: 'run the command again, and read the review before you decide',
      });
    if (status !== undefined && [400, 403, 409, 422].includes(status)) throw refused('review/refused', error.message);
    throw error;
  }
}

/** Returns true if the decision took effect although its response was lost. */
function isDone(before: Review, found: Review, { status }: Decision): boolean {
  if (found.status === status) return before.status !== status;
  const votes = (one: Review): number => one.review_groups_data.filter((group) => group.status === status).length;
  return votes(found) > votes(before);
}

function windowRefusal({ time_window: stored }: Review, { window }: Decision): string | undefined {
  if (!stored || window === undefined || equal(stored, window)) return undefined;
  const { start_time: start, end_time: end } = stored.configuration;
  return `its time window is already set to ${start}-${end}`;
}

function refused(
  code: AppError['code'],
  message: string,
  { hint }: { readonly hint: string } = { hint: 'run ostiary get reviews to see its state' },
): RefusedError {
  return new RefusedError([{ code, message, hint, allowable: false }]);
}
