import type { Plan } from '../../src/index.ts';
import { isRiskierThan, type Risk } from '../../src/model/plan/plan.ts';
import { compareAccess, type AccessCondition, type AccessGain, type AccessVerdict } from './access-judgement.ts';
import { accessFeaturesOf } from './access-features.ts';
import type { AccessPair } from './access-pairs.ts';
import type { Finding } from './laws.ts';
import { alarms, reportOf } from './plan-report.ts';
import { runAccessPair, type AccessRun } from './run-access-pair.ts';

/** The verdicts that claim a certain loss. */
const claims = new Set(['weakens', 'both']);

/** The conditions that a control of a report is about; those without one are not judged. */
const conditionsOf: Readonly<Record<string, readonly AccessCondition[]>> = {
  who: ['who'],
  access: ['mode'],
  approval: ['approval', 'duration'],
  review: ['approval'],
  force: ['approval'],
  requests: ['approval', 'duration'],
  duration: ['duration'],
  runbooks: ['runbooks'],
  analyzer: ['analyzer'],
};

/** The findings about one pair, and what it exercised. */
export type AccessJudgement = { readonly findings: readonly Finding[]; readonly features: readonly string[] };

/** Judges what a plan reports about access on the public gateway; undefined when the pair cannot be planned. */
export async function judgeAccessPair(pair: AccessPair): Promise<AccessJudgement | undefined> {
  const done = await runAccessPair(pair, false);
  return done && judgeAccessRun(pair, done);
}

/** Judges what the plan of a run reports about access. */
export async function judgeAccessRun(pair: AccessPair, done: AccessRun): Promise<AccessJudgement> {
  const failed = done.failed.map(({ id, code, message }) => `the apply failed: ${id} ${code ?? ''} ${message ?? ''}`);
  if (failed.length > 0) return { features: [], findings: failed.map((why) => ({ law: 'protection not reached', connection: '', why })) };
  const verdicts = new Map(
    Object.keys(done.after.connections).map((name) => {
      const predecessor = done.before.connections[name] === undefined ? pair.predecessors[name] : name;
      return [name, compareAccess(done.before, done.after, { name, predecessor })] as const;
    }),
  );
  const findings = [...verdicts].flatMap(([name, verdict]) => findingsOf(pair, done, { name, verdict }));
  const { blind } = done;
  const unseen =
    blind === undefined ? [] : [...verdicts].flatMap(([name, verdict]) => gainsUnnamed(pair, { ...done, plan: blind }, { name, verdict }));
  const isBlind = blind !== undefined && [...verdicts.values()].some(({ gains }) => gains.length > 0);
  return {
    features: [...accessFeaturesOf(pair, done, verdicts), ...(isBlind ? [`a gain without the list ${pair.unread ?? ''}`] : [])],
    findings: [
      ...findings,
      ...unseen.map(({ why, ...one }) => ({ ...one, why: `without the list ${pair.unread ?? ''}: ${why}` })),
      ...(await judgeHeldAccess(pair, done)),
    ],
  };
}

type Judged = { readonly name: string; readonly verdict: AccessVerdict };

function isNewIn({ before }: AccessRun, { predecessors }: AccessPair, name: string): boolean {
  return before.connections[predecessors[name] ?? name] === undefined;
}

/** Lists what becomes possible and is not named: by a headline and a risk, or by a refusal because the token cannot see what it replaces. */
function gainsUnnamed(pair: AccessPair, run: AccessRun, { name, verdict }: Judged): readonly Finding[] {
  const { plan } = run;
  const id = `Connection/${name}`;
  const isNew = isNewIn(run, pair, name);
  const { headlines, controls } = reportOf(plan, id);
  const risks = risksOf([...changesOf(plan), ...plan.unwritten, ...plan.accepted], id);
  const isAlarmed = headlines.some((direction) => alarms[direction] !== undefined);
  const isRisky = risks.some((risk) => !isRiskierThan('exposes', risk.class) || risk.class === 'reroutes');
  if (plan.refusals.some(({ resource, message }) => resource === id && message.includes('the token cannot see'))) return [];
  // A plan does not judge credentials of native clients apart from native access.
  const gains = verdict.gains.filter((one) => one.request !== 'credential' && (!isNew || isExposure(one)));
  return worstOf(gains).flatMap((gain): readonly Finding[] => {
    const what = `${gain.request} by ${gain.by.join(' or ')}${isNew ? ' of a new connection' : ''}`;
    const tooMild = (why: string): Finding => ({ law: 'headline too mild', connection: id, why: `${what}: ${why}` });
    return [
      ...(isAlarmed ? [] : [tooMild('no headline says so')]),
      ...(!isAlarmed || isNew || isNamed(controls, gain.by) ? [] : [tooMild('the report has another control')]),
      ...(isRisky ? [] : [{ law: 'risk below headline', connection: id, why: `${what}: the risk is too low` } as const]),
    ];
  });
}

