import jsonPatch from 'fast-json-patch';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Change, EdgeChange, FieldChange, Plan, OutsideReference, Value, SingleWrite } from '../../model/plan/plan.ts';
import { highestPlanRisk } from '../../model/plan/plan-risk.ts';
import { escapeJson } from '../escape.ts';
import { policiesObject } from '../policies.ts';
import { protectionObject } from '../protection-json.ts';
import { riskObject } from '../risks.ts';

/** Plans as the JSON value that `schemas/documents/plan.schema.json` describes; only data, keys in a fixed order. */
export function planDocument(plans: readonly Plan[]): JsonObject {
  return { version: 1, plans: plans.map(planObject) };
}

/** The plan document as text: two spaces, a line feed at the end, the same bytes for the same plans. */
export function planJson(plans: readonly Plan[]): string {
  return `${escapeJson(JSON.stringify(planDocument(plans), null, 2))}\n`;
}

/** One plan as data. */
export function planObject(plan: Plan): JsonObject {
  const { name, url, dialect, organisation } = plan.target;
  const highest = highestPlanRisk(plan);
  return {
    target: { name, url, dialect, ...(organisation === undefined ? {} : { organisation }) },
    tree: plan.tree,
    ...(plan.base === undefined ? {} : { base: plan.base }),
    changes: plan.changes.map(changeObject),
    edges: plan.edges.map(edgeObject),
    unchanged: plan.unchanged,
    orphans: plan.orphans.map(({ id, removedIn, subject, kept }) => ({
      id,
      ...(removedIn === undefined ? {} : { removedIn }),
      ...(subject === undefined ? {} : { subject }),
      ...(kept === undefined ? {} : { kept }),
    })),
    unmanaged: plan.unmanaged,
    unwatched: plan.unwatched.map(({ id, path }) => ({ id, path })),
    ...(plan.unverified === undefined ? {} : { unverified: plan.unverified.map(({ id, path }) => ({ id, path })) }),
    ...(plan.singleWrites === undefined ? {} : { once: plan.singleWrites.map(singleWriteObject) }),
    ...(plan.references === undefined ? {} : { references: plan.references.map(referenceObject) }),
    ...(plan.unwritten === undefined ? {} : { unwritten: plan.unwritten.map(({ id, risks }) => ({ id, risks: risks.map(riskObject) })) }),
    ...(highest === undefined ? {} : { maxRisk: highest }),
    ...(plan.policies === undefined ? {} : { policies: policiesObject(plan.policies) }),
    ...(plan.protection === undefined ? {} : { protection: protectionObject(plan.protection) }),
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

function changeObject(change: Change): JsonObject {
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
    ...(change.risks === undefined ? {} : { risks: change.risks.map(riskObject) }),
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

/** One side of a field. */
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

/** A place in a file. */
export function positionObject({ file, line, column }: Position): JsonObject {
  return { file, line, column };
}

/** The change as an RFC 6902 patch of the spec, for other tools to read. */
function patchOf({ touched, patch = [] }: Change): readonly Json[] {
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
