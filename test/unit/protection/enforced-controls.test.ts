import { expect, test } from 'vitest';
import { compareProtection } from '../../../src/protection/controls/compare-protection.ts';
import { type Control, emptyPosture, type Posture } from '../../../src/protection/controls/control-row.ts';
import type { Channel, ConnectionEnforcement } from '../../../src/protection/controls/enforcement.ts';
import type { Enforcement } from '../../../src/protection/controls/enforcement-table.ts';

const rule = (...words: readonly string[]): readonly Control[] => words.map((name) => ({ name, form: 'word', rules: ['GuardrailRule/g'] }));
const drop = rule('DROP');

type Levels = readonly [native: Enforcement, commands?: Enforcement];

function channelOf(name: string, level: Enforcement): Channel {
  return { name, isOpen: true, of: { input: level, output: level, masking: level, redaction: level } };
}

/** A connection whose sessions treat blocked input in these ways. */
function postureWith([native, commands]: Levels, input: readonly Control[] = drop, output: readonly Control[] = []): Posture {
  const channels: ConnectionEnforcement['channels'] = new Map([
    ['native', channelOf('native x', native)] as const,
    ...(commands === undefined ? [] : [['commands', channelOf('commands', commands)] as const]),
  ]);
  return {
    ...emptyPosture,
    controls: { input, output },
    enforcement: { by: 'x', channels, analyzer: undefined, key: JSON.stringify([native, commands]) },
  };
}

/** Describes what differs in blocked input: what is lost, gained, unclear, and not enforced. */
function differenceOf(before: Posture, after: Posture): string {
  const found = compareProtection(before, after).find(({ control }) => control === 'input');
  const lists = ['lost', 'gained', 'incomparable', 'unenforced'] as const;
  const named = lists.flatMap((list) => {
    const names = [...new Set((found?.[list] ?? []).map(({ name }) => name))];
    return names.length === 0 ? [] : [`${list} ${names.join(' and ')}`];
  });
  return named.join(', ');
}

test.each<readonly [string, Levels, Levels, string]>([
  ['all to nothing', ['enforced'], ['unchecked'], 'lost DROP'],
  ['nothing to all', ['unchecked'], ['enforced'], 'gained DROP'],
  ['all to a part', ['enforced'], ['only commands'], 'lost DROP'],
  ['a part to all', ['only commands'], ['enforced'], 'gained DROP'],
  ['one part to another', ['only commands'], ['only typed lines'], 'incomparable DROP'],
  ['two parts to one', ['only commands and typed lines'], ['only commands'], 'lost DROP'],
  ['a refusal to nothing', ['refused'], ['unchecked'], 'lost DROP'],
  ['a refusal to all', ['refused'], ['enforced'], 'incomparable DROP'],
  ['all to what is not known', ['enforced'], ['unclear'], 'incomparable DROP'],
  ['what is not known to nothing', ['unclear'], ['unchecked'], 'incomparable DROP'],
  ['a refusal that may be a check', ['refused or enforced'], ['enforced'], 'incomparable DROP'],
  ['a refusal that may be a check to a part', ['refused or enforced'], ['only commands'], 'lost DROP'],
  ['all to a refusal that may be a check', ['enforced'], ['refused or enforced'], ''],
  [
    'commands that gain, where native sessions may lose',
    ['enforced', 'unchecked'],
    ['unclear', 'enforced'],
    'gained DROP, incomparable DROP',
  ],
  ['native sessions that lose, where commands stay', ['enforced', 'enforced'], ['unchecked', 'enforced'], 'lost DROP'],
])('the same rule, from %s', (_, before, after, expected) => {
  expect(differenceOf(postureWith(before), postureWith(after))).toBe(expected);
});

test.each<readonly [string, Levels, string, string]>([
  ['all', ['enforced'], 'gained DROP', 'lost DROP'],
  ['a part', ['only commands'], 'gained DROP', 'lost DROP'],
  ['nothing', ['unchecked'], 'unenforced DROP', 'unenforced DROP'],
  ['what is not known', ['unclear'], 'incomparable DROP', 'incomparable DROP'],
  ['nothing beside commands', ['unchecked', 'enforced'], 'gained DROP', 'lost DROP'],
  ['what is not known beside commands', ['unclear', 'enforced'], 'gained DROP', 'lost DROP'],
  ['a refusal', ['refused'], 'gained DROP', 'lost DROP'],
])('a rule that begins and ends where sessions check %s', (_, levels, there, back) => {
  expect(differenceOf(postureWith(levels, []), postureWith(levels))).toBe(there);
  expect(differenceOf(postureWith(levels), postureWith(levels, []))).toBe(back);
});

test('where sessions are refused, a rule beside another one makes no difference', () => {
  expect(differenceOf(postureWith(['refused']), postureWith(['refused'], rule('DROP', 'GRANT')))).toBe('');
  expect(differenceOf(postureWith(['refused'], [], drop), postureWith(['refused'], drop, drop))).toBe('');
});
