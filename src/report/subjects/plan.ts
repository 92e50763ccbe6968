import jsonPatch from 'fast-json-patch';
import {
  type NewAccess,
  type Plan,
  type AcceptedDrift,
  type AssessedChange,
  type EdgeChange,
  type FieldChange,
  fieldPosition,
  type OutsideReference,
  type Value,
  type SingleWrite,
  highestPlanRisk,
  type UnwrittenSecret,
  type Risk,
} from '../../model/plan/plan.ts';
import { reasonsIn } from '../../model/plan/reasons.ts';
import type {
  PermissionDelta,
  ProtectionMatrix,
  ControlChange,
  RuleEffect,
  Cause,
  SampleChange,
  PostureChange,
  Protection,
  Headline,
  ConnectionRule,
} from '../../model/protection/protection.ts';
import type { OutsideAccess } from '../../model/plan/plan.ts';
import type { ChangeWarnings, Deletion, ReportBlock, ReportDocument } from '../document.ts';
import { blockedNotices, groupPlan, orphanNotices, sideLists } from '../rows/groups.ts';
import { outsideNotices, outsideSection } from '../rows/outside-rows.ts';
import { checkNotices, countActions } from '../wording/summary.ts';
import { planVerdict } from '../wording/verdict.ts';
import { unstatedPermissions } from '../wording/permissions.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import type { Position } from '../../model/diagnostic.ts';
import { definedFields, compareText, isObject, type Json, type JsonObject } from '../../model/json.ts';

const noMatrix: ProtectionMatrix = { columns: [], rows: [] };

type PlanDocumentOptions = {
  /** The protection of the gateway's connections; only pages show it. */
  readonly matrix?: ProtectionMatrix;
  /** The config in force; only text names it. */
  readonly config?: string | undefined;
  /** Text shows the digest also if there are no changes. */
  readonly asksForDigest?: boolean | undefined;
  readonly warnings?: ChangeWarnings;
};

/** Returns the document of plans. */
export function planDocument(
  plans: readonly Plan[],
  { matrix = noMatrix, config, asksForDigest, warnings }: PlanDocumentOptions = {},
): ReportDocument {
  return {
    json: () => ({ version: 1, plans: plans.map(planObject) }),
    sections: () =>
      plans.map((plan) => ({
        verdict: planVerdict(plan),
        place: { where: plan.target.url, config },
        summary: { type: 'plan', plan, asksForDigest },
        blocks: planBlocks(plan, warnings),
        pageBlocks: () => pageBlocks(plan, matrix),
      })),
    completeIn: 'The JSON of the plan and its text with --full have everything.',
  };
}

/** Returns what every format reports of a plan. */
export function planBlocks(plan: Plan, warnings: ChangeWarnings = new Map()): readonly ReportBlock[] {
  const { protection, refusals, allowed } = plan;
  const orphans = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const { groups, others } = groupPlan(plan);
  return [
    { type: 'refusals', refusals },
    { type: 'notices', lines: [...checkNotices(plan), ...blockedNotices(plan), ...orphanNotices(plan), ...outsideNotices(plan)] },
    {
      type: 'headlines',
      headlines: protection.headlines,
      changedSamples: protection.changedSamples ?? [],
      deletions: deletionsOf(plan),
      orphans,
    },
    { type: 'permissions', changes: unstatedPermissions(protection) },
    ...groups.map((group) => ({ type: 'changes', group, warnings }) as const),
    ...outsideBlocks(plan),
    ...sideLists(plan, others).map((list) => ({ type: 'list', list }) as const),
    { type: 'allowances', allowed },
  ];
}

/** Returns the block of changes outside Ostiary and outside the manifests, if there are any. */
export function outsideBlocks(plan: Pick<Plan, 'outside'>): readonly ReportBlock[] {
  const section = outsideSection(plan);
  return section === undefined ? [] : [{ type: 'outside', section }];
}

