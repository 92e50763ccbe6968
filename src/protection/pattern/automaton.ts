import { contains, type CharSet } from './char-set.ts';
import type { Assertion, Node } from './syntax.ts';

/** A step from one character of the pattern to another; `guards` must hold in between. */
export type Step = { readonly to: number; readonly guards: readonly Assertion[] };

/** A pattern as the characters it names and the ways between them; a way that can be gone in two manners stands there twice. */
export type Automaton = {
  readonly sets: readonly CharSet[];
  readonly first: readonly Step[];
  readonly next: readonly (readonly Step[])[];
  /** The characters that a match may end with, and what must hold there. */
  readonly last: readonly Step[];
  /** A match may have no character at all, where one of these holds whole. */
  readonly empty: readonly (readonly Assertion[])[];
};

/** The ways in and out of a part of a pattern; `empty` are the ways through it without any character. */
type Part = { readonly first: readonly Step[]; readonly last: readonly Step[]; readonly empty: readonly (readonly Assertion[])[] };

type Building = { readonly sets: CharSet[]; readonly next: Step[][]; steps: number };

/** Ends the building of an automaton that has too much in it; it never leaves this file. */
class TooLarge extends Error {}

const mostSteps = 20_000;

/** Makes the automaton of a pattern, or undefined where it would have more characters than that. */
export function automatonOf(node: Node, most: number): Automaton | undefined {
  const building: Building = { sets: [], next: [], steps: 0 };
  try {
    const { first, last, empty } = partOf(node, building, most);
    return { sets: building.sets, first, next: building.next, last, empty };
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

const nothing: Part = { first: [], last: [], empty: [[]] };

function partOf(node: Node, building: Building, most: number): Part {
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
      return partOf(node.of, building, most);
    case 'join':
      return node.parts.reduce((before, part) => joined(before, partOf(part, building, most), building), nothing);
    case 'either': {
      const parts = node.parts.map((part) => partOf(part, building, most));
      return {
        first: parts.flatMap(({ first }) => first),
        last: parts.flatMap(({ last }) => last),
        empty: distinct(parts.flatMap(({ empty }) => empty)),
      };
    }
    case 'repeat':
      return repeated(node, building, most);
  }
}

function joined(before: Part, after: Part, building: Building): Part {
  connect(before.last, after.first, building);
  return {
    first: [...before.first, ...through(before.empty, after.first)],
    last: [...after.last, ...through(after.empty, before.last)],
    empty: distinct(before.empty.flatMap((one) => after.empty.map((other) => [...one, ...other]))),
  };
}

function repeated({ of, min, max }: Extract<Node, { op: 'repeat' }>, building: Building, most: number): Part {
  if (max === 0) return nothing;
  const optional = (part: Part): Part => ({ ...part, empty: distinct([...part.empty, []]) });
  const copies = max ?? Math.max(min, 1);
  let all = nothing;
  for (let copy = 1; copy <= copies; copy += 1) {
    const part = partOf(of, building, most);
    if (max === undefined && copy === copies) connect(part.last, part.first, building);
    all = joined(all, copy > min ? optional(part) : part, building);
  }
  return all;
}

function connect(from: readonly Step[], to: readonly Step[], building: Building): void {
  building.steps += from.length * to.length;
  if (building.steps > mostSteps) throw new TooLarge();
  for (const end of from) {
    for (const start of to) building.next[end.to]?.push({ to: start.to, guards: [...end.guards, ...start.guards] });
  }
}

function through(empty: Part['empty'], steps: readonly Step[]): readonly Step[] {
  if (empty.length * steps.length > mostSteps) throw new TooLarge();
  return empty.flatMap((guards) => steps.map((step) => ({ to: step.to, guards: [...guards, ...step.guards] })));
}

/** What can be gone through without a character in several manners counts once: engines do not repeat what is empty. */
function distinct(ways: Part['empty']): Part['empty'] {
  const seen = new Map(ways.map((guards) => [[...new Set(guards)].toSorted().join(' '), [...new Set(guards)]]));
  if (seen.size > 64) throw new TooLarge();
  return [...seen.values()];
}

/** Where the ways through a text end that begin with it, and whether some part of it from its beginning on is a match. */
export function reaches(
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
