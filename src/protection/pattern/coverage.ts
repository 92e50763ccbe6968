import { memoizeByKey } from '../../model/collections.ts';
import {
  alphabetOf,
  buildAutomaton,
  characterClass,
  type Automaton,
  type Boundary,
  endsMatch,
  follow,
  oneChar,
  type PatternNode,
  stateText,
  stepsFrom,
} from './automaton.ts';
import { parsePattern } from './parse.ts';
import { witnessesOf } from './witnesses.ts';

/** What blocks a text: a word anywhere in it, or a pattern that matches anywhere in it. */
export type TextMatcher = { readonly word: string } | { readonly pattern: string };

const maxCharacters = 400;
/** The maximum number of characters of automata that only try witnesses, one text after the other. */
const maxTriedCharacters = 4_000;
const maxTriedWork = 2_000_000;
const maxStates = 2_000;
/** The maximum number of ranges of characters; a class of Unicode letters alone has more. */
const maxRanges = 300;
const maxWork = 200_000;

/**
 * Returns whether the others block every text that `one` blocks. Undefined when a pattern is invalid, has a class of
 * Unicode, or is too large to decide.
 */
export function coversAllTexts(one: TextMatcher, others: readonly TextMatcher[]): boolean | undefined {
  const found = coverageOf([one, others]);
  return found === 'undecided' ? undefined : found;
}

/** One plan compares the same words and patterns for risks, headlines, held drift and the order of writes. */
const coverageOf = memoizeByKey(
  ([one, others]: readonly [TextMatcher, readonly TextMatcher[]]): boolean | 'undecided' => {
    const left = automatonOf([one]);
    const right = automatonOf(others);
    const isIncluded = left === undefined || right === undefined ? undefined : includes(left, right);
    return isIncluded ?? (hasWitness(one, others) ? false : 'undecided');
  },
  { keyOf: (matchers) => JSON.stringify(matchers), longest: 400 },
);

/** Returns whether a text is found that `one` blocks and none of the others does. */
function hasWitness(one: TextMatcher, others: readonly TextMatcher[]): boolean {
  const own = automatonOf([one], { most: maxTriedCharacters, isLeast: true });
  const rest = others.map((other) => automatonOf([other], { most: maxTriedCharacters }));
  if (own === undefined || rest.includes(undefined)) return false;
  const machines = rest.filter((machine) => machine !== undefined);
  const starts = [own, ...machines].reduce((sum, { first }) => sum + first.length + 1, 0);
  let work = maxTriedWork;
  for (const text of witnessesOf(own)) {
    work -= starts * text.length;
    if (work < 0) return false;
    if (/^[\n -~]*$/.test(text) && findsMatch(own, text) && !machines.some((machine) => findsMatch(machine, text))) return true;
  }
  return false;
}

/** Returns whether one of the matchers blocks a text; undefined when that cannot be decided. */
export function blocksText(matchers: readonly TextMatcher[], text: string): boolean | undefined {
  if (matchers.some((one) => 'word' in one && text.includes(one.word))) return true;
  const patterns = matchers.filter((one) => 'pattern' in one);
  if (patterns.length === 0) return false;
  const machine = automatonOf(patterns);
  return machine === undefined ? undefined : findsMatch(machine, text);
}

/** `isLeast`: the automaton may match fewer texts of letters outside ASCII than the pattern, and none that the pattern does not match. */
type AutomatonOptions = { readonly most?: number; readonly isLeast?: boolean };

/** Returns one automaton that matches what any of the matchers matches. */
function automatonOf(
  matchers: readonly TextMatcher[],
  { most = maxCharacters, isLeast = false }: AutomatonOptions = {},
): Automaton | undefined {
  const parts: PatternNode[] = [];
  for (const one of matchers) {
    const read = 'word' in one ? { node: wordNode(one.word) } : parsePattern(one.pattern);
    if ('rejected' in read || ('pattern' in one && foldsOtherLetters(one.pattern) && !(isLeast && !excludes(one.pattern))))
      return undefined;
    parts.push(read.node);
  }
  return buildAutomaton({ op: 'either', parts }, most);
}

/** Returns whether a pattern may exclude letters, so that an ignored case makes it match fewer texts. */
function excludes(pattern: string): boolean {
  return /\[\^|\[:\^|\\[PWDSB]|\{\^/.test(pattern);
}

/** Returns whether a pattern ignores the case of letters outside ASCII, which the parser does not fold. */
function foldsOtherLetters(pattern: string): boolean {
  return /\(\?[A-Za-z]*i/.test(pattern) && /[^ -~]|\\[xpP0-7]/.test(pattern);
}

function wordNode(word: string): PatternNode {
  return { op: 'join', parts: Array.from(word, (letter): PatternNode => ({ op: 'char', set: oneChar(letter.codePointAt(0) ?? 0) })) };
}

/** A set of states of both automata after some text: `hit` means that the left one has matched and the right one has not. */
type Pair = { readonly left: ReadonlySet<number>; readonly right: ReadonlySet<number>; readonly hit: boolean; readonly before: string };

/** Searches for a text that the left automaton matches somewhere and the right one nowhere. */
function includes(left: Automaton, right: Automaton): boolean | undefined {
  const alphabet = ['', ...alphabetOf({ sets: [...left.sets, ...right.sets] })];
  if (alphabet.length > maxRanges) return undefined;
  const seen = new Set<string>();
  const open: Pair[] = [{ left: new Set(), right: new Set(), hit: false, before: '' }];
  let work = maxWork;
  for (const { left: from, right: against, hit: wasHit, before } of open) {
    for (const letter of alphabet) {
      work -= from.size + against.size + 1;
      if (work < 0) return undefined;
      if (endsMatch(right, against, { before, letter })) continue;
      const hit = wasHit || endsMatch(left, from, { before, letter });
      if (letter === '') {
        if (hit) return false;
        continue;
      }
      const next: Pair = {
        left: hit ? new Set() : advance(left, from, { before, letter }),
        right: advance(right, against, { before, letter }),
        hit,
        before: letter,
      };
      const key = `${hit} ${stateText(next.left)} ${stateText(next.right)} ${characterClass(letter)}`;
      if (seen.has(key)) continue;
      if (seen.size >= maxStates) return undefined;
      seen.add(key);
      open.push(next);
    }
  }
  return true;
}

/** Returns the states after one more character; a match may begin at every position. */
function advance(automaton: Automaton, at: ReadonlySet<number>, boundary: Boundary): ReadonlySet<number> {
  return follow(automaton, stepsFrom(automaton, at), boundary);
}

function findsMatch(machine: Automaton, text: string): boolean {
  const letters = [...Array.from(text), ''];
  let at: ReadonlySet<number> = new Set();
  let before = '';
  for (const letter of letters) {
    if (endsMatch(machine, at, { before, letter })) return true;
    at = advance(machine, at, { before, letter });
    before = letter;
  }
  return false;
}
