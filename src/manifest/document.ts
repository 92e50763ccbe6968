import type { Position } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Pointer } from '../model/pointer.ts';
import type { SourceFile } from '../model/source.ts';

/** One YAML document of a file, as JSON; positions are found only when asked for. */
export type ManifestDocument = {
  readonly file: SourceFile;
  /** Which document of the file, from 0. */
  readonly index: number;
  readonly value: Json;
  /** Keys that cannot stand were left out, with their values. */
  readonly damaged?: true;
  /** The place of the value at the pointer (or of its key), the nearest parent's where there is none. */
  readonly locate: (path: Pointer, part?: 'key' | 'value') => Position;
};
