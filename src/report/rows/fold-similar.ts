import { addToGroup } from '../../model/collections.ts';
import { type ChangeRow, changeRows, type DriftedObject, edgeChangeRows, type EdgeRow } from './change-rows.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { type AssessedChange, highestRisk, riskClasses } from '../../model/plan/plan.ts';
import type { Outcome } from '../../model/result/outcome.ts';
import { plural, risksText } from '../wording/summary.ts';
import { escapeTerminal } from '../escape.ts';
import type { GroupedChange } from './groups.ts';

/** An entry of a list, and the later entries that are similar and not shown. */
type FoldedEntry<Entry> = { readonly entry: Entry; readonly others: readonly Entry[] };

/** A list with more entries is folded. */
export const mostEntries = 300;
/** The similar entries that a folded list shows. */
const shown = 3;
const mostNames = 20;

/** Folds a long list unless it is printed whole: of similar entries, it keeps the first ones, and the last of them carries the others. */
export function foldSimilar<Entry>(
  entries: readonly Entry[],
  likenessOf: (entry: Entry) => string,
  { full = false }: { readonly full?: boolean } = {},
): readonly FoldedEntry<Entry>[] {
  if (full || entries.length <= mostEntries) return entries.map((entry) => ({ entry, others: [] }));
  const groups = new Map<string, { count: number; others: Entry[] }>();
  const kept: FoldedEntry<Entry>[] = [];
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
export function othersText(others: readonly ResourceId[]): string {
  const names = others.slice(0, mostNames).map(escapeTerminal);
  return `and ${plural(others.length, 'more object')} like it: ${names.join(', ')}${others.length > mostNames ? ', …' : ''}`;
}

/**
 * Returns a text that similar changes share: the same action, fields and risks. The values count, too, unless an object is created or
 * deleted, or the change is harmless.
 */
export function likenessOfChange({ change, edges, note, changedSamples }: GroupedChange): string {
  const { action, id, risks, carried } = change;
  const risk = highestRisk(risks);
  const isHarmless = risk === undefined || risk === 'neutral' || risk === 'strengthens';
  const isShape = changedSamples.length === 0 && (isHarmless || action === 'create' || action === 'delete');
  const codes = risks.map(({ code, class: one }) => [code, one]);
  const parts = [rowsOf(changeRows(change), isShape), edgesOf(edgeChangeRows(change, edges), isShape)];
  return JSON.stringify([action, kindOf(id), note, codes, carried, parts, isShape ? [] : changedSamples]);
}

/** Returns a text that similarly drifted objects share; the values of changed fields count. */
export function likenessOfDrift({ change, sign, note, rows, edges }: DriftedObject): string {
  const isShape = sign === '+' || sign === '-';
  return JSON.stringify([sign, kindOf(change.id), note, rowsOf(rows, isShape), edgesOf(edges, isShape)]);
}

/** Returns a text that similar outcomes share. */
export function likenessOfOutcome({ status, action, code, message, hint, id }: Outcome): string {
  return JSON.stringify([status, action, code, message, hint, kindOf(id)]);
}

function rowsOf(rows: readonly ChangeRow[], isShape: boolean): readonly unknown[] {
  return isShape ? rows.map(({ label, parts, note }) => [label, parts.map(({ sign }) => sign), note]) : rows;
}

function edgesOf(edges: readonly EdgeRow[], isShape: boolean): readonly unknown[] {
  return isShape ? edges.map(({ sign }) => sign) : edges;
}

/**
 * Folds changes that are alike in all that `contentOf` returns, in their order: the first of many carries the others. Of deleted objects
 * the values do not count, because none is left.
 */
export function foldAlike(
  changes: readonly GroupedChange[],
  moreOf: (grouped: GroupedChange) => unknown,
  { full = false }: { readonly full?: boolean } = {},
): readonly FoldedEntry<GroupedChange>[] {
  if (full) return changes.map((entry) => ({ entry, others: [] }));
  const keyOf = (one: GroupedChange): string =>
    JSON.stringify([one.change.action === 'delete' ? likenessOfChange(one) : contentOf(one), moreOf(one)]);
  return groupAlike(changes, keyOf).map(({ first, all }) => ({ entry: first, others: all.slice(1) }));
}

/** Groups changes with the same key where they are many, in the order of their first ones. */
function groupAlike(changes: readonly GroupedChange[], keyOf: (grouped: GroupedChange) => string): readonly AlikeChanges[] {
  const keys = changes.map(keyOf);
  const groups = new Map<string, GroupedChange[]>();
  for (const [index, one] of changes.entries()) addToGroup(groups, keys[index] ?? '', one);
  return changes.flatMap((first, index): readonly AlikeChanges[] => {
    const all = groups.get(keys[index] ?? '') ?? [];
    if (all.length < fewestAlike) return [{ first, all: [first] }];
    return all[0] === first ? [{ first, all }] : [];
  });
}

/** Changes of several objects that differ in nothing but the object, or a single change. */
export type AlikeChanges = { readonly first: GroupedChange; readonly all: readonly GroupedChange[] };

/** As many changes as this are merged if they are alike. */
const fewestAlike = 3;

/** Sorts changes by their highest risk, the most dangerous first. */
export function sortByRisk(changes: readonly GroupedChange[]): readonly GroupedChange[] {
  return changes.toSorted((left, right) => riskRank(right.change) - riskRank(left.change));
}

/** Sorts changes by their highest risk and merges those that are alike. */
export function mergeAlike(changes: readonly GroupedChange[]): readonly AlikeChanges[] {
  return groupAlike(sortByRisk(changes), contentOf);
}

function riskRank({ risks }: AssessedChange): number {
  const highest = highestRisk(risks);
  return highest === undefined ? -1 : riskClasses.indexOf(highest);
}

/** Returns all that a report shows of a change, except its object and its position. */
function contentOf({ change, edges, note, changedSamples }: GroupedChange): string {
  const parts = [changeRows(change), edgeChangeRows(change, edges), note, changedSamples, risksText(change.risks), change.carried];
  return JSON.stringify([kindOf(change.id), change.action, change.adoption, parts]);
}
