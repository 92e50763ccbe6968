import type { Registry } from '../model/kind.ts';
import { type LiveState, liveById } from '../model/live.ts';
import { liveKeyOf, type Plan } from '../model/plan/plan.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import type { ResourceId, Spec } from '../model/resource.ts';
import { mergeStrictest } from '../model/spec/merge-strictest.ts';
import { specAfter } from '../model/spec/spec-after.ts';
import { stepsOf } from './steps.ts';

/** What objects hold for a while because they are written twice: live and desired joined. */
export function joinedSpecs(plan: Plan, live: LiveState, registry: Registry): ReadonlyMap<ResourceId, Spec> {
  if (plan.changes.length === 0) return new Map();
  const found = liveById(withNames(live, renamesOf(plan.changes)).resources);
  const twice = stepsOf(plan, live, registry).filter(({ part }) => part === 'gain');
  return new Map(
    twice.map(({ change, kind }) => {
      const spec = found.get(liveKeyOf(change))?.spec ?? {};
      return [change.id, mergeStrictest(kind.fields, specAfter(change, kind, spec), spec)];
    }),
  );
}
