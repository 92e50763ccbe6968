import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DesiredResource } from '../../src/model/desired.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import { lintRule } from '../../src/protection/lint/lint-guardrail.ts';
import { compilePattern, patternCache } from '../../src/protection/pattern/compile.ts';
import { simulateGuardrail, simulateMasking } from '../../src/protection/samples/simulate.ts';
import { runCount } from '../support/property-runs.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'A', ' ', '\n', 'é'), maxLength: 8 });
/** Parts of patterns, right and wrong, put together in any order. */
const pieces = fc.constantFrom(
  ...'a b . \\d \\w+ \\b ^ $ [a-c] [^a] (a|b) (?i) (?s:.) * + ? {2,3} {900} | ( ) [ ] \\ (?= (?<! \\1 \\p{L} \\Q \\E (a+)+ (?:a|aa)* \\x{41} { (? é 😀 \u0000'.split(
    ' ',
  ),
);
const pattern = fc.oneof(
  fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const entry: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant('deny_words_list'), words: fc.array(letters, { maxLength: 4 }) }),
  fc.record({ type: fc.constant('pattern_match'), pattern_regex: pattern }),
  fc.record({ type: fc.constant('pattern_match'), pattern_regex: fc.constantFrom('a+', '(?i)ab', '^b', 'b$', '\\bab?\\b', 'a(?=b)') }),
);
const entries = fc.array(entry, { maxLength: 4 });
/** A word, and a text that contains it as a whole word. */
const wordInText = fc
  .tuple(fc.stringMatching(/^[abA]{1,6}$/), letters, letters)
  .map(([word, before, after]) => ({ word, text: `${before} ${word} ${after}` }));

function isBlocked(rules: readonly JsonObject[], text: string): boolean {
  return simulateGuardrail(rules, text, patternCache()).hits.length > 0;
}

describe('simulating rules', () => {
  test('another word or entry never allows a blocked text', () => {
    fc.assert(
      fc.property(entries, entry, letters, letters, (rules, more, word, text) => {
        fc.pre(isBlocked(rules, text));
        expect(isBlocked([...rules, more], text)).toBe(true);
        const widened = rules.map((rule) => (Array.isArray(rule['words']) ? { ...rule, words: [...rule['words'], word] } : rule));
        expect(isBlocked(widened, text)).toBe(true);
      }),
    );
  });

  test('entries block exactly what one of them blocks, in any order', () => {
    fc.assert(
      fc.property(entries, entries, letters, (some, others, text) => {
        const either = isBlocked(some, text) || isBlocked(others, text);
        expect(isBlocked([...some, ...others], text)).toBe(either);
        expect(isBlocked([...others.toReversed(), ...some], text)).toBe(either);
      }),
    );
  });

  test('a lower threshold or a higher score never unmasks a text', () => {
    const score = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(wordInText, score, score, score, ({ word, text }, own, threshold, more) => {
        const masked = (spec: JsonObject): readonly string[] => simulateMasking(spec, text, patternCache()).found;
        const spec = (with_: number, from: number): JsonObject => ({
          score_threshold: from,
          custom_entity_types: [{ name: 'A', score: with_, deny_list: [word] }],
        });
        fc.pre(own >= threshold);
        expect(masked(spec(own, threshold))).toEqual(['A']);
        expect(masked(spec(own, Math.min(threshold, more)))).toEqual(['A']);
        expect(masked(spec(Math.max(own, more), threshold))).toEqual(['A']);
      }),
    );
  });
});

describe('linting rules', () => {
  test('never throws, whatever the words and patterns are', () => {
    fc.assert(
      fc.property(entries, entries, pattern, (input, output, regex) => {
        const rule = { id: 'GuardrailRule/rule' as const, written: { input: { rules: input }, output: { rules: output } } };
        const types = [{ name: 'A', score: 1, regex }];
        const masking = { id: 'DataMaskingRule/rule' as const, written: { custom_entity_types: types } };
        expect(lintRule(resourceOf(rule), patternCache())).toBeInstanceOf(Array);
        expect(lintRule(resourceOf(masking), patternCache())).toBeInstanceOf(Array);
      }),
      { numRuns: runCount(70) },
    );
  });

  test('a pattern is accepted or rejected at an index inside it', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        const compiled = compilePattern(text);
        fc.pre('error' in compiled);
        expect(compiled.error.index).toBeGreaterThanOrEqual(0);
        expect(compiled.error.index).toBeLessThan(Math.max(1, text.length));
      }),
    );
  });
});

