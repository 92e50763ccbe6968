import { isObject, type JsonObject } from '../../model/json.ts';
import { manifestStyle, writeBlock, writePair } from '../yaml/write-yaml.ts';

/** Returns a manifest or a config as people write it, below the comment that names its schema for editors, and further comments. */
export function manifestText(value: JsonObject, schema: string, ...comments: readonly string[]): string {
  const lines = Object.entries(value).flatMap(([name, part]) =>
    // Metadata and spec are blocks, even small ones.
    isObject(part) && Object.keys(part).length > 0
      ? [`${name}:`, ...writeBlock(part, 2, manifestStyle)]
      : writePair(name, part, 0, manifestStyle),
  );
  return [`# yaml-language-server: $schema=${schema}`, ...comments, ...lines, ''].join('\n');
}
