import { registry } from '../../src/kinds/index.ts';
import { reconcile, type Change, type LiveState, type Outcome, type Plan } from '../../src/index.ts';
import { isRiskierThan, riskClasses, type RiskClass } from '../../src/model/plan/plan.ts';
import type { Consent } from '../../src/reconcile/prepare/prepare.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { applyPlan, inputOf, reviewOf, testTarget } from '../support/run-pipeline.ts';
import { excessOf, isOpen, isUnprotected, judgeConnection, type Condition, type ModelState } from './protection-model.ts';
import { stateOf, type Pair } from './pairs.ts';

/** The laws that every plan keeps. */
export const laws = [
  'headline too mild',
  'risk below headline',
  'false surely lost',
  'wrongly held',
  'unknown without need',
  'protection not reached',
] as const;

export type Law = (typeof laws)[number];

/** A violation of a law. */
export type Finding = { readonly law: Law; readonly connection: string; readonly why: string };

const borrowed = ['Connection.min_review_approvals'];

function gatewayOf({ dialect, live }: Pair): MemoryGateway {
  return memoryGateway({ registry, agents: ['default'], resources: live, dialect: { dialect, borrowed } });
}

/** One plan on a gateway in memory, which it was applied to. */
type Run = { readonly plan: Plan; readonly before: ModelState; readonly after: ModelState; readonly failed: readonly Outcome[] };

/** Plans a pair and applies the plan; undefined when the manifests cannot be planned. */
async function run(pair: Pair, revert: boolean): Promise<Run | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const gateway = gatewayOf(pair);
  const before = gateway.state();
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('the list is not complete');
  const resources = state.resources.map((one) => (pair.untouched.includes(one.id) ? { ...one, untouched: true } : one));
  const live: LiveState = { ...state, resources, ...(pair.dialect === 'hoop' ? { accessRules: [] } : {}) };
  const desired = desiredState(pair.manifests);
  const base = pair.base === undefined ? undefined : { commit: 'a'.repeat(40), desired: desiredState(pair.base), removedIn: new Map() };
  const ids = desired.resources.map(({ id }) => id);
  const consent: Consent = { adopt: ids, revert: revert ? ids : [], prune: pair.prune };
  const target = { ...testTarget, dialect: pair.dialect };
  const { value: reviewed } = reconcile(inputOf({ desired, live, base, target, consent, borrowed }), reviewOf());
  if (reviewed === undefined) return undefined;
  const { outcomes } = await applyPlan({ gateway, plan: reviewed.plan, live, desired });
  const failed = outcomes.filter(({ status }) => status !== 'done' && status !== 'held');
  return { plan: reviewed.plan, before, after: gateway.state(), failed };
}

/** The verdicts of a report that announce a loss, or that one cannot be excluded, each with the mildest risk that fits it. */
const alarms: Readonly<Record<string, RiskClass>> = {
  weakens: 'weakens',
  both: 'weakens',
  mixed: 'weakens',
  unknown: 'unknown',
  incomparable: 'unknown',
  exposes: riskClassNamed('exposes'),
  reroutes: 'reroutes',
};

/** The verdicts that claim a certain loss. */
const claims = new Set(['weakens', 'both', 'mixed']);

/** The condition that a control of a report belongs to; those without one are not judged. */
const conditionOf: Readonly<Record<string, Condition>> = {
  access: 'access',
  review: 'approval',
  force: 'approval',
  requests: 'approval',
  duration: 'duration',
  metadata: 'metadata',
  input: 'input',
  output: 'output',
  masking: 'masking',
  redaction: 'redaction',
  schema: 'schema',
};

/** The controls whose states can always be compared. */
const exact = new Set(['access', 'review', 'force', 'metadata', 'redaction', 'schema']);

/** Judges one pair; undefined when it cannot be planned. */
export async function judgePair(pair: Pair): Promise<readonly Finding[] | undefined> {
  const done = await run(pair, false);
  if (done === undefined) return undefined;
  const ids = connectionsIn(done.after);
  if (done.failed.length > 0) return done.failed.map(failure);
  return [...ids.flatMap((id) => judgePlan(pair, done, id)), ...(await judgeHeld(pair, done, ids))];
}

