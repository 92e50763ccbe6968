import type { ControlType } from '../../model/protection/protection.ts';
import { blocksText, coversAllTexts, type TextMatcher } from '../pattern/coverage.ts';
import { controlsOf, effectiveControls, type Control, type ControlComparison, type Posture, type SampleText } from './control-row.ts';
import { type Enforcement, type EnforcedControl } from './enforcement-table.ts';
import { checksAllOf, isSameEnforcement, type SharedLevel, sharedLevels } from './enforcement.ts';

/** Whether controls cover another one: certainly, certainly not, or nothing shows it. */
type Coverage = 'yes' | 'no' | 'maybe';

/** Decides whether the controls of one side cover a control of the other side. */
type CoverageCheck = (control: Control, by: readonly Control[]) => Coverage;

/** How the controls of one type cover each other, and which of them replace each other so that their texts cannot be compared. */
export type CoverageRule = {
  readonly covers: CoverageCheck;
  readonly replaces?: (removed: Control, added: Control) => boolean;
};

/** Compares two sets of controls: what the other side does not cover is lost or gained. */
export function compareSets(
  before: readonly Control[],
  after: readonly Control[],
  { covers, replaces = () => false }: CoverageRule,
): ControlComparison {
  if (before === after || haveSameControls(before, after)) return noDifference;
  const removed = uncovered(before, after, covers);
  const added = uncovered(after, before, covers);
  const isReplaced = (control: Control): boolean => [...added.certain, ...added.doubtful].some((other) => replaces(control, other));
  const isReplacing = (control: Control): boolean => [...removed.certain, ...removed.doubtful].some((other) => replaces(other, control));
  const doubtful = [...removed.doubtful, ...removed.certain.filter(isReplaced)];
  const doubtfulToo = [...added.doubtful, ...added.certain.filter(isReplacing)];
  const onlyAdds = removed.certain.length + removed.doubtful.length === 0;
  return {
    lost: removed.certain.filter((control) => !isReplaced(control)),
    gained: added.certain.filter((control) => !isReplacing(control)),
    incomparable: onlyAdds ? [] : [...doubtful, ...doubtfulToo],
    coexisting: onlyAdds ? doubtfulToo : [],
    unenforced: [],
  };
}

/** The comparison of equal states. */
export const noDifference: ControlComparison = {
  lost: [],
  gained: [],
  incomparable: [],
  coexisting: [],
  unenforced: [],
};

/** Returns whether two lists certainly have the same controls with the same texts, in the same order, as most do. */
function haveSameControls(before: readonly Control[], after: readonly Control[]): boolean {
  return before.length === after.length && before.every((control, index) => isSameControl(control, after[index]));
}

function isSameControl(one: Control, other: Control | undefined): boolean {
  return (
    one.name === other?.name &&
    one.form === other.form &&
    one.content === other.content &&
    one.limit === other.limit &&
    one.relativeToGateway === other.relativeToGateway &&
    one.text === other.text
  );
}

type Uncovered = { readonly certain: readonly Control[]; readonly doubtful: readonly Control[] };

const nothingUncovered: Uncovered = { certain: [], doubtful: [] };

function uncovered(controls: readonly Control[], by: readonly Control[], covers: CoverageCheck): Uncovered {
  if (controls.length === 0) return nothingUncovered;
  const certain: Control[] = [];
  const doubtful: Control[] = [];
  const same = new Set(by.map(identityOf));
  for (const control of controls) {
    if (same.has(identityOf(control))) continue;
    const found = covers(control, by);
    if (found !== 'yes') (found === 'no' ? certain : doubtful).push(control);
  }
  return { certain, doubtful };
}

/** Returns a text that is the same for controls that are certainly equal. */
function identityOf({ name, form, content, limit, relativeToGateway }: Control): string {
  return [form ?? '', content ?? name, limit ?? '', relativeToGateway ?? ''].join('\u0000');
}

/** Controls that only an equal one covers: groups, types, fields. */
export const byName: CoverageRule = { covers: (control, by) => (by.some(({ name }) => name === control.name) ? 'yes' : 'no') };

/** What guardrails block: a word covers every longer word that contains it, and a pattern every text that it matches. */
export const byBlockedText: CoverageRule = {
  covers: (control, by) => {
    if (control.form === 'word' && by.some((other) => other.form === 'word' && control.name.includes(other.name))) return 'yes';
    // A rule that cannot be read covers only itself.
    if (control.form === undefined) return by.some(({ name, form }) => form === undefined && name === control.name) ? 'yes' : 'no';
    const readable = by.filter(({ form }) => form !== undefined);
    if (control.form === 'word' && !readable.some(({ form }) => form === 'pattern')) return 'no';
    return coverageOf(matcherOf(control), readable.map(matcherOf));
  },
  // Of two patterns that differ, each blocks something that the other does not; which matters more cannot be compared.
  replaces: (removed, added) => removed.form === 'pattern' && added.form === 'pattern',
};

