import { specAfter } from '../../model/spec/edit.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import { liveKeyOf, type Change, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import type { Step } from '../../model/plan/schedule.ts';
import { mergeStrictest } from '../../model/spec/merge-strictest.ts';

/** Returns what objects hold between two writes, live and desired joined, by the id of the change. */
export function joinedSpecs(steps: readonly Step[], changes: readonly Change[], live: LiveState): ReadonlyMap<ResourceId, Spec> {
  const twice = steps.filter(({ part }) => part === 'gain');
  if (twice.length === 0) return new Map();
  const found = liveById(withNames(live, renamesOf(changes)).resources);
  return new Map(
    twice.map(({ change, kind }) => {
      const spec = found.get(liveKeyOf(change))?.spec ?? {};
      return [change.id, mergeStrictest(kind.fields, specAfter(change, kind, spec), spec)];
    }),
  );
}
