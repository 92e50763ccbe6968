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
  Composer,
  Lexer,
  Parser,
} from 'yaml';
import type { Json } from '../../model/json.ts';
import type { ParsedDocument } from './strict-reader.ts';
import { type Mistake, mistake, mistakeOf } from './yaml-errors.ts';
import { maxDepth } from './strict-cursor.ts';

/** What a text holds, and what is wrong with it; documents with values that mean nothing are left out. */
export type YamlReading = { readonly documents: readonly ParsedDocument[]; readonly mistakes: readonly Mistake[] };

/** Reads any YAML 1.2 text by the reference parser; never throws. Of a broken text only the first mistake is told: the rest follow from it. */
export function readYaml(text: string): YamlReading {
  const composed = compose(text);
  if ('stopped' in composed) return { documents: [], mistakes: [mistake(composed.stopped, [composed.offset, composed.offset + 1])] };
  const broken = firstError(composed.errors);
  if (broken !== undefined) return { documents: [], mistakes: [broken] };
  const documents: ParsedDocument[] = [];
  const mistakes: Mistake[] = [];
  for (const [index, document] of composed.documents.entries()) {
    if (isEmpty(document)) continue;
    if (document.directives.yaml.version !== '1.2') mistakes.push(mistake('version', document.range));
    const { value, mistakes: found } = toJson(document);
    mistakes.push(...found);
    if (found.every(isOfKey))
      documents.push({
        index,
        value,
        start: document.contents?.range[0] ?? 0,
        ...(found.length === 0 ? {} : { incomplete: true as const }),
      });
  }
  return { documents, mistakes };
}

/** A key that cannot stand is left out with its value; the rest of the document is as it was meant. */
function isOfKey({ code }: Mistake): boolean {
  return code === 'manifest/duplicate-key' || code === 'manifest/non-string-key' || code === 'manifest/unsafe-key';
}

/** Tells whether nothing but comments stands in the document. */
function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.range[0] === contents.range[1] && contents.anchor === undefined);
}

function firstError(errors: readonly YAMLError[]): Mistake | undefined {
  const [first] = errors.toSorted((left, right) => left.pos[0] - right.pos[0]);
  return first === undefined ? undefined : mistakeOf(first);
}

/** Values that aliases may add to a document; beyond it is a bomb. */
const maxAliasValues = 10_000;
const maxMistakes = 20;

type Reading = {
  /** What each anchor stands for; undefined while the anchor's own value is being read. */
  readonly anchors: Map<string, Json | undefined>;
  readonly mistakes: Mistake[];
  aliasValues: number;
};

/** Turns a document's nodes into JSON, and reports whatever has no place in JSON or is repeated without bound. */
export function toJson(document: Document.Parsed): { readonly value: Json; readonly mistakes: readonly Mistake[] } {
  const reading: Reading = { anchors: new Map(), mistakes: [], aliasValues: 0 };
  const value = readNode(reading, document.contents, 0);
  return { value, mistakes: reading.mistakes };
}

function readNode(reading: Reading, node: ParsedNode | null, depth: number): Json {
  if (node === null) return null;
  if (isAlias(node)) return readAlias(reading, node, depth);
  const { anchor } = node;
  if (anchor !== undefined) reading.anchors.set(anchor, undefined);
  const value = isScalar(node) ? readScalar(reading, node) : readCollection(reading, node, depth + 1);
  if (anchor !== undefined) reading.anchors.set(anchor, value);
  return value;
}

function readCollection(reading: Reading, node: ParsedNode, depth: number): Json {
  if (depth > maxDepth) return refuse(reading, mistake('too-deep', node.range));
  if (isSeq(node)) return node.items.map((entry) => readNode(reading, entry, depth));
  return isMap(node) ? readMap(reading, node, depth) : null;
}

function readMap(reading: Reading, node: YAMLMap.Parsed, depth: number): Json {
  const map: Record<string, Json> = {};
  for (const pair of node.items) {
    const key = readKey(reading, pair.key);
    const value = readNode(reading, pair.value, depth);
    if (key === undefined) continue;
    if (Object.hasOwn(map, key)) refuse(reading, mistake('duplicate-key', pair.key.range, key));
    else map[key] = value;
  }
  return map;
}

function readKey(reading: Reading, node: ParsedNode): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') {
    refuse(reading, mistake('non-string-key', node.range, isScalar(node) ? node.source : undefined));
    return undefined;
  }
  if (node.value === '__proto__') {
    refuse(reading, mistake('unsafe-key', node.range, node.value));
    return undefined;
  }
  // An anchor on a key can be referred to as well.
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node.value);
  return node.value;
}

function readScalar(reading: Reading, node: Scalar.Parsed): Json {
  const { value } = node;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  const isExact = typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (!isExact) return refuse(reading, mistake('not-json', node.range));
  return value === 0 ? 0 : value;
}

function readAlias(reading: Reading, node: Alias.Parsed, depth: number): Json {
  if (reading.aliasValues > maxAliasValues) return null;
  const value = reading.anchors.get(node.source);
  if (value === undefined) {
    const isWithin = reading.anchors.has(node.source);
    return refuse(reading, mistake(isWithin ? 'alias-bomb' : 'alias', node.range, node.source));
  }
  const { values, height } = measure(value);
  reading.aliasValues += values;
  if (reading.aliasValues > maxAliasValues) return refuse(reading, mistake('alias-bomb', node.range, node.source));
  return depth + height > maxDepth ? refuse(reading, mistake('too-deep', node.range)) : value;
}

/** Counts the values of a tree, and how many maps and lists lie on its longest way down. */
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

/** Notes a mistake, and that a document is too deep only once. */
function refuse(reading: Reading, found: Mistake): null {
  const { mistakes } = reading;
  const isTold = found.code === 'manifest/too-deep' && mistakes.some(({ code }) => code === found.code);
  if (mistakes.length < maxMistakes && !isTold) mistakes.push(found);
  return null;
}

/** What `yaml` made of a text, or why it was stopped at the offset. */
export type ComposeResult =
  | { readonly documents: readonly Document.Parsed[]; readonly errors: readonly YAMLError[] }
  | { readonly stopped: 'too-deep' | 'too-blank' | 'too-dense'; readonly offset: number };

/** Far below where `yaml` fails, and above `maxDepth`, so that a text just too deep is read and told of at the very place. */
const maxStack = 2 * maxDepth;

/** More blank lines than this before a comment take `yaml` seconds. */
const maxBlankLines = 500;

/** `yaml` takes 3 µs for each word and each sign; a mebibyte of manifests as people write them has 300,000. */
const maxLexemes = 500_000;

/**
 * Composes a text's documents. The parser is fed by hand, because `yaml` recurses over what is nested and a deep enough
 * text aborts the process: the parser's own stack says how deep it is before anything recurses. The tokens of nodes are
 * kept for whoever edits the text.
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
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (parser.stack.length > maxStack) return { stopped: 'too-deep', offset: parser.offset };
    if (lexeme === '\n' || lexeme === '\r\n') blankLines += 1;
    else if (lexeme.trim() !== '') blankLines = 0;
    lexemes += 1;
    if (lexemes > maxLexemes) return { stopped: 'too-dense', offset: parser.offset };
    if (blankLines > maxBlankLines) return { stopped: 'too-blank', offset: parser.offset };
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  const errors = documents.flatMap((document) => [...document.errors, ...document.warnings]);
  return { documents, errors: documents.length > 0 ? errors : composer.streamInfo().errors };
}
