import { suggestWord } from '../model/diagnostic.ts';
import { isObject, type Json } from '../model/json.ts';

/** Formats a place for users: `reviewers[0]`, `input.rules[1].type`; fields of spec without `spec`, entries of a spec that is a list with it. */
export function formatPlace(tokens: readonly string[]): string {
  const [first, second = ''] = tokens;
  const shown = tokens.length > 1 && first === 'spec' && !/^\d+$/.test(second) ? tokens.slice(1) : tokens;
  return shown.map((token, index) => (/^\d+$/.test(token) && index > 0 ? `[${token}]` : `${index === 0 ? '' : '.'}${token}`)).join('');
}

/** Quotes a value for a message; of lists and maps it only names the type. */
export function quoteValue(value: Json | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
}

/** Returns the name of a value's type, without the value. */
export function describeType(value: Json | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'a boolean';
  return value === null || value === undefined ? 'null' : 'a map';
}

/** The hint for a null key of a map. */
export const nullKeyHint = 'remove the key; null removes a key only in an overlay, or over a default';

/** Suggests the only word that begins or ends with the text (without a plural s), such as agent_id for agent. */
export function suggestPartialMatch(text: string, words: readonly string[]): string | undefined {
  const stem = text.toLowerCase().replace(/s$/, '');
  if (stem.length < 3) return undefined;
  const [found, second] = words.filter((word) => `${word}_`.startsWith(`${stem}_`) || word.replace(/s$/, '').endsWith(`_${stem}`));
  return second === undefined ? suggestWord(found) : undefined;
}

/** Returns the value at the tokens, by key and index; undefined if there is none. */
export function readValueAt(value: Json | undefined, tokens: readonly string[]): Json | undefined {
  let below = value;
  for (const token of tokens) {
    if (Array.isArray(below)) below = below[Number(token)];
    else below = isObject(below) && Object.hasOwn(below, token) ? below[token] : undefined;
  }
  return below;
}

/** Converts a scalar to text; a list or a map becomes the empty string. */
export function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
