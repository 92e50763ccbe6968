import { RE2JS } from 're2js';
import { parsePattern } from './parse.ts';
import { findSlowness, type Slowness } from './slowness.ts';
import { hasFewStates } from './few-states.ts';
import type { PatternNode, PatternError } from './syntax.ts';

/** A pattern that can be tried on texts: whether some part of the text matches, or undefined where trying takes too long. */
export type Pattern = {
  readonly node: PatternNode;
  readonly size: number;
  readonly finds: (text: string) => boolean | undefined;
  /** How slow engines that go back are, where that is worth a word and found within reason. */
  readonly slowness: () => Slowness | undefined;
};

/** What becomes of a pattern: it can be tried, RE2 does not take it, or it is too large to be tried here. */
export type CompiledPattern = { readonly pattern: Pattern } | { readonly refusal: PatternError } | { readonly tooLarge: true };

/** Longer patterns are not even read. */
const maxLength = 100_000;
/** Larger patterns are not compiled: what they need in memory grows with their size. */
const maxInstructions = 5_000;
/**
 * The most instructions times characters that are gone through, whatever pattern and text: well below a second. Patterns that
 * need few states are faster than that, and tried on any text.
 */
const maxWork = 30_000_000;
/** The most of it for all patterns and texts of one run together: a file of patterns and samples ends as well. */
const maxTotalWork = 300_000_000;
/** How many patterns are looked through for whether they need few states. */
const maxChecks = 100;

/** The most steps in which all of them are searched for what is slow elsewhere. */
const maxSteps = 20_000_000;

/** What all patterns of a run may still take; it only goes down. */
export type PatternBudget = { work: number; steps: number; checks: number };

/** What becomes of patterns. */
export type PatternCompiler = (text: string) => CompiledPattern;

/** Compiles patterns; each is compiled once, and what trying them takes is limited for all of them together. */
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

/** Compiles a pattern as RE2 does: matching takes time that grows with the text alone, never with the ways to match it. */
export function compilePattern(text: string, budget: PatternBudget = fullBudget()): CompiledPattern {
  if (text.length > maxLength) return { tooLarge: true };
  const read = parsePattern(text);
  if ('refusal' in read) return read;
  const size = sizeOf(read.node);
  if (size > maxInstructions) return { tooLarge: true };
  let machine: RE2JS;
  try {
    machine = RE2JS.compile(text);
  } catch (error) {
    return { refusal: libraryError(text, error) };
  }
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
  return { pattern: { node: read.node, size, finds, slowness: () => findSlowness(read.node, budget) } };
}

/** What the library says of a pattern, with the place of the part that it quotes. */
function libraryError(text: string, error: unknown): PatternError {
  const message = error instanceof Error ? error.message : String(error);
  const [, what = message, part = ''] = /^error parsing regexp: (.*?)(?:: `(.*)`)?$/s.exec(message) ?? [];
  return { what, index: Math.max(0, text.indexOf(part)), elsewhere: true };
}

/** How many instructions a pattern has once its repeats are written out; at least as many as the library makes. */
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
