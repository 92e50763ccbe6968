import type { Json } from './json.ts';

/** A file the user wrote: its path as shown to the user (relative to where they stand, with `/`) and its text. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  /** What its one document says, where the text was made from it and need not be read. */
  readonly said?: Json;
};

/** Tells whether a file of that name may hold manifests. */
export function isManifestName(name: string): boolean {
  return name.endsWith('.yaml') || name.endsWith('.yml');
}

/** Tells whether manifests are looked for in a folder of that name. */
export function isManifestFolder(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

const badCharacters = /[\p{Cc}\u2028\u2029\ufffd]/u;

/** Tells whether a name would not break lines of output, and is UTF-8. */
export function isPrintableName(name: string): boolean {
  return !badCharacters.test(name);
}