function findingsOf(pair: AccessPair, run: AccessRun, { name, verdict }: Judged): readonly Finding[] {
  const { plan } = run;
  const id = `Connection/${name}`;
  const { controls } = reportOf(plan, id);
  const findings: Finding[] = [...gainsUnnamed(pair, run, { name, verdict })];
  const found = (law: Finding['law'], why: string): void => void findings.push({ law, connection: id, why });
  if (isNewIn(run, pair, name)) return findings;
  for (const { control, direction } of controls) {
    const conditions = conditionsOf[control] ?? [];
    if (claims.has(direction) && conditions.length > 0 && !conditions.some((condition) => verdict.weaker.has(condition)))
      found('false surely lost', `${control} ${direction}`);
    if (direction === 'strengthens' && conditions.length > 0 && !conditions.some((condition) => verdict.stronger.has(condition)))
      found('false surely gained', `${control} ${direction}`);
  }
  // The risks of accepted drift compare the manifests with the applied ones, and change nothing.
  const changes = changesOf(plan);
  for (const risk of risksOf(
    changes.filter((own) => isAloneOn(id, own, changes)),
    id,
  )) {
    const conditions = conditionsOfRisk(risk);
    if (risk.class === 'weakens' && conditions.length > 0 && !conditions.some((condition) => verdict.weaker.has(condition)))
      found('false surely lost', `the risk ${risk.code}`);
  }
  return findings;
}

const isRule = (id: string): boolean => /^(?:AccessRequestRule|RunbookRule|Attribute)\//.test(id);

/** Returns whether no change of another rule, or of a rule and the connection, may make up for what a change does to the connection. */
function isAloneOn(connection: string, { id: own }: Risky, changes: readonly Risky[]): boolean {
  return changes.every(({ id }) => id === own || (!isRule(id) && !(isRule(own) && id === connection)));
}

/** A new connection exposes what people other than an admin or an auditor can do without approval. */
function isExposure({ subject, isUnreviewed }: AccessGain): boolean {
  return isUnreviewed && !subject.groups.some((group) => ['admin', 'auditor'].includes(group));
}

/** Returns one gain for each request and set of conditions. */
function worstOf(gains: readonly AccessGain[]): readonly AccessGain[] {
  return [...new Map(gains.map((gain) => [`${gain.request} ${gain.by.join(' ')} ${gain.subject.machine?.name ?? ''}`, gain])).values()];
}

type Controls = ReturnType<typeof reportOf>['controls'];

/** Returns whether an alarm of the report is about one of the conditions; an attribute may decide any of them. */
function isNamed(controls: Controls, by: readonly AccessCondition[]): boolean {
  return controls.some(
    ({ control, direction }) =>
      alarms[direction] !== undefined &&
      (control === 'attributes' || (conditionsOf[control] ?? []).some((condition) => by.includes(condition))),
  );
}

function changesOf({ changes }: Plan): Plan['changes'] {
  return changes.filter(({ action }) => action !== 'blocked' && action !== 'held');
}

type Risky = { readonly id: string; readonly risks: readonly Risk[] };

function risksOf(parts: readonly Risky[], id: string): readonly Risk[] {
  return parts.flatMap(({ id: own, risks }) =>
    risks.filter(({ connections }) => (connections === undefined ? own === id : connections.some((one) => one === id))),
  );
}

/** The conditions that a risk code claims to weaken; none for codes of other controls. */
function conditionsOfRisk({ code }: Risk): readonly AccessCondition[] {
  const control = Object.keys(conditionsOf).find((name) => code.startsWith(`risk/${name}-`));
  return control === undefined ? [] : (conditionsOf[control] ?? []);
}

/** Held drift must not admit what its revert forbids. */
async function judgeHeldAccess(pair: AccessPair, { plan, after }: AccessRun): Promise<readonly Finding[]> {
  const held = plan.changes.flatMap(({ id, fields }) => fields.filter((field) => field.held === true).map(({ path }) => `${id} ${path}`));
  if (held.length === 0) return [];
  const reverted = await runAccessPair(pair, true);
  if (reverted === undefined) throw new Error('a plan that reverts the drift is not possible');
  return Object.keys(after.connections).flatMap((name) => {
    if (reverted.after.connections[name] === undefined) return [];
    const { gains } = compareAccess(reverted.after, after, { name });
    const paths = held.filter((one) => one.startsWith(`Connection/${name} `)).map((one) => one.slice(one.indexOf(' ') + 1));
    return worstOf(gains).map(({ request, by }): Finding => ({
      law: 'wrongly held',
      connection: `Connection/${name}`,
      why: `held ${paths.join(', ')} admits ${request} by ${by.join(' or ')}`,
    }));
  });
}
