import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { asObject, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { FieldProblem } from '../rejection.ts';
import { uuidPattern } from '../store/schema.ts';

/** Lists the problems of a body; an empty list means that the body is valid. */
export type BodyValidator = (body: JsonObject) => readonly FieldProblem[];

const maxProblems = 50;
const hintedKeywords: ReadonlySet<string> = new Set(['pattern', 'anyOf', 'format']);
// The database cannot store NUL, and half a surrogate pair is not a character.
const unstorableText = /\0|\p{Surrogate}/u;
// Ajv does not check the schemas at run time: a test checks them, and the check would take most of the startup time.
const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const ajvOptions = { allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false, strictTypes: false } as const;
const formats = { uuid: uuidPattern, 'date-time': (text: string) => timePattern.test(text) && !Number.isNaN(Date.parse(text)) };

/**
 * Returns the validator of a body's schema; it also reports texts that the database cannot store. The schema is compiled when the first body
 * is checked: most servers see the bodies of few operations.
 */
export function bodyValidator(schema: JsonObject): BodyValidator {
  const properties = Object.entries(asObject(schema['properties']));
  const checked = properties.filter(([, node]) => node !== true && !(isObject(node) && node['readOnly'] === true));
  let validate: ValidateFunction | undefined;
  return (body) => {
    validate ??= new Ajv2020({ ...ajvOptions, formats }).compile(schema);
    if (!validate(body)) return fieldProblems(validate.errors ?? []);
    return checked.flatMap(([field]) =>
      isStorable(body[field] ?? null) ? [] : [{ field: pointer(field), reason: 'contains a NUL character or an incomplete character' }],
    );
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
  if (keyword === 'enum')
    return {
      field: instancePath,
      reason: `must be one of ${[params['allowedValues']]
        .flat()
        .map((value) => (value === '' ? 'empty' : value))
        .join(', ')}`,
    };
  if (propertyName !== undefined) return { field: at(propertyName), reason: `has a name that ${message}` };
  return { field: instancePath, reason: message };
}

/** Returns the explanation of a pattern, which the schema keeps in `$comment`. */
function patternHint(schema: unknown): string | undefined {
  const hint = isObject(schema) ? schema['$comment'] : undefined;
  return typeof hint === 'string' ? `must have the form: ${hint}` : undefined;
}
