import type { DesiredState } from '../model/desired.ts';
import type { JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Plan } from '../model/plan/plan.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import type { ResourceId } from '../model/resource.ts';
import { causesOf } from './causes.ts';
import { viewsOf } from './diff.ts';
import { protectionFrom, unchanged } from './protection.ts';
import { risksOf } from './risks.ts';

/** What a plan was made from. */
export type Circumstances = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The manifests that were last applied. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
};

/** The plan with what it means for people: who is less protected afterwards, and what each change may do. */
export function assess(plan: Plan, { desired, live, base: applied, registry }: Circumstances): Plan {
  const base = applied === desired ? undefined : applied;
  if (plan.changes.length === 0 && base === undefined) return { ...plan, protection: unchanged };
  const views = viewsOf(plan, live, registry, { desired, base: applied });
  const known = withNames(live, renamesOf(plan.changes));
  const selectorOf = selectors(desired);
  const { byChange, unwritten } = risksOf({ plan, live: known, desired, base, registry, selectorOf, ...views });
  return {
    ...plan,
    changes: plan.changes.map((change) => ({ ...change, risks: byChange.get(change.id) ?? [] })),
    ...(unwritten.length === 0 ? {} : { unwritten }),
    protection: protectionFrom(plan, views, causesOf(plan, registry, selectorOf)),
  };
}

function selectors({ resources }: DesiredState): (rule: ResourceId) => JsonObject | undefined {
  const byKey = new Map(resources.flatMap(({ key, selector }) => (selector === undefined ? [] : [[key, selector.value] as const])));
  return (rule) => byKey.get(rule);
}
