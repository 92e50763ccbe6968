import type { BaseState, DesiredResource, DesiredState } from '../../model/desired.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import { type Change, type Plan, renamesOf, withNames, type FieldChange } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import { lastAppliedLookup } from '../diff/origin.ts';
import type { ExplainedOrigin, ExplainedPart } from '../../model/result/drift.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';

/** The input of an explanation. */
export type ExplainInput = {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The last applied manifests; undefined if they are not known. */
  readonly base: BaseState | undefined;
  readonly plan: Plan;
  readonly registry: Registry;
  /** Explains only this field. */
  readonly field?: string | undefined;
};

/** The resource as it is desired, live and last applied; undefined where it does not exist. */
export type ExplainedSubject = ExplainInput & {
  /** The live key. */
  readonly key: ResourceId;
  readonly resource: DesiredResource | undefined;
  readonly found: LiveResource | undefined;
  readonly past: DesiredResource | undefined;
  readonly change: Change | undefined;
};

/** Finds the resource in manifests, live state and base, by the name that it has there. */
export function subjectOf(input: ExplainInput): ExplainedSubject {
  const { id, desired, base, plan } = input;
  const resource = desired.resources.find((one) => one.id === id);
  const key = resource?.key ?? id;
  const live = withNames(input.live, renamesOf(plan.changes));
  const found = live.resources.find((one) => one.id === key);
  const past =
    resource === undefined
      ? base?.desired.resources.find((one) => one.id === id || one.key === id)
      : lastAppliedLookup(base, { registry: input.registry })(resource, found !== undefined)?.base;
  return { ...input, live, key, resource, found, past, change: plan.changes.find((one) => one.id === id) };
}

/** Returns the differing parts of a field with their origins; empty without a difference. */
export function partsOf(change: Change | undefined, path: Pointer): readonly ExplainedPart[] {
  if (change === undefined) return [];
  return change.fields
    .filter((field) => isPointerWithin(field.path, path))
    .map((field): ExplainedPart => {
      const { path: place, before, after, at } = field;
      const origin = explainedOrigin(change, field);
      const why = origin === undefined ? '' : originText(origin, change.id);
      return { path: place, before, after, ...(origin === undefined ? {} : { origin }), ...(at === undefined ? {} : { at }), why };
    });
}

/** Returns the origin of a difference; undefined without a base. */
export function explainedOrigin(
  { adoption, own }: Pick<Change, 'adoption' | 'own'>,
  field: Pick<FieldChange, 'origin' | 'own' | 'held'>,
): ExplainedOrigin | undefined {
  if (field.held === true) return 'held';
  if (adoption === true) return 'adoption';
  return field.origin === 'intent' && (field.own ?? own) === false ? 'pending' : field.origin;
}

/** Returns the sentence that explains an origin. */
export function originText(origin: ExplainedOrigin, id: ResourceId): string {
  switch (origin) {
    case 'intent':
      return 'intent: the manifests changed it since the last apply';
    case 'pending':
      return 'pending: an earlier merge changed it; not applied yet';
    case 'drift':
      return 'drift: changed outside Ostiary since the last apply; apply reverts it';
    case 'both':
      return 'conflict: the manifests and the gateway changed it since the last apply; apply uses the manifest';
    case 'adoption':
      return 'import: it existed before the first apply';
    case 'held':
      return `held: changed outside Ostiary; apply keeps it; --revert ${id} reverts it`;
  }
}

const originWords: Readonly<Record<ExplainedOrigin, string>> = {
  intent: 'changed in the manifests',
  pending: 'pending',
  drift: 'drift',
  both: 'conflict',
  adoption: 'import',
  held: 'held',
};

/** Counts origins, as in `1 changed in the manifests, 2 drift, 1 held`. */
export function countedOrigins(origins: readonly ExplainedOrigin[]): string {
  const counts = new Map<ExplainedOrigin, number>();
  for (const origin of origins) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return [...counts].map(([origin, count]) => `${count} ${originWords[origin]}`).join(', ');
}
