import { addToGroup } from '../../model/append-all.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { PreflightResult } from '../../model/gateway.ts';
import type { Allowance, Diff, Plan, OutsideReference, Refusal, RiskClass } from '../../model/plan/plan.ts';
import type { Schedule } from '../../model/plan/schedule.ts';
import { riskRefusals } from '../../protection/risk/risk-codes.ts';
import type { Assessment } from '../assess/assess.ts';
import { sortRefusals, windowRefusals, type SortedRefusals } from './refusals.ts';
import { canonical, compareText } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';

/** The results of the stages before. */
export type GuardInput = {
  readonly desired: DesiredState;
  readonly diff: Diff;
  readonly schedule: Schedule;
  readonly assessment: Assessment;
  readonly limits: SortedRefusals;
};

/** What may refuse a plan besides its limits and policies. */
export type GuardOptions = {
  readonly preflight: Pick<PreflightResult, 'refusals' | 'references'>;
  readonly maxRisk: RiskClass | undefined;
  readonly allowed: readonly Allowance[];
};

/** Completes a plan with everything that `apply` would refuse it for, less what the user overrides. */
export function guard(parts: GuardInput, { preflight, maxRisk, allowed }: GuardOptions): Plan {
  const { desired, diff, schedule, assessment, limits } = parts;
  const references = sortReferences(preflight.references);
  const { refusals, used } = sortRefusals(
    [
      ...preflight.refusals,
      ...referenceRefusals(references, desired),
      ...assessment.refusals,
      ...riskRefusals(assessment, maxRisk),
      ...windowRefusals(diff, schedule.singleWrites),
    ],
    allowed,
  );
  return {
    ...diff,
    changes: assessment.changes,
    singleWrites: schedule.singleWrites,
    references,
    ...(assessment.policies === undefined ? {} : { policies: assessment.policies }),
    protection: assessment.protection,
    unwritten: assessment.unwritten,
    refusals: [...limits.refusals, ...refusals],
    allowed: [...limits.used, ...used],
  };
}

const maxShown = 5;

/** Sorts references independently of the order in which the gateway returns them. */
export function sortReferences(references: readonly OutsideReference[]): readonly OutsideReference[] {
  const keyed = references.map((one) => [canonical([one.id, one.sort, one.name ?? '', one.how]), one] as const);
  return keyed.toSorted(([left], [right]) => compareText(left, right)).map(([, one]) => one);
}

/** Refuses each successor whose predecessor is named by an unmanaged object that would not apply to the successor. */
export function referenceRefusals(references: readonly OutsideReference[], { resources }: DesiredState): readonly Refusal[] {
  const groups = new Map<ResourceId, OutsideReference[]>();
  for (const one of references) addToGroup(groups, one.id, one);
  return [...groups].map(([id, found]): Refusal => {
    const at = resources.find((resource) => resource.id === id)?.locate('');
    return {
      code: 'plan/replaces-references',
      message: messageOf(id, found),
      hint: `add ${nameOf(id)} to them on the gateway; Ostiary does not write them`,
      allowable: true,
      resource: id,
      ...(at === undefined ? {} : { at }),
    };
  });
}

function messageOf(id: ResourceId, found: readonly OutsideReference[]): string {
  const predecessor = found[0]?.replaces ?? '';
  const known = found.filter(({ name }) => name !== undefined).map(({ sort, name = '' }) => `${sort} "${name}"`);
  const unseen = found.filter(({ name }) => name === undefined).map(({ sort }) => `${sort}s`);
  const shown = known.length > maxShown ? [...known.slice(0, maxShown), `${known.length - maxShown} more`] : known;
  const [verb, tail] = known.length === 1 ? ['names', 'does'] : ['name', 'do'];
  return [
    ...(known.length === 0 ? [] : [`${listed(shown)} ${verb} ${predecessor}, and ${tail} not move to ${nameOf(id)}`]),
    ...(unseen.length === 0 ? [] : [`the token cannot see whether ${listed(unseen)} name ${predecessor}`]),
  ].join('; ');
}

function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
