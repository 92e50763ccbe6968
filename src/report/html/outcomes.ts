import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import { plural } from '../wording/counts.ts';
import { appliedText, isUnfinished, outcomeWord } from '../subjects/apply.ts';
import { element, type Html } from './markup.ts';

const most = 2_000;

/** What became of each change: what failed, what is left to do, what stays as it is, what is done. */
export function outcomeSection(result: ApplyResult): Html {
  const { outcomes } = result;
  const failed = outcomes.filter(({ status }) => status === 'failed');
  const left = outcomes.filter((one) => isUnfinished(one) && one.status !== 'failed');
  const stays = outcomes.filter(({ status }) => status === 'blocked' || status === 'held');
  const done = outcomes.filter(({ status }) => status === 'done' || status === 'already');
  const isFinished = failed.length + left.length === 0 && !result.interrupted;
  return element('section', { class: isFinished ? undefined : 'refusals', 'aria-label': 'What became of it' }, [
    element('h2', {}, 'What became of it'),
    element('p', {}, [element('span', { class: 'count' }, appliedText(result))]),
    ...listed('Failed', failed, true),
    ...listed('Left to do: plan and apply again', left, true),
    ...listed('Left as it is', stays, false),
    ...listed('Done', done, false),
  ]);
}

function listed(title: string, outcomes: readonly Outcome[], isOpen: boolean): readonly Html[] {
  if (outcomes.length === 0) return [];
  const more = outcomes.length - most;
  return [
    element('details', { open: isOpen, 'data-part': true }, [
      element('summary', {}, `${title} · ${plural(outcomes.length, 'object')}`),
      element('ul', {}, outcomes.slice(0, most).map(outcomeLine)),
      ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${more} more`)] : []),
    ]),
  ];
}

function outcomeLine(outcome: Outcome): Html {
  const { id, code, message, hint } = outcome;
  return element('li', { 'data-name': id.toLowerCase() }, [
    outcomeWord(outcome),
    ' ',
    element('span', { class: 'mono' }, id),
    ...(code === undefined ? [] : [' ', element('code', {}, code)]),
    ...(message === undefined ? [] : [` ${message}`]),
    ...(hint === undefined ? [] : [element('div', { class: 'quiet' }, hint)]),
  ]);
}
