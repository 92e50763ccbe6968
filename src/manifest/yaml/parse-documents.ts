import type { Checked, Diagnostic, Position } from '../../model/diagnostic.ts';
import type { SourceFile } from '../../model/source.ts';
import type { Json } from '../../model/json.ts';
import type { Pointer } from '../../model/pointer.ts';
import { createLocator } from './locate.ts';
import { createLineFinder } from './line-finder.ts';
import { type ParsedDocument, readStrictly } from './strict-reader.ts';
import { readYaml } from './read-yaml.ts';

/** Larger texts are not manifests. */
const maxLength = 1024 * 1024;

/**
 * Reads a file's documents; those of comments alone are left out. No text makes it throw or hang.
 * A fast reader tries first and knows what it does not know; the reference parser reads the rest, and finds all places.
 */
export function parseDocuments(file: SourceFile): Checked<readonly ManifestDocument[]> {
  const { documents, diagnostics } = parseLeniently(file);
  return diagnostics.length === 0 ? { value: documents, diagnostics } : { diagnostics };
}

/** Reads a file's documents as far as they can be read, for telling what else is wrong in them. */
export function parseLeniently(file: SourceFile): {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const { path, text } = file;
  if (text.length > maxLength) return { documents: [], diagnostics: [tooLargeDiagnostic(path)] };
  if (file.said !== undefined) return { documents: toManifestDocuments(file, [{ index: 0, value: file.said, start: 0 }]), diagnostics: [] };
  const documents = readStrictly(text);
  if (documents !== undefined) return { documents: toManifestDocuments(file, documents), diagnostics: [] };
  const reading = readYaml(file);
  return { documents: toManifestDocuments(file, reading.documents), diagnostics: reading.diagnostics };
}

function toManifestDocuments(file: SourceFile, documents: readonly ParsedDocument[]): readonly ManifestDocument[] {
  let finders: Finders | undefined;
  return documents.map(({ index, value, start, incomplete: damaged }) => {
    const document: ManifestDocument = {
      file,
      index,
      value,
      locate(path, part = 'value') {
        finders ??= { positionAt: createLineFinder(file.text), offsetOf: createLocator(file.text) };
        return { file: file.path, ...finders.positionAt(path === '' ? start : finders.offsetOf(index, path, part)) };
      },
    };
    return damaged === undefined ? document : { ...document, incomplete: damaged };
  });
}

type Finders = { readonly positionAt: ReturnType<typeof createLineFinder>; readonly offsetOf: ReturnType<typeof createLocator> };

function tooLargeDiagnostic(path: string): Diagnostic {
  return {
    code: 'manifest/too-large',
    severity: 'error',
    message: 'the file is larger than 1 MiB',
    hint: 'split it into several files',
    at: { file: path, line: 1, column: 1 },
  };
}

/** One YAML document of a file, as JSON; positions are found only when asked for. */
export type ManifestDocument = {
  readonly file: SourceFile;
  /** Which document of the file, from 0. */
  readonly index: number;
  readonly value: Json;
  /** Keys that cannot stand were left out, with their values. */
  readonly incomplete?: true;
  /** The place of the value at the pointer (or of its key), the nearest parent's where there is none. */
  readonly locate: (path: Pointer, part?: 'key' | 'value') => Position;
};
