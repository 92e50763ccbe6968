import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { registry } from '../../src/kinds/index.ts';
import { accessTest, config, defaults, manifests, policy, record, type SchemaError } from '../../src/manifest/validate/validators.ts';
import { plan } from '../../src/reconcile/saved-plan/validators.ts';
import { asArray, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { runCount } from '../support/property-runs.ts';

function read(path: string): JsonObject {
  return JSON.parse(readFileSync(path, 'utf8'));
}

const kinds = [...registry.values()].map(({ name, schema }) => ({ name, schema, validate: manifests[name] }));
const documents = Object.entries({
  'access-test': accessTest,
  config,
  defaults,
  policy,
  record,
}).map(([name, validate]) => ({ name, schema: read(`schemas/documents/${name}.schema.json`), validate }));

/** Secrets, whose forms the compiled schemas leave to others. */
const secrets = new Set(
  [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ name, secret }) => (secret === undefined ? [] : [name]))),
);

/** Lists the places in a document, but for those of secrets, which the compiled schemas leave to others. */
function placesIn(value: Json, place: readonly string[] = []): readonly (readonly string[])[] {
  if (secrets.has(place.at(-1) ?? '')) return [];
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [place, ...below.flatMap(([key, one]) => placesIn(one, [...place, key]))];
}

/** Returns the value with another one at a place, or without the one that is there. */
function changed(value: Json, [key, ...rest]: readonly string[], other: Json | undefined): Json | undefined {
  if (key === undefined) return other;
  if (Array.isArray(value)) return value.flatMap((one: Json, index) => (String(index) === key ? (changed(one, rest, other) ?? []) : [one]));
  if (!isObject(value)) return value;
  const { [key]: at = null, ...left } = value;
  const now = changed(at, rest, other);
  return now === undefined ? left : { ...left, [key]: now };
}

const words = ['name', 'kind', 'spec', 'type', '', 'x', '__proto__', 'a/b~c', '2026-12-31', 'disabled', 'é'.repeat(129), '/a', '100%'];
const values = fc.oneof(
  fc.constantFrom<Json | undefined>(
    undefined,
    null,
    true,
    0,
    -1,
    1.5,
    1e9,
    [],
    {},
    [1],
    ['a', 'a'],
    ['a', ''],
    { '': 1 },
    { name: 'a' },
    [{}],
    [{ name: 'a' }],
  ),
  fc.constantFrom(...words),
);
const edits = fc.array(fc.record({ at: fc.nat(), below: fc.option(fc.constantFrom(...words, '0')), value: values }), {
  minLength: 1,
  maxLength: 4,
});

/** Returns the document with some values replaced, removed or added. */
function mutated(
  document: Json,
  changes: readonly { readonly at: number; readonly below: string | null; readonly value: Json | undefined }[],
): Json {
  return changes.reduce<Json>((result, { at, below, value }) => {
    const places = placesIn(result);
    const place = places[at % places.length] ?? [];
    return changed(result, below === null ? place : [...place, below], value) ?? result;
  }, document);
}

/** Returns errors in one order; a read-only field is an unknown field to a compiled schema. */
function sorted(errors: readonly Pick<SchemaError, 'keyword' | 'instancePath' | 'params'>[]): readonly string[] {
  const same = errors.map(({ keyword, instancePath, params }) => {
    if (keyword !== 'not') return [instancePath, keyword, params];
    const end = instancePath.lastIndexOf('/');
    return [instancePath.slice(0, end), 'additionalProperties', { additionalProperty: instancePath.slice(end + 1) }];
  });
  return same.map((one) => JSON.stringify(one)).toSorted();
}

const policies = parseAllDocuments(readFileSync('examples/policies/production.yaml', 'utf8')).map((one) => one.toJS());

test.each([...kinds, ...documents])(
  'the validator of $name finds the errors that ajv finds with the whole schema',
  ({ schema, validate }) => {
    const whole = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
    const examples = asArray(schema['examples']);
    fc.assert(
      fc.property(fc.constantFrom<Json>(...(examples.length === 0 ? policies : examples)), edits, (example, changes) => {
        const document = mutated(example, changes);
        whole(document);
        validate?.(document);
        expect(sorted(validate?.errors ?? [])).toEqual(sorted(whole.errors ?? []));
      }),
      { numRuns: runCount(150) },
    );
  },
);

test('the validator of plans finds the first error that ajv finds', () => {
  const whole = new Ajv2020({ strict: false }).compile(read('schemas/documents/plan.schema.json'));
  const plans = ['001-a-new-connection-with-its-rule', '087-nothing-but-accepted-drift', '084-one-change-of-each-kind'].map((name) =>
    read(`test/golden/${name}/expected/plan.json`),
  );
  fc.assert(
    fc.property(fc.constantFrom<Json>(...plans), edits, (example, changes) => {
      const document = mutated(example, changes);
      whole(document);
      plan(document);
      const [found, expected] = [plan.errors ?? [], whole.errors ?? []].map(([first]) => first && [first.instancePath, first.keyword]);
      expect(found).toEqual(expected);
    }),
    { numRuns: runCount(500) },
  );
});
