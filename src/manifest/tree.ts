import { createHash } from 'node:crypto';
import { compareText } from '../model/json.ts';
import type { SourceFile } from '../model/source.ts';

// Many short texts cost more to hand over than to hash.
const enough = 65_536;

/** Hashes files by path in the tree and text, whatever order they come in and however their lines end: SHA-256 in hex. */
export function treeHash(files: readonly SourceFile[], pathInTree: (path: string) => string = (path) => path): string {
  const hash = createHash('sha256');
  const placed = files.map(({ path, text }) => ({
    path: pathInTree(path),
    text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text,
  }));
  let waiting = '';
  for (const { path, text } of placed.toSorted((left, right) => compareText(left.path, right.path))) {
    waiting += `${path.length}:${path}${text.length}:${text}`;
    if (waiting.length < enough) continue;
    hash.update(waiting);
    waiting = '';
  }
  return hash.update(waiting).digest('hex');
}
