import { buildAutomaton, holdsBetween, type Automaton } from './automaton.ts';
import { contains, type PatternNode } from './char-set.ts';

const maxCharacters = 1_000;
const maxStates = 300;
/** The maximum number of ranges of characters that the pattern distinguishes; a class of Unicode letters alone has more. */
const maxRanges = 500;
const maxWork = 3_000_000;

/**
 * Returns whether a deterministic automaton for the pattern has few states. Then each character costs one table lookup, however
 * large the pattern is.
 */
export function hasFewStates(node: PatternNode): boolean {
  const automaton = buildAutomaton(node, maxCharacters);
  if (automaton === undefined) return false;
  const alphabet = alphabetOf(automaton);
  if (alphabet.length > maxRanges) return false;
  const seen = new Set<string>();
  const open = [{ at: new Set<number>(), before: '' }];
  let left = maxWork;
  for (const { at, before } of open) {
    for (const letter of alphabet) {
      const holds = holdsBetween(before, letter);
      const steps = [...[...at].flatMap((from) => automaton.next[from] ?? []), ...automaton.first];
      left -= steps.length + 1;
      if (left < 0) return false;
      const rune = letter.codePointAt(0) ?? 0;
      const next = new Set(steps.flatMap(({ to, guards }) => (guards.every(holds) && contains(automaton.sets[to], rune) ? [to] : [])));
      const key = `${[...next].toSorted((one, other) => one - other).join(' ')} ${characterClass(letter)}`;
      if (seen.has(key)) continue;
      if (seen.size >= maxStates) return false;
      seen.add(key);
      open.push({ at: next, before: letter });
    }
  }
  return true;
}

/** Returns the class of a character that matters for the next assertion: line feed, word character or other. */
export function characterClass(letter: string): string {
  return letter === '\n' ? 'line' : /\w/.test(letter) ? 'word' : 'other';
}

/** Returns one representative for each range of characters that the pattern does not distinguish. */
export function alphabetOf({ sets }: Pick<Automaton, 'sets'>): readonly string[] {
  const edges = new Set([0, 10, 11, 48, 58, 65, 91, 95, 96, 97, 123]);
  for (const { ranges } of sets) {
    for (const [index, bound] of ranges.entries()) edges.add(index % 2 === 0 ? bound : bound + 1);
  }
  return [...edges].filter((edge) => edge <= 0x10_ffff).map((edge) => String.fromCodePoint(edge));
}
