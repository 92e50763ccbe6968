import { RE2JS, RE2JSSyntaxException } from 're2js';
import { parsePattern, type RejectedPlace } from './parse.ts';
import { findExponential } from './exponential.ts';
import { hasFewStates, type PatternNode } from './automaton.ts';

/** A compiled pattern. `finds` returns whether a part of the text matches, or undefined when the search exceeds the budget. */
export type Pattern = {
  readonly size: number;
  readonly finds: (text: string) => boolean | undefined;
  /** Returns a text like those on which a backtracking engine takes exponential time; undefined if none is found. */
  readonly slowText: () => string | undefined;
};

/** Why RE2 rejects a pattern, in the words of Go, where, and what to write instead. */
export type PatternError = RejectedPlace & { readonly what: string; readonly hint?: string };

/** The result of compiling: a pattern, an RE2 syntax error, or a pattern that is too large to simulate. */
export type CompiledPattern = { readonly pattern: Pattern } | { readonly error: PatternError } | { readonly tooLarge: true };

/** The maximum length of a pattern in UTF-16 units. */
const maxLength = 100_000;
/** The maximum number of instructions; memory grows with it. */
const maxInstructions = 5_000;
/**
 * The maximum work of one search: instructions times characters, well below one second. Patterns with few states are faster
 * and have no limit.
 */
const maxWork = 30_000_000;
/** The maximum work of one run for all patterns and texts together, so that a large file of samples terminates. */
const maxTotalWork = 300_000_000;
/** The maximum number of patterns that are checked for few states. */
const maxChecks = 100;

/** The maximum number of steps for all searches for slow texts. */
const maxSteps = 20_000_000;

/** The remaining budget of a run, shared by all patterns; it only decreases. */
type PatternBudget = { work: number; steps: number; checks: number };

/** Compiles the text of a pattern. */
export type PatternCompiler = (text: string) => CompiledPattern;

/** Returns a compiler that caches patterns and limits the work of all of them together. */
export function patternCache(budget: PatternBudget = fullBudget()): PatternCompiler {
  const known = new Map<string, CompiledPattern>();
  return (text) => {
    const compiled = known.get(text) ?? compilePattern(text, budget);
    known.set(text, compiled);
    return compiled;
  };
}

function fullBudget(): PatternBudget {
  return { work: maxTotalWork, steps: maxSteps, checks: maxChecks };
}

/** Compiles a pattern with RE2 semantics: the time of a match is linear in the text. */
export function compilePattern(text: string, budget: PatternBudget = fullBudget()): CompiledPattern {
  if (text.length > maxLength) return { tooLarge: true };
  const read = parsePattern(text);
  if ('rejected' in read) return { error: errorAt(text, read.rejected) };
  const size = sizeOf(read.node);
  if (size > maxInstructions) return { tooLarge: true };
  const machine = machineOf(read.libraryText);
  if (typeof machine === 'string') return { error: { what: machine, index: 0, elsewhere: true } };
  let compact: boolean | undefined;
  const finds = (sample: string): boolean | undefined => {
    const work = (size + 4) * sample.length;
    const isDear = work > maxWork || work > budget.work;
    if (isDear && compact === undefined && budget.checks > 0) {
      budget.checks -= 1;
      compact = hasFewStates(read.node);
    }
    if (isDear && compact !== true) return undefined;
    budget.work -= compact === true ? 0 : work;
    return machine.test(sample);
  };
  return { pattern: { size, finds, slowText: () => findExponential(read.node, budget) } };
}

/** What to write instead of a construct, by why it is rejected and what is there. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/^invalid repeat count/, 'RE2 repeats at most 1000 times, nested counts multiplied; the lower count is first'],
  [/^invalid nested repetition operator/, 'put the repeated part in (?:…); RE2 has no possessive quantifiers such as a++'],
  [/: \(\?<?[=!]/, 'use a second entry, or write out the alternatives'],
  [/: \(\?[>|]/, 'use (?: instead: RE2 does not backtrack'],
  [/: (?:\\[1-9gk]|\(\?P=)/, 'RE2 has no backreferences: write out the text'],
  [/: \(\?/, 'the flags are i, m, s and U; (?:…) is a plain group, and (?P<name>…) a named one'],
  [/: \\[pP]/, 'use a category such as \\p{L}, or a script of Unicode 15.0 such as \\p{Greek}'],
  [/: \\[uUxX]/, 'write the code as \\x41 or \\x{41}'],
  [/: \\Z/, 'write \\z for the end of the text'],
  [/: \[:/, 'the classes in brackets are those of POSIX, such as [:alpha:], [:digit:] and [:space:]'],
  [/^invalid character class range/, 'write the lower character of a range first'],
  [/: [()[*+?]/, 'write \\ before the character to mean the character itself'],
  [/: \\$/, 'write \\\\ to mean the character itself'],
  [/: \\/, 'write the characters that are meant, or the code of one as \\x41'],
];

/** Returns the error of the library re2js, which has the words of Go, at a place that Go rejects. */
function errorAt(text: string, { index, elsewhere }: RejectedPlace): PatternError {
  const made = machineOf(text);
  const what = typeof made === 'string' ? made : 'invalid character class';
  const found = `${what}: ${text.slice(index, index + 10)}`;
  const hint = hints.find(([expression]) => expression.test(found))?.[1];
  return { what, index, elsewhere, ...(hint === undefined ? {} : { hint }) };
}

/** Returns the machine of a pattern, or why the library rejects it. */
function machineOf(text: string): RE2JS | string {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    return error instanceof RE2JSSyntaxException ? error.getDescription() : String(error);
  }
}

/** Returns an upper bound for the number of instructions of the pattern with its repeats expanded. */
function sizeOf(node: PatternNode): number {
  switch (node.op) {
    case 'empty':
    case 'char':
    case 'assert':
      return 1;
    case 'group':
      return sizeOf(node.of) + 2;
    case 'join':
      return node.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    case 'either':
      return node.parts.reduce((sum, part) => sum + sizeOf(part) + 1, 0);
    case 'repeat': {
      const copies = node.max ?? node.min + 1;
      return copies * (sizeOf(node.of) + 1) + 1;
    }
  }
}
