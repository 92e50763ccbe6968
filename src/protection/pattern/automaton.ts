/** An assertion between two characters. */
type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** A node of a parsed pattern. */
export type PatternNode =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'join'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'either'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'group'; readonly of: PatternNode }
  | { readonly op: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number | undefined };

/** A set of characters: pairs of code points (first, last), sorted. */
export type CharSet = { readonly ranges: readonly number[] };

const lastCodePoint = 0x10_ffff;

/** Every character. */
export const anyChar: CharSet = { ranges: [0, lastCodePoint] };

/** Every character except the line feed. */
export const anyButNewline: CharSet = { ranges: [0, 9, 11, lastCodePoint] };

/** Returns the set of one character. */
export function oneChar(rune: number): CharSet {
  return { ranges: [rune, rune] };
}

/** Returns the union of sets, with sorted and disjoint ranges. */
export function unionOf(sets: readonly CharSet[]): CharSet {
  return { ranges: tidy(sets.map(({ ranges }) => ranges)) };
}

/** Returns the complement of a set. */
export function complement({ ranges }: CharSet): CharSet {
  const rest: number[] = [];
  let from = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    const low = ranges[index] ?? 0;
    if (low > from) rest.push(from, low - 1);
    from = (ranges[index + 1] ?? 0) + 1;
  }
  if (from <= lastCodePoint) rest.push(from, lastCodePoint);
  return { ranges: rest };
}

/** The letters S and K with all characters that equal them where case is ignored: also the long s and the Kelvin sign. */
const equalRunes = [
  [0x53, 0x73, 0x17f],
  [0x4b, 0x6b, 0x212a],
];

/** Adds the other cases of all Latin letters in the set. */
export function withBothCases(set: CharSet): CharSet {
  const further = equalRunes.filter((runes) => runes.some((rune) => contains(set, rune))).flat();
  const others = [...shifted(set, 65, 32), ...shifted(set, 97, -32), ...further.flatMap((rune) => [rune, rune])];
  return others.length === 0 ? set : unionOf([set, { ranges: others }]);
}

function shifted({ ranges }: CharSet, first: number, by: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < ranges.length; index += 2) {
    const low = Math.max(ranges[index] ?? 0, first);
    const high = Math.min(ranges[index + 1] ?? 0, first + 25);
    if (low <= high) found.push(low + by, high + by);
  }
  return found;
}

/** Returns a character that is in both sets, preferably `a` or `!`. */
export function someCommon(one: CharSet | undefined, other: CharSet | undefined): string | undefined {
  let found: number | undefined;
  const [left, right] = [one?.ranges ?? [], other?.ranges ?? []];
  for (let first = 0, second = 0; first < left.length && second < right.length;) {
    const [low, high] = [left[first] ?? 0, left[first + 1] ?? 0];
    const [from, to] = [right[second] ?? 0, right[second + 1] ?? 0];
    const [start, end] = [Math.max(low, from), Math.min(high, to)];
    for (const best of [97, 33]) if (start <= best && best <= end) return String.fromCodePoint(best);
    if (start <= end) found ??= start;
    if (high < to) first += 2;
    else second += 2;
  }
  return found === undefined ? undefined : String.fromCodePoint(found);
}

/** Returns whether the code point is in the set. */
export function contains(set: CharSet | undefined, rune: number): boolean {
  const ranges = set?.ranges ?? [];
  for (let index = 0; index < ranges.length; index += 2) {
    if ((ranges[index] ?? 0) <= rune && rune <= (ranges[index + 1] ?? 0)) return true;
  }
  return false;
}

function tidy(lists: readonly (readonly number[])[]): readonly number[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const pairs = lists.flatMap((list) => list.flatMap((low, index) => (index % 2 === 0 ? [[low, list[index + 1] ?? low] as const] : [])));
  const ranges: number[] = [];
  for (const [low, high] of pairs.toSorted(([one], [other]) => one - other)) {
    const end = ranges.at(-1);
    if (end !== undefined && low <= end + 1) ranges[ranges.length - 1] = Math.max(end, high);
    else ranges.push(low, high);
  }
  return ranges;
}

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

/** A position in a text: the characters on both sides; an empty string is an end of the text. */
export type Boundary = { readonly before: string; readonly letter: string };

/** Returns whether a match ends at a position. */
export function endsMatch({ last, empty }: Automaton, at: ReadonlySet<number>, { before, letter }: Boundary): boolean {
  const holds = holdsBetween(before, letter);
  return last.some(({ to, guards }) => at.has(to) && guards.every(holds)) || empty.some((guards) => guards.every(holds));
}

/** Returns the places after one more character, of those that are one step away. */
export function follow({ sets }: Automaton, steps: readonly Transition[], { before, letter }: Boundary): ReadonlySet<number> {
  const holds = holdsBetween(before, letter);
  const rune = letter.codePointAt(0) ?? 0;
  return new Set(steps.flatMap(({ to, guards }) => (guards.every(holds) && contains(sets[to], rune) ? [to] : [])));
}

/** Lists the steps from some places, and those of a match that begins here. */
export function stepsFrom({ first, next }: Automaton, at: ReadonlySet<number>): readonly Transition[] {
  return [...[...at].flatMap((from) => next[from] ?? []), ...first];
}

/** Runs the automaton from the start of a text. Returns the reachable characters and whether a prefix of the text matches. */
export function runAutomaton(
  automaton: Automaton,
  text: string,
  following: string,
): { readonly at: ReadonlySet<number>; readonly matches: boolean } {
  const letters = Array.from(text);
  const inside: Automaton = { ...automaton, first: [], empty: [] };
  let at: ReadonlySet<number> = new Set();
  let matches = endsMatch(automaton, at, { before: '', letter: letters[0] ?? following });
  for (const [index, letter] of letters.entries()) {
    at = follow(automaton, stepsFrom(index === 0 ? automaton : inside, at), { before: letters[index - 1] ?? '', letter });
    matches ||= endsMatch(inside, at, { before: letter, letter: letters[index + 1] ?? following });
  }
  return { at, matches };
}

/** Returns a test for assertions between two characters; an empty string means the end of the text. */
function holdsBetween(before: string, after: string): (what: Assertion) => boolean {
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
  const open: { readonly at: ReadonlySet<number>; readonly before: string }[] = [{ at: new Set(), before: '' }];
  let left = maxWork;
  for (const { at, before } of open) {
    for (const letter of alphabet) {
      const steps = stepsFrom(automaton, at);
      left -= steps.length + 1;
      if (left < 0) return false;
      const next = follow(automaton, steps, { before, letter });
      const key = `${stateText(next)} ${characterClass(letter)}`;
      if (seen.has(key)) continue;
      if (seen.size >= maxStates) return false;
      seen.add(key);
      open.push({ at: next, before: letter });
    }
  }
  return true;
}

/** Returns a text that is the same for the same places. */
export function stateText(states: ReadonlySet<number>): string {
  return [...states].toSorted((one, other) => one - other).join(',');
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
