import { equal, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import type { Collection } from './collections.ts';
import { uuidForm } from './reader.ts';
import { InvalidBody, type Problem } from './rejection.ts';
import { longestResourceName } from './resource-schema.ts';
import { readSecrets, type GivenSecrets } from './secrets.ts';
import type { Validate } from './validation.ts';

/** An object as a caller wants it, whole: every field has its value. */
export type Draft = {
  /** What identifies it among its kind. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: GivenSecrets;
  /** The other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
};

// An index entry of the database holds no more; only addresses of repositories can be so long.
const longestName = 2048;

/** Reads a body of a create or a full replace; throws with everything that is wrong with it. */
export function readDraft(collection: Collection, validate: Validate, body: JsonObject): Draft {
  const malformed = validate(body);
  if (malformed.length > 0) throw new InvalidBody(malformed);
  const { kind, fields } = collection;
  const given = typeof body['name'] === 'string' ? body['name'] : '';
  const spec = fill(collection, { ...kind.createDefaults(given), ...withoutNulls(body) });
  const name = kind.identity(given, spec);
  const secrets = readSecrets(fields, body);
  const problems = [...checkName(collection, name), ...checkResource(collection, spec), ...checkSpec(collection, spec)];
  if (problems.length > 0) throw new InvalidBody(problems);
  const edges = fields.filter((field) => field.edge !== undefined).map((field) => [field.name, idsOf(body[field.name])] as const);
  return { name, spec, secrets, edges: Object.fromEntries(edges) };
}

function fill({ kind, fields, computed }: Collection, body: JsonObject): JsonObject {
  const stored = fields.filter((field) => field.edge === undefined && field.secret === undefined);
  const spec: Record<string, Json> = {};
  for (const { name, empty, refers } of stored) {
    const value = body[name] ?? empty;
    spec[name] = refers !== undefined && typeof value === 'string' ? value.toLowerCase() : value;
  }
  const derived = kind.derived(spec);
  for (const { name, empty, omitted } of stored) {
    if (omitted === 'derived' && (computed.includes(name) || equal(spec[name], empty))) spec[name] = derived[name] ?? empty;
  }
  return spec;
}

function checkName({ byName, identityField }: Collection, name: string): readonly Problem[] {
  const field = pointer(identityField);
  if (byName && uuidForm.test(name)) return [{ field, reason: 'must not have the form of an id' }];
  return Buffer.byteLength(name) > longestName ? [{ field, reason: `is longer than ${longestName} bytes` }] : [];
}

/** A name that is longer than a resource may have one cannot stand in for it. */
function checkResource({ resourceField }: Collection, spec: JsonObject): readonly Problem[] {
  const resource = resourceField === undefined ? undefined : spec[resourceField];
  if (resourceField === undefined || typeof resource !== 'string' || Array.from(resource).length <= longestResourceName) return [];
  return [{ field: pointer(resourceField), reason: `must be given where the name is longer than ${longestResourceName} characters` }];
}

function checkSpec({ kind }: Collection, spec: JsonObject): readonly Problem[] {
  const errors = kind.check(spec).filter(({ severity }) => severity === 'error');
  return errors.map(({ at, message }) => ({ field: at, reason: message }));
}

function idsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.flatMap((id: Json) => (typeof id === 'string' ? [id.toLowerCase()] : [])))] : [];
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
