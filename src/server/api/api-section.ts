import type { JsonObject } from '../../model/json.ts';

/** A value that travels beside the body. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonObject;
  readonly required?: true;
};

/** What an operation answers with one status; no schema: no body. */
export type ApiResponse = {
  readonly description: string;
  readonly schema?: JsonObject;
  readonly headers?: readonly ('ETag' | 'Location')[];
  /** It is a page, not JSON. */
  readonly isHtml?: true;
};

/** The statuses that every operation answers alike, with a `Refusal` as the body. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 422 | 429 | 500 | 503;

/** One operation as the document tells it; it stands beside the route that serves it. */
export type ApiOperation = {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** As it is routed: `/connections/:id`. */
  readonly path: string;
  /** Unique among all operations, in camelCase: generated clients name their functions so. */
  readonly id: string;
  readonly summary: string;
  /** What the summary does not say, with the choices that were made where the interface is silent. */
  readonly description?: string;
  /** It needs no key. */
  readonly isPublic?: true;
  /** It needs the token of an agent in place of a key. */
  readonly needsAgentToken?: true;
  readonly parameters?: readonly Parameter[];
  /** The schema of the body that it takes. */
  readonly body?: JsonObject;
  /** The body may be left out. */
  readonly hasOptionalBody?: true;
  readonly responses: Readonly<Record<number, ApiResponse>>;
  /** Refusals beside those that follow: 400, 413, 422 with a body, 404 with a path parameter, 401, 429, and 403 where not every role may, with a key. */
  readonly errors?: readonly ErrorStatus[];
};

/** Operations that belong together, and the schemas that they name as `#/components/schemas/NAME`. */
export type ApiSection = {
  readonly name: string;
  readonly description: string;
  readonly schemas?: Readonly<Record<string, JsonObject>>;
  readonly operations: readonly ApiOperation[];
};

/** Points at a schema of the document. */
export function schemaRef(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** The schema of an id. */
export const idSchema: JsonObject = { type: 'string', format: 'uuid' };

/** The schema of a time. */
export const timeSchema: JsonObject = { type: 'string', format: 'date-time' };

/** The schema of an object that has all these properties and no other. */
export function exactObject(properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

/** The schema of one page of a list. */
export function pageSchema(rows: JsonObject): JsonObject {
  const whole = { type: 'integer', minimum: 0 };
  return exactObject({ data: { type: 'array', items: rows }, pages: exactObject({ page: whole, size: whole, total: whole }) });
}

/** Makes a path parameter of text. */
export function pathParameter(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', minLength: 1 } };
}

/** Lets a write through only if the object still has one of these versions. */
export const ifMatchParameter: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` of the version that the caller has read, several of them, or `*`; another version is answered with 412.',
  schema: { type: 'string' },
};

/** Ask for one page of a list. */
export const pagingParameters: readonly Parameter[] = [
  { name: 'page', in: 'query', description: 'Counted from 1.', schema: { type: 'integer', minimum: 1, maximum: 1_000_000 } },
  { name: 'page_size', in: 'query', description: '50 unless given.', schema: { type: 'integer', minimum: 1, maximum: 100 } },
];

/** The schema of a read-only field in a body: let through, so that an answer can be changed and sent back. */
export const ignoredField: JsonObject = { readOnly: true, description: 'Let through and ignored.' };
