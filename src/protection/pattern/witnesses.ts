import { contains, type Automaton, type CharSet } from './automaton.ts';

const mostWitnesses = 4_000;
const longestWitness = 1_000;

/**
 * Returns texts that a pattern probably matches: for each of its characters a shortest text through it. Assertions are not tried, so
 * each text has to be checked with the pattern.
 */
export function witnessesOf({ sets, first, next, last }: Automaton): readonly string[] {
  const letters = sets.map(usualLetter);
  const beginnings = shortestTexts(
    first.map(({ to }) => to),
    (at) => (next[at] ?? []).map(({ to }) => to),
    (text, at) => text + (letters[at] ?? ''),
  );
  const previous = new Map<number, number[]>();
  for (const [from, steps] of next.entries()) for (const { to } of steps) previous.set(to, [...(previous.get(to) ?? []), from]);
  const ends = shortestTexts(
    last.map(({ to }) => to),
    (at) => previous.get(at) ?? [],
    (text, at) => (letters[at] ?? '') + text,
  );
  const found = new Set<string>();
  for (const [at, beginning] of beginnings) {
    const end = ends.get(at);
    if (end === undefined || beginning.length + end.length > longestWitness) continue;
    // Both contain the letter at this place.
    found.add(beginning + end.slice((letters[at] ?? '').length));
    if (found.size >= mostWitnesses) break;
  }
  return [...found];
}

/** Returns a shortest text to each place that can be reached. */
function shortestTexts(
  starts: readonly number[],
  nextOf: (at: number) => readonly number[],
  extend: (text: string, at: number) => string,
): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  const open: { readonly at: number; readonly text: string }[] = [];
  const reach = (at: number, text: string): void => {
    if (texts.has(at)) return;
    const longer = extend(text, at);
    texts.set(at, longer);
    open.push({ at, text: longer });
  };
  for (const start of starts) reach(start, '');
  for (const { at, text } of open) for (const to of nextOf(at)) reach(to, text);
  return texts;
}

/** Letters that people and patterns use most, so that few patterns treat them in a special way. */
const usual = ['a', 'A', '0', ' ', '_', '-'];

function usualLetter(set: CharSet): string {
  const found = usual.find((letter) => contains(set, letter.codePointAt(0) ?? 0));
  return found ?? String.fromCodePoint(set.ranges[0] ?? 0);
}
