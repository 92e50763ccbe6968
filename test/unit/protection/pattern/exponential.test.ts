import { expect, test } from 'vitest';
import { contains, type PatternNode } from '../../../../src/protection/pattern/automaton.ts';
import { compilePattern } from '../../../../src/protection/pattern/compile.ts';
import { findExponential } from '../../../../src/protection/pattern/exponential.ts';
import { parsePattern } from '../../../../src/protection/pattern/parse.ts';

function nodeOf(pattern: string): PatternNode {
  const read = parsePattern(pattern);
  if ('rejected' in read) throw new Error(pattern);
  return read.node;
}

function explosion(pattern: string): string | undefined {
  return findExponential(nodeOf(pattern));
}

const explosive =
  '(a+)+$ (a*)*b (a|a)*b (a|aa)+$ ^(\\w+\\s?)*$ (\\w+\\s*)+; (a?b?)*c ((a|aa)+b)+ (x+x+)+y ^(([a-z])+.)+[A-Z]([a-z])+$ (.+)+x (a|b|ab)*c (?:\\s*a\\s*)*b (\\s|\\n)+x (?i)(a|A)*b \\b(a+)+\\b! (\\pL|é)+$ (\\p{Lu}|[A-Z])*x (\\P{N}+)+5'.split(
    ' ',
  );

test.each(explosive)('%s is exponential', (pattern) => {
  const text = explosion(pattern);
  expect(text).toBeDefined();
});

test.each(explosive)('the sample for %s multiplies the steps of a backtracking engine with each repeat', (pattern) => {
  const text = explosion(pattern) ?? '';
  const node = nodeOf(pattern);
  // The text is a beginning, three times its middle, and an end that fails: longer middles show the growth.
  const found = periods(text).some((period) => {
    const longer = (times: number): string => text.slice(0, -1 - period) + text.slice(-1 - period, -1).repeat(times) + text.slice(-1);
    let before = countSteps(node, longer(1));
    for (let times = 2; times < 40 && before < 300_000; times += 1) {
      const steps = countSteps(node, longer(times));
      if (times > 8 && steps / before < 1.3) return false;
      before = steps;
    }
    return before >= 300_000;
  });
  expect(found).toBe(true);
});

/** Counts the steps in which an engine that tries every way finds that no part of a text matches. */
function countSteps(pattern: PatternNode, text: string): number {
  const runes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const isWord = (at: number): boolean => /\w/.test(String.fromCodePoint(runes[at] ?? 0));
  let steps = 0;
  type Rest = (at: number) => boolean;
  const repeat = (node: Extract<PatternNode, { op: 'repeat' }>, at: number, rest: Rest, count = 0): boolean =>
    (count < (node.max ?? Infinity) && matches(node.of, at, (to) => (to > at || count < node.min) && repeat(node, to, rest, count + 1))) ||
    (count >= node.min && rest(at));
  const join = (parts: readonly PatternNode[], at: number, rest: Rest): boolean => {
    const [first, ...others] = parts;
    return first === undefined ? rest(at) : matches(first, at, (to) => join(others, to, rest));
  };
  function matches(node: PatternNode, at: number, rest: Rest): boolean {
    steps += 1;
    switch (node.op) {
      case 'empty':
        return rest(at);
      case 'char':
        return at < runes.length && contains(node.set, runes[at] ?? 0) && rest(at + 1);
      case 'assert': {
        const isEdge = isWord(at - 1) !== isWord(at);
        const holds = { 'word-edge': isEdge, 'no-word-edge': !isEdge, 'text-start': at === 0, 'text-end': at === runes.length };
        if (!(node.what in holds)) throw new Error(`no pattern here has ${node.what}`);
        return Object.entries(holds).some(([what, isMet]) => what === node.what && isMet) && rest(at);
      }
      case 'join':
        return join(node.parts, at, rest);
      case 'either':
        return node.parts.some((part) => matches(part, at, rest));
      case 'group':
        return matches(node.of, at, rest);
      case 'repeat':
        return repeat(node, at, rest);
    }
  }
  const found = Array.from({ length: runes.length + 1 }, (_, start) => start).some((start) => matches(pattern, start, () => true));
  if (found) throw new Error('the text matches');
  return steps;
}

/** Returns the lengths of all middles that occur three times before the last character. */
function periods(text: string): readonly number[] {
  const stem = text.slice(0, -1);
  const lengths = Array.from({ length: Math.floor(stem.length / 3) }, (_, index) => index + 1);
  return lengths.filter((length) => stem.slice(-length).repeat(3) === stem.slice(-3 * length));
}

test.each([
  'a+b+',
  '(a+)+',
  '(a|aa)+',
  '(.*a){12}b',
  '(a+)+[\\s\\S]*$',
  'a|(a|aa)+b',
  '(\\w+\\b)+!',
  '(ab*)*c',
  '(?:[ -]?[0-9]{4}){3}\\b',
  '(?i)\\bdelete\\s+from\\s+\\S+\\s*(;|$)',
  '(curl|wget)\\s[^|;]*\\|\\s*(ba|z|da)?sh\\b',
  '.*.*.*=.*',
  '(a?)*b',
  '^(a|b)*c',
  '\\p{L}+x',
  '(\\p{Lu}|\\p{Ll})+$',
  '(\\pL|\\d)+$',
  // Their time is polynomial, which counts only where texts are very long.
  '\\s*\\s*\\s*x',
  '.*a.*b.*c',
  '^\\s*(.*)\\s*$',
])('%s does not explode', (pattern) => {
  expect(explosion(pattern)).toBeUndefined();
});

test('the search has one budget for all patterns', () => {
  const budget = { work: 0, steps: 100_000, checks: 0 };
  for (let index = 0; index < 300; index += 1) {
    const compiled = compilePattern(`(.*a){12}${index}`, budget);
    if ('pattern' in compiled) compiled.pattern.slowText();
  }
  expect(budget.steps).toBeLessThanOrEqual(0);
  expect(budget.steps).toBeGreaterThan(-500_000);
});
