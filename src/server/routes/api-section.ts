import type { Context } from 'hono';
import type { Json, JsonObject } from '../../model/json.ts';
import type { AppEnv } from './request-context.ts';

/** A parameter beside the body. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonObject;
  readonly required?: true;
};

/** The error statuses, which are the same for every operation; the body is a `Refusal`. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 422 | 429 | 500 | 503;

/** The response to a success: its status, its description, and the schema of its body or the name of one; without a schema it has no body. */
export type ApiAnswer = readonly [status: 200 | 201 | 204 | 304 | 503, description: string, schema?: JsonObject | string];

/** The valid values of the query parameters, integers as numbers; a parameter that is not given has none. */
export type Query = Readonly<Record<string, Json>>;

/** What an operation answers: JSON or its text, and the version and the id of an object. */
export type ServedAnswer = { readonly json?: unknown; readonly tag?: string; readonly id?: string };

/** An operation: what serves it, and its words in the API document. */
export type ApiOperation = {
  /** The method and the path of the route: `GET /connections/:id`. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`;
  /** Unique among all operations, in camelCase: generated clients use it as a function name. */
  readonly id: string;
  readonly summary: string;
  /** Details beyond the summary, including choices that the interface leaves open. */
  readonly description?: string;
  /** What the parameter of the path names. */
  readonly named?: string;
  /** The response has an `ETag`; a request that names an object may require versions of it. */
  readonly tagged?: true;
  /** The parameters beside those of the path and of versions. */
  readonly parameters?: readonly Parameter[];
  /** The name of the schema of the body, which is read and checked before the operation is served. */
  readonly body?: string;
  /** The most bytes of the body; 1 MiB by default. */
  readonly mostBytes?: number;
  readonly hasOptionalBody?: true;
  readonly answer: ApiAnswer;
  /** JSON by default. */
  readonly contentType?: string;
  /** Another response that is no `Refusal`. */
  readonly otherAnswer?: ApiAnswer;
  /** Errors beside the derived ones: 401, 429; 403 if not every role may; 404 with a path parameter; 412 with versions; 400, 413, 422 with a body. */
  readonly errors?: readonly ErrorStatus[];
  /** Answers a request; the status is that of `answer`. */
  readonly serve: (c: Context<AppEnv>, body: JsonObject, query: Query) => Promise<ServedAnswer | Response>;
};

/** A group of operations, and the schemas that they refer to as `#/components/schemas/NAME`. */
export type ApiSection = {
  readonly name: string;
  readonly description: string;
  readonly schemas?: Readonly<Record<string, JsonObject>>;
  readonly operations: readonly ApiOperation[];
};

/** Returns a reference to a schema of the document. */
export function schemaRef(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** The field of a row in a list that replaces its secrets. A read of the object is answered with 500. */
export const undecryptableFields: JsonObject = {
  error: {
    type: 'string',
    description: 'In place of the secrets, which cannot be decrypted. A read of this object alone is answered with 500.',
  },
};

/** Returns a query parameter. */
export function queryParameter(name: string, description: string, schema: JsonObject): Parameter {
  return { name, in: 'query', description, schema };
}

/** The schema of an id. */
export const idSchema: JsonObject = { type: 'string', format: 'uuid' };

/** The schema of a time. */
export const timeSchema: JsonObject = { type: 'string', format: 'date-time' };

/** Returns the schema of an object with exactly these properties, all required. */
export function exactObject(properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

/** Returns the schema of one page of a list. */
export function pageSchema(rows: JsonObject): JsonObject {
  const whole = { type: 'integer', minimum: 0 };
  return exactObject({ data: { type: 'array', items: rows }, pages: exactObject({ page: whole, size: whole, total: whole }) });
}

/** Returns the schema of a list that is an array, or one page with paging parameters. */
export function listOrPage(rows: JsonObject): JsonObject {
  return { oneOf: [{ type: 'array', items: rows }, pageSchema(rows)] };
}

/** The headers that restrict a request to certain versions of the object. */
export const versionParameters: readonly Parameter[] = [
  {
    name: 'If-Match',
    in: 'header',
    description: 'One or more `ETag` values of the version that the client read, or `*`; the gateway answers 412 for any other version.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description:
      'One or more `ETag` values, or `*` for every version: the gateway answers a read of one of them with 304, and a write with 412.',
    schema: { type: 'string' },
  },
];

/** The schema of a read-only field in a body, which the server accepts and ignores, so that a response can be sent back. */
export const ignoredField: JsonObject = { readOnly: true, description: 'Accepted and ignored.' };
