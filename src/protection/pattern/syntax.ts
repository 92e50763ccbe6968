import type { CharSet } from './char-set.ts';

/** What holds between two characters. */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** A pattern as it was read; groups are transparent. */
export type PatternNode =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'join'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'either'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'group'; readonly of: PatternNode }
  | { readonly op: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number | undefined };

/**
 * What RE2 does not take: in words, from which character (from 0) on, and what to write instead; `elsewhere` where other
 * engines take it.
 */
export type PatternError = { readonly what: string; readonly index: number; readonly hint?: string; readonly elsewhere?: true };

/** Ends the reading of a pattern; it never leaves this folder. */
export class PatternSyntaxError extends Error {
  readonly refusal: PatternError;

  constructor(refusal: PatternError) {
    super(refusal.what);
    this.refusal = refusal;
  }
}

/** The text of a pattern and how far it was read. */
export type PatternCursor = { readonly text: string; at: number };

/** The character at the cursor as a code point; the cursor moves on. */
export function nextRune(cursor: PatternCursor): number {
  const rune = cursor.text.codePointAt(cursor.at) ?? 0;
  cursor.at += rune > 0xffff ? 2 : 1;
  return rune;
}

/** Moves past the text where the cursor stands on it. */
export function consumeText(cursor: PatternCursor, text: string): boolean {
  if (!cursor.text.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
}
