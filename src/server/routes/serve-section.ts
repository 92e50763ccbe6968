import type { Context, Hono } from 'hono';
import type { Json, JsonObject } from '../../model/json.ts';
import { requireNoProblems } from '../rejection.ts';
import { bodyValidator } from '../rules/body-validator.ts';
import type { ServedRoute } from '../rules/permissions.ts';
import type { ApiOperation, ApiSection, Query } from './api-section.ts';
import { readBody } from './request-body.ts';
import type { AppEnv } from './request-context.ts';

/** Returns the method and the path of an operation. */
export function routeOf({ route }: ApiOperation): ServedRoute {
  const [method = '', path = ''] = route.split(' ');
  return { method, path };
}

/** Returns what reads the query of an operation. Throws `InvalidBody` with all problems of its parameters; others are ignored. */
function queryReader({ parameters = [] }: ApiOperation): (c: Context<AppEnv>) => Query {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const properties = Object.fromEntries(known.map(({ name, schema }) => [name, schema]));
  const validate = bodyValidator({ properties, required: known.filter(({ required }) => required).map(({ name }) => name) });
  return (c) => {
    const entries = known.flatMap(({ name, schema }): readonly [string, Json][] => {
      const text = c.req.query(name);
      if (text === undefined) return [];
      return [[name, schema['type'] === 'integer' && /^\d+$/.test(text) ? Number(text) : text]];
    });
    const query = Object.fromEntries(entries);
    requireNoProblems(validate(query).map(({ field, reason }) => ({ field: field.slice(1), reason })));
    return query;
  };
}

/** Serves the operations of a section: reads and checks their queries and bodies, and sends their answers as the API document describes them. */
export function serveSection(app: Hono<AppEnv>, { operations, schemas = {} }: ApiSection): void {
  for (const operation of operations) {
    const { method, path } = routeOf(operation);
    const { body: named, mostBytes: limit, hasOptionalBody: bodyless, answer, serve } = operation;
    const validate = named === undefined ? undefined : bodyValidator(schemas[named] ?? {});
    const read = async (c: Context<AppEnv>): Promise<JsonObject> => {
      if (validate === undefined) return {};
      const body = await readBody(c.env.incoming, { limit, missing: bodyless === true ? {} : undefined });
      requireNoProblems(validate(body));
      return body;
    };
    const readQuery = queryReader(operation);
    app.on(method, path, async (c) => {
      const query = readQuery(c);
      const served = await serve(c, await read(c), query);
      if (served instanceof Response) return served;
      const { json, tag, id } = served;
      return c.newResponse(json === undefined || typeof json === 'string' ? (json ?? null) : JSON.stringify(json), answer[0], {
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(tag === undefined ? {} : { ETag: tag }),
        ...(answer[0] === 201 && operation.named === undefined && id !== undefined ? { Location: `${path}/${id}` } : {}),
      });
    });
  }
}
