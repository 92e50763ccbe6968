import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { SampleSide } from '../../model/protection/protection.ts';
import type { CompiledPattern, Pattern, PatternCompiler } from '../pattern/compile.ts';
import type { PatternError } from '../pattern/char-set.ts';
import type { Unjudged } from '../pattern/slowness.ts';
import { shortText } from '../wording.ts';

/** Harmless texts by side; a rule that matches one of them is probably too broad. */
export const harmlessTexts: Readonly<Record<SampleSide, readonly string[]>> = {
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
export type LocatedPattern = { readonly text: string; readonly at: Pointer; readonly side: SampleSide };

/** Finds problems of one pattern: RE2 rejects it, it matches harmless texts, or it is slow in backtracking engines. */
export function lintPattern(place: LocatedPattern, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  const compiled = patterns(place.text);
  if ('error' in compiled) return [syntaxFinding(place, compiled.error)];
  if ('tooLarge' in compiled) return [sizeFinding(place)];
  return [...matchesTooMuch(place, compiled), ...slownessFindings(place, compiled.pattern)];
}

/** Reports a syntax error. It is only a warning for masking, because the provider's engine may accept more than RE2. */
function syntaxFinding({ text, at, side }: LocatedPattern, { what, index, hint, elsewhere }: PatternError): DocumentDiagnostic {
  const mayWork = side === 'text' && elsewhere === true;
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
export function harmlessFinding(
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

/** Reports slowness in backtracking engines: a notice for quadratic time, a warning for more. */
function slownessFindings({ text, at }: LocatedPattern, { slowness }: Pattern): readonly DocumentDiagnostic[] {
  const found = slowness();
  if (found === undefined) return [];
  if ('reason' in found) return [unjudgedFinding({ text, at }, found)];
  const { power, sample } = found;
  const time = Number.isFinite(power)
    ? `time that grows with the ${powers[power] ?? `${Math.min(power, 20)}th power`} of the text`
    : 'exponential time';
  return [
    {
      code: 'rule/pattern-backtracks',
      severity: power === 2 ? 'notice' : 'warning',
      pointer: at,
      message: `the pattern ${shortText(text)} takes ${time} in backtracking engines, for example on longer texts like ${shortText(sample)}`,
      hint: Number.isFinite(power)
        ? 'RE2 is not affected; for other engines, avoid adjacent repeats that match the same text'
        : 'RE2 is not affected; for other engines, avoid nested repeats that match the same text',
    },
  ];
}

function unjudgedFinding({ text, at }: Pick<LocatedPattern, 'text' | 'at'>, { reason }: Unjudged): DocumentDiagnostic {
  return {
    code: 'rule/pattern-unjudged',
    severity: 'notice',
    pointer: at,
    message: `Ostiary cannot judge whether the pattern ${shortText(text)} is slow in backtracking engines: ${reason}`,
    hint: 'RE2 is not affected; for other engines, split the pattern into several entries',
  };
}

const powers: Readonly<Record<number, string>> = { 2: 'square', 3: 'cube' };
