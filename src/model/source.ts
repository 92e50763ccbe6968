import type { Json } from './json.ts';

/** A file that the user wrote: its path relative to the working directory (with `/`) and its text. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  /** The value of its only document, when the text was generated from it and need not be parsed. */
  readonly said?: Json;
};

/** Returns whether a file with this name may contain manifests. */
export function isManifestName(name: string): boolean {
  return name.endsWith('.yaml') || name.endsWith('.yml');
}

/** Returns whether a folder with this name is searched for manifests. */
export function isManifestFolder(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

const badCharacters = /[\p{Cc}\u2028\u2029\ufffd]/u;

/** Returns whether a name is valid UTF-8 and contains no control characters or line breaks. */
export function isPrintableName(name: string): boolean {
  return !badCharacters.test(name);
}
