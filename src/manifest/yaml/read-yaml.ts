import { appendAll } from '../../model/collections.ts';
import {
  type Document,
  isScalar,
  type YAMLError,
  type Alias,
  isAlias,
  isMap,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
  Composer,
  visit,
  Lexer,
  Parser,
  type Range,
  type ErrorCode,
} from 'yaml';
import type { Diagnostic, SourceFile } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import { type EntryOffsets, type ParsedDocument, recordEntries, type TextOffsets } from './offsets.ts';
import { maxDepth } from './strict-scalar.ts';
import { createLineFinder, createLines, cutCodeFrame } from './code-frame.ts';

/** The documents of a file and the errors in it; a document with an error that leaves its value unclear is left out. */
type YamlReading = { readonly documents: readonly ParsedDocument[]; readonly diagnostics: readonly YamlDiagnostic[] };

/** An error in YAML text. `unnamed` is its message without the key that it names, which may be a part of a secret. */
export type YamlDiagnostic = Diagnostic & { readonly unnamed: string };

/**
 * Reads any YAML 1.2 text with the reference parser, and records the offsets of all values on request; never throws. Of syntax errors it
 * reports only the first: the others follow from it.
 */
export function readYaml(file: SourceFile, offsets?: TextOffsets): YamlReading {
  const reporter = createYamlErrorReporter(file);
  const composed = compose(file.text);
  const conflict = findConflict(file.text, 'stopped' in composed || composed.errors.length > 0);
  if (conflict !== undefined) return { documents: [], diagnostics: [reporter.report('merge-conflict', [conflict, conflict + 7])] };
  if ('stopped' in composed) {
    return { documents: [], diagnostics: [reporter.report(composed.stopped, [composed.offset, composed.offset + 1])] };
  }
  const [first] = composed.errors.toSorted((left, right) => left.pos[0] - right.pos[0]);
  if (first !== undefined) {
    const quote = first.code === 'MISSING_CHAR' ? findOpenQuote(composed.documents, first.pos[0]) : undefined;
    return {
      documents: [],
      diagnostics: [quote === undefined ? reporter.reportParserError(first) : reporter.report('open-quote', [quote, quote + 1])],
    };
  }
  const documents: ParsedDocument[] = [];
  const diagnostics: YamlDiagnostic[] = [];
  for (const [index, document] of composed.documents.entries()) {
    if (isEmpty(document)) continue;
    if (document.directives.yaml.version !== '1.2') diagnostics.push(reporter.report('version', document.range));
    const { value, diagnostics: found } = toJson(document, { reporter, offsets });
    appendAll(diagnostics, found);
    if (found.every(isAboutKey))
      documents.push({
        index,
        value,
        start: document.contents?.range[0] ?? 0,
        ...(found.length === 0 ? {} : { incomplete: true as const }),
      });
  }
  return { documents, diagnostics };
}

/** Returns where the quote opens that is not closed before the offset. */
function findOpenQuote(documents: readonly Document.Parsed[], end: number): number | undefined {
  let found: number | undefined;
  for (const document of documents) {
    visit(document, {
      Scalar(_, { type, range }) {
        const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
        if (isQuoted && range && range[0] < end && range[1] >= end) [found] = range;
      },
    });
  }
  return found;
}

/** The starts of the lines that git writes before, between and after the two sides of a merge conflict. */
const conflictMarkers = [/^<{7}(?=\s|$)/m, /^={7}(?=\r?$)/m, /^>{7}(?=\s|$)/m] as const;

/** Returns the offset of the first marker of a merge conflict. YAML reads some conflicts as text; a text that is read has one only with all markers. */
function findConflict(text: string, isUnread: boolean): number | undefined {
  const found = conflictMarkers.map((marker) => text.search(marker)).filter((offset) => offset >= 0);
  return !isUnread && found.length < conflictMarkers.length ? undefined : found.toSorted((left, right) => left - right)[0];
}

/** Returns whether an error is about a key: that key is left out with its value, and the rest of the document is read. */
function isAboutKey({ code }: Diagnostic): boolean {
  return code === 'manifest/duplicate-key' || code === 'manifest/non-string-key' || code === 'manifest/unsafe-key';
}

function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.range[0] === contents.range[1] && contents.anchor === undefined);
}

/** The maximum number of values that aliases may add to a document; more values make an alias bomb. */
const maxAliasValues = 10_000;
const maxErrors = 20;