function failure({ id, code, message }: Outcome): Finding {
  return { law: 'protection not reached', connection: id, why: `the apply failed: ${code ?? ''} ${message ?? ''}` };
}

function connectionsIn(state: ModelState): readonly string[] {
  return Object.keys(state).filter((id) => id.startsWith('Connection/'));
}

function judgePlan(pair: Pair, { plan, before, after }: Run, id: string): readonly Finding[] {
  const predecessor = pair.predecessors[id];
  const subject = before[id] === undefined ? predecessor : id;
  const report = reportOf(plan, id);
  const risk = highestRiskOf(plan, [id], { before, after });
  const tooMild = (why: string): Finding => ({ law: 'headline too mild', connection: id, why });
  const tooLow = (why: string): Finding => ({
    law: 'risk below headline',
    connection: id,
    why: `${why}, but the risk is ${risk ?? 'none'}`,
  });
  const findings: Finding[] = [];
  for (const verdict of report.headlines) {
    const due = alarms[verdict];
    if (due !== undefined && (risk === undefined || isRiskierThan(due, risk)))
      findings.push(tooLow(`a headline has the verdict ${verdict}`));
  }
  const isAlarmed = report.headlines.some((verdict) => alarms[verdict] !== undefined);
  const opens = isOpen(after, id) && (subject === undefined || !isOpen(before, subject));
  if (opens && isUnprotected(after, id)) {
    // Any headline will do: nothing else about a new connection has one. Its risk is checked.
    if (report.headlines.length === 0) findings.push(tooMild('it becomes accessible without protection'));
    if (risk === undefined || isRiskierThan(riskClassNamed('exposes'), risk))
      findings.push(tooLow('it becomes accessible without protection'));
  }
  if (subject === undefined || isUnfinished(pair, before, id)) return findings;
  const { demands, surelyLost } = judgeConnection(before, after, id, { predecessor: subject });
  for (const demand of demands) {
    const names = [...demand].join(' or ');
    const isNamed = report.aspects.some(({ aspect, way }) => alarms[way] !== undefined && demand.has(conditionOf[aspect] ?? 'schema'));
    if (!isAlarmed) findings.push(tooMild(`${names} admits more, and no headline says so`));
    else if (!isNamed && subject === id) findings.push(tooMild(`${names} admits more, and the report has another control`));
  }
  const least = riskClassNamed('exposes');
  if (demands.length > 0 && (risk === undefined || isRiskierThan(least, risk))) findings.push(tooLow('something becomes possible'));
  for (const { aspect, way } of report.aspects) {
    const condition = conditionOf[aspect];
    if (exact.has(aspect) && (way === 'unknown' || way === 'incomparable'))
      findings.push({ law: 'unknown without need', connection: id, why: aspect });
    if (condition !== undefined && claims.has(way) && !surelyLost.has(condition))
      findings.push({ law: 'false surely lost', connection: id, why: `${aspect} ${way}` });
  }
  return findings;
}

/**
 * Returns whether the plan opens a connection that an interrupted apply created closed. Its opening belongs to its creation, unless the
 * applied manifests have it closed.
 */
function isUnfinished({ base, untouched }: Pair, before: ModelState, id: string): boolean {
  if (!untouched.includes(id) || isOpen(before, id)) return false;
  const applied = stateOf(base ?? []).find((one) => one.id === id);
  return applied === undefined || isOpen({ [id]: applied }, id);
}

type Report = { readonly headlines: readonly string[]; readonly aspects: readonly { readonly aspect: string; readonly way: string }[] };

function reportOf({ protection }: Plan, id: string): Report {
  const change = protection.connections.find(({ connection }) => connection === id);
  return {
    headlines: protection.headlines.filter(({ connections }) => connections.some((one) => one === id)).map(({ way }) => way),
    aspects: change?.aspects ?? [],
  };
}

