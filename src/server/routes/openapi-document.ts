import { asText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import {
  type ApiAnswer,
  type ApiOperation,
  type ApiSection,
  type ErrorStatus,
  type Parameter,
  exactObject,
  schemaRef,
  versionParameters,
} from './api-section.ts';
import { accessTo, restrictedRoles } from '../rules/permissions.ts';
import { routeOf } from './serve-section.ts';

const introduction = `Access to databases, applications and shells through named connections.

- **Keys.** Unless an operation states otherwise, every request requires a key, sent as \`Authorization: Bearer KEY\` or \`Api-Key: KEY\`. If both
  are present, \`Api-Key\` is used.
- **Roles.** The groups of a key determine its role: admin, auditor or standard. An operation lists the roles that it accepts, unless
  it accepts all. Only admins see the values of secrets; other roles see null for a secret that is set.
- **Bodies** are JSON objects in UTF-8 of at most 1 MiB, regardless of \`Content-Type\`, and not compressed. Unknown and duplicate fields
  are rejected, so that no value is lost. Strings cannot contain U+0000 or unpaired surrogates.
- **Queries.** Unknown parameters are ignored.
- **PUT replaces the whole object.** An omitted field becomes empty, secrets included; a secret that is null keeps its stored value.
  Read-only fields are accepted and ignored, so that a response can be edited and sent back.
- **Errors** have a \`message\` that states the problem and its place; 422 lists every invalid field in \`errors\`.
- **IDs** are lowercase UUIDs; an unknown ID in a path is answered with 404.
- **Times** are RFC 3339 in UTC.
- **HEAD** is supported wherever GET is; another method on an existing path is answered with 405 and \`Allow\`.
- **Versions.** An object has an \`ETag\`, which changes with every write, but not with the status of an agent. A read with \`If-None-Match\` is
  answered with 304 if it names this version.
- Every response has an \`X-Request-Id\`, which also appears in the log. A request that is not valid HTTP is answered with 400, 408 or 431, and
  an \`Expect\` other than \`100-continue\` with 417, without it and without a body.`;

const errorDescriptions: Readonly<Record<ErrorStatus, string>> = {
  400: 'The body is not a JSON object in UTF-8, or an object in it has a key twice.',
  401: 'The key is missing or unknown.',
  403: 'The key has no permission for this request.',
  404: 'The object does not exist.',
  409: 'The name is taken, or the object is managed by another manager.',
  412: '`If-Match` has another version, or `If-None-Match` has this one.',
  413: 'The body is larger than 1 MiB.',
  422: 'A value is invalid; `errors` lists all of them.',
  429: 'Too many requests with an invalid key from this address; see `Retry-After`.',
  500: 'An internal error; see `request_id` in the log of the server.',
  503: 'The database is not available (see `Retry-After`), or the encryption key of the server is retired.',
};

const errorSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['message'],
  properties: {
    message: { type: 'string', description: 'The problem and its place.' },
    errors: {
      type: 'array',
      description: 'All invalid values.',
      items: exactObject({
        field: { type: 'string', description: 'A JSON Pointer into the body, or the name of a parameter.' },
        reason: { type: 'string' },
      }),
    },
    request_id: { type: 'string', description: 'Identifies the request in the log.' },
  },
};

const headers: JsonObject = {
  ETag: { description: 'The version of the object, for `If-Match`.', schema: { type: 'string' } },
  Location: { description: 'The path of the object.', schema: { type: 'string' } },
};

/** Returns the OpenAPI 3.1 document of all sections. */
export function describeApi(chapters: readonly ApiSection[], version: string): JsonObject {
  const operations = chapters.flatMap((chapter) => chapter.operations);
  const bodies = new Set(operations.flatMap(({ body }) => body ?? []));
  const schemas = chapters.flatMap((chapter) => Object.entries(chapter.schemas ?? {}));
  const publish = (name: string, schema: Json): Json => published(schema, `#/components/schemas/${name}`, bodies.has(name));
  const statuses = new Set(operations.flatMap((operation) => errorStatuses(operation)));
  return {
    openapi: '3.1.0',
    info: { title: 'Ostiary', version, description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: chapters.map(({ name, description }) => ({ name, description })),
    paths: pathsOf(chapters),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'Api-Key' },
        agent: { type: 'http', scheme: 'bearer', description: 'The token of an agent.' },
      },
      headers,
      schemas: { Refusal: errorSchema, ...Object.fromEntries(schemas.map(([name, schema]) => [name, publish(name, schema)])) },
      responses: Object.fromEntries(
        [...statuses]
          .toSorted((left, right) => left - right)
          .map((status) => [`Refusal${status}`, errorResponse(errorDescriptions[status])]),
      ),
    },
  };
}

function pathsOf(chapters: readonly ApiSection[]): JsonObject {
  const paths = new Map<string, Record<string, Json>>();
  for (const { name, operations } of chapters) {
    for (const operation of operations) {
      const { method, path } = routeOf(operation);
      const shown = path.replaceAll(/:(\w+)/g, '{$1}');
      paths.set(shown, { ...paths.get(shown), [method.toLowerCase()]: operationJson(name, operation) });
    }
  }
  return Object.fromEntries(paths);
}

