import { overlaps, type Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import type { PartEffect, ProtectionVerdict } from './protection.ts';

/** A changed field of an object, a changed attachment, or all of an object. */
export type ChangedPart =
  | { readonly id: ResourceId; readonly path?: Pointer }
  | { readonly rule: ResourceId; readonly connection: ResourceId };

/** Returns the effect of a part of a change on protection. */
export function effectOfPart(effects: readonly PartEffect[], part: ChangedPart): ProtectionVerdict {
  return combineVerdicts(effects.filter((one) => isAbout(one, part)).map(({ direction }) => direction));
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
