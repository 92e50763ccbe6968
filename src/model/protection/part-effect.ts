import { groupBy } from '../collections.ts';
import { overlaps, type Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import type { PartEffect, ProtectionVerdict } from './protection.ts';

/** A changed field of an object, a changed attachment, or all of an object. */
export type ChangedPart =
  | { readonly id: ResourceId; readonly path?: Pointer }
  | { readonly rule: ResourceId; readonly connection: ResourceId };

/** Returns a lookup of the effect that a part of a change has on protection. */
export function effectsByPart(effects: readonly PartEffect[]): (part: ChangedPart) => ProtectionVerdict {
  const byObject = groupBy(effects, ({ by }) => by);
  return (part) => {
    const objects = 'rule' in part ? [part.rule, part.connection] : [part.id];
    const found = objects.flatMap((id) => byObject.get(id) ?? []).filter((one) => isAbout(one, part));
    return combineVerdicts(found.map(({ direction }) => direction));
  };
}

/** Combines the verdicts of several parts: one that weakens and another that strengthens give `both`. */
export function combineVerdicts(all: readonly ProtectionVerdict[]): ProtectionVerdict {
  const found = new Set(all);
  if (found.has('both') || (found.has('weakens') && found.has('strengthens'))) return 'both';
  return (['weakens', 'unknown', 'strengthens'] as const).find((direction) => found.has(direction)) ?? 'neutral';
}

/** Returns whether an effect is that of a part: of an attachment, whichever end writes it. */
function isAbout({ by, path, edge }: PartEffect, part: ChangedPart): boolean {
  if ('rule' in part) return (by === part.rule && edge === part.connection) || (by === part.connection && edge === part.rule);
  return by === part.id && (part.path === undefined || path === undefined || overlaps(path, part.path));
}
