import { addToGroup } from '../../model/collections.ts';
import type { Entry } from '../blocks.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { escapeTerminal } from '../escape.ts';

/** An entry of a list, and the later entries that are similar and not shown. */
type FoldedEntry<One> = { readonly entry: One; readonly others: readonly One[] };

/** A list with more entries is folded. */
export const mostEntries = 300;
/** The similar entries that a folded list shows. */
const shown = 3;
const mostNames = 5;

/** Folds a long list unless it is printed whole: of similar entries, it keeps the first ones, and the last of them carries the others. */
export function foldSimilar<One>(
  entries: readonly One[],
  likenessOf: (entry: One) => string,
  { full = false }: { readonly full?: boolean } = {},
): readonly FoldedEntry<One>[] {
  if (full || entries.length <= mostEntries) return entries.map((entry) => ({ entry, others: [] }));
  const groups = new Map<string, { count: number; others: One[] }>();
  const kept: FoldedEntry<One>[] = [];
  for (const entry of entries) {
    const likeness = likenessOf(entry);
    const group = groups.get(likeness) ?? { count: 0, others: [] };
    groups.set(likeness, group);
    group.count += 1;
    if (group.count > shown) group.others.push(entry);
    else kept.push({ entry, others: group.count === shown ? group.others : [] });
  }
  return kept;
}

/** Returns `and 2 more objects like it: Connection/a, Connection/b`, escaped. */
export function othersText(others: readonly string[]): string {
  return `and ${plural(others.length, 'more object')} like it: ${shortList(others.map(escapeTerminal), mostNames).join(', ')}`;
}

/**
 * Folds entries unless they are printed whole: the first of those that differ in their names alone carries the others, and of a long list
 * similar ones are folded, too. Of deleted things the values do not count, because none is left.
 */
export function foldEntries(entries: readonly Entry[], { full = false }: { readonly full?: boolean } = {}): readonly FoldedEntry<Entry>[] {
  if (full) return entries.map((entry) => ({ entry, others: [] }));
  return foldSimilar(groupAlike(entries, foldKey), ([first]) => first?.likeness ?? '').flatMap(({ entry: [first, ...rest], others }) =>
    first === undefined ? [] : [{ entry: first, others: [...rest, ...others.flat()] }],
  );
}

function foldKey({ sign, likeness, content, warnings }: Entry): string {
  return JSON.stringify([sign === '-' ? likeness : content, warnings]);
}

/** Sorts entries, the most severe first, and merges those that differ in their names alone. */
export function mergeAlike(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  return groupAlike(sortBySeverity(entries), ({ content }) => content);
}

/** Sorts entries, the most severe first. */
export function sortBySeverity(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((left, right) => right.severity - left.severity);
}

/** As many entries as this are merged if they are alike. */
const fewestAlike = 3;

/** Groups entries with the same key where they are many, in the order of their first ones. */
function groupAlike(entries: readonly Entry[], keyOf: (entry: Entry) => string): readonly (readonly Entry[])[] {
  const groups = new Map<string, Entry[]>();
  for (const one of entries) addToGroup(groups, keyOf(one), one);
  return entries.flatMap((one): readonly (readonly Entry[])[] => {
    const all = groups.get(keyOf(one)) ?? [];
    return all.length < fewestAlike ? [[one]] : all[0] === one ? [all] : [];
  });
}
