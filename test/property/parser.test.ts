import { assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { ParsedDocument, TextOffsets } from '../../src/manifest/yaml/offsets.ts';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import { readStrictly } from '../../src/manifest/yaml/strict-reader.ts';
import { readYaml } from '../../src/manifest/yaml/read-yaml.ts';
import type { Json } from '../../src/model/json.ts';
import { blocks, mutatedSeed, shortTexts, seeds } from './parser-texts.ts';
import { runCount } from '../support/property-runs.ts';

const binary = string({ unit: 'binary', maxLength: 200 });

/** The offsets of a text as both readers record them: by document, the tree of all places. */
function placesOf(documents: readonly ParsedDocument[], offsets: TextOffsets): unknown {
  const below = (node: Json | undefined): unknown =>
    node === undefined ? 'alias' : [...(offsets.get(node) ?? [])].map(([name, { node: inner, ...place }]) => [name, place, below(inner)]);
  return documents.map(({ value, index, start }) => ({ index, start, below: below(value) }));
}

/** What `yaml` itself makes of a text: undefined where it finds anything wrong. */
function reference(text: string): string | undefined {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent' });
  if ('empty' in documents) return '[]';
  if (documents.some(({ errors, warnings }) => errors.length + warnings.length > 0)) return undefined;
  return JSON.stringify(documents.map((document): unknown => document.toJS()).filter((value) => value !== null));
}

describe('the strict reader', () => {
  it('declines a text or reads it as yaml does', () => {
    let accepted = 0;
    assert(
      property(oneof(mutatedSeed, mutatedSeed, blocks, shortTexts), (text) => {
        const documents = readStrictly(text);
        if (documents === undefined) return;
        accepted += 1;
        expect(JSON.stringify(documents.map(({ value }) => value).filter((value) => value !== null))).toBe(reference(text));
        expect({ documents, diagnostics: [] }).toStrictEqual(readYaml({ path: 'any.yaml', text }));
      }),
      { numRuns: runCount(200) },
    );
    expect(accepted).toBeGreaterThan(33);
  });

  it('returns the same offsets as yaml', () => {
    let found = 0;
    assert(
      property(oneof(mutatedSeed, mutatedSeed, blocks, shortTexts), (text) => {
        const offsets: TextOffsets = new Map();
        const documents = readStrictly(text, offsets);
        if (documents === undefined) return;
        found += 1;
        const known: TextOffsets = new Map();
        expect(placesOf(documents, offsets)).toStrictEqual(placesOf(readYaml({ path: 'any.yaml', text }, known).documents, known));
      }),
      { numRuns: runCount(200) },
    );
    expect(found).toBeGreaterThan(33);
  });

  it('reads typical manifests', () => {
    expect(readStrictly(seeds[0] ?? '')).toHaveLength(1);
    expect(readStrictly(seeds[1] ?? '')).toHaveLength(2);
    expect(readStrictly(seeds[2] ?? '')).toBeUndefined();
    expect(readStrictly(seeds[3] ?? '')).toHaveLength(1);
  });
});

describe('the parser', () => {
  it('never throws, and returns documents or diagnostics for any text', () => {
    assert(
      property(oneof(mutatedSeed, shortTexts, blocks, binary), (text) => {
        const { value, diagnostics } = parseDocuments({ path: 'any.yaml', text });
        expect(value === undefined).toBe(diagnostics.length > 0);
        for (const { code, message, at, frame } of diagnostics) {
          expect(code).toMatch(/^manifest\/[a-z-]+$/);
          expect(message).not.toMatch(/\p{Cc}/u);
          expect(at?.line).toBeGreaterThan(0);
          expect(at?.column).toBeGreaterThan(0);
          expect(frame?.lines.join('')).not.toMatch(/\p{Cc}/u);
        }
        for (const document of value ?? []) {
          expect(document.locate('').line).toBeGreaterThan(0);
          expect(document.locate('/spec/secret/0/x').line).toBeGreaterThan(0);
          expect(JSON.parse(JSON.stringify(document.value))).toStrictEqual(document.value);
        }
      }),
      { numRuns: runCount(100) },
    );
  });

  it('finds the same values, places and errors whatever the line ends', () => {
    const wide = string({ unit: constantFrom('\n', '# a', '  ', '- ', 'a: ', 'b', '|', '"', "'", '---'), maxLength: 40 });
    assert(
      property(oneof(mutatedSeed, shortTexts, blocks, wide), (any) => {
        const text = any.replaceAll('\r', '');
        const same = text.replaceAll('\n', '\r\n');
        const { values, ...rest } = reading(same);
        expect({ values, ...rest }).toStrictEqual(reading(text));
        const isStrict = readStrictly(text) !== undefined;
        expect(isStrict ? JSON.stringify(values?.filter((value) => value !== null)) : '').toBe(isStrict ? reference(same) : '');
      }),
      { numRuns: runCount(200) },
    );
    const long = `${'\n'.repeat(600)}${seeds[1] ?? ''}`;
    expect(reading(long.replaceAll('\n', '\r\n'))).toStrictEqual(reading(long));
  });
});

/** Returns what is read of a text, and where each value begins. */
function reading(text: string): { readonly values: readonly Json[] | undefined; readonly places: unknown; readonly diagnostics: unknown } {
  const { value, diagnostics } = parseDocuments({ path: 'any.yaml', text });
  const places = value?.map((document) => pointersIn(document.value).map((path) => document.locate(path)));
  return { values: value?.map((document) => document.value), places, diagnostics };
}

/** Returns the pointers of all values in a value. */
function pointersIn(value: Json, path = ''): readonly string[] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...below.flatMap(([key, one]) => pointersIn(one, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`))];
}
