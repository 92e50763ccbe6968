import { isAlias, isMap, isPair, isSeq, type ParsedNode } from 'yaml';
import type { Json } from '../../model/json.ts';
import { isFlow } from './value-site.ts';
import { openNode, type WantedNode, type EditContext } from './wanted-node.ts';

/** The aliases that define an anchor from now on, with the anchor's previous value. */
type AnchorTakers = ReadonlyMap<ParsedNode, { readonly anchor: string; readonly value: Json; readonly layout: 'flow' | 'block' }>;

/** The aliases that take over an anchor, and the nodes that lose theirs. */
export type AnchorMoves = { readonly takers: AnchorTakers; readonly losesAnchor: ReadonlySet<ParsedNode> };

/**
 * Plans which aliases take over anchors: a changed value with an anchor leaves the anchor and its previous value to the
 * first alias that stays, so that no other user of the value changes.
 */
export function planAnchorMoves(wanted: WantedNode, { nodes }: EditContext): AnchorMoves {
  const intact = new Set<ParsedNode>();
  collectIntact(wanted, intact);
  const takers = new Map<ParsedNode, { anchor: string; value: Json; layout: 'flow' | 'block' }>();
  const losesAnchor = new Set<ParsedNode>();
  for (const [alias, target] of nodes.targets) {
    if (!intact.has(alias) || intact.has(target) || losesAnchor.has(target)) continue;
    losesAnchor.add(target);
    takers.set(alias, { anchor: alias.source, value: nodes.valueOf(alias), layout: isBlock(target) ? 'block' : 'flow' });
  }
  return { takers, losesAnchor };
}

function isBlock(node: ParsedNode): boolean {
  return (isMap(node) || isSeq(node)) && !isFlow(node);
}

/** Collects all nodes that stay unchanged, keys included. */
function collectIntact(wanted: WantedNode, intact: Set<ParsedNode>): void {
  if (wanted.is === 'kept') addNodes(wanted.site.node, intact);
  if (wanted.is === 'list' && wanted.inPlace) for (const { value } of wanted.entries) collectIntact(value, intact);
  if (wanted.is !== 'map' || !wanted.inPlace) return;
  for (const { key, value, part } of wanted.pairs) {
    collectIntact(value, intact);
    if (part?.key !== undefined && 'value' in part.key && part.key.value === key) intact.add(part.key);
  }
}

function addNodes(node: ParsedNode | null, intact: Set<ParsedNode>): void {
  if (node === null) return;
  intact.add(node);
  if (!isMap(node) && !isSeq(node)) return;
  for (const child of node.items) {
    if (!isPair(child)) addNodes(child, intact);
    else for (const one of [child.key, child.value]) addNodes(one, intact);
  }
}

/** Writes out the aliases that take over anchors. */
export function writeMovedAnchors(wanted: WantedNode, anchorMoves: AnchorMoves, context: EditContext): WantedNode {
  const { takers } = anchorMoves;
  if (takers.size === 0) return wanted;
  if (wanted.is === 'kept') {
    const { node } = wanted.site;
    const taker = node !== null && isAlias(node) ? takers.get(node) : undefined;
    if (taker !== undefined) return { is: 'written', site: wanted.site, ...taker };
    return holdsTaker(node, takers) ? writeMovedAnchors(openNode(wanted, context), anchorMoves, context) : wanted;
  }
  if (wanted.is === 'map')
    return { ...wanted, pairs: wanted.pairs.map((pair) => ({ ...pair, value: writeMovedAnchors(pair.value, anchorMoves, context) })) };
  if (wanted.is === 'list')
    return {
      ...wanted,
      entries: wanted.entries.map((entry) => ({ ...entry, value: writeMovedAnchors(entry.value, anchorMoves, context) })),
    };
  return wanted;
}

function holdsTaker(node: ParsedNode | null, takers: AnchorTakers): boolean {
  if (node === null) return false;
  if (isAlias(node)) return takers.has(node);
  if (isMap(node)) return node.items.some(({ value }) => holdsTaker(value, takers));
  return isSeq(node) && node.items.some((entry) => holdsTaker(entry, takers));
}
