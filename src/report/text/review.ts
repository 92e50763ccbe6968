import { durationText } from '../../model/duration.ts';
import type { Review, ReviewGroup } from '../../model/service.ts';
import { escapeTerminal } from '../escape.ts';
import { widthFor, type Paint, type Terminal } from './terminal.ts';
import { clip, pad, visibleWidth } from './width.ts';

const nanoseconds = 1_000_000_000;

/** Returns one review: its status, its facts, and the decision of each group. */
export function reviewText(review: Review, terminal: Terminal): string {
  const { id, type, status, session, created_at: asked, access_duration: duration, revoke_at: end, review_groups_data: groups } = review;
  const facts = [
    ['for', type === 'jit' ? `${type}, ${durationText(Math.floor(duration / nanoseconds))}` : type],
    ['window', windowText(review)],
    ['session', session],
    ['asked', asked],
    [status === 'REVOKED' ? 'revoked' : 'ends', end],
    ...groups.map((group) => [group.group, voteText(group)]),
  ].filter(([, value]) => value !== '');
  const rows = facts.map(([label = '', value = '']) => [escapeTerminal(label), escapeTerminal(value)] as const);
  const width = rows.reduce((most, [label]) => Math.max(most, visibleWidth(label)), 0);
  const lines = rows.map(([label, value]) => clip(`  ${pad(label, width)}  ${value}`, widthFor(terminal)));
  return [`${escapeTerminal(id)}  ${paintOf(status, terminal)(escapeTerminal(status))}`, ...lines].map((line) => `${line}\n`).join('');
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
