import { equal, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { Collection } from '../collections.ts';
import { type FieldProblem, requireNoProblems } from '../http/rejection.ts';
import { type BodyValidator, compileBodyValidator } from '../http/request-body.ts';
import { objectBodySchema } from './objects.openapi.ts';
import { maxResourceNameLength } from '../resources/resources.openapi.ts';
import { type GivenSecrets, readSecrets } from '../store/secrets.ts';
import { uuidPattern } from '../store/tables.ts';

/** An object as a caller wants it, whole: every field has its value. */
export type ObjectDraft = {
  /** What identifies it among its kind. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: GivenSecrets;
  /** The other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
};

// An index entry of the database holds no more; only addresses of repositories can be so long.
const maxIdentityBytes = 2048;

/** Reads a body of a create or a full replace; throws with everything that is wrong with it. */
export function readObjectDraft(collection: Collection, validate: BodyValidator, body: JsonObject): ObjectDraft {
  requireNoProblems(validate(body));
  const { kind, fields } = collection;
  const given = typeof body['name'] === 'string' ? body['name'] : '';
  const spec = fillSpec(collection, { ...kind.createDefaults(given), ...withoutNulls(body) });
  const name = kind.identity(given, spec);
  const secrets = readSecrets(fields, body);
  requireNoProblems([...checkName(collection, name), ...checkResourceName(collection, spec), ...checkSpec(collection, spec)]);
  const edges = fields.filter((field) => field.edge !== undefined).map((field) => [field.name, idsOf(body[field.name])] as const);
  return { name, spec, secrets, edges: Object.fromEntries(edges) };
}

function fillSpec({ kind, fields, computed }: Collection, body: JsonObject): JsonObject {
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

function checkName({ byName, identityField }: Collection, name: string): readonly FieldProblem[] {
  const field = pointer(identityField);
  if (byName && uuidPattern.test(name)) return [{ field, reason: 'must not have the form of an id' }];
  return Buffer.byteLength(name) > maxIdentityBytes ? [{ field, reason: `is longer than ${maxIdentityBytes} bytes` }] : [];
}

/** A name that is longer than a resource may have one cannot stand in for it. */
function checkResourceName({ resourceField }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const resource = resourceField === undefined ? undefined : spec[resourceField];
  if (resourceField === undefined || typeof resource !== 'string' || Array.from(resource).length <= maxResourceNameLength) return [];
  return [{ field: pointer(resourceField), reason: `must be given where the name is longer than ${maxResourceNameLength} characters` }];
}

function checkSpec({ kind }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const errors = kind.check(spec).filter(({ severity }) => severity === 'error');
  return errors.map(({ at, message }) => ({ field: at, reason: message }));
}

function idsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.flatMap((id: Json) => (typeof id === 'string' ? [id.toLowerCase()] : [])))] : [];
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Compiles what a body of the kind must be, once. */
export function compileObjectValidator(collection: Collection): BodyValidator {
  return compileBodyValidator(objectBodySchema(collection));
}
