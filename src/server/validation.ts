import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { objectBodySchema } from './api/collection-schemas.ts';
import type { Collection } from './collections.ts';
import type { FieldProblem } from './http/rejection.ts';

/** Tells what is wrong with a body; an empty list means that it has the shape of its kind. */
export type BodyValidator = (body: JsonObject) => readonly FieldProblem[];

const maxProblems = 50;
const hintedKeywords: ReadonlySet<string> = new Set(['pattern', 'anyOf']);
// Neither can be stored: the database has no NUL, and half a surrogate pair is no character.
const unstorableText = /\0|\p{Surrogate}/u;
// All schemas are ours, and a test holds that they are schemas: checking that here would take most of the time of a start.
const ajvOptions = { allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false } as const;

/** Compiles what a body of the kind must be, once. */
export function compileObjectValidator(collection: Collection): BodyValidator {
  return compileBodyValidator(objectBodySchema(collection));
}

/** Compiles a schema of bodies once; what its fields hold can be stored, too. */
export function compileBodyValidator(schema: JsonObject): BodyValidator {
  const ajv = new Ajv2020({ ...ajvOptions, strictTypes: false });
  const validate: ValidateFunction = ajv.compile(schema);
  const properties = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const checked = properties.filter(([, node]) => node !== true && !(isObject(node) && node['readOnly'] === true));
  return (body) => {
    if (!validate(body)) return fieldProblems(validate.errors ?? []);
    return checked.flatMap(([field]) =>
      isStorable(body[field] ?? null) ? [] : [{ field: pointer(field), reason: 'holds a NUL or half a character' }],
    );
  };
}

/** Compiles any schema of a body once; `formats` are the formats that it names. */
export function compileSchemaValidator(schema: JsonObject, formats: Readonly<Record<string, RegExp>>): BodyValidator {
  const validate: ValidateFunction = new Ajv2020({ ...ajvOptions, formats: { ...formats } }).compile(schema);
  return (body) => (validate(body) ? [] : fieldProblems(validate.errors ?? []));
}

function isStorable(value: Json): boolean {
  if (typeof value === 'string') return !unstorableText.test(value);
  if (!isObject(value)) return !Array.isArray(value) || value.every((entry: Json) => isStorable(entry));
  return Object.entries(value).every(([key, entry]) => isStorable(key) && isStorable(entry));
}

function fieldProblems(errors: readonly ErrorObject[]): readonly FieldProblem[] {
  // What comes of a choice, or of a condition, says more than each of its parts.
  const told = errors.filter(
    ({ keyword, schemaPath }) => keyword !== 'if' && keyword !== 'propertyNames' && !schemaPath.includes('/anyOf/'),
  );
  const problems = told.map((error) => fieldProblem(error));
  const distinct = new Map(problems.map((problem) => [`${problem.field} ${problem.reason}`, problem]));
  return [...distinct.values()].slice(0, maxProblems);
}

function fieldProblem({ instancePath, keyword, message: plainly = 'is wrong', params, propertyName, parentSchema }: ErrorObject): FieldProblem {
  const message = hintedKeywords.has(keyword) ? (patternHint(parentSchema) ?? plainly) : plainly;
  const at = (key: unknown): string => `${instancePath}${pointer(String(key))}`;
  if (keyword === 'required') return { field: at(params['missingProperty']), reason: 'is required' };
  if (keyword === 'additionalProperties') return { field: at(params['additionalProperty']), reason: 'is not a field' };
  if (keyword === 'enum') return { field: instancePath, reason: `must be one of ${[params['allowedValues']].flat().join(', ')}` };
  if (propertyName !== undefined) return { field: at(propertyName), reason: `has a name that ${message}` };
  return { field: instancePath, reason: message };
}

/** What a schema says of the values it takes: a pattern says it to machines alone. */
function patternHint(schema: unknown): string | undefined {
  const hint = isObject(schema) ? schema['$comment'] : undefined;
  return typeof hint === 'string' ? `must have the form: ${hint}` : undefined;
}
