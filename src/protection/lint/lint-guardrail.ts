import { guardrailEntries, registeredTypes } from '../controls/rule-rows.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { type Json, type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import type { PatternCompiler, CompiledPattern, Pattern, PatternError } from '../pattern/compile.ts';
import { shortText } from '../samples/simulate.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { kindOf } from '../../model/resource.ts';
import type { SampleSide } from '../../model/protection/protection.ts';

type GuardrailSide = 'input' | 'output';
type Word = { readonly text: string; readonly at: Pointer };

/** Finds problems of the words and patterns of a guardrail, separately for input and output. */
function lintGuardrail(spec: JsonObject, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  return (['input', 'output'] as const).flatMap((side) => lintSide(spec, side, patterns));
}

function lintSide(spec: JsonObject, side: GuardrailSide, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  const entries = guardrailEntries(spec, side);
  const words = entries.flatMap((entry, index) => wordsOf(entry, pointer('spec', side, 'rules', String(index), 'words')));
  const places = entries.flatMap((entry, index) => patternOf(entry, side, pointer('spec', side, 'rules', String(index), 'pattern_regex')));
  const single = withoutDuplicates(words);
  return [
    ...duplicateFindings(words, 'word'),
    ...duplicateFindings(places, 'pattern'),
    ...shadowedWords(single),
    ...single.flatMap(({ text, at }) => {
      const found = harmlessTexts[side].find((one) => one.includes(text));
      return found === undefined ? [] : [harmlessFinding({ what: `the word ${shortText(text)}`, at, side }, found)];
    }),
    ...(side === 'input' && single.length <= mostWords ? missingSpellings(single, withoutDuplicates(places), patterns) : []),
    ...withoutDuplicates(places).flatMap((place) => lintPattern(place, patterns)),
  ];
}

function wordsOf({ type, words }: JsonObject, at: Pointer): readonly Word[] {
  if (type !== 'deny_words_list') return [];
  return textsIn(words).flatMap((text, index) => (text === '' ? [] : [{ text, at: at + pointer(String(index)) }]));
}

function patternOf({ type, pattern_regex: text }: JsonObject, side: GuardrailSide, at: Pointer): readonly LocatedPattern[] {
  return type === 'pattern_match' && typeof text === 'string' && text !== '' ? [{ text, at, side }] : [];
}

/** Keeps the first of equal texts. */
function withoutDuplicates<T extends { readonly text: string }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.toReversed().map((one) => [one.text, one])).values()].toReversed();
}

/** Reports texts that two entries repeat. */
function duplicateFindings(all: readonly Word[], what: string): readonly DocumentDiagnostic[] {
  const seen = new Set<string>();
  return all.flatMap(({ text, at }): readonly DocumentDiagnostic[] => {
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const message = `duplicate ${what} ${shortText(text)}`;
    return [{ code: 'rule/duplicate', severity: 'warning', pointer: at, message, hint: 'remove one of them' }];
  });
}

// The comparison is quadratic. Longer lists are generated, so findings about them would not help.
const mostWords = 2_000;

/** Reports words that a shorter word makes redundant. */
function shadowedWords(words: readonly Word[]): readonly DocumentDiagnostic[] {
  const byLength = words.map(({ text }) => text).toSorted((one, other) => one.length - other.length);
  return words.slice(0, mostWords).flatMap(({ text, at }): readonly DocumentDiagnostic[] => {
    const shorter = byLength.slice(0, mostWords).find((one) => one.length < text.length && text.includes(one));
    if (shorter === undefined) return [];
    const message = `the word ${shortText(text)} is redundant: ${shortText(shorter)} blocks the same texts`;
    const hint = 'remove the longer word, or the shorter one if it blocks too much';
    return [{ code: 'rule/word-shadowed', severity: 'warning', pointer: at, message, hint }];
  });
}

const statements =
  /^\s*(?:select|insert|update|delete|drop|truncate|alter|create|grant|revoke|merge|replace|exec|execute|call|copy|union|into|rename|shutdown)\b/i;

/** Reports words that block only one of two spellings that differ in case. */
function missingSpellings(words: readonly Word[], others: readonly Word[], patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  return words.flatMap(({ text, at }): readonly DocumentDiagnostic[] => {
    const missing = spellingsOf(text).filter((spelling) => !isSpellingBlocked(spelling, words, { others, patterns }));
    if (missing.length === 0) return [];
    return [
      {
        code: 'rule/case-variant',
        severity: 'warning',
        pointer: at,
        message: `the word ${shortText(text)} does not block ${missing.map(shortText).join(', nor ')}`,
        hint: 'words are case-sensitive: add the other spellings, or write a pattern that begins with (?i)',
      },
    ];
  });
}

