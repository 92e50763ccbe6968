import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { DocumentEdit } from '../../src/manifest/edit/change.ts';
import { editFile, type Edited } from '../../src/manifest/edit/edit-file.ts';
import { parseDocuments } from '../../src/manifest/parse.ts';
import type { Checked } from '../../src/model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { isWithin, pointer, tokensOf } from '../../src/model/pointer.ts';
import type { SourceFile } from '../../src/model/source.ts';
import { tries } from '../support/chance.ts';
import { anyValue, yamlFile, type YamlFile } from '../support/yaml-document.ts';
import { blocks, mutated } from './parser-texts.ts';

/** Edits one document of a file. */
function editDocument(file: SourceFile, index: number, edits: readonly DocumentEdit[]): Checked<Edited> {
  return editFile(
    file,
    edits.map((edit) => ({ index, edit })),
  );
}

const runs = { numRuns: tries(80) };

/** What to do with whichever place of a value the numbers choose. */
const wish = fc.record({
  edit: fc.constantFrom(
    'set' as const,
    'set' as const,
    'put' as const,
    'remove' as const,
    'add' as const,
    'drop' as const,
    'rename' as const,
  ),
  where: fc.nat(),
  key: fc.constantFrom('new', 'k: v', '123', 'ключ', '-', 'x'.repeat(40)),
  value: anyValue,
});
type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never;

type Place = { readonly path: string; readonly value: Json; readonly inMap: boolean };

function placesOf(value: Json, path = '', inMap = true): readonly Place[] {
  const own = { path, value, inMap };
  if (Array.isArray(value)) return [own, ...value.flatMap((entry: Json, index) => placesOf(entry, path + pointer(String(index)), false))];
  if (!isObject(value)) return [own];
  return [own, ...Object.entries(value).flatMap(([key, one]) => placesOf(one, path + pointer(key)))];
}

/** An edit that makes sense for the value, and what is to come of it. */
function editOf(
  { edit, where, key, value }: Wish,
  document: JsonObject,
): { readonly edit: DocumentEdit; readonly wished: Json } | undefined {
  const all = placesOf(document).slice(1);
  const pick = (places: readonly Place[]): Place | undefined => places[where % Math.max(1, places.length)];
  const lists = all.filter((place) => Array.isArray(place.value));
  switch (edit) {
    case 'set': {
      const place = pick(all);
      return place && { edit: { edit, path: place.path, value }, wished: put(document, place.path, () => value) };
    }
    case 'put': {
      const place = pick([{ path: '', value: document, inMap: true }, ...all.filter((one) => isObject(one.value))]);
      if (place === undefined) return undefined;
      const path = place.path + pointer(key);
      return { edit: { edit: 'set', path, value }, wished: put(document, path, () => value) };
    }
    case 'remove': {
      const place = pick(all);
      return place && { edit: { edit, path: place.path }, wished: put(document, place.path, () => undefined) };
    }
    case 'add': {
      const place = pick(lists);
      if (place === undefined || !Array.isArray(place.value)) return undefined;
      const list: readonly Json[] = place.value;
      const added = list.some((one) => equal(one, value)) ? list : [...list, value];
      return { edit: { edit, path: place.path, value }, wished: put(document, place.path, () => added) };
    }
    case 'drop': {
      const place = pick(lists.filter((one) => Array.isArray(one.value) && one.value.length > 0));
      if (place === undefined || !Array.isArray(place.value)) return undefined;
      const list: readonly Json[] = place.value;
      const gone = list[where % list.length] ?? null;
      return {
        edit: { edit, path: place.path, value: gone },
        wished: put(document, place.path, () => list.filter((one) => !equal(one, gone))),
      };
    }
    case 'rename': {
      const place = pick(
        all.filter((one) => one.inMap && !all.some((other) => other.path === one.path.replace(/[^/]*$/, '') + pointer(key).slice(1))),
      );
      return place && { edit: { edit, path: place.path, key }, wished: renamed(document, tokensOf(place.path), key) };
    }
  }
}

function put(value: Json, path: string, make: () => Json | undefined): Json {
  const [token = '', ...rest] = tokensOf(path);
  const below = pointer(...rest);
  if (Array.isArray(value)) {
    return value.flatMap((entry: Json, index) => {
      if (String(index) !== token) return [entry];
      const made = rest.length === 0 ? make() : put(entry, below, make);
      return made === undefined ? [] : [made];
    });
  }
  const map = new Map(Object.entries(isObject(value) ? value : {}));
  const made = rest.length === 0 ? make() : put(map.get(token) ?? null, below, make);
  if (made === undefined) map.delete(token);
  else map.set(token, made);
  return Object.fromEntries(map);
}

function renamed(value: Json, [token = '', ...rest]: readonly string[], key: string): Json {
  if (Array.isArray(value)) return value.map((entry: Json, index) => (String(index) === token ? renamed(entry, rest, key) : entry));
  if (!isObject(value)) return value;
  if (rest.length === 0) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name === token ? key : name, one]));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === token ? renamed(one, rest, key) : one]));
}

function valuesOf(text: string): readonly unknown[] {
  return parseAllDocuments(text, { logLevel: 'silent' }).map((document): unknown => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    return document.toJS();
  });
}