type ReadingState = {
  readonly reporter: YamlErrorReporter;
  readonly offsets: TextOffsets | undefined;
  /** The value of each anchor; undefined while that value is being read. */
  readonly anchors: Map<string, Json | undefined>;
  readonly diagnostics: Diagnostic[];
  aliasValues: number;
};

/** Converts a document's nodes to JSON, and reports each value that JSON cannot hold or that aliases repeat without bound. */
function toJson(
  document: Document.Parsed,
  context: Pick<ReadingState, 'reporter' | 'offsets'>,
): { readonly value: Json; readonly diagnostics: readonly Diagnostic[] } {
  const state: ReadingState = { ...context, anchors: new Map(), diagnostics: [], aliasValues: 0 };
  const value = readNode(state, document.contents, 0);
  return { value, diagnostics: state.diagnostics };
}

function readNode(state: ReadingState, node: ParsedNode | null, depth: number): Json {
  if (node === null) return null;
  if (isAlias(node)) return readAlias(state, node, depth);
  const { anchor } = node;
  if (anchor !== undefined) state.anchors.set(anchor, undefined);
  const value = isScalar(node) ? readScalar(state, node) : readCollection(state, node, depth + 1);
  if (anchor !== undefined) state.anchors.set(anchor, value);
  return value;
}

function readCollection(state: ReadingState, node: ParsedNode, depth: number): Json {
  if (depth > maxDepth) return refuse(state, 'too-deep', node.range);
  if (isSeq(node)) return readList(state, node, depth);
  return isMap(node) ? readMap(state, node, depth) : null;
}

function readList(state: ReadingState, node: YAMLSeq.Parsed, depth: number): Json {
  const list: Json[] = [];
  const entries = recordEntries(state.offsets, list);
  for (const [index, entry] of node.items.entries()) {
    const value = readNode(state, entry, depth);
    list.push(value);
    entries?.set(String(index), offsetsOf(entry, value));
  }
  return list;
}

/** Returns the offsets of a value and its key; a value that is not written is where its key is. */
function offsetsOf(node: ParsedNode | null, value: Json, key?: number): EntryOffsets {
  const [start, end] = node?.range ?? [0, 0];
  const isAbsent = node === null || (isScalar(node) && start === end);
  const at = key !== undefined && isAbsent ? key : start;
  return { key: key ?? at, value: at, ...(isAlias(node) ? {} : { node: value }) };
}

function readMap(state: ReadingState, node: YAMLMap.Parsed, depth: number): Json {
  const map: Record<string, Json> = {};
  const entries = recordEntries(state.offsets, map);
  for (const pair of node.items) {
    const key = readKey(state, pair.key);
    const value = readNode(state, pair.value, depth);
    if (key === undefined) continue;
    if (Object.hasOwn(map, key)) refuse(state, 'duplicate-key', pair.key.range, key);
    else {
      map[key] = value;
      entries?.set(key, offsetsOf(pair.value, value, pair.key.range[0]));
    }
  }
  return map;
}

function readKey(state: ReadingState, node: ParsedNode): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') {
    refuse(state, 'non-string-key', node.range, isScalar(node) ? node.source : undefined);
    return undefined;
  }
  if (node.value === '__proto__') {
    refuse(state, 'unsafe-key', node.range, node.value);
    return undefined;
  }
  // An alias can refer to an anchor on a key too.
  if (node.anchor !== undefined) state.anchors.set(node.anchor, node.value);
  return node.value;
}

function readScalar(state: ReadingState, node: Scalar.Parsed): Json {
  const { value } = node;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  const isExact = typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (!isExact) return refuse(state, 'not-json', node.range);
  return value === 0 ? 0 : value;
}

function readAlias(state: ReadingState, node: Alias.Parsed, depth: number): Json {
  if (state.aliasValues > maxAliasValues) return null;
  const value = state.anchors.get(node.source);
  if (value === undefined) {
    const isWithin = state.anchors.has(node.source);
    return refuse(state, isWithin ? 'alias-bomb' : 'alias', node.range, node.source);
  }
  const { values, height } = measure(value);
  state.aliasValues += values;
  if (state.aliasValues > maxAliasValues) return refuse(state, 'alias-bomb', node.range, node.source);
  return depth + height > maxDepth ? refuse(state, 'too-deep', node.range) : value;
}

