import { createHash } from 'node:crypto';
import { compareText } from '../model/json.ts';
import type { SourceFile } from '../model/source.ts';

/** Hashes files by path and text, whatever order they come in: SHA-256 in hex. */
export function treeHash(files: readonly SourceFile[]): string {
  const hash = createHash('sha256');
  for (const { path, text } of files.toSorted((left, right) => compareText(left.path, right.path))) {
    hash.update(`${path.length}:${path}${text.length}:${text}`);
  }
  return hash.digest('hex');
}
