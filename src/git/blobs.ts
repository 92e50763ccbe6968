import { AppError } from '../model/errors.ts';
import { askGit } from './ask-git.ts';
import type { Place } from './place.ts';

export type BlobReading = {
  /** So many bytes are kept of each; the rest is passed over. */
  readonly most: number;
  readonly take: (id: string, bytes: Buffer) => void;
};

/** Reads objects by their ids, each once, in one process; the bytes are taken one object after another. */
export async function readBlobs(place: Place, ids: Iterable<string>, { most, take }: BlobReading): Promise<void> {
  const wanted = new Set(ids);
  if (wanted.size === 0) return;
  await askGit(place, ['cat-file', '--batch', '--buffer'], { input: `${[...wanted].join('\n')}\n`, hear: batchReader(most, take) });
}

type Blob = { readonly id: string; readonly size: number; readonly parts: Buffer[]; kept: number; passed: number };

/** Takes `ID blob SIZE`, a line's end, SIZE bytes and a line's end, again and again, in whatever parts they come. */
function batchReader(most: number, take: BlobReading['take']): (part: Buffer) => void {
  let header = '';
  let blob: Blob | undefined;
  return (part) => {
    let at = 0;
    while (at < part.length) {
      if (blob === undefined) {
        const end = part.indexOf(0x0a, at);
        header += part.toString('latin1', at, end < 0 ? part.length : end);
        if (end < 0) return;
        at = end + 1;
        blob = begin(header);
        header = '';
      } else if (blob.passed < blob.size) {
        const next = Math.min(part.length, at + blob.size - blob.passed);
        const kept = part.subarray(at, Math.min(next, at + most - blob.kept));
        if (kept.length > 0) blob.parts.push(kept);
        blob.kept += kept.length;
        blob.passed += next - at;
        at = next;
      } else {
        at += 1;
        const [first = Buffer.alloc(0)] = blob.parts;
        take(blob.id, blob.parts.length > 1 ? Buffer.concat(blob.parts) : first);
        blob = undefined;
      }
    }
  };
}

function begin(header: string): Blob {
  const [id = '', type, size] = header.split(' ');
  if (size !== undefined && type === 'blob') return { id, size: Number(size), parts: [], kept: 0, passed: 0 };
  throw new AppError('git/failed', 4, `git has no file with the id ${id}: the clone is not whole`, {
    hint: 'clone again, without a filter; git fsck tells what is missing',
  });
}
