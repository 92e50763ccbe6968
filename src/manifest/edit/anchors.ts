import { isAlias, isMap, isPair, isSeq, type ParsedNode } from 'yaml';
import type { Json } from '../../model/json.ts';
import { isFlow } from './value-site.ts';
import { opened, type Draft, type Sheet } from './wanted-node.ts';

/** The values of anchors that change, by the alias that defines them from now on. */
type Heirs = ReadonlyMap<ParsedNode, { readonly anchor: string; readonly value: Json; readonly layout: 'flow' | 'block' }>;

/** What becomes of anchors: which aliases define them from now on, and which values lose theirs. */
export type Inheritance = { readonly heirs: Heirs; readonly bereft: ReadonlySet<ParsedNode> };

/**
 * A value with an anchor that changes leaves the anchor, with the value as it was, to the first alias that stays; so no
 * other user of the value sees the change.
 */
export function inheritanceOf(draft: Draft, { nodes }: Sheet): Inheritance {
  const intact = new Set<ParsedNode>();
  collectIntact(draft, intact);
  const heirs = new Map<ParsedNode, { anchor: string; value: Json; layout: 'flow' | 'block' }>();
  const bereft = new Set<ParsedNode>();
  for (const [alias, target] of nodes.targets) {
    if (!intact.has(alias) || intact.has(target) || bereft.has(target)) continue;
    bereft.add(target);
    heirs.set(alias, { anchor: alias.source, value: nodes.valueOf(alias), layout: isBlock(target) ? 'block' : 'flow' });
  }
  return { heirs, bereft };
}

function isBlock(node: ParsedNode): boolean {
  return (isMap(node) || isSeq(node)) && !isFlow(node);
}

/** All nodes that stay as they stand, those of their keys among them. */
function collectIntact(draft: Draft, intact: Set<ParsedNode>): void {
  if (draft.is === 'kept') addAll(draft.site.node, intact);
  if (draft.is === 'list' && draft.inPlace) for (const { value } of draft.entries) collectIntact(value, intact);
  if (draft.is !== 'map' || !draft.inPlace) return;
  for (const { key, value, part } of draft.pairs) {
    collectIntact(value, intact);
    if (part?.key !== undefined && 'value' in part.key && part.key.value === key) intact.add(part.key);
  }
}

function addAll(node: ParsedNode | null, intact: Set<ParsedNode>): void {
  if (node === null) return;
  intact.add(node);
  if (!isMap(node) && !isSeq(node)) return;
  for (const child of node.items) {
    if (!isPair(child)) addAll(child, intact);
    else for (const one of [child.key, child.value]) addAll(one, intact);
  }
}

/** The draft with the aliases that inherit anchors written out. */
export function withHeirs(draft: Draft, inheritance: Inheritance, sheet: Sheet): Draft {
  const { heirs } = inheritance;
  if (heirs.size === 0) return draft;
  if (draft.is === 'kept') {
    const { node } = draft.site;
    const heir = node !== null && isAlias(node) ? heirs.get(node) : undefined;
    if (heir !== undefined) return { is: 'written', site: draft.site, ...heir };
    return holdsHeir(node, heirs) ? withHeirs(opened(draft, sheet), inheritance, sheet) : draft;
  }
  if (draft.is === 'map')
    return { ...draft, pairs: draft.pairs.map((pair) => ({ ...pair, value: withHeirs(pair.value, inheritance, sheet) })) };
  if (draft.is === 'list')
    return { ...draft, entries: draft.entries.map((entry) => ({ ...entry, value: withHeirs(entry.value, inheritance, sheet) })) };
  return draft;
}

function holdsHeir(node: ParsedNode | null, heirs: Heirs): boolean {
  if (node === null) return false;
  if (isAlias(node)) return heirs.has(node);
  if (isMap(node)) return node.items.some(({ value }) => holdsHeir(value, heirs));
  return isSeq(node) && node.items.some((entry) => holdsHeir(entry, heirs));
}