/** Returns the matcher of a word or a pattern. */
function matcherOf({ name, form, content = name }: Control): TextMatcher {
  return form === 'pattern' ? { pattern: content } : { word: content };
}

/** Asks the matchers one by one, which is cheap, and then all together. */
function coverageOf(one: TextMatcher, others: readonly TextMatcher[]): 'yes' | 'no' | 'maybe' {
  if (others.length === 0) return 'no';
  const single = others.map((other) => coversAllTexts(one, [other]));
  if (single.includes(true)) return 'yes';
  const joint = others.length === 1 ? single[0] : coversAllTexts(one, others);
  if (joint === undefined) return 'maybe';
  return joint ? 'yes' : 'no';
}

/**
 * What masking rules mask. A registered type is masked from the threshold on. A custom one has a fixed score, so only those that
 * reach the threshold count; without a threshold, the gateway's own decides, which Ostiary does not know.
 */
export const byMaskedText: CoverageRule = {
  covers: (control, by) => {
    const same = by.filter((other) => other.form === control.form && (other.content ?? other.name) === (control.content ?? control.name));
    const found = same.map((other) => coversScore(control, other));
    if (found.includes('yes')) return 'yes';
    const isUncertain = isBelowGateway(control) || found.includes('maybe') || mayFind(control, by);
    return isUncertain ? 'maybe' : 'no';
  },
  // Providers read patterns in their own ways.
  replaces: (removed, added) => removed.form === 'pattern' && added.form === 'pattern' && removed.entityType === added.entityType,
};

/** Returns whether the gateway's own threshold may be above the score of a custom type, so that nothing is masked. */
function isBelowGateway({ form, limit = 0, relativeToGateway }: Control): boolean {
  return form !== undefined && relativeToGateway === true && limit > -1;
}

function coversScore(control: Control, other: Control): 'yes' | 'no' | 'maybe' {
  const [limit, most] = [other.limit ?? 0, control.limit ?? 0];
  if (other.relativeToGateway === control.relativeToGateway) {
    if (limit <= most) return 'yes';
    return control.relativeToGateway === true ? 'maybe' : 'no';
  }
  // A custom type that reaches its threshold, and a threshold of 0, hold whatever the gateway's own threshold is.
  return other.relativeToGateway !== true && limit <= 0 ? 'yes' : 'maybe';
}

/** Returns whether a pattern of a custom type may find what another one finds; providers often ignore case. */
function mayFind(control: Control, by: readonly Control[]): boolean {
  if (control.form === undefined) return false;
  return by.some(
    (other) =>
      other.form === 'pattern' && coversAllTexts(matcherOf(control), [{ pattern: `(?i)${other.content ?? other.name}` }]) !== false,
  );
}

type Comparison = (before: Posture, after: Posture) => ControlComparison;

/** Compares controls by their names: an added one protects more. */
export function compareNamed(control: ControlType): Comparison {
  return (before, after) => compareSets(controlsOf(before, control), controlsOf(after, control), byName);
}

type Covering = { readonly before: Posture; readonly after: Posture; readonly by: ControlType };

/** Leaves out the entity types that the other way of hiding them covers on the other side: a type that one of both still hides is no loss. */
export function withoutCovered(found: ControlComparison, { before, after, by }: Covering): ControlComparison {
  const notIn = (posture: Posture): ((control: Control) => boolean) => {
    const hidden = new Set(effectiveControls(posture, by).flatMap(({ name, form }) => (form === undefined ? [name] : [])));
    return ({ name, form }) => form !== undefined || !hidden.has(name);
  };
  return { ...found, lost: found.lost.filter(notIn(after)), gained: found.gained.filter(notIn(before)) };
}

/** Compares what a connection grants: an added one protects less. */
export function compareGranted(control: ControlType): Comparison {
  return (before, after) => {
    const found = compareSets(controlsOf(before, control), controlsOf(after, control), byName);
    return { ...found, lost: found.gained, gained: found.lost };
  };
}

/** Compares controls that depend on what sessions enforce. */
export function compareEnforced(control: EnforcedControl, rule: CoverageRule): Comparison {
  return (before, after) => {
    const sides = { control, before, after };
    const [had, has] = [controlsOf(before, control), controlsOf(after, control)];
    const sets = compareSets(had, has, rule);
    const found = sets.incomparable.length === 0 ? sets : (withEvidence(sets, sides) ?? withCertainLosses(sets, sides, rule));
    const levels = sharedLevels(before.enforcement, after.enforcement, control);
    if (levels.every((pair) => pair.levels.every((level) => level === 'enforced'))) return found;
    const byLevel = levels.map((pair) => compareLevels(pair, { ...sides, found }, rule));
    return joinComparisons(byLevel, isSameEnforcement(before.enforcement, after.enforcement, control));
  };
}

