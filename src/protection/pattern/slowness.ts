import { cyclesOf, failingEndings, findExponential, failsAfterLoop, pathTo } from './exponential.ts';
import { buildAutomaton, holdsBetween, type Automaton, contains, someCommon, type PatternNode } from './automaton.ts';

/**
 * The slowness of a backtracking engine on longer texts like `sample`, which the pattern does not match. The time grows with
 * this power of the length; Infinity means exponential.
 */
export type Slowness = { readonly power: number; readonly sample: string };

/** A pattern whose slowness is unknown, and the reason. */
export type Unjudged = { readonly reason: string };

/** The maximum number of characters of a pattern that is searched. */
const maxCharacters = 120;
const maxWork = 400_000;
/** The maximum number of pairs of loops that are searched. */
const maxPairs = 200;
const maxChains = 8;

const limitReached: Unjudged = { reason: 'the search for slow texts reached its limit' };

/** Finds a text on which a backtracking engine takes more than linear time from one start; the text is verified. */
export function findSlowness(node: PatternNode, budget: { steps: number }): Slowness | Unjudged | undefined {
  const automaton = buildAutomaton(node, maxCharacters);
  if (automaton === undefined)
    return { reason: `the search for slow texts is limited to ${maxCharacters} characters after expanding repeats` };
  const { text, isIncomplete } = findExponential(automaton, budget);
  if (text !== undefined) return { power: Number.POSITIVE_INFINITY, sample: text };
  if (budget.steps <= 0) return limitReached;
  const own = { left: Math.min(maxWork, budget.steps) };
  const whole = own.left;
  const found = findPolynomial(automaton, own);
  budget.steps -= whole - own.left;
  if (found !== undefined) return found;
  return isIncomplete || own.left < 0 ? limitReached : undefined;
}

type Budget = { left: number };
/** Two loops, one after the other, that can split the same text in as many ways as it is long. */
type Pair = { readonly from: number; readonly to: number; readonly text: string };