/** Counts the values of a tree, and the maps and lists on its longest path. */
function measure(value: Json): { readonly values: number; readonly height: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, height: 0 };
  let values = 1;
  let height = 0;
  for (const child of Object.values(value)) {
    const below = measure(child);
    values += below.values;
    height = Math.max(height, below.height);
  }
  return { values, height: height + 1 };
}

/** Reports an error within the limit, and `too-deep` only once for each document; the value becomes null. */
function refuse({ diagnostics, reporter }: ReadingState, error: YamlErrorName, range: Readonly<Range>, name?: string): null {
  const isReported = error === 'too-deep' && diagnostics.some(({ code }) => code === 'manifest/too-deep');
  if (diagnostics.length < maxErrors && !isReported) diagnostics.push(reporter.report(error, range, name));
  return null;
}

/** The documents of a text, or the reason and the offset at which reading stopped. */
type ComposeResult =
  | { readonly documents: readonly Document.Parsed[]; readonly errors: readonly YAMLError[] }
  | { readonly stopped: 'too-deep' | 'too-blank' | 'too-dense'; readonly offset: number };

/** Far below the depth at which `yaml` fails, and above `maxDepth`, so that a text slightly too deep is read and the error has its exact position. */
const maxStack = 2 * maxDepth;

/** More blank lines in sequence take `yaml` seconds. */
const maxBlankLines = 500;

/** `yaml` takes 3 µs per lexeme; a mebibyte of typical manifests has 300,000 lexemes. */
const maxLexemes = 500_000;

/**
 * Composes the documents of a text. The parser is fed lexeme by lexeme, because `yaml` recurses over nested values and a
 * text that is deep enough aborts the process: the parser's own stack shows the depth before anything recurses.
 * `keepTokens` keeps the tokens of nodes for edits.
 */
export function compose(text: string, { keepTokens = false }: { readonly keepTokens?: boolean } = {}): ComposeResult {
  const parser = new Parser();
  const composer = new Composer({
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
    logLevel: 'silent',
    keepSourceTokens: keepTokens,
  });
  const documents: Document.Parsed[] = [];
  let blankLines = 0;
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) appendAll(documents, composer.next(token));
    if (parser.stack.length > maxStack) return { stopped: 'too-deep', offset: parser.offset };
    if (lexeme === '\n' || lexeme === '\r\n') blankLines += 1;
    else if (lexeme.trim() !== '') blankLines = 0;
    lexemes += 1;
    if (lexemes > maxLexemes) return { stopped: 'too-dense', offset: parser.offset };
    if (blankLines > maxBlankLines) return { stopped: 'too-blank', offset: parser.offset };
  }
  for (const token of parser.end()) appendAll(documents, composer.next(token));
  appendAll(documents, composer.end());
  const errors = documents.flatMap((document) => [...document.errors, ...document.warnings]);
  return { documents, errors: documents.length > 0 ? errors : composer.streamInfo().errors };
}

/** The errors that Ostiary finds in addition to those of `yaml`. */
type YamlErrorName =
  | 'alias'
  | 'alias-bomb'
  | 'duplicate-key'
  | 'merge-conflict'
  | 'non-string-key'
  | 'not-json'
  | 'open-quote'
  | 'too-blank'
  | 'too-deep'
  | 'too-dense'
  | 'unsafe-key'
  | 'version';
type ErrorText = { readonly code: Diagnostic['code']; readonly message: (name: string) => string; readonly hint: string };

