import type { Position, SourceFile } from '../../model/diagnostic.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Pointer } from '../../model/pointer.ts';
import { createLineFinder } from './code-frame.ts';
import { findOffset, type ParsedDocument, type TextOffsets } from './offsets.ts';
import { readStrictly } from './strict-reader.ts';
import { readYaml, type YamlDiagnostic } from './read-yaml.ts';

/** The maximum length of a file, in UTF-16 code units. */
const maxLength = 1024 * 1024;

/**
 * Reads the documents of a file, without those that contain only comments. It never throws or hangs, whatever the text.
 * The strict reader tries first; the reference parser reads what the strict one rejects, and words the errors.
 */
export function parseDocuments(file: SourceFile): {
  readonly value?: readonly ManifestDocument[];
  readonly diagnostics: readonly YamlDiagnostic[];
} {
  const { documents, diagnostics } = parseLeniently(file);
  return diagnostics.length === 0 ? { value: documents, diagnostics } : { diagnostics };
}

/** Reads the documents of a file that can be read, and the errors in the others, so that one run reports as many errors as possible. */
export function parseLeniently(file: SourceFile): {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly YamlDiagnostic[];
} {
  const { path } = file;
  const text = withLineFeeds(file.text);
  if (file.text.length > maxLength) return { documents: [], diagnostics: [tooLargeDiagnostic(path)] };
  if (file.said !== undefined)
    return { documents: toManifestDocuments(file, text, [{ index: 0, value: file.said, start: 0 }]), diagnostics: [] };
  const documents = readStrictly(text);
  if (documents !== undefined) return { documents: toManifestDocuments(file, text, documents), diagnostics: [] };
  const reading = readYaml({ path, text });
  return { documents: toManifestDocuments(file, text, reading.documents), diagnostics: reading.diagnostics };
}

/** Returns a text with one form of line breaks: values, lines and columns are the same. A `\r` elsewhere is for `yaml` to judge. */
function withLineFeeds(text: string): string {
  const read = text.replaceAll('\r\n', '\n');
  return read.includes('\r') ? text : read;
}

/** Makes the documents of a file from what its text contains, which may have other line breaks than the file. */
function toManifestDocuments(file: SourceFile, text: string, documents: readonly ParsedDocument[]): readonly ManifestDocument[] {
  let finders: Finders | undefined;
  return documents.map(({ index, value, start, incomplete: damaged }) => {
    const document: ManifestDocument = {
      file,
      index,
      value,
      locate(path, part = 'value') {
        finders ??= { positionAt: createLineFinder(text), offsetOf: createLocator({ path: file.path, text }) };
        const { line, column } = finders.positionAt(path === '' ? start : finders.offsetOf(index, path, part));
        return { file: file.path, line, column };
      },
    };
    return damaged === undefined ? document : { ...document, incomplete: damaged };
  });
}

/** Returns the offset at which the value at a document's pointer, or its key, begins. */
type Locator = (index: number, path: Pointer, part: 'key' | 'value') => number;

/** Creates a locator for a file, which reads the text again on first use: most files need no position but that of their documents. */
function createLocator(file: SourceFile): Locator {
  const offsets: TextOffsets = new Map();
  let documents: ReadonlyMap<number, ParsedDocument> | undefined;
  return (index, path, part) => {
    documents ??= new Map((readStrictly(file.text, offsets) ?? readYaml(file, offsets).documents).map((one) => [one.index, one]));
    const document = documents.get(index);
    return document === undefined ? 0 : findOffset(document, offsets, { path, part });
  };
}

type Finders = { readonly positionAt: ReturnType<typeof createLineFinder>; readonly offsetOf: ReturnType<typeof createLocator> };

function tooLargeDiagnostic(path: string): YamlDiagnostic {
  const message = 'the file is larger than 1 MiB';
  return {
    code: 'manifest/too-large',
    severity: 'error',
    message,
    unnamed: message,
    hint: 'split it into several files',
    at: { file: path, line: 1, column: 1 },
  };
}

/** One YAML document of a file as JSON. Positions are computed on request. */
export type ManifestDocument = {
  readonly file: SourceFile;
  /** The index of the document in the file, from 0. */
  readonly index: number;
  readonly value: Json;
  /** The spec with the names that the file has, if some are those of a gateway. */
  readonly specInFile?: JsonObject;
  /** Set if invalid keys were left out together with their values. */
  readonly incomplete?: true;
  /** Returns the position of the value at a pointer or of its key; if the pointer leads nowhere, of the nearest parent. */
  readonly locate: (path: Pointer, part?: 'key' | 'value') => Position;
};
