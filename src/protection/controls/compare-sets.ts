import { controlTexts, exclusiveTexts, type Control, type ControlComparison } from './control.ts';

/** Whether controls cover another one: certainly, certainly not, or nothing shows it. */
export type Coverage = 'yes' | 'no' | 'maybe';

/** Decides whether the controls of one side cover a control of the other side. */
export type CoverageCheck = (control: Control, by: readonly Control[]) => Coverage;

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
  if (before === after) return noDifference;
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
    ...exclusiveTexts(controlTexts(before), controlTexts(after)),
  };
}

/** The comparison of equal states. */
export const noDifference: ControlComparison = { lost: [], gained: [], incomparable: [], coexisting: [], before: [], after: [] };

type Uncovered = { readonly certain: readonly Control[]; readonly doubtful: readonly Control[] };

function uncovered(controls: readonly Control[], by: readonly Control[], covers: CoverageCheck): Uncovered {
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