function findPolynomial(automaton: Automaton, budget: Budget): Slowness | undefined {
  for (const chain of findChains(findPairs(automaton, budget), automaton, budget).slice(0, maxChains)) {
    // What a chain ends with may itself bring the match about, so beginnings of it are tried as well.
    for (let length = chain.length; length > 0; length -= 1) {
      const found = confirmChain(chain.slice(0, length), automaton, budget);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Returns the slowness of a chain of loops, if some ending makes the match fail. */
function confirmChain(chain: readonly Link[], automaton: Automaton, budget: Budget): Slowness | undefined {
  const [first] = chain;
  const before = first === undefined ? undefined : pathTo(automaton, automaton.first, first.from);
  if (before === undefined) return undefined;
  const textOf = (repeats: number): string => before + chain.map(({ text, join }) => join + text.repeat(repeats)).join('');
  const stem = textOf(3);
  const ending = failingEndings.find((one) => failsAfterLoop(automaton, { index: chain.at(-1)?.to ?? 0, stem, ending: one }));
  if (ending === undefined || budget.left < 0) return undefined;
  const [short, long] = [24, 48].map((repeats) => countPaths(automaton, textOf(repeats) + ending, budget));
  const power = Math.round(Math.log2((long ?? 0) / (short ?? 1)));
  return power < 2 ? undefined : { power, sample: `${stem}${ending}` };
}

/** Finds all pairs of characters in different cycles that can split the same text. */
function findPairs(automaton: Automaton, budget: Budget): readonly Pair[] {
  const circles = cyclesOf(automaton);
  const pairs: Pair[] = [];
  for (const [from, circle] of circles.entries()) {
    for (const [to, other] of circles.entries()) {
      if (circle === undefined || other === undefined || circle.has(to) || pairs.length >= maxPairs) continue;
      const text = sharedText(automaton, { from, to, circle, other }, budget);
      if (text !== undefined) pairs.push({ from, to, text });
    }
  }
  return pairs;
}

type Ends = { readonly from: number; readonly to: number; readonly circle: ReadonlySet<number>; readonly other: ReadonlySet<number> };

/** Returns a text that loops in the first cycle, loops in the second, and leads from the first to the second. */
function sharedText({ sets, next }: Automaton, { from, to, circle, other }: Ends, budget: Budget): string | undefined {
  const seen = new Set<string>();
  const open = [{ first: from, middle: from, last: to, text: '' }];
  for (const { first, middle, last, text } of open) {
    for (const one of steps(next[first], circle)) {
      for (const three of steps(next[last], other)) {
        for (const two of steps(next[middle])) {
          budget.left -= 1;
          if (budget.left < 0) return undefined;
          const key = `${one} ${two} ${three}`;
          const character = seen.has(key) ? undefined : someOfAll(sets, one, two, three);
          if (character === undefined) continue;
          if (one === from && two === to && three === to) return text + character;
          seen.add(key);
          open.push({ first: one, middle: two, last: three, text: text + character });
        }
      }
    }
  }
  return undefined;
}

function steps(all: Automaton['first'] = [], within?: ReadonlySet<number>): readonly number[] {
  return all.flatMap(({ to, guards }) => (guards.length === 0 && within?.has(to) !== false ? [to] : []));
}

/** Returns a character that is in all three sets. */
function someOfAll(sets: Automaton['sets'], one: number, two: number, three: number): string | undefined {
  const some = someCommon(sets[one], sets[two]);
  const rune = some?.codePointAt(0);
  if (rune === undefined) return undefined;
  if (contains(sets[three], rune)) return some;
  return [someCommon(sets[one], sets[three]), someCommon(sets[two], sets[three])].find((character) => {
    const other = character?.codePointAt(0);
    return other !== undefined && contains(sets[one], other) && contains(sets[two], other) && contains(sets[three], other);
  });
}

type Link = Pair & { readonly join: string };

/** Finds for each pair the longest chain of pairs after it, longest first; `join` is the text between two pairs. */
function findChains(pairs: readonly Pair[], automaton: Automaton, budget: Budget): readonly (readonly Link[])[] {
  const joins = new Map<string, string | undefined>();
  const joinOf = (from: number, to: number): string | undefined => {
    const key = `${from} ${to}`;
    budget.left -= 5;
    if (!joins.has(key)) joins.set(key, from === to ? '' : pathTo(automaton, automaton.next[from] ?? [], to));
    return joins.get(key);
  };
  const known = new Map<Pair, readonly Link[]>();
  const chainFrom = (pair: Pair): readonly Link[] => {
    const earlier = known.get(pair);
    if (earlier !== undefined) return earlier;
    known.set(pair, []);
    let best: readonly Link[] = [];
    for (const following of pairs) {
      const join = following === pair ? undefined : joinOf(pair.to, following.from);
      const [head, ...tail] = join === undefined ? [] : chainFrom(following);
      if (head !== undefined && join !== undefined && tail.length + 1 > best.length) best = [{ ...head, join }, ...tail];
    }
    known.set(pair, [{ ...pair, join: '' }, ...best]);
    return known.get(pair) ?? [];
  };
  return pairs.map(chainFrom).toSorted((one, other) => other.length - one.length);
}

/** Counts the steps of an engine that follows all paths through a text from its start. */
function countPaths({ sets, first, next }: Automaton, text: string, budget: Budget): number {
  const characters = Array.from(text);
  let at = new Map<number, number>();
  let all = 0;
  for (const [index, here] of characters.entries()) {
    const holds = holdsBetween(characters[index - 1] ?? '', here);
    const rune = here.codePointAt(0) ?? 0;
    const after = new Map<number, number>();
    for (const [from, ways] of index === 0 ? [[-1, 1] as const] : at) {
      for (const { to, guards } of from === -1 ? first : (next[from] ?? [])) {
        budget.left -= 1;
        if (!guards.every(holds) || !contains(sets[to], rune)) continue;
        after.set(to, (after.get(to) ?? 0) + ways);
        all += ways;
      }
    }
    at = after;
  }
  return all;
}
