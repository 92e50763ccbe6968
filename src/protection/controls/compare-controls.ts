import type { ControlType } from '../../model/protection/protection.ts';
import { blocksText } from '../pattern/coverage.ts';
import { byName, compareSets, matcherOf, noDifference, type CoverageRule } from './compare-sets.ts';
import { controlsOf, controlTexts, exclusiveTexts, type Control, type ControlComparison, type Posture } from './control.ts';
import { isSameEnforcement } from './enforcement.ts';

type Comparison = (before: Posture, after: Posture) => ControlComparison;

/** Compares controls by their names: an added one protects more. */
export function compareNamed(aspect: ControlType): Comparison {
  return (before, after) => compareSets(controlsOf(before, aspect), controlsOf(after, aspect), byName);
}

/** Compares what a connection grants: an added one protects less. */
export function compareGranted(aspect: ControlType): Comparison {
  return (before, after) => {
    const found = compareSets(controlsOf(before, aspect), controlsOf(after, aspect), byName);
    return { ...found, lost: found.gained, gained: found.lost };
  };
}

const session: Control = { name: 'session' };

/** Compares the longest access. Without a limit the gateway's own counts; if that is not known, it cannot be compared. */
export function compareDuration(before: Posture, after: Posture): ControlComparison {
  const [had, has] = [controlsOf(before, 'duration'), controlsOf(after, 'duration')];
  const [first, last] = [had[0]?.limit, has[0]?.limit];
  const [from, to] = [first ?? before.longestAccess, last ?? after.longestAccess];
  if (first === last || (from !== undefined && from === to)) return noDifference;
  const texts = exclusiveTexts(controlTexts(had), controlTexts(has));
  if (from === undefined || to === undefined) return { ...noDifference, incomparable: [...had, ...has], ...texts };
  return to > from ? { ...noDifference, lost: [session], ...texts } : { ...noDifference, gained: [session], ...texts };
}

/** Compares controls that the gateway enforces only where it reads what passes through. */
export function compareEnforced(aspect: ControlType, rule: CoverageRule): Comparison {
  return (before, after) => {
    // Masking has no effect where everything passes through a proxy that forwards what it cannot read.
    if (aspect === 'masking' && before.enforcement.isOnlyPort === true && after.enforcement.isOnlyPort === true) return noDifference;
    const [had, has] = [controlsOf(before, aspect), controlsOf(after, aspect)];
    const found = compareSets(had, has, rule);
    const decided = found.incomparable.length === 0 ? found : withEvidence(found, { aspect, before, after });
    return isSameEnforcement(before.enforcement, after.enforcement) ? decided : withEnforcement(decided, { aspect, before, after }, rule);
  };
}

type Sides = { readonly aspect: ControlType; readonly before: Posture; readonly after: Posture };

/** Decides what cannot be compared by the samples of reviewed manifests: one that only one side catches is evidence. */
function withEvidence(found: ControlComparison, { aspect, before, after }: Sides): ControlComparison {
  const texts = [...before.samples, ...after.samples].filter((sample) => sample.aspect === aspect);
  if (texts.length === 0) return found;
  const [had, has] = [before, after].map((posture) =>
    controlsOf(posture, aspect)
      .filter(({ form }) => form !== undefined)
      .map(matcherOf),
  );
  const caught = texts.map(({ text }) => [blocksText(had ?? [], text), blocksText(has ?? [], text)]);
  const loses = caught.some(([first, last]) => first === true && last === false);
  const gains = caught.some(([first, last]) => first === false && last === true);
  const [first, last] = [controlsOf(before, aspect), controlsOf(after, aspect)];
  const lost = loses ? found.incomparable.filter((control) => first.includes(control)) : [];
  const gained = gains ? found.incomparable.filter((control) => last.includes(control)) : [];
  if (lost.length + gained.length === 0) return found;
  return { ...found, lost: [...found.lost, ...lost], gained: [...found.gained, ...gained], incomparable: [] };
}

/**
 * Adds what a change of the type means: a proxy that forwards masks nothing, so its side counts as without masking. Gateways differ in
 * what they do with a guardrail that they cannot enforce, so that cannot be compared.
 */
function withEnforcement(found: ControlComparison, { aspect, before, after }: Sides, rule: CoverageRule): ControlComparison {
  const [had, has] = [controlsOf(before, aspect), controlsOf(after, aspect)];
  if (had.length + has.length === 0) return found;
  const [first, last] = [before.enforcement, after.enforcement];
  const hides = aspect === 'masking';
  if (hides && first.kind === 'reads' && last.kind === 'forwards')
    return had.length === 0 ? found : { ...compareSets(had, [], rule), before: controlTexts(had), after: [`not enforced (${last.by})`] };
  const isPure = found.lost.length + found.incomparable.length === 0;
  if (hides && first.kind === 'forwards' && last.kind === 'reads' && isPure)
    return has.length === 0 ? found : { ...compareSets([], has, rule), before: [`not enforced (${first.by})`], after: controlTexts(has) };
  return {
    ...noDifference,
    incomparable: [...new Set([...had, ...has])],
    before: [...controlTexts(had), `by ${first.by}`],
    after: [...controlTexts(has), `by ${last.by}`],
  };
}
