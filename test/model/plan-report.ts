import type { Plan } from '../../src/index.ts';
import { highestRisk, isRiskierThan, type NewAccess, type RiskClass } from '../../src/model/plan/plan.ts';
import { nameOf } from '../../src/model/resource.ts';
import type { ModelState } from './gateway-objects.ts';

/** The verdicts of a report that announce a loss, or that one cannot be excluded, each with the mildest risk that fits it. */
export const alarms: Readonly<Record<string, RiskClass>> = {
  weakens: 'weakens',
  both: 'weakens',
  mixed: 'weakens',
  unknown: 'unknown',
  incomparable: 'unknown',
  exposes: 'exposes',
  reroutes: 'reroutes',
};

/** What a plan reports about one connection. */
export type Report = {
  /** The verdicts of its headlines. */
  readonly headlines: readonly string[];
  readonly controls: readonly { readonly control: string; readonly direction: string }[];
};

export function reportOf({ protection }: Plan, id: string): Report {
  const change = protection.connections.find(({ connection }) => connection === id);
  const own = protection.headlines.filter(({ connections }) => connections.some((one) => one === id));
  return {
    headlines: own.map(({ direction }) => direction),
    controls: change?.controls ?? [],
  };
}

/** Returns the new access that a plan is refused for, with the names of connections. */
export function refusedAccess({ refusals }: Plan): readonly (Omit<NewAccess, 'connection'> & { readonly connection: string })[] {
  const refused = refusals.flatMap(({ code, newAccess = [] }) => (code === 'plan/new-access' ? newAccess : []));
  return refused.map((one) => ({ ...one, connection: nameOf(one.connection) }));
}

type States = { readonly before: ModelState; readonly after: ModelState };

/** Returns whether the risks that reach a connection are as high as they have to be: its own, and those of its rules before and after. */
export function isRisky(plan: Plan, id: string, due: RiskClass, states: States): boolean {
  const risk = highestRiskOf(plan, id, states);
  return risk !== undefined && !isRiskierThan(due, risk);
}

/** Returns the highest risk of the changes that reach a connection: its own, and those of its rules before and after. */
export function highestRiskOf(plan: Plan, connection: string, states: States): RiskClass | undefined {
  const reaching = plan.changes.filter(
    ({ id, key, action }) => action !== 'blocked' && action !== 'held' && reaches({ id, key: key ?? id }, connection, states),
  );
  const unwritten = plan.unwritten.filter(({ id }) => reaches({ id, key: id }, connection, states));
  // Drift that the manifests accept may concern an attachment that neither state has.
  const risks = [...reaching, ...unwritten, ...plan.accepted].flatMap(({ id, risks: own }) =>
    own.filter(({ connections }) => id === connection || connections === undefined || connections.some((one) => one === connection)),
  );
  return highestRisk(risks);
}

type Changed = { readonly id: string; readonly key: string };

function reaches({ id, key }: Changed, connection: string, { before, after }: States): boolean {
  if (id === connection) return true;
  const isAttribute = [before, after].some((state) => Array.isArray(state[key]?.spec?.['attributes']));
  return (
    isAttribute ||
    [before[key], after[key], after[id]].some((rule) => rule?.edges?.['connection_ids']?.some((one) => one === connection) === true)
  );
}
