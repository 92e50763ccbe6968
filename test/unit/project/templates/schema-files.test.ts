import { posix } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../../src/model/json.ts';
import { schemaFiles } from '../../../../src/project/templates/schema-files.ts';
import { objectAt, textAt } from '../../../support/field-tables.ts';

const schemas = schemaFiles().map(([path, text]): { readonly path: string; readonly schema: JsonObject } => {
  return { path, schema: objectAt(JSON.parse(text)) };
});

/** Returns the nodes of all fields with their paths. */
function fieldsOf(node: Json, path: string): readonly (readonly [path: string, field: JsonObject])[] {
  if (Array.isArray(node)) return node.flatMap((one: Json, index) => fieldsOf(one, `${path}/${index}`));
  if (!isObject(node)) return [];
  const fields = Object.entries(objectAt(node['properties'])).map(([name, field]) => [`${path}/${name}`, objectAt(field)] as const);
  // A condition repeats fields that are described elsewhere.
  const nested = Object.entries(node).filter(([key]) => !['if', 'then', 'examples'].includes(key));
  return [...fields, ...nested.flatMap(([key, value]) => fieldsOf(value, `${path}/${key}`))];
}

function resolved(schema: JsonObject, field: JsonObject): JsonObject {
  const name = textAt(field, '$ref').replace('#/$defs/', '');
  return { ...objectAt(objectAt(schema['$defs'])[name]), ...field };
}

describe('schemas for editors', () => {
  test('exist for every document that people write', () => {
    expect(schemas.map(({ path }) => path).toSorted()).toEqual(
      'access-request-rule access-test attribute config connection data-masking-rule defaults guardrail-rule policy runbook-configuration runbook-rule'
        .split(' ')
        .map((name) => `schemas/${name}.schema.json`),
    );
  });

  test.each(schemas)('$path is a schema that names its own file', ({ path, schema }) => {
    expect(schema['$id']).toBe(posix.basename(path));
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, keywords: ['defaultSnippets'] });
    expect(ajv.compile(schema)).toBeTypeOf('function');
  });

  test.each(schemas)('$path describes every field, and contains nothing for Ostiary alone', ({ path, schema }) => {
    const fields = fieldsOf(schema, path);
    expect(fields.length).toBeGreaterThan(5);
    expect(fields.filter(([, field]) => !resolved(schema, field)['description']).map(([field]) => field)).toEqual([]);
    expect(fields.filter(([, field]) => 'not' in field)).toEqual([]);
    expect(JSON.stringify(schema)).not.toContain('x-ostiary');
  });

  test('show the value of an omitted field, and suggest known values', () => {
    const { schema = {} } = schemas.find(({ path }) => path === 'schemas/connection.schema.json') ?? {};
    const spec = objectAt(objectAt(objectAt(schema['$defs'])['spec'])['properties']);
    expect(spec['reviewers']).toMatchObject({ description: expect.stringMatching(/Omitted: \[\]\.$/), default: [] });
    expect(spec['type']).toMatchObject({
      defaultSnippets: expect.arrayContaining([{ label: 'database', body: 'database' }]),
    });
    expect(spec['min_review_approvals']).toMatchObject({ description: expect.not.stringContaining('Omitted: null') });
    expect(Object.keys(spec)).not.toContain('managed_by');
  });
});