/** Returns the other spellings of a word: both cases for SQL statements, lower case for other words in capitals. Shell commands have one spelling. */
function spellingsOf(text: string): readonly string[] {
  const [lower, upper] = [text.toLowerCase(), text.toUpperCase()];
  if (statements.test(text)) return [lower, upper].filter((one) => one !== text);
  return /^[A-Za-z ;*()]+$/.test(text) && lower !== text ? [lower] : [];
}

type OtherPatterns = { readonly others: readonly Word[]; readonly patterns: PatternCompiler };

function isSpellingBlocked(spelling: string, words: readonly Word[], { others, patterns }: OtherPatterns): boolean {
  if (words.some(({ text }) => spelling.includes(text))) return true;
  return others.some(({ text }) => {
    const compiled = patterns(text);
    return 'pattern' in compiled && compiled.pattern.finds(spelling) !== false;
  });
}

/** Finds problems of a guardrail or masking rule; returns nothing for other kinds. */
export function lintRule({ id, written, spec }: DesiredResource, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  switch (kindOf(id)) {
    case 'GuardrailRule':
      return lintGuardrail(written ?? spec, patterns);
    case 'DataMaskingRule':
      return lintMasking(written ?? spec, patterns);
    default:
      return [];
  }
}

/** Finds problems of the custom entity types of a masking rule: patterns, words and scores. */
function lintMasking(spec: JsonObject, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  const entities = objectsIn(spec['custom_entity_types']);
  const words = entities.flatMap(({ deny_list: list }, index) =>
    textsIn(list).map((text, word) => ({ text, at: entityPointer(index, 'deny_list') + pointer(String(word)) })),
  );
  const regexes = entities.flatMap(({ regex: text }, index) =>
    typeof text === 'string' && text !== '' ? [{ text, at: entityPointer(index, 'regex'), side: 'text' } as const] : [],
  );
  return [
    ...duplicateFindings(words, 'word'),
    ...duplicateFindings(regexes, 'pattern'),
    ...words.flatMap(({ text, at }) =>
      harmlessTexts.text.includes(text) ? [harmlessFinding({ what: `the word ${shortText(text)}`, at, side: 'text' }, text)] : [],
    ),
    ...regexes.flatMap((place) => lintPattern(place, patterns)),
    ...lowScores(spec, entities),
  ];
}

function entityPointer(index: number, field: string): Pointer {
  return pointer('spec', 'custom_entity_types', String(index), field);
}

/** Reports entity types whose score is below the threshold; an error when the rule then masks nothing. */
function lowScores(spec: JsonObject, entities: readonly JsonObject[]): readonly DocumentDiagnostic[] {
  const threshold = spec['score_threshold'];
  const low = entities.flatMap((entity, index) => (isTooLow(scoreOf(entity), threshold) ? [{ entity, index }] : []));
  const isIdle = typeof threshold === 'number' && low.length === entities.length && registeredTypes(spec).length === 0;
  return low.map(({ entity, index }): DocumentDiagnostic => {
    const { name, score } = entity;
    const stated = score === undefined ? 'has no score, which is 0' : `has the score ${scoreOf(entity)}`;
    const beside = typeof threshold === 'number' ? `below the threshold of ${threshold}, so it masks nothing` : 'the lowest possible score';
    return {
      code: 'rule/score-below-threshold',
      severity: isIdle ? 'error' : 'warning',
      pointer: pointer('spec', 'custom_entity_types', String(index), ...(score === undefined ? [] : ['score'])),
      message: `${typeof name === 'string' ? name : 'the entity type'} ${stated}, ${beside}`,
      hint:
        typeof threshold === 'number'
          ? `set a score of at least ${threshold}`
          : 'set a score above 0: a gateway may skip types without a score',
    };
  });
}

function scoreOf({ score }: JsonObject): number {
  return typeof score === 'number' ? score : 0;
}

function isTooLow(score: number, threshold: Json | undefined): boolean {
  return typeof threshold === 'number' ? score < threshold : score === 0;
}

