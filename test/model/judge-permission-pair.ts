import { compareText } from '../../src/model/json.ts';
import type { AccessState } from './access-model.ts';
import { exposedAt, type Moment } from './exposed-moments.ts';
import { missingContent } from './attached-content.ts';
import { textWithoutIds } from './text-without-ids.ts';
import { judgeAccessRun } from './judge-access-pair.ts';
import type { Finding, Law } from './laws.ts';
import { permissionFeaturesOf } from './permission-features.ts';
import { asPermission, type PermissionPair } from './permission-pairs.ts';
import { alarms, reportOf } from './plan-report.ts';
import { onPermissionGateway, stopAfterWrite, type WholeRun } from './run-permission-pair.ts';

export type PermissionJudgement = { readonly findings: readonly Finding[]; readonly features: readonly string[] };

/** Judges a plan of runbook rules and attributes, every moment of its apply, and one that stops and is continued; undefined when it cannot be planned. */
export async function judgePermissionPair(pair: PermissionPair): Promise<PermissionJudgement | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const whole = await onPermissionGateway(pair, async ({ read, apply }) => {
    const before = await read();
    const done = await apply();
    return done && { ...done, before, after: await read() };
  });
  if (whole === undefined) return undefined;
  const judged = await judgeAccessRun(pair, {
    plan: whole.plan,
    blind: undefined,
    before: whole.before.access,
    after: whole.after.access,
    failed: whole.failed,
  });
  if (whole.failed.length > 0) return judged;
  const stopped = await judgeStop(pair, whole);
  return {
    features: [...judged.features, ...permissionFeaturesOf(pair, whole), ...stopped.features],
    findings: [
      ...judged.findings,
      ...refusalFindings(whole),
      ...contentFindings(whole),
      ...endFindings(pair, whole),
      ...exposures(whole.moments, whole, 'while it applies'),
      ...stopped.findings,
    ],
  };
}

function found(law: Law, why: string, connection = ''): Finding {
  return { law, connection, why };
}

/** A plan that opens all runbooks, or hides connections from everybody, is refused. */
function refusalFindings({ plan, before, after }: WholeRun): readonly Finding[] {
  const isLast = before.access.runbookRules.length > 0 && after.access.runbookRules.length === 0;
  const isSwitched = before.access.rows === undefined && after.access.rows !== undefined;
  const due = [...(isLast ? ['plan/last-runbook-rule'] : []), ...(isSwitched ? ['plan/access-control-on'] : [])];
  const refused = plan.refusals.map(({ code }) => code).filter((code) => code.startsWith('plan/last-') || code.startsWith('plan/access-'));
  return JSON.stringify(due) === JSON.stringify(refused.toSorted(compareText).toReversed())
    ? []
    : [found('refusal missing', `due ${due.join(' ')}, refused ${refused.join(' ')}`)];
}

/** A plan names connections on which rules that attributes attach block less. */
function contentFindings({ plan, before, after }: WholeRun): readonly Finding[] {
  return Object.keys(after.access.connections).flatMap((name) => {
    const id = `Connection/${name}`;
    if (before.access.connections[name] === undefined) return [];
    const lost = missingContent(name, before.content, after.content);
    const { headlines } = reportOf(plan, id);
    return lost.length === 0 || headlines.some((direction) => alarms[direction] !== undefined)
      ? []
      : [found('headline too mild', 'no headline says that rules of attributes are lost', id)];
  });
}

/** The gateway has what the manifests declare, unless drift is held. */
function endFindings(pair: PermissionPair, { plan, after }: WholeRun): readonly Finding[] {
  const isHeld = (id: string): boolean =>
    plan.changes.some((one) => one.id === id && (one.action === 'held' || one.fields.some(({ held }) => held === true))) ||
    plan.edges.some(({ rule, action }) => rule === id && action === 'held');
  return pair.manifests.flatMap((manifest): readonly Finding[] => {
    const { kind, metadata, spec } = manifest;
    const id = `${kind}/${metadata.name}`;
    if (isHeld(id)) return [];
    if (kind === 'Attribute') {
      const granted = after.access.granted[metadata.name];
      return isSame(granted, spec['access_groups']) ? [] : [found('end state differs', `an attribute grants ${String(granted)}`)];
    }
    if (kind !== 'RunbookRule') return [];
    const wanted = asPermission(manifest);
    const has = after.access.runbookRules.find(({ name }) => name === metadata.name);
    const isWhole = isSame(has?.groups, wanted.groups) && isSame(has?.files, wanted.files);
    // A rule keeps connections that no manifest attached; it restricts all others, unless it includes every connection.
    const isAttached = wanted.connections.every((name) => has?.connections.includes(name) === true);
    const isEvery = wanted.connections.length === 0 ? has?.connections.length === 0 : (has?.connections.length ?? 0) > 0;
    return isWhole && isAttached && isEvery ? [] : [found('end state differs', `a runbook rule is ${JSON.stringify(has)}`)];
  });
}

function isSame(left: unknown, right: unknown): boolean {
  return sortedText(left) === sortedText(right);
}

function sortedText(value: unknown): string {
  const texts = (Array.isArray(value) ? value : []).map((one) => JSON.stringify(one));
  return value === undefined ? '' : texts.toSorted(compareText).join(' ');
}

/** Lists the moments in which people can do more than before and after; a plan that names a window is refused, and its moments are not compared. */
function exposures(moments: readonly Moment[], { plan, before, after }: WholeRun, when: string): readonly Finding[] {
  if (plan.singleWrites.some(({ windows }) => windows.length > 0)) return [];
  const exposed = new Set(moments.flatMap((moment) => exposedAt(moment, before, after)));
  return [...exposed].slice(0, 2).map((why) => found('exposed between writes', `${when}, ${why}`));
}

/** Stops the apply after one of its writes, and continues it with the next plan: it exposes nothing, and ends in the same state. */
async function judgeStop(pair: PermissionPair, whole: WholeRun): Promise<PermissionJudgement> {
  const writes = whole.moments.length;
  if (writes < 2) return { findings: [], features: [] };
  return onPermissionGateway(pair, async ({ proxy, read, apply, takeMoments }) => {
    stopAfterWrite(proxy, 1 + Math.floor(pair.stop * (writes - 1)));
    const lost = await apply().then(
      (run) => run?.moments ?? [],
      () => takeMoments(),
    );
    proxy.disturb(undefined);
    const isNext = exposures(lost, whole, 'after a stop');
    const next = await apply(whole.plan);
    const failed = next === undefined ? ['no plan'] : next.failed.map(({ id, code, message }) => `${id} ${code ?? ''} ${message ?? ''}`);
    const end = await read();
    return {
      features: ['a stop after a write that is continued'],
      findings: [
        ...isNext,
        ...(failed.length === 0 ? [] : [found('end state differs', `the next apply failed: ${failed.join(', ')}`)]),
        ...exposures(next?.moments ?? [], whole, 'in the apply after a stop'),
        ...(failed.length > 0 ? [] : differences(end.access, whole.after.access)),
      ],
    };
  });
}

/** Compares states without the ids that a gateway draws. */
function differences(end: AccessState, wanted: AccessState): readonly Finding[] {
  const texts = [end, wanted].map((state) => new Map(Object.entries(state).map(([list, value]) => [list, textWithoutIds(value)])));
  const lists = [...new Set(texts.flatMap((one) => [...one.keys()]))].filter((list) => texts[0]?.get(list) !== texts[1]?.get(list));
  return lists.map((list) => found('end state differs', `the next apply leads to other ${list}`));
}
