import type { ControlType, ProtectionVerdict } from '../../model/protection/protection.ts';
import { type AspectRow, aspectRows } from './control-table.ts';
import { withoutCovered } from './compare-controls.ts';
import { controlsOf, type Control, type ControlComparison, type Posture } from './control-row.ts';

/** The difference of one control type between two states of a connection. */
export type ControlDifference = ControlComparison & { readonly control: ControlType };

/** Comparisons of the controls of rules, which connections share. */
export type ComparisonCache = Map<string, WeakMap<readonly Control[], WeakMap<readonly Control[], ControlComparison>>>;

/** Lists the controls, of those that protect from whoever uses a connection, in which two of its states differ. */
export function compareProtection(before: Posture, after: Posture, known: ComparisonCache = new Map()): readonly ControlDifference[] {
  if (before === after) return [];
  return aspectRows.flatMap((row) => {
    if (controlsOf(before, row.type).length + controlsOf(after, row.type).length === 0) return [];
    const compared = compareCached(row, { before, after, known });
    const found = row.coveredBy === undefined ? compared : withoutCovered(compared, { before, after, by: row.coveredBy });
    const { lost, gained, incomparable, coexisting, unenforced } = found;
    if (lost.length + gained.length + incomparable.length + coexisting.length + unenforced.length === 0) return [];
    const control = row.type;
    if (before.incomplete.has(control) === after.incomplete.has(control)) return [{ control, ...found }];
    // A control type that is completely visible on one side only cannot be compared.
    return [
      { ...found, control, lost: [], gained: [], coexisting: [], incomparable: [...lost, ...gained, ...incomparable, ...coexisting] },
    ];
  });
}

type CacheInput = { readonly before: Posture; readonly after: Posture; readonly known: ComparisonCache };

/** Compares the controls of rules once for all connections with the same rules and the same enforcement. */
function compareCached({ type, ofRules, compare }: AspectRow, { before, after, known }: CacheInput): ControlComparison {
  if (ofRules === undefined) return compare(before, after);
  const [had, has] = [controlsOf(before, type), controlsOf(after, type)];
  const isGuarded = [before, after].map((posture) => (['input', 'output'] as const).some((one) => controlsOf(posture, one).length > 0));
  const key = [type, before.enforcement.key, after.enforcement.key, ...isGuarded].join('\u0000');
  const byBefore = known.get(key) ?? new WeakMap<readonly Control[], WeakMap<readonly Control[], ControlComparison>>();
  const byAfter = byBefore.get(had) ?? new WeakMap<readonly Control[], ControlComparison>();
  const found = byAfter.get(has) ?? compare(before, after);
  known.set(key, byBefore.set(had, byAfter.set(has, found)));
  return found;
}

/** One effect of a difference; a mixed difference has two. */
export type ProtectionEffect = Exclude<ProtectionVerdict, 'both' | 'neutral'>;

/** Returns all effects of differences. */
export function effectsOfDifferences(differences: readonly ControlDifference[]): ReadonlySet<ProtectionEffect> {
  return new Set(
    differences.flatMap(({ lost, gained, incomparable, coexisting }) => [
      ...(lost.length > 0 ? (['weakens'] as const) : []),
      ...(incomparable.length > 0 ? (['unknown'] as const) : []),
      ...(gained.length + coexisting.length > 0 ? (['strengthens'] as const) : []),
    ]),
  );
}

/** Combines effects into one verdict: a control that weakens and another that strengthens give `both`. */
export function combineEffects(effects: ReadonlySet<ProtectionEffect | 'neutral'>): ProtectionVerdict {
  if (effects.has('weakens')) return effects.has('strengthens') ? 'both' : 'weakens';
  if (effects.has('unknown')) return 'unknown';
  return effects.has('strengthens') ? 'strengthens' : 'neutral';
}
