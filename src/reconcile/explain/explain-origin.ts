import type { ExplainedOrigin, ExplainedPart } from '../../model/result/explanation.ts';
import type { Change, FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';

/** What of a field a change is about, with who moved; empty where nothing is. */
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

/** The origin in one word; undefined where nothing is known of what was applied. */
export function explainedOrigin(
  { adoption, own }: Pick<Change, 'adoption' | 'own'>,
  field: Pick<FieldChange, 'origin' | 'own' | 'held'>,
): ExplainedOrigin | undefined {
  if (field.held === true) return 'held';
  if (adoption === true) return 'adoption';
  return field.origin === 'intent' && (field.own ?? own) === false ? 'pending' : field.origin;
}

/** What an origin means, for people. */
export function originText(origin: ExplainedOrigin, id: ResourceId): string {
  switch (origin) {
    case 'intent':
      return 'intent: the manifests changed it since the last apply';
    case 'pending':
      return 'pending: an earlier merge changed it, and nobody has applied that yet';
    case 'drift':
      return 'drift: somebody changed it on the gateway since the last apply, and apply undoes that';
    case 'both':
      return 'both: the manifests and the gateway changed it since the last apply, and the manifests have the last word';
    case 'adoption':
      return 'adoption: it was there before, and nothing of ours was ever applied to it';
    case 'held':
      return `held: somebody tightened it on the gateway, and apply leaves it so; --revert ${id} undoes that`;
  }
}

/** `1 intent, 2 drift, 1 held`; empty where no origin is known. */
export function countedOrigins(origins: readonly ExplainedOrigin[]): string {
  const counts = new Map<ExplainedOrigin, number>();
  for (const origin of origins) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return [...counts].map(([origin, count]) => `${count} ${origin}`).join(', ');
}
