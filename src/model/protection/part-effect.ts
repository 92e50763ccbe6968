import { overlaps, type Pointer } from '../pointer.ts';
import type { ResourceId } from '../resource.ts';
import type { Impact, ProtectionVerdict } from './protection.ts';

/** A changed field of an object, a changed attachment, or all of an object. */
export type ChangedPart =
  | { readonly id: ResourceId; readonly path?: Pointer }
  | { readonly rule: ResourceId; readonly connection: ResourceId };

/** Returns the effect of a part of a change on protection, from the causes that were found for all of it. */
export function effectOfPart(impact: readonly Impact[], part: ChangedPart): ProtectionVerdict {
  return combineVerdicts(impact.filter((one) => isCausedBy(one, part)).map(({ direction }) => direction));
}

/** Combines the verdicts of several parts: one that weakens and another that strengthens give `both`. */
export function combineVerdicts(all: readonly ProtectionVerdict[]): ProtectionVerdict {
  const found = new Set(all);
  if (found.has('both') || (found.has('weakens') && found.has('strengthens'))) return 'both';
  return (['weakens', 'unknown', 'strengthens'] as const).find((direction) => found.has(direction)) ?? 'neutral';
}

/** Says whether a part causes an impact; a field of connections is one cause for all of them. */
function isCausedBy({ by, path, edges, connections }: Impact, part: ChangedPart): boolean {
  if ('rule' in part) return edges === true && by === part.rule && connections.includes(part.connection);
  if (by === undefined ? !connections.includes(part.id) : by !== part.id) return false;
  return part.path === undefined || path === undefined || overlaps(path, part.path);
}
