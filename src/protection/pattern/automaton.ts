import { contains, type CharSet, type Assertion, type PatternNode } from './char-set.ts';

/** A transition from one character of the pattern to another; all `guards` must hold between them. */
type Transition = { readonly to: number; readonly guards: readonly Assertion[] };

/** A pattern as character sets and the transitions between them (a Glushkov automaton). A transition with two derivations is listed twice. */
export type Automaton = {
  readonly sets: readonly CharSet[];
  readonly first: readonly Transition[];
  readonly next: readonly (readonly Transition[])[];
  /** The characters that can end a match, and the assertions that must hold there. */
  readonly last: readonly Transition[];
  /** A match may be empty where all assertions of one of these lists hold. */
  readonly empty: readonly (readonly Assertion[])[];
};

/** The entries and exits of a part of a pattern; `empty` lists the paths through it without any character. */
type Fragment = {
  readonly first: readonly Transition[];
  readonly last: readonly Transition[];
  readonly empty: readonly (readonly Assertion[])[];
};

type Building = { readonly sets: CharSet[]; readonly next: Transition[][]; steps: number };

/** Aborts the construction of an automaton that is too large; it never leaves this file. */
class TooLarge extends Error {}

const maxTransitions = 20_000;

/** Builds the automaton of a pattern; returns undefined when it would have more than `most` characters. */
export function buildAutomaton(node: PatternNode, most: number): Automaton | undefined {
  const building: Building = { sets: [], next: [], steps: 0 };
  try {
    const { first, last, empty } = buildFragment(node, building, most);
    return { sets: building.sets, first, next: building.next, last, empty };
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

const nothing: Fragment = { first: [], last: [], empty: [[]] };

function buildFragment(node: PatternNode, building: Building, most: number): Fragment {
  switch (node.op) {
    case 'empty':
      return nothing;
    case 'assert':
      return { first: [], last: [], empty: [[node.what]] };
    case 'char': {
      if (building.sets.length >= most) throw new TooLarge();
      const step = { to: building.sets.length, guards: [] };
      building.sets.push(node.set);
      building.next.push([]);
      return { first: [step], last: [step], empty: [] };
    }
    case 'group':
      return buildFragment(node.of, building, most);
    case 'join':
      return node.parts.reduce((before, part) => concatenate(before, buildFragment(part, building, most), building), nothing);
    case 'either': {
      const parts = node.parts.map((part) => buildFragment(part, building, most));
      return {
        first: parts.flatMap(({ first }) => first),
        last: parts.flatMap(({ last }) => last),
        empty: distinct(parts.flatMap(({ empty }) => empty)),
      };
    }
    case 'repeat':
      return repeatFragment(node, building, most);
  }
}

function concatenate(before: Fragment, after: Fragment, building: Building): Fragment {
  connect(before.last, after.first, building);
  return {
    first: [...before.first, ...through(before.empty, after.first)],
    last: [...after.last, ...through(after.empty, before.last)],
    empty: distinct(before.empty.flatMap((one) => after.empty.map((other) => [...one, ...other]))),
  };
}

function repeatFragment({ of, min, max }: Extract<PatternNode, { op: 'repeat' }>, building: Building, most: number): Fragment {
  if (max === 0) return nothing;
  const optional = (part: Fragment): Fragment => ({ ...part, empty: distinct([...part.empty, []]) });
  const copies = max ?? Math.max(min, 1);
  let all = nothing;
  for (let copy = 1; copy <= copies; copy += 1) {
    const part = buildFragment(of, building, most);
    if (max === undefined && copy === copies) connect(part.last, part.first, building);
    all = concatenate(all, copy > min ? optional(part) : part, building);
  }
  return all;
}

function connect(from: readonly Transition[], to: readonly Transition[], building: Building): void {
  building.steps += from.length * to.length;
  if (building.steps > maxTransitions) throw new TooLarge();
  for (const end of from) {
    for (const start of to) building.next[end.to]?.push({ to: start.to, guards: [...end.guards, ...start.guards] });
  }
}

function through(empty: Fragment['empty'], steps: readonly Transition[]): readonly Transition[] {
  if (empty.length * steps.length > maxTransitions) throw new TooLarge();
  return empty.flatMap((guards) => steps.map((step) => ({ to: step.to, guards: [...guards, ...step.guards] })));
}

/** Removes duplicate empty paths: engines do not repeat an empty match. */
function distinct(ways: Fragment['empty']): Fragment['empty'] {
  const seen = new Map(ways.map((guards) => [[...new Set(guards)].toSorted().join(' '), [...new Set(guards)]]));
  if (seen.size > 64) throw new TooLarge();
  return [...seen.values()];
}

/** Runs the automaton from the start of a text. Returns the reachable characters and whether a prefix of the text matches. */
export function runAutomaton(
  { sets, first, next, last, empty }: Automaton,
  text: string,
  following: string,
): { readonly at: ReadonlySet<number>; readonly matches: boolean } {
  const characters = Array.from(text);
  let at = new Set<number>();
  const atStart = holdsBetween('', characters[0] ?? following);
  let matches = empty.some((guards) => guards.every(atStart));
  for (let index = 0; index < characters.length; index += 1) {
    const here = characters[index] ?? '';
    const holds = holdsBetween(characters[index - 1] ?? '', here);
    const rune = here.codePointAt(0) ?? 0;
    const steps = index === 0 ? first : [...at].flatMap((from) => next[from] ?? []);
    at = new Set(steps.flatMap(({ to, guards }) => (guards.every(holds) && contains(sets[to], rune) ? [to] : [])));
    const after = holdsBetween(here, characters[index + 1] ?? following);
    matches ||= last.some(({ to, guards }) => at.has(to) && guards.every(after));
  }
  return { at, matches };
}

/** Returns a test for assertions between two characters; an empty string means the end of the text. */
export function holdsBetween(before: string, after: string): (what: Assertion) => boolean {
  const isEdge = /\w/.test(before) !== /\w/.test(after);
  return (what) => {
    switch (what) {
      case 'text-start':
        return before === '';
      case 'text-end':
        return after === '';
      case 'line-start':
        return before === '' || before === '\n';
      case 'line-end':
        return after === '' || after === '\n';
      case 'word-edge':
        return isEdge;
      case 'no-word-edge':
        return !isEdge;
    }
  };
}

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
