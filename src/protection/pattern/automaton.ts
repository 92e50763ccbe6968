import { contains, type CharSet } from './char-set.ts';
import type { Assertion, PatternNode } from './syntax.ts';

/** A step from one character of the pattern to another; `guards` must hold in between. */
export type Transition = { readonly to: number; readonly guards: readonly Assertion[] };

/** A pattern as the characters it names and the ways between them; a way that can be gone in two manners stands there twice. */
export type Automaton = {
  readonly sets: readonly CharSet[];
  readonly first: readonly Transition[];
  readonly next: readonly (readonly Transition[])[];
  /** The characters that a match may end with, and what must hold there. */
  readonly last: readonly Transition[];
  /** A match may have no character at all, where one of these holds whole. */
  readonly empty: readonly (readonly Assertion[])[];
};

/** The ways in and out of a part of a pattern; `empty` are the ways through it without any character. */
type Fragment = {
  readonly first: readonly Transition[];
  readonly last: readonly Transition[];
  readonly empty: readonly (readonly Assertion[])[];
};

type Building = { readonly sets: CharSet[]; readonly next: Transition[][]; steps: number };

/** Ends the building of an automaton that has too much in it; it never leaves this file. */
class TooLarge extends Error {}

const maxTransitions = 20_000;

/** Makes the automaton of a pattern, or undefined where it would have more characters than that. */
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

/** What can be gone through without a character in several manners counts once: engines do not repeat what is empty. */
function distinct(ways: Fragment['empty']): Fragment['empty'] {
  const seen = new Map(ways.map((guards) => [[...new Set(guards)].toSorted().join(' '), [...new Set(guards)]]));
  if (seen.size > 64) throw new TooLarge();
  return [...seen.values()];
}

/** Where the ways through a text end that begin with it, and whether some part of it from its beginning on is a match. */
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

/** What holds between two characters; an empty text stands for the end. */
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
