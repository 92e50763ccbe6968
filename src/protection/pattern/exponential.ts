import { appendAll } from '../../model/collections.ts';
import { buildAutomaton, runAutomaton, type Automaton, type PatternNode, someCommon } from './automaton.ts';

/** The maximum number of characters of a pattern that is searched, after expanding repeats. */
const maxCharacters = 120;
const maxWork = 1_000_000;
/** The minimum cost of a search, even without repeats. */
const minCost = 1_000;

/**
 * Finds a text on which a backtracking engine takes exponential time: its middle can be matched in two ways, repeatedly, and
 * the end fails. The text is verified before it is returned, so there are no false alarms. Nothing is found in a pattern that is
 * too long, or after `budget` (shared by all patterns of a run) is used up.
 */
export function findExponential(node: PatternNode, budget: { steps: number } = { steps: maxWork }): string | undefined {
  const automaton = budget.steps <= 0 ? undefined : buildAutomaton(node, maxCharacters);
  if (automaton === undefined) return undefined;
  const own = { left: Math.min(maxWork, budget.steps) };
  const whole = own.left;
  const text = searchExponential(automaton, own);
  budget.steps -= minCost + whole - own.left;
  return text;
}

function searchExponential(automaton: Automaton, budget: { left: number }): string | undefined {
  const circles = cyclesOf(automaton);
  for (const [index, circle] of circles.entries()) {
    const middle = circle === undefined ? undefined : ambiguousText(automaton, { start: index, circle, budget });
    const before = middle === undefined ? undefined : pathTo(automaton, automaton.first, index);
    if (middle === undefined || before === undefined) continue;
    const stem = `${before}${middle.repeat(3)}`;
    const failing = failingEndings.find((ending) => failsAfterLoop(automaton, { index, stem, ending }));
    if (failing !== undefined) return `${stem}${failing}`;
  }
  return undefined;
}

/** Texts that are tried in order to make a match fail after the loop. */
const failingEndings: readonly string[] = ['!', '\u0001', '\n', '0', 'z', ' ', ';', '\n!', '\n!\n!'];

type Attempt = { readonly index: number; readonly stem: string; readonly ending: string };

/** Returns whether the stem reaches the character again and no prefix of stem and ending matches. */
function failsAfterLoop(automaton: Automaton, { index, stem, ending }: Attempt): boolean {
  return runAutomaton(automaton, stem, ending).at.has(index) && !runAutomaton(automaton, `${stem}${ending}`, '').matches;
}

type Search = { readonly start: number; readonly circle: ReadonlySet<number>; readonly budget: { left: number } };
type Pair = { readonly one: number; readonly other: number; readonly diverged: boolean; readonly text: string };

/** Returns a text that leads from the start back to it on two different paths within the cycle. */
function ambiguousText({ sets, next }: Automaton, { start, circle, budget }: Search): string | undefined {
  const seen = new Set<string>();
  const open: Pair[] = [{ one: start, other: start, diverged: false, text: '' }];
  for (const { one, other, diverged: parted, text } of open) {
    const [left, right] = [stepsWithin(next[one], circle), stepsWithin(next[other], circle)];
    budget.left -= left.length * right.length + 1;
    if (budget.left < 0) return undefined;
    for (const [first, to] of left.entries()) {
      for (const [second, too] of right.entries()) {
        const isParted = parted || to !== too || first !== second;
        const key = `${to} ${too} ${isParted}`;
        const character = seen.has(key) ? undefined : someCommon(sets[to], sets[too]);
        if (character === undefined) continue;
        if (isParted && to === start && too === start) return text + character;
        seen.add(key);
        open.push({ one: to, other: too, diverged: isParted, text: text + character });
      }
    }
  }
  return undefined;
}

function stepsWithin(steps: Automaton['first'] = [], circle: ReadonlySet<number>): readonly number[] {
  return steps.filter(({ to, guards }) => guards.length === 0 && circle.has(to)).map(({ to }) => to);
}

/** Returns the shortest text that reaches the goal from the given transitions, ignoring assertions. */
function pathTo({ sets, next }: Automaton, by: Automaton['first'], goal: number): string | undefined {
  const texts = new Map<number, string>();
  const open = by.map(({ to }) => ({ to, text: '' }));
  for (const { to, text } of open) {
    const character = texts.has(to) ? undefined : someCommon(sets[to], sets[to]);
    if (character === undefined) continue;
    texts.set(to, text + character);
    if (to === goal) break;
    for (const step of next[to] ?? []) open.push({ to: step.to, text: text + character });
  }
  return texts.get(goal);
}

/** Returns for each character its strongly connected component; undefined when no path leads back to it. */
function cyclesOf({ next }: Automaton): readonly (ReadonlySet<number> | undefined)[] {
  const reach = next.map((steps) => reachable(next, steps));
  return reach.map((found, index) => {
    if (!found.has(index)) return undefined;
    return new Set([...found].filter((to) => reach[to]?.has(index) === true));
  });
}

function reachable(next: Automaton['next'], from: Automaton['first']): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [...from];
  while (open.length > 0) {
    const step = open.pop();
    if (step === undefined || step.guards.length > 0 || found.has(step.to)) continue;
    found.add(step.to);
    appendAll(open, next[step.to] ?? []);
  }
  return found;
}
