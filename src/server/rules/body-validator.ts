import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { asObject, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { FieldProblem } from '../rejection.ts';

/** Lists the problems of a body; an empty list means that the body is valid. */
export type BodyValidator = (body: JsonObject) => readonly FieldProblem[];

const maxProblems = 50;
const hintedKeywords: ReadonlySet<string> = new Set(['pattern', 'anyOf']);
// The database cannot store NUL, and half a surrogate pair is not a character.
const unstorableText = /\0|\p{Surrogate}/u;
// Ajv does not check the schemas at run time: a test checks them, and the check would take most of the startup time.
const ajvOptions = { allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false } as const;

const compiled = new WeakMap<JsonObject, ValidateFunction>();

/** Compiles a schema when a body is checked with it for the first time: most servers see the bodies of few endpoints. */
function validatorOf(schema: JsonObject, options: Options): ValidateFunction {
  const validate = compiled.get(schema) ?? new Ajv2020({ ...ajvOptions, ...options }).compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** Returns the validator of a body's schema; it also reports texts that the database cannot store. */
export function bodyValidator(schema: JsonObject): BodyValidator {
  const properties = Object.entries(asObject(schema['properties']));
  const checked = properties.filter(([, node]) => node !== true && !(isObject(node) && node['readOnly'] === true));
  return (body) => {
    const validate = validatorOf(schema, { strictTypes: false });
    if (!validate(body)) return fieldProblems(validate.errors ?? []);
    return checked.flatMap(([field]) =>
      isStorable(body[field] ?? null) ? [] : [{ field: pointer(field), reason: 'contains a NUL character or an incomplete character' }],
    );
  };
}

/** Returns the validator of a body's schema without the check for storable texts; `formats` are the formats that the schema names. */
export function schemaValidator(schema: JsonObject, formats: Readonly<Record<string, RegExp>>): BodyValidator {
  return (body) => {
    const validate = validatorOf(schema, { formats: { ...formats } });
    return validate(body) ? [] : fieldProblems(validate.errors ?? []);
  };
}

function isStorable(value: Json): boolean {
  if (typeof value === 'string') return !unstorableText.test(value);
  if (!isObject(value)) return !Array.isArray(value) || value.every((entry: Json) => isStorable(entry));
  return Object.entries(value).every(([key, entry]) => isStorable(key) && isStorable(entry));
}

function fieldProblems(errors: readonly ErrorObject[]): readonly FieldProblem[] {
  // The error of a choice or a condition says more than the errors of its branches.
  const reported = errors.filter(
    ({ keyword, schemaPath }) => keyword !== 'if' && keyword !== 'propertyNames' && !schemaPath.includes('/anyOf/'),
  );
  const problems = reported.map((error) => fieldProblem(error));
  const distinct = new Map(problems.map((problem) => [`${problem.field} ${problem.reason}`, problem]));
  return [...distinct.values()].slice(0, maxProblems);
}

function fieldProblem({
  instancePath,
  keyword,
  message: fallback = 'is invalid',
  params,
  propertyName,
  parentSchema,
}: ErrorObject): FieldProblem {
  const message = hintedKeywords.has(keyword) ? (patternHint(parentSchema) ?? fallback) : fallback;
  const at = (key: unknown): string => `${instancePath}${pointer(String(key))}`;
  if (keyword === 'required') return { field: at(params['missingProperty']), reason: 'is required' };
  if (keyword === 'additionalProperties') return { field: at(params['additionalProperty']), reason: 'is an unknown field' };
  if (keyword === 'enum') return { field: instancePath, reason: `must be one of ${[params['allowedValues']].flat().join(', ')}` };
  if (propertyName !== undefined) return { field: at(propertyName), reason: `has a name that ${message}` };
  return { field: instancePath, reason: message };
}

/** Returns the explanation of a pattern, which the schema keeps in `$comment`. */
function patternHint(schema: unknown): string | undefined {
  const hint = isObject(schema) ? schema['$comment'] : undefined;
  return typeof hint === 'string' ? `must have the form: ${hint}` : undefined;
}
