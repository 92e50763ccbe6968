import type { Drift } from '../../model/result/drift.ts';
import type { Change } from '../../model/plan/plan.ts';
import type { ProtectionVerdict } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import { quoteWord } from '../escape.ts';
import type { Choice } from '../blocks.ts';
import { plural, shortList } from '../wording/phrases.ts';

const mostNames = 5;
/** The most objects that a command names; it is for all of the drift then, as it is without names. */
const mostNamed = 3;

/** Returns what accepting, reverting and the next apply do with a drift; empty if Ostiary can do nothing about it. */
export function driftChoices({ protection }: Pick<Drift, 'protection'>, rows: readonly { readonly change: Change }[]): readonly Choice[] {
  const ours = rows.filter(({ change }) => change.action !== 'blocked');
  if (ours.length === 0) return [];
  const on = (...directions: readonly ProtectionVerdict[]): string =>
    shortList(
      protection.connections.filter(({ direction }) => directions.includes(direction)).map(({ connection }) => nameOf(connection)),
      mostNames,
    ).join(', ');
  const [weaker, stricter, unknown] = [on('weakens', 'both'), on('strengthens', 'both'), on('unknown')];
  const deleted = ours.filter(({ change }) => change.action === 'create').length;
  const held = ours.filter(({ change }) => change.action === 'held' || change.fields.some((field) => field.held === true)).length;
  const named = ours.length > mostNamed ? '' : ours.map(({ change }) => ` ${quoteWord(change.id)}`).join('');
  const removed = deleted === 0 ? '' : `; of ${plural(deleted, 'deleted object')}, remove the manifest yourself`;
  return [
    {
      goal: 'To accept it',
      command: `ostiary drift --adopt${named}`,
      text: `edits the manifests until they state what the gateway has, and writes nothing to the gateway${effects([
        ['accepts weaker protection of', weaker],
        ['keeps stricter protection of', stricter],
        ['accepts what cannot be compared on', unknown],
      ])}${removed}`,
    },
    {
      goal: 'To revert it',
      command: `ostiary drift --revert${named}`,
      text: `writes ${plural(ours.length, 'object')} as the manifests state, held drift too${effects([
        ['restores protection of', weaker],
        ['gives up stricter protection of', stricter],
        ['changes what cannot be compared on', unknown],
      ])}`,
    },
    {
      goal: 'If you do nothing',
      command: 'ostiary apply',
      isDefault: true,
      text: `reverts it${held === 0 ? '' : `, except what is held on ${plural(held, 'object')}`}`,
    },
  ];
}

function effects(texts: readonly (readonly [text: string, names: string])[]): string {
  return texts.flatMap(([text, names]) => (names === '' ? [] : [`; ${text} ${names}`])).join('');
}
