import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml';
import type { Json } from '../model/json.ts';
import { maxDepth } from './strict-cursor.ts';
import { type Mistake, mistake } from './yaml-mistake.ts';

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
