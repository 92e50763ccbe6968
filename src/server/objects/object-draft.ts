import { equal, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { Collection } from '../collections.ts';
import { type FieldProblem, requireNoProblems } from '../http/rejection.ts';
import { type BodyValidator, compileBodyValidator } from '../http/request-body.ts';
import { objectBodySchema } from './objects.openapi.ts';
import { maxResourceNameLength } from '../resources/resources.openapi.ts';
import { type GivenSecrets, readSecrets } from '../store/secrets.ts';
import { uuidPattern } from '../store/tables.ts';

/** The desired state of an object, with a value for every field. */
export type ObjectDraft = {
  /** The identity of the object among its kind. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly secrets: GivenSecrets;
  /** The ids at the other ends of its edges, by field. */
  readonly edges: Readonly<Record<string, readonly string[]>>;
};

// The largest entry of a database index; only the addresses of repositories can be that long.
const maxIdentityBytes = 2048;

/** Reads the body of a create or replace request. Throws `InvalidBody` with all problems. */
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

/** Checks the name of the resource, which is the name of the object by default: resources have shorter names. */
function checkResourceName({ resourceField }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const resource = resourceField === undefined ? undefined : spec[resourceField];
  if (resourceField === undefined || typeof resource !== 'string' || Array.from(resource).length <= maxResourceNameLength) return [];
  return [{ field: pointer(resourceField), reason: `must be given where the name is longer than ${maxResourceNameLength} characters` }];
}

function checkSpec({ kind }: Collection, spec: JsonObject): readonly FieldProblem[] {
  const errors = kind.check(spec).filter(({ severity }) => severity === 'error');
  return errors.map(({ pointer: at, message }) => ({ field: at, reason: message }));
}

function idsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.flatMap((id: Json) => (typeof id === 'string' ? [id.toLowerCase()] : [])))] : [];
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Compiles the validator for bodies of a kind. */
export function compileObjectValidator(collection: Collection): BodyValidator {
  return compileBodyValidator(objectBodySchema(collection));
}
