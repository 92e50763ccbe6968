import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { IncomingMessage } from 'node:http';
import { asObject, isObject, type Json, type JsonObject, parseJson } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { type FieldProblem, InvalidBody, Rejection } from '../rejection.ts';
import { duplicateKey } from './duplicate-key.ts';

const maxBodyBytes = 1024 * 1024;

/** The size of the largest body of a route that takes a few names and times. */
export const smallBodyBytes: number = 32 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsedBodies = new WeakMap<IncomingMessage, JsonObject>();

type BodyOptions = {
  /** The most bytes of the body; 1 MiB by default. */
  readonly limit?: number;
  /** The value of an empty body, if the route accepts one. */
  readonly missing?: JsonObject;
};

/** Reads a JSON object. Throws a `Rejection` that never quotes the text, because it may hold secrets. Routes read it after they have checked the key. */
export async function readBody(incoming: IncomingMessage, { limit = maxBodyBytes, missing }: BodyOptions = {}): Promise<JsonObject> {
  requireNoCoding(incoming);
  const text = await readText(incoming, limit).catch((error: unknown) => {
    throw error instanceof Rejection ? error : new Rejection(400, 'the body is incomplete');
  });
  if (text === '' && missing !== undefined) return missing;
  const body = parseJson(text);
  if (!isObject(body)) throw new Rejection(400, 'the body is not a JSON object');
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) throw new InvalidBody([{ field: duplicate, reason: 'is a duplicate key' }], 400);
  parsedBodies.set(incoming, body);
  return body;
}

/** Returns the body that `readBody` parsed for a request; undefined when it did not, or when the body was malformed. */
export function parsedBody(incoming: IncomingMessage): JsonObject | undefined {
  return parsedBodies.get(incoming);
}

/** Rejects a compressed body by its headers: as text it would be unreadable, or wrong. */
function requireNoCoding({ headers }: IncomingMessage): void {
  const [coding] = codingsIn(headers['content-encoding']).filter((one) => one !== 'identity');
  if (coding !== undefined)
    throw new Rejection(415, `the content coding ${coding} is not supported: send the body as it is`, acceptsIdentity);
  const [transfer] = codingsIn(headers['transfer-encoding']).filter((one) => one !== 'chunked');
  if (transfer !== undefined) throw new Rejection(501, `the transfer coding ${transfer} is not supported`, { Connection: 'close' });
}

const acceptsIdentity = { 'Accept-Encoding': 'identity' };

function codingsIn(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((coding) => (coding.trim() === '' ? [] : [coding.trim().toLowerCase()]));
}

async function readText(incoming: IncomingMessage, limit: number): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the connection: the response still needs it.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunks.at(-1)?.length ?? 0;
    if (size > limit) throw bodyTooLarge(limit);
  }
  return decodeUtf8(Buffer.concat(chunks));
}

/** Rejects other encodings: decoding them as UTF-8 would store wrong characters. */
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Rejection(400, 'the body is not UTF-8');
  }
}

function bodyTooLarge(limit: number): Rejection {
  return new Rejection(413, `the body is larger than ${limit} bytes`, { Connection: 'close' });
}

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
