import { allowedOn } from './allowed-actions.ts';
import { textsOf, type ModelObject } from './gateway-objects.ts';
import type { Finding } from './laws.ts';
import type { Pair } from './pairs.ts';
import { alarms, isRisky, reportOf } from './plan-report.ts';
import type { Run } from './run-pair.ts';
import { worldsOf } from './worlds.ts';
import { modes } from './open-modes.ts';

/** How a change of reviewers and of groups that may force an approval changes who can approve. */
export const approvalFeatures = [
  'reviewers and forcing groups that change together',
  'a forcing group that is added',
  'a forcing group that is removed',
  'a number of approvals that changes beside forcing groups',
  'an approval that becomes possible',
  'an approval that becomes impossible',
  'approvals of which some become possible and some impossible',
  'reviewers or forcing groups that change without effect',
] as const;

type ApprovalFeature = (typeof approvalFeatures)[number];

/** The findings about approvals, and what the pair exercised of them. */
type ApprovalJudgement = { readonly findings: readonly Finding[]; readonly features: readonly ApprovalFeature[] };

/** The controls that together decide who can approve: one group of either is enough to pass both. */
const joint = ['review', 'force'];

const losing = new Set(['weakens', 'both']);
const gaining = new Set(['strengthens', 'both']);

/**
 * Judges who can approve a session, as a reviewer or by force, by an access mode that is open before and after. The verdicts of both controls together are
 * those of the model: an approval that becomes possible is named, and none that becomes impossible is claimed without need. On a
 * gateway with access-request rules, which may count instead of both, a verdict may be that it cannot be compared.
 */
export function judgeApproval(pair: Pair, run: Run, isUnfinished: (id: string) => boolean): ApprovalJudgement {
  const found = Object.keys(run.after).flatMap((id): readonly ApprovalJudgement[] => {
    const subject = run.before[id] === undefined ? pair.predecessors[id] : id;
    const had = run.before[subject ?? ''];
    if (!id.startsWith('Connection/') || subject === undefined || had === undefined || isUnfinished(id)) return [];
    const effect = effectOf(pair, run, subject, id);
    return [{ findings: findingsOf(pair, run, { id, effect }), features: featuresOf(had, run.after[id], effect) }];
  });
  return { findings: found.flatMap(({ findings }) => findings), features: [...new Set(found.flatMap(({ features }) => features))] };
}

/** Whether approvals become possible or impossible, in any world, by a mode that is open before and after. */
type Effect = { readonly opens: boolean; readonly closes: boolean };

function effectOf(pair: Pair, { before, after }: Run, subject: string, id: string): Effect {
  const pairs = worldsOf(pair).flatMap((world) =>
    modes.flatMap((mode) => {
      const [first, last] = [allowedOn(before, subject, world)[mode], allowedOn(after, id, world)[mode]];
      const isOpen = [first, last].every(({ access = 0n }) => access !== 0n);
      return isOpen ? [[first.approval ?? 0n, last.approval ?? 0n]] : [];
    }),
  );
  return {
    opens: pairs.some(([was = 0n, is = 0n]) => (is & ~was) !== 0n),
    closes: pairs.some(([was = 0n, is = 0n]) => (was & ~is) !== 0n),
  };
}

type Judged = { readonly id: string; readonly effect: Effect };

function findingsOf({ readsAccess }: Pair, { plan, before, after }: Run, { id, effect }: Judged): readonly Finding[] {
  const { opens, closes } = effect;
  const { headlines, controls } = reportOf(plan, id);
  const verdicts = controls.filter(({ control }) => joint.includes(control)).map(({ direction }) => direction);
  const withRules = controls.filter(({ control }) => [...joint, 'approval'].includes(control)).map(({ direction }) => direction);
  const [weakens, strengthens] = [
    verdicts.some((direction) => losing.has(direction)),
    verdicts.some((direction) => gaining.has(direction)),
  ];
  const isAlarmed = withRules.some((direction) => alarms[direction] !== undefined);
  // Without access-request rules, reviewers and forcing groups decide alone, so every verdict is certain.
  const isExact = readsAccess;
  const broken: readonly (readonly [boolean, string])[] = [
    [opens && !isAlarmed, 'an approval becomes possible, and no control says so'],
    [opens && !headlines.some((direction) => alarms[direction] !== undefined), 'an approval becomes possible, and no headline says so'],
    [
      opens && !isRisky(plan, id, isExact ? 'weakens' : 'unknown', { before, after }),
      'an approval becomes possible, and the risk is too low',
    ],
    [!opens && weakens, 'a control weakens, and no approval becomes possible'],
    [!closes && strengthens, 'a control strengthens, and no approval becomes impossible'],
    [isExact && opens && !weakens, 'an approval becomes possible, and no control weakens'],
    [isExact && closes && !strengthens, 'an approval becomes impossible, and no control strengthens'],
    [isExact && verdicts.includes('unknown'), 'a verdict is unknown'],
  ];
  return broken.flatMap(([isBroken, why]) => (isBroken ? [{ law: 'approval misjudged', connection: id, why }] : []));
}

function featuresOf(had: ModelObject, has: ModelObject | undefined, { opens, closes }: Effect): readonly ApprovalFeature[] {
  const differs = (field: string): boolean => JSON.stringify(had.spec?.[field] ?? null) !== JSON.stringify(has?.spec?.[field] ?? null);
  const [forced, forces] = [textsOf(had.spec?.['force_approve_groups']), textsOf(has?.spec?.['force_approve_groups'])];
  const isForceChanged = differs('force_approve_groups');
  if (!isForceChanged && !differs('reviewers') && !differs('min_review_approvals')) return [];
  const exercised: readonly (readonly [boolean, ApprovalFeature])[] = [
    [isForceChanged && differs('reviewers'), 'reviewers and forcing groups that change together'],
    [forces.some((group) => !forced.includes(group)), 'a forcing group that is added'],
    [forced.some((group) => !forces.includes(group)), 'a forcing group that is removed'],
    [differs('min_review_approvals') && forced.length + forces.length > 0, 'a number of approvals that changes beside forcing groups'],
    [opens && !closes, 'an approval that becomes possible'],
    [closes && !opens, 'an approval that becomes impossible'],
    [opens && closes, 'approvals of which some become possible and some impossible'],
    [!opens && !closes, 'reviewers or forcing groups that change without effect'],
  ];
  return exercised.flatMap(([isExercised, feature]) => (isExercised ? [feature] : []));
}
