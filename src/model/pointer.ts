import { memoizeByText } from './memoize.ts';

/** A JSON Pointer (RFC 6901); in keyed lists the key replaces the index. */
export type Pointer = string;

/** Joins tokens to a pointer, escaping each. */
export function pointer(...tokens: readonly string[]): Pointer {
  let path = '';
  for (const token of tokens) path += `/${escaped(token)}`;
  return path;
}

function escaped(token: string): string {
  return token.includes('~') || token.includes('/') ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** Splits a pointer into its tokens; the empty pointer has none. */
export const tokensOf: (path: Pointer) => readonly string[] = memoizeByText(split);

function split(path: Pointer): readonly string[] {
  if (path === '') return [];
  const tokens = path.slice(1).split('/');
  return path.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens;
}

/** Returns whether the pointer is the prefix itself or lies below it. */
export function isPointerWithin(path: Pointer, prefix: Pointer): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
