import { durationText } from '../../model/time.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ReadReview, Review, ReviewDetails, ReviewGroup } from '../../model/service.ts';
import { escapeTerminal } from '../escape.ts';
import type { TableListing } from '../blocks.ts';
import { clip, pad, startOf, visibleWidth, widthFor, type Paint, type Terminal } from '../wrap.ts';

const nanoseconds = 1_000_000_000;
/** The characters of an input that a list shows; a review shows more. */
const listedInput = 200;
const shownInput = 2000;

/** Returns a review as JSON, with its session and the rest of its access; null where the gateway does not show it. */
export function reviewJsonOf(details: ReviewDetails & Pick<ReadReview, 'version'>): JsonObject {
  const { about, remaining, version: _, ...review } = details;
  return {
    ...review,
    connection: about?.connection ?? null,
    requester: about?.requester ?? null,
    input: about?.input ?? null,
    remaining_seconds: remaining ?? null,
  };
}

/** Returns reviews; below each the requester, the decision of each group, and the input. */
export function reviewListing(reviews: readonly ReviewDetails[], secondsSince: (time: string) => number): TableListing {
  return {
    headers: ['review', 'status', 'access', 'connection'],
    rows: reviews.map((one) => [one.id, one.status, accessText(one), one.about?.connection ?? '']),
    details: reviews.map((one) => [
      [requestText(one, secondsSince), groupsText(one)].filter((part) => part !== '').join('; '),
      ...(inputOf(one) === '' ? [] : [`input: ${boundedInput(inputOf(one), listedInput)}`]),
    ]),
  };
}

function inputOf({ about }: ReviewDetails): string {
  return about?.input ?? '';
}

/** Returns the start of an input; the rest is counted, so that it does not hide. */
function boundedInput(input: string, most: number): string {
  const start = startOf(input, most);
  const rest = input.length - start.length;
  return rest === 0 ? input : `${start}… (${rest.toLocaleString('en')} more characters; --format json prints them)`;
}

/** Returns what a review allows: one execution, a time, or the rest of it. */
function accessText({ type, status, access_duration: duration, remaining }: ReviewDetails): string {
  if (type !== 'jit') return type === 'onetime' ? 'once' : type;
  if (status === 'REJECTED' || status === 'REVOKED') return '';
  if (status === 'PENDING' || remaining === undefined) return durationText(Math.floor(duration / nanoseconds));
  return remaining === 0 ? 'ended' : `${roughDuration(remaining)} left`;
}

/** Formats a duration in whole minutes; one below a minute in seconds. */
function roughDuration(seconds: number): string {
  return durationText(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60);
}

function requestText({ about, created_at: at }: ReviewDetails, secondsSince: (time: string) => number): string {
  const requester = about?.requester ?? '';
  const parts = [ageText(secondsSince(at)), requester === '' ? '' : `by ${requester}`].filter((part) => part !== '');
  return parts.length === 0 ? '' : `requested ${parts.join(' ')}`;
}

/** Returns the decisions of groups, then the groups that have not decided. */
function groupsText({ review_groups_data: groups }: Review): string {
  const said = groups.filter(({ status }) => status !== 'PENDING').map(({ group, status }) => `${group} ${status}`);
  const waiting = groups.filter(({ status }) => status === 'PENDING').map(({ group }) => group);
  return [...said, ...(waiting.length === 0 ? [] : [`waits for ${waiting.join(' ')}`])].join(', ');
}

/** Returns an age in the largest whole unit. */
function ageText(seconds: number): string {
  if (Number.isNaN(seconds)) return '';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))} ${unit} ago`;
}

/** Returns one review: its status, its session, and the decision of each group. */
export function reviewText(review: ReviewDetails, terminal: Terminal): string {
  const { about, session, created_at: requested } = review;
  const asked =
    about === undefined
      ? [['session', `${session} (the token cannot read it)`]]
      : [
          ['connection', about.connection],
          ['requester', about.requester],
          ['input', boundedInput(about.input, shownInput)],
          ['session', session],
        ];
  return factsText(review, [...asked, ['requested', requested], ...decisionFacts(review)], terminal);
}

/** Returns the state of a review after a decision, without what its session is about. */
export function decisionText(review: ReviewDetails, terminal: Terminal): string {
  return factsText(review, decisionFacts(review), terminal);
}

function decisionFacts(review: ReviewDetails): readonly (readonly string[])[] {
  const { type, access_duration: duration, review_groups_data: groups } = review;
  return [
    ['access', type === 'jit' ? `jit, ${durationText(Math.floor(duration / nanoseconds))}` : type],
    ['remaining', remainingText(review)],
    ['expires', review.type !== 'jit' && review.status === 'APPROVED' ? (review.expires_at ?? '') : ''],
    ['window', windowText(review)],
    ...groups.map((group) => [group.group, voteText(group)]),
  ];
}

/** Returns aligned facts below the ID and the status of a review. A long value continues below its start: a cut could hide what is decided. */
function factsText({ id, status }: Review, facts: readonly (readonly string[])[], terminal: Terminal): string {
  const rows = facts.filter(([, value]) => value !== '').map(([label = '', value = '']) => [escapeTerminal(label), escapeTerminal(value)]);
  const columns = widthFor(terminal);
  const width = Math.min(
    rows.reduce((most, [label = '']) => Math.max(most, visibleWidth(label)), 0),
    Math.floor(columns / 2),
  );
  const lines = rows.flatMap(([label = '', value = '']) =>
    chunksOf(value, columns - width - 4).map((chunk, index) => `  ${pad(index === 0 ? clip(label, width) : '', width)}  ${chunk}`),
  );
  const heading = `${escapeTerminal(id)}  ${paintOf(status, terminal)(escapeTerminal(status))}`;
  return [heading, ...lines].map((line) => `${line}\n`).join('');
}

function chunksOf(text: string, columns: number): readonly string[] {
  const chunks: string[] = [];
  for (let rest = text; rest !== '';) {
    const chunk = startOf(rest, columns);
    chunks.push(chunk);
    rest = rest.slice(chunk.length);
  }
  return chunks;
}

function remainingText({ remaining }: ReviewDetails): string {
  if (remaining === undefined) return '';
  return remaining === 0 ? 'none, the access has ended' : roughDuration(remaining);
}

function voteText({ status, forced_review: forced, reviewed_by: by, review_date: date }: ReviewGroup): string {
  const who = by === null ? '' : ` by ${by.name === '' ? by.email : by.name}`;
  return `${status}${forced ? ', forced' : ''}${who}${date === null ? '' : ` at ${date}`}`;
}

function windowText({ time_window: window }: Review): string {
  if (window === undefined || window === null) return '';
  const { start_time: start, end_time: end } = window.configuration;
  return `${start} to ${end} UTC`;
}

function paintOf(status: string, { color }: Terminal): Paint {
  if (status === 'APPROVED' || status === 'EXECUTED') return color.green;
  return status === 'REJECTED' || status === 'REVOKED' ? color.red : color.yellow;
}
