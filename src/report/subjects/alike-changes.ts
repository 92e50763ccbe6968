import { highestRisk, riskClasses, type AssessedChange } from '../../model/plan/plan.ts';
import { kindOf } from '../../model/resource.ts';
import { changeRows, edgeChangeRows, risksText } from './change-rows.ts';
import type { GroupedChange } from './groups.ts';

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
  const found = new Map<string, GroupedChange[]>();
  for (const grouped of sortByRisk(changes)) {
    const key = contentOf(grouped);
    const alike = found.get(key) ?? [];
    alike.push(grouped);
    found.set(key, alike);
  }
  return [...found.values()].flatMap((all) => (all.length < fewestAlike ? all.flatMap((one) => merged([one])) : merged(all)));
}

function merged(all: readonly GroupedChange[]): readonly AlikeChanges[] {
  const [first] = all;
  return first === undefined ? [] : [{ first, all }];
}

function riskRank({ risks }: AssessedChange): number {
  const highest = highestRisk(risks);
  return highest === undefined ? -1 : riskClasses.indexOf(highest);
}

/** Returns all that a report shows of a change, except its object and its position. */
function contentOf({ change, edges, note, flips }: GroupedChange): string {
  const shown = [changeRows(change), edgeChangeRows(change, edges), note, flips, risksText(change.risks), change.carried];
  return JSON.stringify([kindOf(change.id), change.action, change.adoption, shown]);
}
