import type { Checked, Diagnostic, Position } from '../../model/diagnostic.ts';
import type { SourceFile } from '../../model/source.ts';
import type { Json } from '../../model/json.ts';
import type { Pointer } from '../../model/pointer.ts';
import { frameOf } from './code-frame.ts';
import { locator, lineFinder } from './locate.ts';
import { type ReadDocument, readStrictly } from './strict-reader.ts';
import type { Mistake } from './yaml-errors.ts';
import { readYaml } from './read-yaml.ts';

/** Larger texts are not manifests. */
const maxLength = 1024 * 1024;

/**
 * Reads a file's documents; those of comments alone are left out. No text makes it throw or hang.
 * A fast reader tries first and knows what it does not know; the reference parser reads the rest, and finds all places.
 */
export function parseDocuments(file: SourceFile): Checked<readonly ManifestDocument[]> {
  const { documents, diagnostics } = parsePage(file);
  return diagnostics.length === 0 ? { value: documents, diagnostics } : { diagnostics };
}

/** Reads a file's documents as far as they can be read, for telling what else is wrong in them. */
export function parsePage(file: SourceFile): {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const { path, text } = file;
  if (text.length > maxLength) return { documents: [], diagnostics: [tooLarge(path)] };
  if (file.said !== undefined) return { documents: located(file, [{ index: 0, value: file.said, start: 0 }]), diagnostics: [] };
  const documents = readStrictly(text);
  if (documents !== undefined) return { documents: located(file, documents), diagnostics: [] };
  const reading = readYaml(text);
  return { documents: located(file, reading.documents), diagnostics: diagnose(file, reading.mistakes) };
}

function located(file: SourceFile, documents: readonly ReadDocument[]): readonly ManifestDocument[] {
  let finders: Finders | undefined;
  return documents.map(({ index, value, start, damaged }) => {
    const document: ManifestDocument = {
      file,
      index,
      value,
      locate(path, part = 'value') {
        finders ??= { positionAt: lineFinder(file.text), offsetOf: locator(file.text) };
        return { file: file.path, ...finders.positionAt(path === '' ? start : finders.offsetOf(index, path, part)) };
      },
    };
    return damaged === undefined ? document : { ...document, damaged };
  });
}

type Finders = { readonly positionAt: ReturnType<typeof lineFinder>; readonly offsetOf: ReturnType<typeof locator> };

function diagnose(file: SourceFile, mistakes: readonly Mistake[]): readonly Diagnostic[] {
  if (mistakes.length === 0) return [];
  const positionAt = lineFinder(file.text);
  return mistakes.map(({ code, message, hint, start, end }) => {
    const at = { file: file.path, ...positionAt(start) };
    return { code, severity: 'error', message, hint, at, frame: frameOf(file.text, at, end - start) };
  });
}

function tooLarge(path: string): Diagnostic {
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
  readonly damaged?: true;
  /** The place of the value at the pointer (or of its key), the nearest parent's where there is none. */
  readonly locate: (path: Pointer, part?: 'key' | 'value') => Position;
};