/** Lines that no edit at the path has a reason to change: of other documents, of other values, and comments. */
function othersOf({ lines }: YamlFile, index: number, path: string): readonly string[] {
  const others = lines.filter((line) => {
    if (line.document !== index) return true;
    if (/[&*]n\d/.test(line.text) || isWithin(line.path, path)) return false;
    return line.isNote || !isWithin(path, line.path);
  });
  return others.map(({ text }) => text);
}

function missing(lines: readonly string[], text: string, newline: string): readonly string[] {
  const found = text.replace(/^\ufeff/, '').split(newline);
  let at = 0;
  return lines.filter((line) => {
    const next = found.findIndex((one, index) => index >= at && (one === line || one.replace(/^( *)-/, '$1 ') === line));
    if (next !== -1) at = next + 1;
    return next === -1;
  });
}

describe('an edit of a document', () => {
  it('makes exactly the wished value, and changes no line that has nothing to do with it', () => {
    let made = 0;
    let refusals = 0;
    fc.assert(
      fc.property(yamlFile, fc.nat(), wish, (file, at, one) => {
        const index = at % file.values.length;
        const given = editOf(one, file.values[index] ?? {});
        if (given === undefined) return;
        const source = { path: 'a.yaml', text: file.text };
        const { value, diagnostics } = editDocument(source, index, [given.edit]);
        if (value === undefined) throw new Error(JSON.stringify(diagnostics));
        const isMade = diagnostics.length === 0;
        if (isMade) made += 1;
        else refusals += 1;
        expect(valuesOf(value.text)).toEqual(file.values.map((document, number) => (isMade && number === index ? given.wished : document)));
        expect(missing(othersOf(file, index, given.edit.path), value.text, file.newline)).toEqual([]);
        expect(file.text.includes('\r\n') ? value.text.replaceAll('\r\n', '') : '').not.toMatch(/[\r\n]/);
        const isRepeatable = given.edit.edit !== 'remove' || !/\/\d+$/.test(given.edit.path);
        const twice = isRepeatable ? editDocument({ ...source, text: value.text }, index, [given.edit]).value?.text : value.text;
        expect(twice).toBe(value.text);
      }),
      runs,
    );
    expect(refusals).toBeLessThan(made / 50);
  });

  it('of many changes makes them all', () => {
    fc.assert(
      fc.property(yamlFile, fc.array(wish, { minLength: 2, maxLength: 6 }), (file, wishes) => {
        let wished: Json = file.values[0] ?? {};
        const edits = wishes.flatMap((one) => {
          const given = isObject(wished) ? editOf(one, wished) : undefined;
          if (given === undefined) return [];
          wished = given.wished;
          return [given.edit];
        });
        const { value } = editDocument({ path: 'a.yaml', text: file.text }, 0, edits);
        if (value === undefined) throw new Error('not read');
        const [first, ...others] = valuesOf(value.text);
        expect(value.refused.length === 0 ? first : wished).toEqual(wished);
        expect(others).toEqual(file.values.slice(1));
      }),
      runs,
    );
  });

  it('of several documents at once makes them all', () => {
    fc.assert(
      fc.property(yamlFile, wish, (file, one) => {
        const given = file.values.map((value) => editOf(one, value));
        const edits = given.flatMap((each, index) => (each === undefined ? [] : [{ index, edit: each.edit }]));
        const { value } = editFile({ path: 'a.yaml', text: file.text }, edits);
        const wished = file.values.map((document, index) => given[index]?.wished ?? document);
        expect(value?.refused.length === 0 ? valuesOf(value.text) : wished).toEqual(wished);
      }),
      runs,
    );
  });

  it('that says what is so changes nothing', () => {
    fc.assert(
      fc.property(yamlFile, (file) => {
        for (const [index, document] of file.values.entries()) {
          const edits = placesOf(document).map(({ path, value }) => ({ edit: 'set', path, value }) as const);
          expect(editDocument({ path: 'a.yaml', text: file.text }, index, edits).value?.text).toBe(file.text);
        }
      }),
      { numRuns: tries(60) },
    );
  });

  it('of any text that can be read is made or refused', () => {
    let made = 0;
    fc.assert(
      fc.property(fc.oneof(mutated, blocks), wish, (text, one) => {
        const { value: documents } = parseDocuments({ path: 'a.yaml', text });
        const first = documents?.[0];
        if (first === undefined || !isObject(first.value)) return;
        const given = editOf(one, first.value);
        if (given === undefined) return;
        const { value, diagnostics } = editDocument({ path: 'a.yaml', text }, first.index, [given.edit]);
        if (value === undefined) throw new Error('it was read before');
        const isMade = diagnostics.length === 0;
        if (isMade) made += 1;
        const after = parseDocuments({ path: 'a.yaml', text: value.text }).value ?? [];
        const [, ...others] = documents ?? [];
        expect(after.map((document) => document.value)).toEqual([
          isMade ? given.wished : first.value,
          ...others.map((document) => document.value),
        ]);
      }),
      runs,
    );
    expect(made).toBeGreaterThan(10);
  });
});