/** Joins what differs by each way to use a connection: where all of them enforce as before, what one certainly gains, another one that is not known does not make unclear. */
function joinComparisons(all: readonly ControlComparison[], isAlike: boolean): ControlComparison {
  const listOf = (name: 'lost' | 'gained' | 'incomparable' | 'coexisting' | 'unenforced'): readonly Control[] => [
    ...new Set(all.flatMap((one) => one[name])),
  ];
  const certain = new Set([...listOf('lost'), ...listOf('gained'), ...listOf('coexisting')]);
  const incomparable = listOf('incomparable').filter((one) => !isAlike || !certain.has(one));
  const known = new Set([...certain, ...incomparable]);
  return {
    lost: listOf('lost'),
    gained: listOf('gained'),
    coexisting: listOf('coexisting'),
    incomparable,
    unenforced: listOf('unenforced').filter((one) => !known.has(one)),
  };
}

type Sides = { readonly control: EnforcedControl; readonly before: Posture; readonly after: Posture };

/**
 * Decides what cannot be compared by the samples of reviewed manifests: one that only one side catches is evidence. Returns undefined
 * if no sample is.
 */
function withEvidence(found: ControlComparison, { control, before, after }: Sides): ControlComparison | undefined {
  const texts = [before, after].flatMap(samplesOn).filter((sample) => sample.control === control);
  if (texts.length === 0) return undefined;
  const [had, has] = [before, after].map((posture) =>
    controlsOf(posture, control)
      .filter(({ form }) => form !== undefined)
      .map(matcherOf),
  );
  const caught = texts.map(({ text }) => [blocksText(had ?? [], text), blocksText(has ?? [], text)]);
  const loses = caught.some(([first, last]) => first === true && last === false);
  const gains = caught.some(([first, last]) => first === false && last === true);
  const [first, last] = [controlsOf(before, control), controlsOf(after, control)];
  const lost = loses ? found.incomparable.filter((one) => first.includes(one)) : [];
  const gained = gains ? found.incomparable.filter((one) => last.includes(one)) : [];
  if (lost.length + gained.length === 0) return undefined;
  return { ...found, lost: [...found.lost, ...lost], gained: [...found.gained, ...gained], incomparable: [] };
}

/**
 * Names the controls that another one replaces although a text is certainly no longer blocked or masked. Whether the other one makes
 * up for them cannot be compared.
 */
function withCertainLosses(found: ControlComparison, { control, before, after }: Sides, { covers }: CoverageRule): ControlComparison {
  const [had, has] = [controlsOf(before, control), controlsOf(after, control)];
  const lost = found.incomparable.filter((one) => had.includes(one) && covers(one, has) === 'no');
  if (lost.length === 0) return found;
  return { ...found, lost: [...found.lost, ...lost], incomparable: found.incomparable.filter((one) => !lost.includes(one)) };
}

/** Lists the samples that the rules on a connection must block or mask. */
function samplesOn({ rules, samples }: Posture): readonly SampleText[] {
  return samples === undefined ? [] : [...rules.keys()].flatMap((rule) => samples.get(rule) ?? []);
}

/** What a session lets through of what the controls of a side are about: `all` of it, nothing, what they let through, or that is not known. */
function passing(level: Enforcement, controls: readonly Control[], posture: Posture): 'all' | 'nothing' | 'rest' | 'unclear' {
  const isGuarded = (['input', 'output'] as const).some((control) => controlsOf(posture, control).length > 0);
  if (level === 'refused') return isGuarded ? 'nothing' : 'all';
  if (level === 'unchecked' || controls.length === 0) return 'all';
  return level === 'unclear' ? 'unclear' : 'rest';
}

/** Compares what sessions check that treat the controls of both sides in these ways. */
function compareLevels(
  { levels: [first, last], isAlike }: SharedLevel,
  { control, before, after, found }: Sides & { readonly found: ControlComparison },
  rule: CoverageRule,
): ControlComparison {
  const [had, has] = [controlsOf(before, control), controlsOf(after, control)];
  const [was, is] = [passing(first, had, before), passing(last, has, after)];
  const differing = [...found.lost, ...found.gained, ...found.incomparable, ...found.coexisting];
  if (was === 'all' && is === 'all') return { ...noDifference, unenforced: differing };
  if (was === 'nothing' && is === 'nothing') return noDifference;
  if (is === 'all') return was === 'unclear' ? { ...noDifference, incomparable: had } : compareSets(had, [], rule);
  if (was === 'all') return is === 'unclear' ? { ...noDifference, incomparable: has } : compareSets([], has, rule);
  const unclear = { ...noDifference, incomparable: [...new Set([...had, ...has])] };
  if (was !== 'rest' || is !== 'rest') return isAlike ? { ...noDifference, incomparable: differing } : unclear;
  const [isAsStrict, isAsLoose] = [checksAllOf(last, first), checksAllOf(first, last)];
  // What may have been refused as a whole may be let through now.
  if (isAsStrict === true && isAsLoose === true) return first === 'refused or enforced' && last !== first ? unclear : found;
  if (isAsLoose === true) return compareSets(had, [], rule);
  const isPure = found.lost.length + found.incomparable.length === 0;
  return isAsStrict === true && isPure ? compareSets([], has, rule) : unclear;
}
