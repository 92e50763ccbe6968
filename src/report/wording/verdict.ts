import { highestPlanRisk, type Plan, type RiskClass } from '../../model/plan/plan.ts';
import type { Headline, HeadlineVerdict } from '../../model/protection/protection.ts';
import { countActions, countsText, planSummaryText, plural } from './counts.ts';

/** The first line of a report, around the name of its target; the name is empty if the report is about no target. */
export type Verdict = { readonly before: string; readonly name: string; readonly after: string };

/** Returns a verdict as text; each format has its own form of the name. */
export function verdictText({ before, name, after }: Verdict, nameText: (name: string) => string = String): string {
  return `${before}${name === '' ? '' : nameText(name)}${after}`;
}

/** Returns the verdict of a plan: the worst news first. */
export function planVerdict(plan: Plan): Verdict {
  const counts = plan.changes.length === 0 ? planSummaryText(plan) : `${countsText(countActions(plan))}.`;
  const parts = [
    ...(plan.refusals.length === 0 ? [] : ['Refused.']),
    ...withEffect(counts, plan.protection?.headlines ?? [], highestPlanRisk(plan)),
  ];
  return { before: 'Plan for ', name: plan.target.name, after: `: ${parts.join(' ')}` };
}

/** Returns counts beside the worst effect on protection; an effect that is not good comes first. */
export function withEffect(counts: string, headlines: readonly Headline[], highest?: RiskClass): readonly string[] {
  const risk = highest !== undefined && isEffect(highest) ? highest : 'strengthens';
  const way = risk === 'strengthens' ? (headlines[0]?.way ?? risk) : risk;
  const connections = new Set(headlines.flatMap((headline) => (headline.way === way ? headline.connections : [])));
  if (way === 'strengthens') return connections.size === 0 ? [counts] : [counts, effectText(way, connections.size)];
  return [effectText(way, connections.size), counts];
}

const effects: Readonly<Record<HeadlineVerdict, readonly [effect: string, object: string]>> = {
  weakens: ['Weakens protection', ' of '],
  unknown: ['Unknown effect on protection', ' of '],
  exposes: ['Gives access without protection', ' to '],
  reroutes: ['Sends credentials elsewhere', ' for '],
  strengthens: ['Strengthens protection', ' of '],
};

function isEffect(risk: RiskClass): risk is HeadlineVerdict {
  return Object.hasOwn(effects, risk);
}

function effectText(way: HeadlineVerdict, connections: number): string {
  const [effect, object] = effects[way];
  return `${effect}${connections === 0 ? '' : `${object}${plural(connections, 'connection')}`}.`;
}
