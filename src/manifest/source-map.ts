import type { YamlDiagnostic } from './yaml/read-yaml.ts';
import type { CodeFrame, Diagnostic, Position, DocumentDiagnostic, SourceFile } from '../model/diagnostic.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';
import { createLines, cutCodeFrame, type TextLines } from './yaml/code-frame.ts';
import type { Locate } from './manifest.ts';
import { maskUrlCredentials, maskSecrets, maskUnreadText } from './secrets/mask-secrets.ts';

type MappedFile = {
  readonly file: SourceFile;
  readonly documents: readonly ManifestDocument[];
  /** Schemas whose field names locate the secrets; set if not all of the file was read. */
  readonly unread?: readonly JsonObject[];
};

/** The files of a load and the schemas of their documents, which code frames need to mask secrets. */
export type SourceMap = {
  readonly findFile: (path: string) => MappedFile | undefined;
  readonly schemaOf: (document: ManifestDocument) => JsonObject | undefined;
  /** The masked texts of files by path, computed on first use; undefined for a file with a document that is not a map. */
  readonly masked: Map<string, TextLines | undefined>;
  /** The lines of unmasked texts, computed on first use. */
  readonly lines: Map<SourceFile, TextLines>;
};

/** Creates a source map from files and their documents. */
export function createSourceMap(pages: readonly MappedFile[], schemaOf: SourceMap['schemaOf']): SourceMap {
  let byPath: ReadonlyMap<string, MappedFile> | undefined;
  const pageOf = (path: string): MappedFile | undefined => {
    byPath ??= new Map(pages.map((page) => [page.file.path, page]));
    return byPath.get(path);
  };
  return { findFile: pageOf, schemaOf, masked: new Map(), lines: new Map() };
}

/** Adds the position in the file, and a code frame that shows no secret, to a diagnostic about a place in a document. */
export function locateDiagnostic(
  sources: SourceMap,
  locate: Locate,
  diagnostic: DocumentDiagnostic,
  resource?: ResourceId,
): DocumentDiagnostic {
  const { part = 'value', within, quotes, ...rest } = diagnostic;
  const start = part === 'parent' ? locateParent(locate, rest.pointer) : locate(rest.pointer, part);
  const at = within === undefined ? start : findCharacter(sources, start, within);
  const written = quotes === undefined ? undefined : findPlainScalar(sources, at);
  const hint =
    written === undefined ? {} : { hint: quotes === 'array' ? `write a list: ["${written}"]` : `put it in quotes: "${written}"` };
  return { ...placeDiagnostic(sources, at, { ...rest, ...hint }, resource), pointer: rest.pointer };
}

/** Returns a number, a boolean or a date as the source has it; undefined if it is written otherwise. */
function findPlainScalar(sources: SourceMap, at: Position): string | undefined {
  const line = linesOf(sources, at.file)?.lineAt(at.line) ?? '';
  return /^[-+.\w:]*[\w.](?=[\s,\]}]|:\s|$)/.exec(line.slice(at.column - 1))?.[0];
}

/** Returns the position of the key that holds the map above a pointer, or of the document where that map is the root. */
function locateParent(locate: Locate, path: Pointer): Position {
  const parent = tokensOf(path).slice(0, -1);
  return locate(pointer(...parent), parent.length === 0 ? 'value' : 'key');
}

/** Returns the position of a character inside a text if the line contains the text unescaped, else the position of the text. */
function findCharacter(sources: SourceMap, at: Position, { text, index }: NonNullable<DocumentDiagnostic['within']>): Position {
  const line = linesOf(sources, at.file)?.lineAt(at.line) ?? '';
  const quote = /["']/.test(line[at.column - 1] ?? '') ? 1 : 0;
  const start = at.column - 1 + quote;
  // A doubled quote or an escape before the character takes more columns in the line than in the text.
  return line.startsWith(text.slice(0, index + 1), start) ? { ...at, column: start + index + 1 } : at;
}

/** Adds a position, and a code frame that shows no secret, to a diagnostic. */
export function placeDiagnostic(
  sources: SourceMap,
  at: Position,
  diagnostic: Diagnostic,
  resource: ResourceId | undefined = diagnostic.resource,
): Diagnostic {
  const page = sources.findFile(at.file);
  const text = page === undefined ? undefined : maskFile(sources, page);
  return {
    ...diagnostic,
    message: maskUrlCredentials(diagnostic.message),
    at,
    ...(text === undefined ? {} : { frame: cutWordFrame(text, at) }),
    resource,
  };
}

/** Cuts the code frames of the parser's diagnostics again, from the text without possible secrets; a text that is not a map has none. */
export function maskFrames(
  file: SourceFile,
  diagnostics: readonly YamlDiagnostic[],
  schemas: readonly JsonObject[],
): readonly Diagnostic[] {
  if (diagnostics.length === 0) return [];
  const masked = maskUnreadText(file.text, schemas);
  const text = masked === undefined ? undefined : createLines(withoutTrailingSpace(masked));
  const { lineAt } = createLines(withoutTrailingSpace(file.text));
  return diagnostics.map(({ frame, unnamed, ...diagnostic }) => {
    if (diagnostic.at === undefined || frame === undefined) return diagnostic;
    const { line, column } = diagnostic.at;
    const rest = text?.lineAt(line).slice(column - 1) ?? '';
    const message = text !== undefined && rest === lineAt(line).slice(column - 1) ? diagnostic.message : unnamed;
    if (text === undefined) return { ...diagnostic, message };
    // The caret ends with the shown text: its length reveals nothing of what is masked.
    const length = Math.min(frame.caret.length, Math.max(1, rest.length));
    return { ...diagnostic, message, frame: cutCodeFrame(text, diagnostic.at, length) };
  });
}

/** Removes the space at the ends of lines, so that it does not show how long masked text is. */
function withoutTrailingSpace(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function linesOf(sources: SourceMap, path: string): TextLines | undefined {
  const file = sources.findFile(path)?.file;
  const lines = file === undefined ? undefined : (sources.lines.get(file) ?? createLines(file.text));
  if (file !== undefined && lines !== undefined) sources.lines.set(file, lines);
  return lines;
}

function maskFile(sources: SourceMap, { file, documents, unread }: MappedFile): TextLines | undefined {
  if (sources.masked.has(file.path)) return sources.masked.get(file.path);
  const text = unread === undefined ? maskMaps() : maskUnreadText(file.text, unread);
  const lines = text === undefined ? undefined : createLines(withoutTrailingSpace(text));
  sources.masked.set(file.path, lines);
  return lines;

  function maskMaps(): string | undefined {
    return documents.every(({ value }) => isObject(value)) ? maskSecrets(file.text, documents, sources.schemaOf) : undefined;
  }
}

function cutWordFrame(text: TextLines, at: Position): CodeFrame {
  return cutCodeFrame(text, at, measureWord(text, at));
}

/** Returns the length of the word at a position: up to the closing quote, or to the end of a plain word. */
function measureWord(text: TextLines, at: Position): number {
  const line = text.lineAt(at.line);
  const rest = line.slice(at.column - 1);
  const word = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,\]}{["':]+(?:[:](?=\S)[^\s,\]}]+)*)/.exec(rest)?.[0];
  return Math.max(1, word?.length ?? 1);
}
