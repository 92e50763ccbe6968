import { parsePosition } from '../../model/diagnostic.ts';
import { type Plan, type Refusal, planRisks, type ResourceRisk } from '../../model/plan/plan.ts';
import { highestRisk, isRiskierThan, type Risk, type RiskClass } from '../../model/plan/risk.ts';

const shown = 3;

/** Returns one refusal per risk code whose class is above `most` (`--max-risk`). */
export function riskRefusals(plan: Pick<Plan, 'changes' | 'unwritten'>, most: RiskClass | undefined): readonly Refusal[] {
  if (most === undefined) return [];
  const places = new Map(plan.changes.map(({ id, at }) => [id, at]));
  const groups = new Map<Risk['code'], ResourceRisk[]>();
  for (const one of planRisks(plan)) {
    if (!isRiskierThan(one.risk.class, most)) continue;
    const group = groups.get(one.risk.code);
    if (group === undefined) groups.set(one.risk.code, [one]);
    else group.push(one);
  }
  return [...groups].map(([code, group]): Refusal => {
    const at = group
      .map(({ id, risk }) => (risk.place === undefined ? undefined : parsePosition(risk.place)) ?? places.get(id))
      .find((place) => place !== undefined);
    const highest = highestRisk(group.map(({ risk }) => risk)) ?? most;
    return {
      code,
      message: `${classText(highest)} (at most ${most} is allowed): ${subjects(group)}`,
      hint: 'take the change back, or say why it is right',
      allowable: true,
      ...(at === undefined ? {} : { at }),
    };
  });
}

/** Describes a risk class in the words of the refusal. */
function classText(one: RiskClass): string {
  if (one === 'unknown') return 'nobody can tell what it does';
  if (one === 'availability') return 'it may keep people out';
  return one === 'neutral' ? 'it changes something' : `it ${one}`;
}

function subjects(group: readonly ResourceRisk[]): string {
  const names = [...new Set(group.map(({ id, risk: { path = '' } }) => `${id}${path === '' ? '' : ` ${path}`}`))];
  const more = names.length - shown;
  return `${names.slice(0, shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
