import jsonPatch from 'fast-json-patch';
import {
  type Plan,
  type AssessedChange,
  type EdgeChange,
  type FieldChange,
  type OutsideReference,
  type Value,
  type SingleWrite,
  highestPlanRisk,
  type Risk,
} from '../../model/plan/plan.ts';
import type {
  ProtectionMatrix,
  ControlChange,
  RuleEffect,
  Cause,
  SampleChange,
  PostureChange,
  Protection,
  Impact,
  ConnectionRule,
} from '../../model/protection/protection.ts';
import type { ReportBlock, ReportDocument } from '../document.ts';
import { groupPlan, orphanNotices, sideLists } from './groups.ts';
import type { PolicyReport } from '../../model/protection/policy.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../model/json.ts';

/** Returns the document of plans. The matrix of the gateway's protection is shown on pages alone; `config` names the config in force. */
export function planDocument(plans: readonly Plan[], matrix: ProtectionMatrix = [], config?: string): ReportDocument {
  return {
    json: () => ({ version: 1, plans: plans.map(planObject) }),
    sections: () =>
      plans.map((plan) => ({
        heading: { title: 'Plan for', name: plan.target.name, url: plan.target.url, config },
        summary: { type: 'plan', plan },
        blocks: planBlocks(plan),
        pageBlocks: () => pageBlocks(plan, matrix),
      })),
    completeIn: 'The text and the JSON of the plan have everything.',
  };
}

/** Returns what every format reports of a plan. */
export function planBlocks(plan: Plan): readonly ReportBlock[] {
  const { protection, refusals, allowed } = plan;
  const orphans = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const { groups, others } = groupPlan(plan);
  return [
    { type: 'notices', lines: orphanNotices(plan) },
    { type: 'headlines', headlines: protection?.headlines ?? [], flips: protection?.flips ?? [], orphans },
    ...(protection?.reach === undefined ? [] : [{ type: 'impact', causes: protection.reach, orphans } as const]),
    ...groups.map((group) => ({ type: 'changes', group }) as const),
    ...sideLists(plan, others).map((list) => ({ type: 'list', list }) as const),
    { type: 'refusals', refusals },
    { type: 'allowances', allowed },
  ];
}

/** Returns what only pages show of a plan: its commits, the protection of all connections, and that of the changed ones before and after. */
export function pageBlocks(plan: Plan, matrix: ProtectionMatrix): readonly ReportBlock[] {
  return [
    { type: 'overview', plan },
    { type: 'matrix', matrix },
    { type: 'postures', connections: plan.protection?.connections ?? [] },
  ];
}

/** Returns a plan as the JSON value that `schemas/documents/plan.schema.json` describes. Keys have a fixed order. */
export function planObject(plan: Plan): JsonObject {
  const highest = highestPlanRisk(plan);
  return {
    target: targetObject(plan.target),
    tree: plan.tree,
    ...(plan.base === undefined ? {} : { base: plan.base }),
    changes: plan.changes.map(changeObject),
    edges: plan.edges.map(edgeObject),
    unchanged: plan.unchanged,
    orphans: plan.orphans.map(({ id, removedIn, subject, kept, accessible, managedBy }) => ({
      id,
      ...(removedIn === undefined ? {} : { removedIn }),
      ...(subject === undefined ? {} : { subject }),
      ...(kept === undefined ? {} : { kept }),
      ...(accessible === undefined ? {} : { accessible }),
      ...(managedBy === undefined ? {} : { managedBy }),
    })),
    unmanaged: plan.unmanaged,
    unwatched: plan.unwatched.map(({ id, path }) => ({ id, path })),
    ...(plan.unverified.length === 0 ? {} : { unverified: plan.unverified.map(({ id, path }) => ({ id, path })) }),
    ...(plan.singleWrites.length === 0 ? {} : { once: plan.singleWrites.map(singleWriteObject) }),
    ...(plan.references.length === 0 ? {} : { references: plan.references.map(referenceObject) }),
    ...(plan.unwritten.length === 0 ? {} : { unwritten: plan.unwritten.map(({ id, risks }) => ({ id, risks: risks.map(riskObject) })) }),
    ...(highest === undefined ? {} : { maxRisk: highest }),
    ...(plan.policies === undefined ? {} : { policies: policiesObject(plan.policies) }),
    protection: protectionObject(plan.protection),
    refusals: plan.refusals.map(({ code, message, hint, allowable, resource, at }) => ({
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      allowable,
      ...(resource === undefined ? {} : { resource }),
      ...(at === undefined ? {} : { at: positionObject(at) }),
    })),
    allowed: plan.allowed.map(({ code, reason }) => ({ code, reason })),
    digest: plan.digest,
  };
}

/** Returns a target as data. */
export function targetObject({ name, url, dialect, organisation }: Plan['target']): JsonObject {
  return { name, url, dialect, ...(organisation === undefined ? {} : { organisation }) };
}

function changeObject(change: AssessedChange): JsonObject {
  const { id, key, action, uid, managedBy, at, own, adoption } = change;
  return {
    id,
    ...(key === undefined ? {} : { key }),
    action,
    ...(uid === undefined ? {} : { uid }),
    ...(managedBy === undefined ? {} : { managedBy }),
    ...(at === undefined ? {} : { at: positionObject(at) }),
    ...(own === undefined ? {} : { own }),
    ...(adoption === undefined ? {} : { adoption }),
    fields: change.fields.map(fieldObject),
    needs: change.needs,
    reasons: change.reasons,
    risks: change.risks.map(riskObject),
    carried: change.carried,
    patch: patchOf(change),
  };
}

