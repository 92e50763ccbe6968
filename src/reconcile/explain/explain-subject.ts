import type { BaseState, DesiredResource, DesiredState } from '../../model/desired.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import { type Change, type Plan, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import { lastAppliedLookup } from '../diff/last-applied.ts';

/** What there is to explain a resource from. */
export type ExplainInput = {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** What was last applied, where that is known. */
  readonly base: BaseState | undefined;
  readonly plan: Plan;
  readonly registry: Registry;
  /** Only this field. */
  readonly field?: string | undefined;
};

/** The resource itself: as it is wanted, live, and was applied; what is missing of these is undefined. */
export type ExplainedSubject = ExplainInput & {
  /** What the gateway knows it by. */
  readonly key: ResourceId;
  readonly resource: DesiredResource | undefined;
  readonly found: LiveResource | undefined;
  readonly past: DesiredResource | undefined;
  readonly change: Change | undefined;
};

/** Finds the resource on all sides, by the names that it has there. */
export function subjectOf(input: ExplainInput): ExplainedSubject {
  const { id, desired, base, plan } = input;
  const resource = desired.resources.find((one) => one.id === id);
  const key = resource?.key ?? id;
  const live = withNames(input.live, renamesOf(plan.changes));
  const found = live.resources.find((one) => one.id === key);
  const past =
    resource === undefined
      ? base?.desired.resources.find((one) => one.id === id || one.key === id)
      : lastAppliedLookup(base)(resource, found !== undefined)?.base;
  return { ...input, live, key, resource, found, past, change: plan.changes.find((one) => one.id === id) };
}