/**
 * Returns the objects that the plan deletes, by the commit that removed their manifests or by their successor. Connections whose deletion is
 * a headline are left out: everything that such a headline is about is deleted.
 */
function deletionsOf({ changes, orphans, protection }: Plan): readonly Deletion[] {
  const removed = new Map(orphans.map((orphan) => [orphan.id, orphan]));
  const deleted = new Set(changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  const stated = new Set(protection.headlines.flatMap(({ connections: all }) => (all.every((id) => deleted.has(id)) ? all : [])));
  const found = new Map<string, Deletion & { readonly ids: ResourceId[] }>();
  for (const { id, action, replacedBy } of changes) {
    if (action !== 'delete' || stated.has(id)) continue;
    const orphan = removed.get(id);
    const successor = replacedBy === undefined ? undefined : nameOf(replacedBy);
    const key = JSON.stringify([orphan?.removedIn, successor]);
    const deletion = found.get(key) ?? { ids: [], orphan, replacedBy: successor };
    deletion.ids.push(id);
    found.set(key, deletion);
  }
  return [...found.values()];
}

/** Returns what only pages show of a plan: its commits, the protection of all connections, and that of the changed ones before and after. */
export function pageBlocks(plan: Plan, matrix: ProtectionMatrix): readonly ReportBlock[] {
  const { permissions } = plan.protection;
  return [
    { type: 'overview', plan },
    ...(permissions === undefined ? [] : [{ type: 'permission-matrix', delta: permissions } as const]),
    { type: 'matrix', matrix },
    { type: 'postures', connections: plan.protection.connections, columns: matrix.columns },
  ];
}

/** Returns a plan as the JSON value that `schemas/documents/plan.schema.json` describes. Keys have a fixed order. */
export function planObject(plan: Plan): JsonObject {
  const highest = highestPlanRisk(plan);
  const reasonsFor = reasonsIn(plan);
  return definedFields({
    target: targetObject(plan.target),
    tree: plan.seals.tree,
    base: plan.base,
    changes: plan.changes.map((change) => changeObject(change, reasonsFor(change))),
    edges: plan.edges.map(edgeObject),
    unchanged: plan.unchanged,
    orphans: plan.orphans.map(({ id, removedIn, subject, kept, accessible, managedBy }) =>
      definedFields({ id, removedIn, subject, kept, accessible, managedBy }),
    ),
    unmanaged: plan.unmanaged,
    unmanagedAccess: plan.unmanagedAccess?.map(({ id, accessible, managedBy }) => definedFields({ id, accessible, managedBy })),
    counts: { ...countActions(plan) },
    unwatched: plan.unwatched.map(({ id, path }) => ({ id, path })),
    ...(plan.notCompared.length === 0 ? {} : { notCompared: plan.notCompared.map(({ id, path, reason }) => ({ id, path, reason })) }),
    ...(plan.unwrittenSecrets.length === 0 ? {} : { unwrittenSecrets: plan.unwrittenSecrets.map(unwrittenSecretObject) }),
    ...(plan.singleWrites.length === 0 ? {} : { singleWrites: plan.singleWrites.map(singleWriteObject) }),
    ...(plan.references.length === 0 ? {} : { references: plan.references.map(referenceObject) }),
    ...(plan.unwritten.length === 0 ? {} : { unwritten: plan.unwritten.map(({ id, risks }) => ({ id, risks: risks.map(riskObject) })) }),
    ...(plan.accepted.length === 0 ? {} : { accepted: plan.accepted.map(acceptedObject) }),
    maxRisk: highest,
    policies: plan.policies && policiesObject(plan.policies),
    protection: protectionObject(plan.protection),
    outside: plan.outside && outsideObject(plan.outside),
    checks: plan.checks?.map((one) => definedFields({ ...one, at: one.at && positionObject(one.at) })),
    refusals: plan.refusals.map(({ code, message, hint, allowable, resource, at, newAccess }) =>
      definedFields({ code, message, hint, allowable, resource, at: at && positionObject(at), newAccess: newAccess?.map(newAccessObject) }),
    ),
    allowed: plan.allowed.map(({ code, reason }) => ({ code, reason })),
    digest: plan.seals.digest,
  });
}

function newAccessObject({ connection, groups, oneOfEach, machine, verb, runbook }: NewAccess): JsonObject {
  return definedFields({ connection, groups, oneOfEach, machine, verb, runbook });
}

/** Returns a target as data. */
export function targetObject({ name, url, dialect, organisation }: Plan['target']): JsonObject {
  return definedFields({ name, url, dialect, organisation });
}

function changeObject(change: AssessedChange, reasons: readonly string[]): JsonObject {
  const { id, key, action, uid, managedBy, at, own, adoption, error, unfinished, replacedBy, closed, reach } = change;
  return definedFields({
    id,
    key,
    action,
    uid,
    managedBy,
    at: at && positionObject(at),
    own,
    adoption,
    error: error && definedFields({ ...error }),
    fields: change.fields.map((field) => fieldObject(field, fieldPosition(change, field))),
    needs: change.needs,
    reasons,
    unfinished,
    replacedBy,
    closed,
    reach,
    risks: change.risks.map(riskObject),
    carried: change.carried,
    patch: patchOf(change),
  });
}

function acceptedObject(drift: AcceptedDrift): JsonObject {
  const { id, key, action, at, own, by, when, edges } = drift;
  return definedFields({
    id,
    key,
    action,
    at: at && positionObject(at),
    own,
    fields: drift.fields.map((field) => fieldObject(field, fieldPosition(drift, field))),
    edges: edges.length === 0 ? undefined : edges.map((edge) => definedFields({ ...edge })),
    risks: drift.risks.map(riskObject),
    by,
    when,
  });
}

function fieldObject({ path, before, after, origin, own, held, cause, ends }: FieldChange, at: Position | undefined): JsonObject {
  const position = at && positionObject(at);
  const sides = { before: valueObject(before), after: valueObject(after) };
  return definedFields({
    path,
    ...sides,
    at: position,
    origin,
    own,
    held,
    cause,
    ends: ends?.map((end) => definedFields({ ...end })),
  });
}

const absent = { absent: true } as const;

/** Returns one side of a field as data. */
export function valueObject(value: Value): JsonObject {
  if ('value' in value) return { value: ordered(value.value) };
  if ('secret' in value) return { secret: value.secret, state: value.state };
  return 'unknown' in value ? { unknown: value.unknown } : absent;
}

function unwrittenSecretObject({ id, path, before, after }: UnwrittenSecret): JsonObject {
  return { id, path, before: valueObject(before), after: valueObject(after) };
}

function edgeObject({ rule, connection, action, declared, bySelector, by, origin, own }: EdgeChange): JsonObject {
  return definedFields({ rule, connection, action, declared, bySelector, by, origin, own });
}

function singleWriteObject({ id, why, windows }: SingleWrite): JsonObject {
  return definedFields({
    id,
    why,
    windows: windows.map(({ from, lost, until, missing, connections }) => ({ from, lost, until, missing, connections })),
  });
}

function referenceObject({ id, replaces, sort, name, how }: OutsideReference): JsonObject {
  return definedFields({ id, replaces, sort, name, how });
}

/** Returns a position in a file as data. */
export function positionObject({ file, line, column }: Position): JsonObject {
  return { file, line, column };
}

/** Returns the change as an RFC 6902 patch of the spec, for other tools. */
function patchOf({ touched, patch = [] }: AssessedChange): readonly Json[] {
  if (touched === undefined) return patch;
  return jsonPatch.compare(ordered(touched.before), ordered(touched.after)).flatMap((operation): readonly Json[] => {
    const { op, path } = operation;
    if (op === 'remove') return [{ op, path }];
    return op === 'add' || op === 'replace' ? [{ op, path, value: operation.value }] : [];
  });
}

function ordered(value: JsonObject): JsonObject;
function ordered(value: Json): Json;
function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => ordered(entry));
  if (isObject(value)) {
    const entries = Object.entries(value).toSorted(([left], [right]) => compareText(left, right));
    return Object.fromEntries(entries.map(([key, entry]) => [key, ordered(entry)]));
  }
  return value === 0 ? 0 : value;
}

