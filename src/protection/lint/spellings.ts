import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { shortText } from '../short-text.ts';

type LocatedText = { readonly text: string; readonly at: Pointer };

const statements =
  /^\s*(?:select|insert|update|delete|drop|truncate|alter|create|grant|revoke|merge|replace|exec|execute|call|copy|union|into|rename|shutdown)\b/i;

/** Reports words that block only one of two spellings that differ in case. */
export function missingSpellings(
  words: readonly LocatedText[],
  others: readonly LocatedText[],
  patterns: PatternCompiler,
): readonly DocumentDiagnostic[] {
  return words.flatMap(({ text, at }): readonly DocumentDiagnostic[] => {
    const missing = spellingsOf(text).filter((spelling) => !isBlocked(spelling, words, { others, patterns }));
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

type OtherPatterns = { readonly others: readonly LocatedText[]; readonly patterns: PatternCompiler };

function isBlocked(spelling: string, words: readonly LocatedText[], { others, patterns }: OtherPatterns): boolean {
  if (words.some(({ text }) => spelling.includes(text))) return true;
  return others.some(({ text }) => {
    const compiled = patterns(text);
    return 'pattern' in compiled && compiled.pattern.finds(spelling) !== false;
  });
}
