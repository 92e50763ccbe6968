import type { Outcome } from '../../src/index.ts';
import { isRiskierThan } from '../../src/model/plan/plan.ts';
import type { Condition } from './allowed-actions.ts';
import { reroutedCredentials } from './credential-routes.ts';
import type { ModelState } from './gateway-objects.ts';
import { featuresOf } from './features.ts';
import { judgeApproval } from './judge-approval.ts';
import { judgeHeld } from './judge-held.ts';
import { isSource, judgeInherited } from './judge-inherited.ts';
import { judgeUntouched } from './judge-untouched.ts';
import { declaredOn } from './kept-state.ts';
import type { Finding } from './laws.ts';
import { isOpen, isUnfinished, openModes, unreviewedModes } from './open-modes.ts';
import type { Pair } from './pairs.ts';
import { alarms, highestRiskOf, reportOf } from './plan-report.ts';
import { judgeConnection } from './protection-model.ts';
import { judgeMerge } from './judge-merge.ts';
import { previewPair, runPair, type Run } from './run-pair.ts';
import { worldsOf } from './worlds.ts';

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
const exact = new Set(['access', 'metadata', 'schema']);

/** The controls of which a text shows a certain loss. */
const witnessed = new Set(['input', 'output']);

/** Returns whether two states of a control can always be compared on this gateway. */
function isExact({ reportsLimit, readsAccess, gateway }: Pair, control: string): boolean {
  // Nothing says what the public gateway does with types that it does not name.
  if (control === 'redaction') return gateway === undefined;
  if (control === 'review' || control === 'force') return readsAccess;
  return exact.has(control) || (control === 'duration' && reportsLimit);
}

/** The findings about one pair, and what it exercised. */
export type Judgement = { readonly findings: readonly Finding[]; readonly features: readonly string[] };

/** Judges one pair on a gateway in memory; undefined when it cannot be planned. */
export async function judgePair(pair: Pair): Promise<Judgement | undefined> {
  const done = await runPair(pair, false);
  if (done === undefined) return undefined;
  const { findings, features } = await judgeRun(pair, done, () => runPair(pair, true));
  const seen = await previewPair(pair);
  if (seen === undefined) return { findings, features };
  const merge = judgeMerge(pair, done, seen);
  const hidden = pair.sight === 'hidden' ? judgeInherited(pair, { ...done, plan: seen }, 'hidden') : { findings: [], features: [] };
  return { findings: [...findings, ...merge.findings, ...hidden.findings], features: [...features, ...merge.features, ...hidden.features] };
}

/** Judges the run of a pair; `revertAll` runs the pair again and reverts all held drift. */
export async function judgeRun(pair: Pair, done: Run, revertAll: () => Promise<Run | undefined>): Promise<Judgement> {
  const features = featuresOf(pair, done);
  if (done.failed.length > 0) return { features, findings: done.failed.map(failure) };
  const ids = connectionsIn(done.after);
  const own = [...ids.flatMap((id) => judgePlan(pair, done, id)), ...judgeCauses(done), ...judgeUntouched(pair, done)];
  const inherited = judgeInherited(pair, done, 'shown');
  const approval = judgeApproval(pair, done, (id) => isUnfinished(pair, done.before, id));
  return {
    features: [...features, ...inherited.features, ...approval.features],
    findings: [...own, ...inherited.findings, ...approval.findings, ...(await judgeHeld(pair, { done, revertAll }, ids))],
  };
}

function failure({ id, code, message }: Outcome): Finding {
  return { law: 'protection not reached', connection: id, why: `the apply failed: ${code ?? ''} ${message ?? ''}` };
}

/** Every headline names the lines that cause it. */
function judgeCauses({ plan }: Run): readonly Finding[] {
  return plan.protection.headlines.flatMap(({ text, causes, connections }) =>
    causes.length === 0 ? [{ law: 'headline without a cause', connection: connections.join(' '), why: text }] : [],
  );
}

function connectionsIn(state: ModelState): readonly string[] {
  return Object.keys(state).filter((id) => id.startsWith('Connection/'));
}

function judgePlan(pair: Pair, { plan, before, after }: Run, id: string): readonly Finding[] {
  const predecessor = pair.predecessors[id];
  const subject = before[id] === undefined ? predecessor : id;
  const report = reportOf(plan, id);
  const risk = highestRiskOf(plan, id, { before, after });
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
  const opens = isOpen(after, id, pair) && (subject === undefined || !isOpen(before, subject, pair));
  const unreviewed = unreviewedModes(after, id, pair);
  const isReviewLost = unreviewed.some(
    (mode) => openModes(before, subject ?? '', pair).includes(mode) && !unreviewedModes(before, subject ?? '', pair).includes(mode),
  );
  if ((opens && unreviewed.length > 0) || isReviewLost) {
    const why = `sessions need no review by ${unreviewed.join(', ')}`;
    if (!isAlarmed) findings.push(tooMild(why));
    if (risk === undefined || isRiskierThan('exposes', risk)) findings.push(tooLow(why));
  }
  const known = { before, applied: declaredOn(before, pair.base ?? []) };
  const options = { id, ...(subject === undefined ? {} : { predecessor: subject }), isShared: isSource };
  if (!pair.unmanaged.includes(id) && reroutedCredentials(known, after, options).some(({ isInherited }) => !isInherited)) {
    if (!report.headlines.includes('reroutes')) findings.push(tooMild('a credential goes elsewhere, and no headline says so'));
    if (risk === undefined || isRiskierThan('reroutes', risk)) findings.push(tooLow('a credential goes elsewhere'));
  }
  if (subject === undefined || isUnfinished(pair, before, id)) return findings;
  const possible = worldsOf(pair);
  const { demands, surelyLost, surelyLostWhereOpen } = judgeConnection(before, after, id, { predecessor: subject, possible });
  for (const demand of demands) {
    const names = [...demand].join(' or ');
    const isNamed = report.controls.some(
      ({ control, direction }) => alarms[direction] !== undefined && demand.has(conditionOf[control] ?? 'schema'),
    );
    if (!isAlarmed) findings.push(tooMild(`${names} admits more, and no headline says so`));
    else if (!isNamed) findings.push(tooMild(`${names} admits more, and the report has another control`));
  }
  const isSameType = ['type', 'subtype'].every((field) => before[subject]?.spec?.[field] === after[id]?.spec?.[field]);
  const least = 'exposes';
  if (demands.length > 0 && (risk === undefined || isRiskierThan(least, risk))) findings.push(tooLow('something becomes possible'));
  for (const { control, direction } of report.controls) {
    const condition = conditionOf[control];
    const isUnknown = direction === 'unknown' || direction === 'incomparable';
    if (
      isUnknown &&
      (isExact(pair, control) || (isSameType && witnessed.has(control) && condition !== undefined && surelyLostWhereOpen.has(condition)))
    )
      findings.push({ law: 'unknown without need', connection: id, why: control });
    // An attribute may grant access, which no verdict can exclude or claim.
    if (control === 'attributes' && !isUnknown) findings.push(tooMild(`an attribute ${direction}`));
    if (condition !== undefined && claims.has(direction) && !surelyLost.has(condition))
      findings.push({ law: 'false surely lost', connection: id, why: `${control} ${direction}` });
  }
  return findings;
}