function fieldObject({ path, before, after, at, origin, own, held }: FieldChange): JsonObject {
  return {
    path,
    before: valueObject(before),
    after: valueObject(after),
    ...(at === undefined ? {} : { at: positionObject(at) }),
    ...(origin === undefined ? {} : { origin }),
    ...(own === undefined ? {} : { own }),
    ...(held === undefined ? {} : { held }),
  };
}

/** Returns one side of a field as data. */
export function valueObject(value: Value): JsonObject {
  if ('value' in value) return { value: ordered(value.value) };
  if ('secret' in value) return { secret: value.secret, state: value.state };
  return 'unknown' in value ? { unknown: value.unknown } : { absent: true };
}

function edgeObject({ rule, connection, action, declared, bySelector, by, origin, own }: EdgeChange): JsonObject {
  return {
    rule,
    connection,
    action,
    declared,
    ...(bySelector === undefined ? {} : { bySelector }),
    ...(by === undefined ? {} : { by }),
    ...(origin === undefined ? {} : { origin }),
    ...(own === undefined ? {} : { own }),
  };
}

function singleWriteObject({ id, why, slot, windows }: SingleWrite): JsonObject {
  return {
    id,
    why,
    moment: slot,
    windows: windows.map(({ from, lost, until, missing, connections }) => ({ from, lost, until, missing, connections })),
  };
}

function referenceObject({ id, replaces, sort, name, how }: OutsideReference): JsonObject {
  return { id, replaces, sort, ...(name === undefined ? {} : { name }), how };
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

function protectionObject({ headlines, connections, losing, reach, flips }: Protection): JsonObject {
  return {
    headlines: headlines.map(({ causes, ...headline }) => ({ ...headline, causes: causes.map(causeObject) })),
    connections: connections.map(postureObject),
    losing,
    ...(reach === undefined ? {} : { reach: reach.map(reachObject) }),
    ...(flips === undefined ? {} : { flips: flips.map(flipObject) }),
  };
}

function postureObject({ connection, way, comes, goes, tags, aspects, rules }: PostureChange): JsonObject {
  return {
    connection,
    way,
    ...(comes === undefined ? {} : { comes }),
    ...(goes === undefined ? {} : { goes }),
    tags,
    aspects: aspects.map(aspectObject),
    ...(rules === undefined ? {} : { rules: rules.map(ruleOnObject) }),
  };
}

function aspectObject({ aspect, way, before, after, atLeast, causes }: ControlChange): JsonObject {
  return { aspect, way, before, after, ...(atLeast === undefined ? {} : { atLeast }), causes: causes.map(causeObject) };
}

function causeObject({ by, path, edge, place, byHand }: Cause): JsonObject {
  return {
    by,
    ...(path === undefined ? {} : { path }),
    ...(edge === undefined ? {} : { edge }),
    ...(place === undefined ? {} : { place }),
    ...(byHand === undefined ? {} : { byHand }),
  };
}

function reachObject({ by, path, edges, way, places, byHand, connections, tags }: Impact): JsonObject {
  return {
    ...(by === undefined ? {} : { by }),
    ...(path === undefined ? {} : { path }),
    ...(edges === undefined ? {} : { edges }),
    way,
    places,
    ...(byHand === undefined ? {} : { byHand }),
    connections,
    tags: tags.map((one) => ({ tag: one.tag, connections: one.connections })),
  };
}

/** Returns a rule on a connection as data, before and after. */
export function ruleOnObject({ rule, before, after }: ConnectionRule): JsonObject {
  return {
    rule,
    ...(before === undefined ? {} : { before: attachedObject(before) }),
    ...(after === undefined ? {} : { after: attachedObject(after) }),
  };
}

function attachedObject({ aspects, by }: RuleEffect): JsonObject {
  return {
    aspects,
    by: by.map(({ how, attribute, place }) => ({
      how,
      ...(attribute === undefined ? {} : { attribute }),
      ...(place === undefined ? {} : { place }),
    })),
  };
}

function flipObject({ rule, name, side, text, type, before, after, at, gone }: SampleChange): JsonObject {
  return {
    rule,
    ...(name === undefined ? {} : { name }),
    side,
    text,
    ...(type === undefined ? {} : { type }),
    before,
    after,
    ...(at === undefined ? {} : { at: positionObject(at) }),
    ...(gone === undefined ? {} : { gone }),
  };
}

function policiesObject({ today, policies, connections, findings, waived }: PolicyReport): JsonObject {
  return {
    today,
    policies,
    connections,
    findings: findings.map(({ policy, connection, result, severity, message, expression, at }) => ({
      policy,
      connection,
      result,
      severity,
      message,
      expression,
      ...(at === undefined ? {} : { at: positionObject(at) }),
    })),
    waived: waived.map(({ policy, connection, result, until, reason }) => ({ policy, connection, result, until, reason })),
  };
}

function riskObject({ code, class: one, path, connections, place }: Risk): JsonObject {
  return {
    code,
    class: one,
    ...(path === undefined ? {} : { path }),
    ...(connections === undefined ? {} : { connections }),
    ...(place === undefined ? {} : { place }),
  };
}
