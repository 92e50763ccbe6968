import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import type { Json } from '../../model/json.ts';
import { textOf } from '../problem.ts';

/** What the nodes of a document stand for, aliases included. */
export type Nodes = {
  readonly valueOf: (node: ParsedNode | null) => Json;
  /** The aliases in their order, and what each refers to. */
  readonly targets: ReadonlyMap<Alias.Parsed, ParsedNode>;
};

/** Works out the values of all nodes of a document that can be read. */
export function nodesOf(document: Document.Parsed): Nodes {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias.Parsed, ParsedNode>();
  const values = new Map<ParsedNode, Json>();
  const read = (node: ParsedNode | null): Json => {
    if (node === null) return null;
    const value = isAlias(node) ? follow(node) : valueOf(node);
    values.set(node, value);
    if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    return value;
  };
  const follow = (alias: Alias.Parsed): Json => {
    const target = anchors.get(alias.source);
    if (target === undefined) return null;
    targets.set(alias, target);
    return values.get(target) ?? null;
  };
  const valueOf = (node: ParsedNode): Json => {
    if (isSeq(node)) return node.items.map(read);
    if (isMap(node)) {
      const pairs = node.items.map((pair) => [textOf(read(pair.key)), read(pair.value)] as const);
      return Object.fromEntries(pairs);
    }
    return isScalar(node) ? scalarOf(node.value) : null;
  };
  read(document.contents);
  return { valueOf: (node) => (node === null ? null : (values.get(node) ?? null)), targets };
}

function scalarOf(value: unknown): Json {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
