import { editSpec, valueAt, type Edit } from '../model/edit.ts';
import { equal, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource } from '../model/live.ts';
import type { WriteRequest } from '../model/gateway.ts';
import type { EdgeChange, FieldChange } from '../model/plan.ts';
import type { Pointer } from '../model/pointer.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { Secret } from '../model/secret.ts';
import { unionSpec } from '../model/union.ts';
import { keyOf, specAfter } from './effects.ts';
import type { Step } from './steps.ts';

/** What a request is made from: the step, its kind, the edges it writes, and where secret values are found again. */
export type RequestParts = {
  readonly step: Step;
  readonly kind: Kind;
  readonly edges: readonly EdgeChange[];
  readonly secretOf: (id: ResourceId, path: Pointer) => Secret | undefined;
};

/** The whole resource as the step wants it, made from a fresh read (none: it is created). */
export function requestOf(parts: RequestParts, fresh: LiveResource | undefined): WriteRequest {
  const { step, kind } = parts;
  const setSecrets = step.part === 'open' ? [] : step.change.fields.filter((field) => 'secret' in field.after);
  const dropped = step.part === 'open' ? [] : step.change.fields.filter((field) => 'secret' in field.before && 'absent' in field.after);
  return {
    id: keyOf(step.change),
    spec: specOf(step, kind, fresh?.spec ?? {}),
    secrets: Object.fromEntries(setSecrets.map((field) => [field.path, secretFor(parts, field)])),
    dropped: dropped.map((field) => field.path),
    edges: edgesOf(parts, fresh),
  };
}

function secretFor(parts: RequestParts, field: FieldChange): Secret {
  const secret = parts.secretOf(parts.step.change.id, field.path);
  if (secret === undefined) throw new Error(`${parts.step.change.id} has no value for ${field.path}`);
  return secret;
}

function specOf(step: Step, kind: Kind, live: JsonObject): JsonObject {
  const after = specAfter(step.change, kind, live);
  switch (step.part) {
    case 'whole':
      return after;
    case 'gain':
      return unionSpec(kind.fields, after, live);
    case 'closed':
      return editSpec(kind.fields, after, closing(kind));
    case 'open':
      return editSpec(kind.fields, live, openings(step, kind));
  }
}

function closing(kind: Kind): readonly Edit[] {
  return kind.fields.flatMap((field) => (field.closed === undefined ? [] : [{ path: `/${field.name}`, value: field.closed }]));
}

function openings(step: Step, kind: Kind): readonly Edit[] {
  const after = specAfter(step.change, kind, {});
  return kind.fields.flatMap((field) => {
    const value = after[field.name];
    return field.closed === undefined || value === undefined ? [] : [{ path: `/${field.name}`, value }];
  });
}

/** All edges of the resource after the step: the fresh ones and what the plan attaches, less what it detaches. */
function edgesOf({ step, kind, edges }: RequestParts, fresh: LiveResource | undefined): Readonly<Record<string, readonly ResourceId[]>> {
  const key = keyOf(step.change);
  const written = step.part === 'open' ? [] : edges.filter((edge) => edge.by === key);
  const result: Record<string, readonly ResourceId[]> = {};
  for (const field of kind.fields) {
    if (field.edge === undefined) continue;
    const mine = written
      .map((edge) => ({ action: edge.action, other: edge.rule === key ? edge.connection : edge.rule }))
      .filter(({ other }) => kindOf(other) === field.refers);
    const gone = new Set(step.part === 'gain' ? [] : mine.filter(({ action }) => action === 'detach').map(({ other }) => other));
    const attached = mine.filter(({ action }) => action === 'attach').map(({ other }) => other);
    const all = new Set([...(fresh?.edges[field.name] ?? []).filter((id) => !gone.has(id)), ...attached]);
    result[field.name] = [...all].toSorted();
  }
  return result;
}

/** Tells whether the fresh object already is what the request would make of it; hidden secrets never are. */
export function isDone(request: WriteRequest, kind: Kind, fresh: LiveResource): boolean {
  if (request.dropped.some((path) => fresh.secrets[path] !== undefined)) return false;
  for (const [path, secret] of Object.entries(request.secrets)) {
    const found = fresh.secrets[path];
    if (found?.state !== 'value' || found.reveal() !== secret.reveal()) return false;
  }
  return differences(request, kind, fresh).length === 0;
}

/** The fields and edge fields in which a resource is not as a request wanted it; secrets that can be seen included. */
export function differences(request: WriteRequest, kind: Kind, found: LiveResource): readonly string[] {
  const fields = kind.fields.filter((field) => {
    if (field.edge !== undefined) return !sameIds(request.edges[field.name] ?? [], found.edges[field.name] ?? []);
    const wished = request.spec[field.name];
    return wished !== undefined && !found.unknown.includes(`/${field.name}`) && !equal(wished, found.spec[field.name] ?? field.empty);
  });
  const secrets = Object.entries(request.secrets).filter(([path, secret]) => {
    const live = found.secrets[path];
    return live === undefined || (live.state === 'value' && live.reveal() !== secret.reveal());
  });
  const kept = request.dropped.filter((path) => found.secrets[path] !== undefined);
  return [...fields.map((field) => `/${field.name}`), ...secrets.map(([path]) => path), ...kept];
}

function sameIds(left: readonly ResourceId[], right: readonly ResourceId[]): boolean {
  const ids = new Set(right);
  return left.length === ids.size && left.every((id) => ids.has(id));
}

/**
 * The first planned field whose fresh value is none of the plan's: neither before nor after, somebody else
 * changed it since. Joined entries of a rule's first write are each one of the two.
 */
export function movedField(step: Step, kind: Kind, fresh: LiveResource): FieldChange | undefined {
  if (step.change.action === 'create') return undefined;
  return step.change.fields.find((field) => {
    if ('secret' in field.after || 'secret' in field.before) return false;
    const value = valueAt(kind.fields, fresh.spec, field.path);
    return ![field.before, field.after].some((side) => ('value' in side ? equal(side.value, value) : value === undefined));
  });
}