function operationJson(tag: string, operation: ApiOperation): JsonObject {
  const { id, summary, description, body, hasOptionalBody: bodyless, answer, otherAnswer, contentType } = operation;
  const route = routeOf(operation);
  const [access, roles, parameters] = [accessTo(route), restrictedRoles(route), parametersOf(operation)];
  const words = [description, roles === undefined ? undefined : `Roles: ${roles.join(', ')}.`].filter((text) => text !== undefined);
  const sent = [
    ...(operation.tagged === true && answer[2] !== undefined ? ['ETag'] : []),
    ...(answer[0] === 201 && operation.named === undefined ? ['Location'] : []),
  ];
  const unchanged = route.method === 'GET' && hasVersions(operation);
  const answers = [
    [answer[0], answerJson(answer, sent, contentType)],
    ...(otherAnswer === undefined ? [] : [[otherAnswer[0], answerJson(otherAnswer, [])]]),
    ...(unchanged ? [[304, answerJson([304, 'The client has this version already (`If-None-Match`).'], ['ETag'])]] : []),
    ...errorStatuses(operation).map((status) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(words.length === 0 ? {} : { description: words.join('\n\n') }),
    ...(access === 'anyone' ? { security: [] } : {}),
    ...(access === 'agent' ? { security: [{ agent: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: bodyless !== true, content: { 'application/json': { schema: schemaRef(body) } } } }),
    responses: Object.fromEntries(answers),
  };
}

function parametersOf({ route, named, tagged, parameters = [] }: ApiOperation): readonly Parameter[] {
  const name = /:(\w+)/.exec(route)?.[1];
  const inPath: Parameter[] =
    name === undefined ? [] : [{ name, in: 'path', description: named ?? '', required: true, schema: { type: 'string', minLength: 1 } }];
  return [...inPath, ...(hasVersions({ named, tagged }) ? versionParameters : []), ...parameters];
}

/** Returns whether a request may require or exclude versions of the object that it names. */
function hasVersions({ named, tagged }: { readonly named?: string | undefined; readonly tagged?: true | undefined }): boolean {
  return named !== undefined && tagged === true;
}

/** Returns the errors of an operation, including those that follow from its properties. */
function errorStatuses(operation: ApiOperation): readonly ErrorStatus[] {
  const { body, named, errors: refuses = [] } = operation;
  const open = accessTo(routeOf(operation)) === 'anyone';
  const following: readonly ErrorStatus[] = [
    ...(open ? [] : ([401, 429, 503] as const)),
    ...(restrictedRoles(routeOf(operation)) === undefined ? [] : ([403] as const)),
    ...(named === undefined ? [] : ([404] as const)),
    ...(hasVersions(operation) ? ([412] as const) : []),
    ...(body === undefined ? [] : ([400, 413, 422] as const)),
  ];
  return [...new Set<ErrorStatus>([...following, ...refuses, 500])].toSorted((left, right) => left - right);
}

function answerJson([, description, schema]: ApiAnswer, sent: readonly string[], contentType = 'application/json'): JsonObject {
  const body = typeof schema === 'string' ? schemaRef(schema) : schema;
  return {
    description,
    ...(sent.length === 0 ? {} : { headers: Object.fromEntries(sent.map((name) => [name, { $ref: `#/components/headers/${name}` }])) }),
    ...(body === undefined ? {} : { content: { [contentType]: { schema: body } } }),
  };
}

function errorResponse(description: string): JsonObject {
  return { description, content: { 'application/json': { schema: schemaRef('Refusal') } } };
}

// A range of characters beyond U+FFFF.
const astralRange = /[\u{10000}-\u{10ffff}]-[\u{10000}-\u{10ffff}]/gu;
const limitingKeywords = ['pattern', 'enum', 'const', 'format'];

/**
 * Returns a schema as the document has it: its local references lead to its place there; patterns have no surrogates and astral ranges, which not
 * every engine treats as characters; and the texts of a body contain no U+0000, which otherwise only a description says.
 */
function published(schema: Json, place: string, isBody: boolean): Json {
  if (Array.isArray(schema)) return schema.map((entry: Json) => published(entry, place, isBody));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): readonly [string, Json][] => {
    if (key === '$schema') return [];
    if (key === '$ref') return [[key, asText(value).replace(/^#\/\$defs\//, `${place}/$defs/`)]];
    if (key !== 'pattern' || typeof value !== 'string') return [[key, published(value, place, isBody)]];
    return [[key, value.replaceAll('\\ud800-\\udfff', '').replaceAll(astralRange, '')]];
  });
  const isFreeText = isBody && [schema['type']].flat().includes('string') && !limitingKeywords.some((keyword) => keyword in schema);
  return Object.fromEntries(isFreeText ? [...entries, ['pattern', '^[^\\u0000]*$']] : entries);
}