const texts: Readonly<Record<YamlErrorName, ErrorText>> = {
  alias: {
    code: 'manifest/yaml',
    message: () => 'the alias has no anchor before it',
    hint: 'define the anchor first, or put the text in quotes',
  },
  'alias-bomb': {
    code: 'manifest/alias-bomb',
    message: () => 'the alias expands too much: aliases may add 10,000 values to a document, and none may contain itself',
    hint: 'write out the values, or split the document',
  },
  'duplicate-key': {
    code: 'manifest/duplicate-key',
    message: (name) => (name === '' ? 'duplicate key' : `duplicate key "${name}"`),
    hint: 'keep one of the two',
  },
  'merge-conflict': {
    code: 'manifest/merge-conflict',
    message: () => 'unresolved merge conflict',
    hint: 'resolve the conflict, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>',
  },
  'non-string-key': {
    code: 'manifest/non-string-key',
    message: (name) => (name === '' ? 'a key is not a string' : `the key ${name} is not a string`),
    hint: 'put the key in quotes',
  },
  'not-json': {
    code: 'manifest/not-json',
    message: () => 'the number is not finite, or too large to be exact',
    hint: 'write a finite number with fewer digits, or a text in quotes where the field takes one',
  },
  'open-quote': {
    code: 'manifest/yaml',
    message: () => 'not valid YAML: missing closing quote',
    hint: 'close the quote that opens here',
  },
  'too-blank': { code: 'manifest/yaml', message: () => 'more than 500 consecutive blank lines', hint: 'remove the blank lines' },
  'too-deep': {
    code: 'manifest/too-deep',
    message: () => 'maps and lists are nested more than 64 deep',
    hint: 'check the brackets and the indentation',
  },
  'too-dense': {
    code: 'manifest/too-large',
    message: () => 'the file has more than 500,000 tokens up to this line',
    hint: 'split it into several files',
  },
  'unsafe-key': {
    code: 'manifest/unsafe-key',
    message: (name) => (name === '' ? 'this cannot be a key' : `"${name}" cannot be a key`),
    hint: 'use another name',
  },
  version: { code: 'manifest/yaml', message: () => 'manifests are YAML 1.2', hint: 'remove the %YAML line' },
};

/** Creates the diagnostics of one file's YAML errors, each with its position and a code frame. */
type YamlErrorReporter = {
  /** Reports an error that Ostiary finds. The name is quoted from the text, without control characters and shortened. */
  readonly report: (error: YamlErrorName, range: Readonly<Range> | readonly [number, number], name?: string) => YamlDiagnostic;
  /** Reports an error that `yaml` finds. Its message is cut before it quotes the text, which may be a secret. */
  readonly reportParserError: (error: YAMLError) => YamlDiagnostic;
};

/** Creates the reporter of a file. Each diagnostic costs a scan of the text up to its position. */
function createYamlErrorReporter({ path, text }: SourceFile): YamlErrorReporter {
  const positionAt = createLineFinder(text);
  const lines = createLines(text);
  const toDiagnostic = (
    error: Pick<YamlDiagnostic, 'code' | 'message' | 'hint' | 'unnamed'>,
    start: number,
    end: number,
  ): YamlDiagnostic => {
    const at = { file: path, ...positionAt(start) };
    return { ...error, severity: 'error', at, frame: cutCodeFrame(lines, at, end - start) };
  };
  return {
    report(error, [start, end], name = '') {
      const { code, message, hint } = texts[error];
      return toDiagnostic({ code, message: message(toPrintable(name)), unnamed: message(''), hint }, start, end);
    },
    reportParserError: (error) => toDiagnostic(describeParserError(error), ...error.pos),
  };
}

const hints: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'use single quotes: a backslash has no special meaning there',
  BAD_INDENT: 'align the line with its siblings, using spaces',
  BAD_SCALAR_START: 'put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'put a string that contains ": " in quotes',
  BLOCK_IN_FLOW: 'close the bracket',
  MISSING_CHAR: 'check quotes, brackets and colons on this line and the one before',
  MULTILINE_IMPLICIT_KEY: 'expected "key: value" or "- value"; check for a missing colon',
  TAB_AS_INDENT: 'indent with spaces',
};

function describeParserError({ code, message }: YAMLError): Pick<YamlDiagnostic, 'code' | 'message' | 'hint' | 'unnamed'> {
  if (code === 'TAG_RESOLVE_FAILED') {
    const unknown = 'the YAML tag is unknown or does not match its value';
    return { code: 'manifest/not-json', message: unknown, unnamed: unknown, hint: 'remove the tag' };
  }
  const text = toPrintable(
    message
      .replace(/(?<! ): .*$/s, '')
      .replace(/^(Invalid escape sequence|Unknown directive|Unsupported YAML version) .*$/s, '$1')
      .replace(/^Not a YAML token.*$/s, 'the text is not YAML'),
  );
  const [, bracket] = / end with a ([}\]])$/.exec(text) ?? [];
  const hint =
    bracket !== undefined
      ? `add the missing "${bracket}", or indent the line`
      : (hints[code] ?? 'check the indentation, quotes and brackets around this place');
  const invalid = `not valid YAML: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  return { code: 'manifest/yaml', message: invalid, unnamed: invalid, hint };
}

function toPrintable(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
