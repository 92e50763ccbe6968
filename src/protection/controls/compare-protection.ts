import type { ControlType, ProtectionVerdict } from '../../model/protection/protection.ts';
import { type AspectRow, aspectRows } from './control-table.ts';
import { withoutCovered } from './compare-controls.ts';
import { controlsOf, type Control, type ControlComparison, type Posture } from './control-row.ts';

/** The difference of one control type between two states of a connection. */
export type ControlDifference = ControlComparison & { readonly control: ControlType };

/** Lists the controls, of those that protect from whoever uses a connection, in which two of its states differ. */
export function compareProtection(before: Posture, after: Posture): readonly ControlDifference[] {
  if (before === after) return [];
  return aspectRows.flatMap((row) => {
    if (controlsOf(before, row.type).length + controlsOf(after, row.type).length === 0) return [];
    const compared = compareCached(row, before, after);
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

type Comparisons = WeakMap<readonly Control[], WeakMap<readonly Control[], Map<string, ControlComparison>>>;
const known = new WeakMap<object, Comparisons>();
const noSamples = {};

/** Compares the controls of rules once for all connections with the same rules, the same enforcement and the same samples. */
function compareCached({ type, ofRules, compare }: AspectRow, before: Posture, after: Posture): ControlComparison {
  if (ofRules === undefined || before.samples !== after.samples) return compare(before, after);
  const [had, has] = [controlsOf(before, type), controlsOf(after, type)];
  const isGuarded = [before, after].map((posture) => (['input', 'output'] as const).some((one) => controlsOf(posture, one).length > 0));
  const key = [type, before.enforcement.key, after.enforcement.key, ...isGuarded].join('\u0000');
  const samples = before.samples ?? noSamples;
  const bySamples: Comparisons = known.get(samples) ?? new WeakMap();
  const byBefore = bySamples.get(had) ?? new WeakMap<readonly Control[], Map<string, ControlComparison>>();
  const byAfter = byBefore.get(has) ?? new Map<string, ControlComparison>();
  const found = byAfter.get(key) ?? compare(before, after);
  known.set(samples, bySamples.set(had, byBefore.set(has, byAfter.set(key, found))));
  return found;
}

/** One effect of a difference; a mixed difference has two. */
export type ProtectionEffect = Exclude<ProtectionVerdict, 'both' | 'neutral'>;

/** Combines effects into one verdict: a control that weakens and another that strengthens give `both`. */
export function combineEffects(effects: ReadonlySet<ProtectionEffect | 'neutral'>): ProtectionVerdict {
  if (effects.has('weakens')) return effects.has('strengthens') ? 'both' : 'weakens';
  if (effects.has('unknown')) return 'unknown';
  return effects.has('strengthens') ? 'strengthens' : 'neutral';
}
