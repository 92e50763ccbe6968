import { memoizeByText } from './collections.ts';

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

/** Returns the test whether a pointer is one of the pointers, lies below one, or contains one. */
export function overlapTest(pointers: readonly Pointer[]): (path: Pointer) => boolean {
  const exact = new Set(pointers);
  const containing = new Set(pointers.flatMap(prefixesOf));
  return (path) => containing.has(path) || prefixesOf(path).some((prefix) => exact.has(prefix));
}

/** Lists a pointer and all that contain it, the root first. */
function prefixesOf(path: Pointer): readonly Pointer[] {
  const prefixes: Pointer[] = [];
  for (let end = 0; end !== -1; end = path.indexOf('/', end + 1)) prefixes.push(path.slice(0, end));
  return path === '' ? prefixes : [...prefixes, path];
}

/** Returns whether two pointers are the same, or one lies below the other. */
export function overlaps(one: Pointer, other: Pointer): boolean {
  return isPointerWithin(one, other) || isPointerWithin(other, one);
}

/** Returns whether the pointer is the prefix itself or lies below it. */
export function isPointerWithin(path: Pointer, prefix: Pointer): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Returns whether a path is one of some paths, or within one. */
export function isWithinAny(path: Pointer, prefixes: readonly Pointer[]): boolean {
  return prefixes.some((prefix) => isPointerWithin(path, prefix));
}

/** Returns the name of the field that a path is in; empty for the empty path. */
export function fieldAt(path: Pointer): string {
  return tokensOf(path)[0] ?? '';
}