function protectionObject({ headlines, connections, losing, permissions, changedSamples }: Protection): JsonObject {
  return definedFields({
    headlines: headlines.map(headlineObject),
    connections: connections.map(postureObject),
    losing,
    permissions: permissions && permissionsObject(permissions),
    changedSamples: changedSamples?.map(flipObject),
  });
}

function permissionsObject({ changes, changed, same }: PermissionDelta): JsonObject {
  return {
    changes: changes.map(({ effect, groups, together, oneOfEach, except, verbs, connections, before, after, causes }) =>
      definedFields({
        effect,
        groups,
        together,
        oneOfEach,
        except,
        verbs,
        connections,
        before: definedFields({ ...before }),
        after: definedFields({ ...after }),
        causes: causes.map(causeObject),
      }),
    ),
    changed,
    same,
  };
}

function headlineObject({ direction, text, connections, tags, accepted, causes }: Headline): JsonObject {
  return definedFields({ direction, text, connections, tags, accepted, causes: causes.map(causeObject) });
}

function outsideObject({ changes, headlines, unreadable, role, unrecorded }: OutsideAccess): JsonObject {
  return definedFields({
    changes: outsideChangesObject(changes),
    headlines: headlines.map(headlineObject),
    unreadable,
    role,
    unrecorded,
  });
}