/** Returns the highest risk of the changes that reach a connection: its own, and those of its rules before and after. */
function highestRiskOf(
  plan: Plan,
  ids: readonly string[],
  states: { readonly before: ModelState; readonly after: ModelState },
): RiskClass | undefined {
  const reaching = plan.changes.filter(
    ({ id, key, action }) => action !== 'blocked' && action !== 'held' && reaches(id, key ?? id, ids, states),
  );
  const unwritten = plan.unwritten.filter(({ id }) => reaches(id, id, ids, states));
  const risks = [...reaching, ...unwritten].flatMap(({ id, risks: own }) =>
    own.filter(({ connections }) => ids.includes(id) || connections === undefined || connections.some((one) => ids.includes(one))),
  );
  return risks.map((risk) => risk.class).toSorted((left, right) => (isRiskierThan(left, right) ? -1 : 1))[0];
}

function reaches(
  id: string,
  key: string,
  ids: readonly string[],
  { before, after }: { readonly before: ModelState; readonly after: ModelState },
): boolean {
  if (ids.includes(id)) return true;
  const isAttribute = [before, after].some((state) => Array.isArray(state[key]?.spec?.['attributes']));
  return (
    isAttribute ||
    [before[key], after[key], after[id]].some((rule) => rule?.edges?.['connection_ids']?.some((one) => ids.includes(one)) === true)
  );
}

/** Compares the result with held drift with the result of reverting all drift, and that with the manifests. */
async function judgeHeld(pair: Pair, { plan, after }: Run, ids: readonly string[]): Promise<readonly Finding[]> {
  const held = plan.changes.flatMap(({ id, fields }) => fields.filter((field) => field.held === true).map(({ path }) => `${id} ${path}`));
  const edges = plan.edges.filter(({ action }) => action === 'held').map(({ rule, connection }) => `${rule} on ${connection}`);
  const isHeld = held.length + edges.length > 0;
  const other = isHeld ? await run(pair, true) : { after, failed: [] };
  if (other === undefined) throw new Error('a plan that reverts the drift is not possible');
  if (other.failed.length > 0) return other.failed.map(failure);
  const { after: reverted } = other;
  const wished = wishedState(pair);
  const halves = plan.changes.flatMap(halfHeld);
  return [
    ...halves.map((path): Finding => wronglyHeld(path, 'half of an entry is held')),
    ...ids.flatMap((id) => {
      const excess = excessOf(after, reverted, id);
      const missing = wished[id] === undefined ? [] : excessOf(reverted, wished, id);
      return [
        ...(isHeld && excess.length > 0
          ? [wronglyHeld(id, `held ${[...held, ...edges].join(', ')} admits more: ${excess.join(', ')}`)]
          : []),
        ...missing.map((what): Finding => ({
          law: 'protection not reached',
          connection: id,
          why: `${what} admits more than the manifests`,
        })),
      ];
    }),
  ];
}

function wronglyHeld(connection: string, why: string): Finding {
  return { law: 'wrongly held', connection, why };
}

/** Lists the entries of a rule of which one drift is held and another is reverted. */
function halfHeld({ id, fields }: Change): readonly string[] {
  const drifted = fields.filter(({ origin }) => origin === 'drift');
  const entries = new Map<string, Set<boolean>>();
  for (const { path, held } of drifted) {
    const [, side = '', list = '', name = ''] = path.split('/');
    const entry = side === 'input' || side === 'output' ? [id, side, list, name] : [id, side, list];
    if (side !== 'input' && side !== 'output' && side !== 'custom_entity_types') continue;
    const key = entry.join('/');
    entries.set(key, (entries.get(key) ?? new Set()).add(held === true));
  }
  return [...entries].flatMap(([key, states]) => (states.size > 1 ? [key] : []));
}

/** Returns the gateway that the manifests ask for; an omitted field that a manifest keeps is what is live. */
function wishedState(pair: Pair): ModelState {
  const live = new Map(pair.live.map((one) => [one.id, one]));
  const kept = ['min_review_approvals', 'mandatory_metadata_fields', 'attributes'];
  return Object.fromEntries(
    stateOf(pair.manifests).map((one) => {
      const found = live.get(one.id)?.spec ?? {};
      const spec = Object.fromEntries(kept.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]])));
      return [one.id, { ...one, spec: { ...spec, ...one.spec } }];
    }),
  );
}

/** Returns a risk class by name; a class that does not exist yet counts as the next milder one. */
function riskClassNamed(name: string): RiskClass {
  const found = riskClasses.find((one) => one === name);
  return found ?? 'reroutes';
}