/** Harmless texts by side; a rule that matches one of them is probably too broad. */
const harmlessTexts: Readonly<Record<SampleSide, readonly string[]>> = {
  input: [
    'SELECT 1',
    'select 1;',
    'SELECT now();',
    'SELECT id, name FROM orders WHERE id = 42 LIMIT 10;',
    'EXPLAIN SELECT 1;',
    'ls',
    'ls -l',
    'pwd',
    'date',
    'echo ok',
    'GET /health',
  ],
  output: ['ok', '1', '(1 row)', ' ?column? \n----------\n        1\n(1 row)\n', 'total 0', '{"status":"ok"}', 'HTTP/1.1 200 OK'],
  text: ['ok', '1', '(1 row)', 'total 0', 'true', 'null'],
};

/** A pattern with its pointer and its side. */
type LocatedPattern = { readonly text: string; readonly at: Pointer; readonly side: SampleSide };

/** Finds problems of one pattern: RE2 rejects it, it matches harmless texts, or it is slow in backtracking engines. */
function lintPattern(place: LocatedPattern, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  const compiled = patterns(place.text);
  if ('error' in compiled) return [syntaxFinding(place, compiled.error)];
  if ('tooLarge' in compiled) return [sizeFinding(place)];
  return [...matchesTooMuch(place, compiled), ...slowFindings(place, compiled.pattern)];
}

/** Reports a syntax error. It is only a warning for masking, because the provider's engine may accept more than RE2. */
function syntaxFinding({ text, at, side }: LocatedPattern, { what, index, hint, elsewhere }: PatternError): DocumentDiagnostic {
  const mayWork = side === 'text' && elsewhere;
  return {
    code: 'rule/pattern-refused',
    severity: mayWork ? 'warning' : 'error',
    pointer: at,
    message: `invalid RE2 pattern: ${what}, at character ${index + 1} of ${shortText(text)}`,
    hint: mayWork ? 'the masking provider may accept it; Ostiary does not simulate it' : (hint ?? 'correct the pattern'),
    within: { text, index },
  };
}

function sizeFinding({ text, at }: LocatedPattern): DocumentDiagnostic {
  return {
    code: 'rule/pattern-too-large',
    severity: 'warning',
    pointer: at,
    message: `the pattern ${shortText(text)} is too large to simulate`,
    hint: 'lower its repeat counts, or split it into several entries',
  };
}

function matchesTooMuch({ text, at, side }: LocatedPattern, compiled: CompiledPattern): readonly DocumentDiagnostic[] {
  if (!('pattern' in compiled)) return [];
  const verb = side === 'text' ? 'masks' : 'blocks';
  const isEmpty = compiled.pattern.finds('') === true;
  const matched = harmlessTexts[side].filter((one) => compiled.pattern.finds(one) === true);
  if (isEmpty) {
    const outcome = matched.length === harmlessTexts[side].length ? `so it ${verb} everything` : `so it ${verb} empty texts`;
    const message = `the pattern ${shortText(text)} matches the empty text, ${outcome}`;
    const hint = 'make a part of it required: use + instead of *, and no empty alternative';
    return [{ code: 'rule/matches-empty', severity: 'warning', pointer: at, message, hint }];
  }
  const [found] = matched;
  return found === undefined ? [] : [harmlessFinding({ what: `the pattern ${shortText(text)}`, at, side }, found)];
}

/** Returns the finding for a word or pattern that matches a harmless text. */
function harmlessFinding(
  { what, at, side }: { readonly what: string; readonly at: Pointer; readonly side: SampleSide },
  found: string,
): DocumentDiagnostic {
  return {
    code: 'rule/matches-harmless',
    severity: 'warning',
    pointer: at,
    message: `${what} ${side === 'text' ? 'masks' : 'blocks'} ${shortText(found)}, which is harmless`,
    hint: 'make it more specific; \\b matches a word boundary',
  };
}

/** Reports a pattern that takes exponential time in backtracking engines. */
function slowFindings({ text, at }: LocatedPattern, { slowText }: Pattern): readonly DocumentDiagnostic[] {
  const sample = slowText();
  if (sample === undefined) return [];
  return [
    {
      code: 'rule/pattern-backtracks',
      severity: 'warning',
      pointer: at,
      message: `the pattern ${shortText(text)} takes exponential time in backtracking engines, for example on longer texts like ${shortText(sample)}`,
      hint: 'RE2 is not affected; for other engines, avoid nested repeats that match the same text',
    },
  ];
}