function resourceOf(given: { readonly id: ResourceId; readonly written: JsonObject }): DesiredResource {
  return {
    ...given,
    key: given.id,
    spec: given.written,
    stated: new Set(),
    secrets: {},
    wholeSecrets: [],
    ignore: [],
    protect: false,
    adopt: false,
    locate: () => ({ file: 'rule.yaml', line: 1, column: 1 }),
    locateIgnore: () => ({ file: 'rule.yaml', line: 1, column: 1 }),
  };
}

describe('hostile patterns', () => {
  const megabyte = 1_000_000;
  const noise = Array.from({ length: megabyte }, (_, index) => ((index * 2_654_435_761) % 4_294_967_296 > 2_147_483_648 ? 'a' : 'b')).join(
    '',
  );
  const texts = [`${'a'.repeat(megabyte)}!`, noise, 'x '.repeat(megabyte / 2), 'é'.repeat(megabyte), 'drop '.repeat(megabyte / 5)];

  test.each([
    '(a+)+$',
    '(x+x+)+y',
    '(.*)*[!?]x',
    '(?:a?){100}[bc]$',
    '(?:a?){1000}[yz]',
    '(a|b)*a(a|b){20}[cd]',
    'a.{50}[cd]',
    'a.{500}[cd]',
    '\\pL{200}\\pN',
    '(?:[a-z]{1,100}){1,10}[!?]x',
    '(?i)\\b(drop\\s+(table|schema|database|index)|truncate\\s)\\b',
    '(?i)(\\bcopy\\b.+\\bto\\b|\\\\copy\\b|\\bbcp\\b.+\\bout\\b|mongoexport|mongodump|mysqldump)',
  ])('a search in a megabyte of text for %s takes at most 30 million steps of the budget, or does not start', (text) => {
    const budget = { work: 1_000_000_000, steps: 0, checks: 100 };
    const compiled = compilePattern(text, budget);
    for (const sample of texts) {
      const before = budget.work;
      const found = 'pattern' in compiled ? compiled.pattern.finds(sample) : undefined;
      expect(before - budget.work).toBeLessThanOrEqual(found === undefined ? 0 : 30_000_000);
    }
  });

  test.each(['(a+)+$', '(x+x+)+y', '(?i)\\b(drop\\s+(table|schema|database|index)|truncate\\s)\\b', '(?:a?){100}[yz]'])(
    'patterns that need few states are tried on a megabyte, as %s',
    (text) => {
      const compiled = compilePattern(text);
      const found = texts.map((sample) => ('pattern' in compiled ? compiled.pattern.finds(sample) : undefined));
      expect(found).toEqual([false, text === '(a+)+$' ? noise.endsWith('a') : false, false, false, false]);
    },
  );

  test.each([
    ['repeats in repeats', '((((a{10}){10}){10}){10})'],
    ['many of them', 'a{1000}'.repeat(500)],
    ['a long list', `(${Array.from({ length: 60_000 }, (_, index) => `word${index}`).join('|')})`],
    ['many brackets', '('.repeat(100_000)],
    ['many classes', '[a-z\\d_]'.repeat(60_000)],
    ['deep repeats', `${'(?:'.repeat(900)}a${')*'.repeat(900)}`],
    ['wide choices', `(${'a?'.repeat(2_000)})*b`],
    ['empty choices', `(${'|'.repeat(100_000)})`],
    ['assertions', '\\b\\B^$'.repeat(20_000)],
  ])('%s are too large, an error, or small', (_, text) => {
    const compiled = compilePattern(text);
    expect('pattern' in compiled ? compiled.pattern.size : 0).toBeLessThanOrEqual(5_000);
  });

  test('many of them on many samples terminate, and untested samples do not pass', () => {
    const patterns = patternCache({ work: 10_000_000, steps: 1_000, checks: 3 });
    const rules = Array.from({ length: 100 }, (_, index) => ({ type: 'pattern_match', pattern_regex: `[ab]*a[ab]{${400 + index}}[cd]` }));
    const tried = Array.from({ length: 100 }, (_, index) =>
      simulateGuardrail(rules, noise.slice(index * 2_000, (index + 1) * 2_000), patterns),
    );
    expect(tried[0]?.uncertain.length).toBeLessThan(100);
    expect(tried.at(-1)?.uncertain).toHaveLength(100);
  });
});
