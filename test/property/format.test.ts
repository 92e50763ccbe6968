import * as fc from 'fast-check';
import { format } from 'prettier/standalone';
import * as yaml from 'prettier/plugins/yaml';
import { Lexer } from 'yaml';
import { expect, test } from 'vitest';
import { formatFile, type Layout } from '../../src/manifest/format/format-file.ts';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { runCount } from '../support/property-runs.ts';
import { yamlFile } from '../support/yaml-document.ts';

const layOut: Layout = (text) => format(text, { parser: 'yaml', plugins: [yaml] });

/** A schema whose fields are the keys of a value, at every level, in the order of their reversed names. */
function schemaFor(value: Json): JsonObject {
  if (Array.isArray(value)) return { items: schemaFor(value.find((entry: Json) => isObject(entry)) ?? null) };
  if (!isObject(value)) return {};
  const names = Object.keys(value).toSorted((left, right) => (reversed(left) < reversed(right) ? -1 : 1));
  return { properties: Object.fromEntries(names.map((name) => [name, schemaFor(value[name] ?? null)])) };
}

function reversed(name: string): string {
  return name.split('').toReversed().join('');
}

function commentsOf(text: string): readonly string[] {
  return [...new Lexer().lex(text)].flatMap((lexeme) => (/^#.*$/.test(lexeme) ? [lexeme.trimEnd()] : [])).toSorted();
}

test('formatting keeps all values and comments, orders the fields, and is stable', async () => {
  let formatted = 0;
  let reordered = 0;
  await fc.assert(
    fc.asyncProperty(yamlFile, async ({ text, values }) => {
      const [first = {}] = values;
      const tagged = { ...first, kind: 'K', apiVersion: 'ostiary/v1' };
      const file = { path: 'a.yaml', text: text.replace(/^/, 'kind: K\napiVersion: ostiary/v1\n') };
      const read = parseDocuments(file).value;
      if (read === undefined || read.some(({ value }) => isObject(value) && Object.hasOwn(value, 'metadata'))) return;
      const schemas = new Map([['K', schemaFor(tagged)]]);
      const { value } = await formatFile(file, schemas, layOut);
      if (value === undefined) return;
      formatted += 1;
      const after = parseDocuments({ path: 'a.yaml', text: value }).value;
      expect(after?.map((one) => one.value)).toEqual(read.map((one) => one.value));
      expect(commentsOf(value)).toEqual(commentsOf(file.text));
      const keys = Object.keys(after?.[0]?.value ?? {});
      if (keys.join() !== Object.keys(read[0]?.value ?? {}).join()) reordered += 1;
      expect((await formatFile({ path: 'a.yaml', text: value }, schemas, layOut)).value).toBe(value);
    }),
    { numRuns: runCount(40), endOnFailure: true },
  );
  expect(formatted).toBeGreaterThan(12);
  expect(reordered).toBeGreaterThan(8);
});