/** Returns changes outside Ostiary and outside the manifests as data. */
export function outsideChangesObject(changes: OutsideAccess['changes']): readonly JsonObject[] {
  return changes.map(({ id, happened, managedBy, fields, incomparable }) =>
    definedFields({ id, happened, managedBy, fields: fields.map((field) => fieldObject(field, undefined)), incomparable }),
  );
}

function postureObject({ connection, direction, created, deleted, tags, controls, rules }: PostureChange): JsonObject {
  return definedFields({
    connection,
    direction,
    created,
    deleted,
    tags,
    controls: controls.map(aspectObject),
    rules: rules?.map(ruleOnObject),
  });
}

function aspectObject({ control, direction, before, after, atLeast, causes }: ControlChange): JsonObject {
  return definedFields({ control, direction, before, after, atLeast, causes: causes.map(causeObject) });
}

function causeObject({ by, path, edge, place, byHand }: Cause): JsonObject {
  return definedFields({ by, path, edge, place, byHand });
}

/** Returns a rule on a connection as data, before and after. */
export function ruleOnObject({ rule, before, after }: ConnectionRule): JsonObject {
  return definedFields({ rule, before: before && attachedObject(before), after: after && attachedObject(after) });
}

function attachedObject({ controls, by }: RuleEffect): JsonObject {
  return {
    controls,
    by: by.map(({ how, attribute, place }) => definedFields({ how, attribute, place })),
  };
}

function flipObject({ rule, name, side, text, type, before, after, at, gone }: SampleChange): JsonObject {
  return definedFields({ rule, name, side, text, type, before, after, at: at && positionObject(at), gone });
}

function policiesObject({ today, policies, connections, findings, waived }: PolicyReport): JsonObject {
  return {
    today,
    policies,
    connections,
    findings: findings.map(({ policy, connection, result, severity, message, expression, at, requirement, error }) =>
      definedFields({
        policy,
        connection,
        result,
        severity,
        message,
        expression,
        at: at && positionObject(at),
        requirement: positionObject(requirement),
        error: error?.at && positionObject(error.at),
      }),
    ),
    waived: waived.map(({ policy, connection, result, until, reason }) => ({ policy, connection, result, until, reason })),
  };
}

function riskObject({ code, class: one, path, connections, place }: Risk): JsonObject {
  return definedFields({ code, class: one, path, connections, place });
}
