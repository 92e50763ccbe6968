import type { CharSet } from './char-set.ts';

/** An assertion between two characters. */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** A node of a parsed pattern. */
export type PatternNode =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'join'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'either'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'group'; readonly of: PatternNode }
  | { readonly op: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number | undefined };

/**
 * A construct that RE2 rejects: its description, its index (from 0), and a replacement. `elsewhere` means that other engines
 * accept it.
 */
export type PatternError = { readonly what: string; readonly index: number; readonly hint?: string; readonly elsewhere?: true };

/** Aborts the parsing of a pattern; it never leaves this folder. */
export class PatternSyntaxError extends Error {
  readonly error: PatternError;

  constructor(error: PatternError) {
    super(error.what);
    this.error = error;
  }
}

/** The text of a pattern and the index of the next character. */
export type PatternCursor = { readonly text: string; at: number };

/** Reads the code point at the cursor and moves past it. */
export function nextRune(cursor: PatternCursor): number {
  const rune = cursor.text.codePointAt(cursor.at) ?? 0;
  cursor.at += rune > 0xffff ? 2 : 1;
  return rune;
}

/** Moves past the given text; returns false when the cursor is not on it. */
export function consumeText(cursor: PatternCursor, text: string): boolean {
  if (!cursor.text.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
}
