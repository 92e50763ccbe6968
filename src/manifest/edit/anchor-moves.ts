import { isAlias, isMap, isPair, isSeq, type ParsedNode } from 'yaml';
import type { Json } from '../../model/json.ts';
import { isFlow } from './value-site.ts';
import { openNode, type WantedNode, type EditContext } from './wanted-node.ts';

/** The values of anchors that change, by the alias that defines them from now on. */
type AnchorTakers = ReadonlyMap<ParsedNode, { readonly anchor: string; readonly value: Json; readonly layout: 'flow' | 'block' }>;

/** What becomes of anchors: which aliases define them from now on, and which values lose theirs. */
export type AnchorMoves = { readonly takers: AnchorTakers; readonly losesAnchor: ReadonlySet<ParsedNode> };

/**
 * A value with an anchor that changes leaves the anchor, with the value as it was, to the first alias that stays; so no
 * other user of the value sees the change.
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

/** All nodes that stay as they stand, those of their keys among them. */
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

/** The wanted with the aliases that inherit anchors written out. */
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
