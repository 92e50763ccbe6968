import { createHash } from 'node:crypto';
import { canonical, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import type { AccessMode } from '../model/protection/access-objects.ts';
import type { Decider, NeededApproval, PermissionFact } from '../model/protection/permission.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { RecordedSession, ReplayTurn } from '../model/result/replay.ts';
import { isEasierApproval, uncoveredFiles } from '../protection/access/compare-terms.ts';
import { controlsOf } from '../protection/controls/control-row.ts';
import { ruleControlTypes } from '../protection/controls/control-table.ts';
import { enforcementNote, isChecked, levelsOf } from '../protection/controls/enforcement.ts';
import { guardrailEntries } from '../protection/controls/rule-rows.ts';
import { effective, hiddenFields } from '../protection/effective/effective.ts';
import type { PatternCompiler } from '../protection/pattern/compile.ts';
import { decisionOn } from '../protection/permission/permission.ts';
import { postureIn } from '../protection/posture/posture.ts';
import { type ProtectionSnapshot, rulesOn } from '../protection/posture/protection-snapshot.ts';
import { simulateGuardrail } from '../protection/samples/simulate.ts';

/** How a session ends in one state of a gateway, and what decides it. */
export type SessionEnd = {
  readonly end: 'runs' | 'approval' | 'refused' | 'blocked' | 'unknown';
  readonly approval?: Exclude<NeededApproval, 'refused'>;
  readonly by: readonly Decider[];
  /** Why the end is not known. */
  readonly why?: string;
};

/** A session of a person in some groups; undefined: the gateway does not list the person. */
export type AskedSession = Pick<RecordedSession, 'verb' | 'runbook' | 'isMachine'> & {
  readonly id: ResourceId;
  readonly groups: readonly string[] | undefined;
};

/** The script of a session; `unread`: it has one, and why that is not known. */
export type SessionScript = string | { readonly unread: string } | undefined;

/** Returns whether a person may use a connection for a session, and after whose approval, as `ostiary can` answers it. */
export function accessOfSession(snapshot: ProtectionSnapshot, session: AskedSession): SessionEnd {
  const { id, verb, runbook } = session;
  const groups = groupsIn(snapshot, session);
  if (!snapshot.resources.has(id)) return { end: 'refused', by: [{ id, path: '' }] };
  if (groups === undefined) return { end: 'unknown', by: [], why: 'the gateway does not list the person' };
  const { terms, facts } = decisionOn({ id, snapshot }, { groups, verb });
  const by = (part: PermissionFact['part']): readonly Decider[] => facts.filter((fact) => fact.part === part).flatMap((fact) => fact.by);
  if (terms.answer === 'no') {
    const refusing = facts.flatMap((fact) => fact.by);
    return { end: 'refused', by: refusing.length === 0 ? [{ id, path: '' }] : refusing };
  }
  const { runbooks, approval } = terms;
  const unclear =
    facts.find(({ answer }) => answer === 'unknown')?.text ?? (approval === 'unknown' ? 'the approval is not known' : undefined);
  if (unclear !== undefined || approval === 'unknown' || approval === 'refused') return { end: 'unknown', by: [], why: unclear ?? '' };
  if (runbooks !== undefined && runbook === undefined) return { end: 'unknown', by: [], why: 'the gateway did not record the runbook' };
  if (runbook !== undefined && runbooks !== undefined && uncoveredFiles([runbook], runbooks).length > 0)
    return { end: 'refused', by: by('runbooks') };
  return approval === undefined ? { end: 'runs', by: by('approval') } : { end: 'approval', approval, by: by('approval') };
}

/** Returns the rules that ask for the approval of a session, and those by which its runbook may run. */
export function rulesDeciding(snapshot: ProtectionSnapshot, session: AskedSession): readonly ResourceId[] {
  const { id, verb } = session;
  const groups = groupsIn(snapshot, session);
  if (groups === undefined) return [];
  const { terms, facts } = decisionOn({ id, snapshot }, { groups, verb });
  const deciding = facts.filter(({ part }) => part === 'runbooks' || (part === 'approval' && terms.approval !== undefined));
  return terms.answer === 'no' ? [] : deciding.flatMap(({ by }) => by.map((one) => one.id));
}

function groupsIn(snapshot: ProtectionSnapshot, { id, groups, isMachine }: AskedSession): readonly string[] | undefined {
  const roles = isMachine ? effective(snapshot, id)?.access.roles : undefined;
  return roles === undefined ? groups : [roles.admin];
}

/** The guardrail rules that check the script of a session, or why they are not known; equal rules have one `key`. */
export type ScriptChecks = {
  readonly rules: readonly { readonly rule: ResourceId; readonly entries: readonly JsonObject[] }[];
  readonly key: string;
  readonly unclear: string | undefined;
};

const unchecked: ScriptChecks = { rules: [], key: '', unclear: undefined };

/** What rules find in a script: of each rule the first entry that blocks it, and nothing of the script; or why that is not known. */
export type ScriptFinding = readonly Decider[] | { readonly unread: string };

/** Returns the rules on a connection that may block a script. */
export function guardrailsOn(snapshot: ProtectionSnapshot, id: ResourceId): readonly ResourceId[] {
  return [...rulesOn(snapshot, id)].filter(blocksScripts);
}

/** Returns whether rules of the kind of an object block scripts. */
export function blocksScripts(id: ResourceId): boolean {
  return ruleControlTypes(kindOf(id)).includes('input');
}

/** Returns what checks the scripts of sessions by a verb on a connection. */
export function checksOf(snapshot: ProtectionSnapshot, id: ResourceId, verb: AccessMode): ScriptChecks {
  const posture = verb === 'connect' ? undefined : postureIn(snapshot, id);
  if (posture === undefined) return unchecked;
  const { enforcement, incomplete } = posture;
  const on = guardrailsOn(snapshot, id);
  const hidden = [id, ...on].flatMap((one) => hiddenFields(snapshot, one, ['input'])).filter(({ path }) => path !== pointer('attributes'));
  const isHidden = incomplete.has('input') || hidden.length > 0;
  const levels = levelsOf(enforcement, 'input', verb);
  const isNever = levels.every((level) => level === 'unchecked');
  if (isNever || (controlsOf(posture, 'input').length === 0 && !isHidden)) return unchecked;
  const note = levels.every(isChecked) ? undefined : enforcementNote(enforcement, 'input', verb);
  const rules = on.toSorted().map((rule) => ({ rule, entries: guardrailEntries(snapshot.resources.get(rule)?.spec ?? {}, 'input') }));
  const key = createHash('sha256').update(canonical(rules)).digest('base64url').slice(0, 16);
  return { rules, key, unclear: note ?? (isHidden ? 'a guardrail cannot be read' : undefined) };
}

/** Returns what the rules of a connection find in a script. */
export function findingOf({ rules }: ScriptChecks, script: SessionScript, patterns: PatternCompiler): ScriptFinding {
  if (rules.length === 0) return [];
  if (typeof script !== 'string') return script ?? { unread: 'the script was not read' };
  const results = rules.map(({ rule, entries }) => ({ rule, ...simulateGuardrail(entries, script, patterns) }));
  const hits = results.flatMap(({ rule, hits: [first] }) =>
    first === undefined ? [] : [{ id: rule, path: pointer('input', 'rules', String(first.entry)) }],
  );
  const [doubt] = results.flatMap(({ uncertain }) => uncertain);
  return hits.length === 0 && doubt !== undefined ? { unread: doubt.why } : hits;
}

/** Returns how a session ends that its access ends with `access`, and whose script the rules find something in. */
export function endOfScript(access: SessionEnd, { unclear }: ScriptChecks, found: ScriptFinding): SessionEnd {
  if (access.end === 'refused') return access;
  const why = unclear ?? ('unread' in found ? found.unread : undefined);
  if (why !== undefined) return { end: 'unknown', by: [], why };
  return 'unread' in found || found.length === 0 ? access : { end: 'blocked', by: found };
}

/** Returns what changes for a session; undefined if it ends as before. */
export function turnOf(before: SessionEnd, after: SessionEnd): ReplayTurn | undefined {
  if (canonical({ ...before, by: [] }) === canonical({ ...after, by: [] })) return undefined;
  const isPossible = ({ end }: SessionEnd): boolean => end === 'runs' || end === 'approval';
  if (before.end === 'unknown' || after.end === 'unknown') return 'unknown';
  if (!isPossible(after)) return isPossible(before) ? (after.end === 'blocked' ? 'blocked' : 'refused') : undefined;
  if (!isPossible(before)) return 'possible';
  return isEasierApproval(after.approval, before.approval) && !isEasierApproval(before.approval, after.approval)
    ? 'unapproved'
    : 'approval';
}
