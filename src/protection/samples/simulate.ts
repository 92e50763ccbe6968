import { type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import type { CompiledPattern, PatternCompiler } from '../pattern/compile.ts';

/** A guardrail entry that blocks a text, and the word or pattern that matches. */
export type GuardrailHit = { readonly entry: number; readonly name?: string; readonly part: string };

/** An entry that cannot be simulated; `broken` means that no gateway could use it either. */
type UncertainEntry = { readonly entry: number; readonly name?: string; readonly why: string; readonly broken: boolean };

/** The result of one side of a guardrail for a text; any hit blocks it. */
export type GuardrailResult = { readonly hits: readonly GuardrailHit[]; readonly uncertain: readonly UncertainEntry[] };

/** Simulates one side of a guardrail: a word blocks as a case-sensitive substring, a pattern when it matches anywhere. */
export function simulateGuardrail(entries: readonly JsonObject[], text: string, patterns: PatternCompiler): GuardrailResult {
  const hits: GuardrailHit[] = [];
  const doubts: UncertainEntry[] = [];
  for (const [entry, rule] of entries.entries()) {
    const { type, words, pattern_regex: pattern, name: given } = rule;
    const named = { entry, ...(typeof given === 'string' && given !== '' ? { name: given } : {}) };
    if (type === 'deny_words_list') {
      const word = textsIn(words).find((one) => one !== '' && text.includes(one));
      if (word !== undefined) hits.push({ ...named, part: `the word ${shortText(word)}` });
    } else if (type === 'pattern_match') {
      if (typeof pattern !== 'string' || pattern === '') continue;
      const found = searchPattern(patterns(pattern), text);
      if (found.found) hits.push({ ...named, part: `the pattern ${cutText(pattern)}` });
      else if (found.why !== undefined) doubts.push({ ...named, why: found.why, broken: found.broken });
    } else doubts.push({ ...named, why: `unknown entry type ${JSON.stringify(type ?? null)}`, broken: false });
  }
  return { hits, uncertain: doubts };
}

type PatternSearch = { readonly found: boolean; readonly why?: string; readonly broken: boolean };

function searchPattern(compiled: CompiledPattern, text: string): PatternSearch {
  if ('error' in compiled) {
    const { what, index } = compiled.error;
    return { found: false, why: `invalid RE2 pattern: ${what} at character ${index + 1}`, broken: true };
  }
  if ('tooLarge' in compiled) return { found: false, why: 'its pattern is too large to simulate', broken: false };
  const found = compiled.pattern.finds(text);
  return found === undefined
    ? { found: false, why: 'its pattern is too large for texts of this length or number', broken: false }
    : { found, broken: false };
}

/** The result of a masking rule for a text, by names of entity types. */
type MaskingResult = {
  readonly found: readonly string[];
  /** Found with a score below the threshold. */
  readonly below: readonly string[];
  /** Entity types that cannot be simulated, with the reason. */
  readonly uncertain: ReadonlyMap<string, string>;
};

/** Simulates the custom entity types of a masking rule; a score below the threshold masks nothing. */
export function simulateMasking(spec: JsonObject, text: string, patterns: PatternCompiler): MaskingResult {
  const threshold = spec['score_threshold'];
  const found: string[] = [];
  const below: string[] = [];
  const doubts = new Map<string, string>();
  for (const entity of objectsIn(spec['custom_entity_types'])) {
    const { name, score, regex, deny_list: words } = entity;
    if (typeof name !== 'string') continue;
    const isWord = textsIn(words).some((word) => hasWord(text, word));
    const by =
      typeof regex === 'string' && regex !== '' && !isWord ? searchPattern(patterns(regex), text) : { found: isWord, broken: false };
    const isEnough = typeof threshold !== 'number' || (typeof score === 'number' ? score : 0) >= threshold;
    if (by.found) (isEnough ? found : below).push(name);
    else if ('why' in by) doubts.set(name, by.why);
  }
  return { found, below, uncertain: doubts };
}

const letter = /[\p{L}\p{N}_]/u;

/** Returns whether the text contains the word as a whole word. */
function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!letter.test(text[at - 1] ?? '') && !letter.test(text[at + word.length] ?? '')) return true;
  }
  return false;
}

/** Lists the names of the custom entity types of a masking rule. */
export function customTypes(spec: JsonObject): readonly string[] {
  return objectsIn(spec['custom_entity_types']).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

const longestText = 60;

/** Cuts a text to 60 characters. */
function cutText(text: string): string {
  const characters = Array.from(text.slice(0, 4 * longestText));
  return characters.length > longestText ? `${characters.slice(0, longestText - 3).join('')}...` : text;
}

/** Cuts a text to 60 characters and puts it in quotes, without escaping. */
export function shortText(text: string): string {
  return `"${cutText(text)}"`;
}
