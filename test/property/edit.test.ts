import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { DocumentEdit } from '../../src/manifest/edit/apply-edit.ts';
import { editFile, type EditResult } from '../../src/manifest/edit/edit-file.ts';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import type { Checked, SourceFile } from '../../src/model/diagnostic.ts';
import { isObject, type Json } from '../../src/model/json.ts';
import { isPointerWithin } from '../../src/model/pointer.ts';
import { runCount } from '../support/property-runs.ts';
import { yamlFile, type Line, type YamlFile } from '../support/yaml-document.ts';
import { blocks, mutatedSeed } from './parser-texts.ts';
import { editOf, placesOf, randomEdit } from './random-edits.ts';

/** Edits one document of a file. */
function editDocument(file: SourceFile, index: number, edits: readonly DocumentEdit[]): Checked<EditResult> {
  return editFile(
    file,
    edits.map((edit) => ({ index, edit })),
  );
}

const runs = { numRuns: runCount(30) };

function valuesOf(text: string): readonly unknown[] {
  return parseAllDocuments(text, { logLevel: 'silent' }).map((document): unknown => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    return document.toJS();
  });
}

/** Lines that no edit at the path has a reason to change: of other documents, of other values, and comments. */
function othersOf({ lines }: YamlFile, index: number, path: string): readonly Line[] {
  return lines.filter((line) => {
    if (line.document !== index) return true;
    if (/[&*]n\d/.test(line.text) || isPointerWithin(line.path, path)) return false;
    return line.isNote || !isPointerWithin(path, line.path);
  });
}

type Found = Pick<Line, 'text' | 'end'>;

function linesOf(text: string): readonly Found[] {
  const found = text.replace(/^\ufeff/, '').matchAll(/([^\n]*?)(\r?\n|$)/g);
  return [...found].map(([, line = '', end]): Found => ({ text: line, end: end === '\n' || end === '\r\n' ? end : '' }));
}

/** Lines that a text does not have any more, byte by byte; but that the last one of a file may gain an end, and the one before it lose its own. */
function missing(lines: readonly Line[], text: string, isOpen: boolean): readonly Found[] {
  const found = linesOf(text);
  let at = 0;
  return lines.filter((line) => {
    const isIt = ({ text: one, end }: Found): boolean =>
      (one === line.text || one.replace(/^( *)-/, '$1 ') === line.text) &&
      (end === line.end || (isOpen && (line.end === '' || end === '')));
    const next = found.findIndex((one, index) => index >= at && isIt(one));
    if (next !== -1) at = next + 1;
    return next === -1;
  });
}

function endsOf(lines: readonly Found[]): readonly string[] {
  return [...new Set(lines.map(({ end }) => end))].filter((end) => end !== '');
}

function withCrlf(text = ''): string {
  return text.replaceAll('\n', '\r\n');
}

function plain(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Returns whether a file has lines that end in two ways, or a document an alias, and the refusal says so. */
function isExpectedRefusal({ lines }: YamlFile, index: number, message = ''): boolean {
  if (endsOf(lines).length > 1) return message.endsWith('give all lines the same end');
  const hasAlias = lines.some((line) => line.document === index && /\*n\d/.test(line.text));
  return hasAlias && /the alias \*n\d+ on line \d+ may use it/.test(message);
}

describe('an edit of a document', () => {
  it('gives exactly the wanted value, and changes no unrelated line', () => {
    let made = 0;
    let refusals = 0;
    fc.assert(
      fc.property(yamlFile, fc.nat(), randomEdit, (file, at, one) => {
        const index = at % file.values.length;
        const given = editOf(one, file.values[index] ?? {});
        fc.pre(given !== undefined);
        const source = { path: 'a.yaml', text: file.text };
        const { value, diagnostics } = editDocument(source, index, [given.edit]);
        if (value === undefined) throw new Error(JSON.stringify(diagnostics));
        const isMade = diagnostics.length === 0;
        if (isMade) made += 1;
        else if (!isExpectedRefusal(file, index, diagnostics[0]?.message)) refusals += 1;
        expect(valuesOf(value.text)).toEqual(file.values.map((document, number) => (isMade && number === index ? given.wished : document)));
        expect(missing(othersOf(file, index, given.edit.path), value.text, file.lines.at(-1)?.end === '')).toEqual([]);
        const ends = endsOf(file.lines);
        expect(ends.length === 0 ? ['\n'] : ends).toEqual(expect.arrayContaining([...endsOf(linesOf(value.text))]));
        expect(isMade && value.text !== file.text && ends.length > 1).toBe(false);
        expect(value.text.startsWith('\ufeff')).toBe(file.text.startsWith('\ufeff'));
        const isRepeatable = given.edit.edit !== 'remove' || !/\/\d+$/.test(given.edit.path);
        const twice = isRepeatable ? editDocument({ ...source, text: value.text }, index, [given.edit]).value?.text : value.text;
        expect(twice).toBe(value.text);
      }),
      runs,
    );
    expect(refusals).toBeLessThan(made / 50);
  });

  it('with many changes makes them all', () => {
    fc.assert(
      fc.property(yamlFile, fc.array(randomEdit, { minLength: 2, maxLength: 6 }), (file, wishes) => {
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
      fc.property(yamlFile, randomEdit, (file, one) => {
        const given = file.values.map((value) => editOf(one, value));
        const edits = given.flatMap((each, index) => (each === undefined ? [] : [{ index, edit: each.edit }]));
        const { value } = editFile({ path: 'a.yaml', text: file.text }, edits);
        const wished = file.values.map((document, index) => given[index]?.wished ?? document);
        expect(value?.refused.length === 0 ? valuesOf(value.text) : wished).toEqual(wished);
      }),
      runs,
    );
  });

  it('does not depend on line endings', () => {
    fc.assert(
      fc.property(yamlFile, fc.array(randomEdit, { minLength: 1, maxLength: 4 }), (file, wishes) => {
        // A file without a line break gets line feeds.
        fc.pre(file.text.includes('\n'));
        const edits = file.values.flatMap((value, index) =>
          wishes.flatMap((one) => {
            const given = editOf(one, value);
            return given === undefined ? [] : [{ index, edit: given.edit }];
          }),
        );
        const edited = (text: string): string | undefined => editFile({ path: 'a.yaml', text }, edits).value?.text;
        expect(edited(withCrlf(plain(file.text)))).toBe(withCrlf(edited(plain(file.text))));
      }),
      { numRuns: runCount(20) },
    );
  });

  it('to the present value changes nothing', () => {
    fc.assert(
      fc.property(yamlFile, (file) => {
        for (const [index, document] of file.values.entries()) {
          const edits = placesOf(document).map(({ path, value }) => ({ edit: 'set', path, value }) as const);
          expect(editDocument({ path: 'a.yaml', text: file.text }, index, edits).value?.text).toBe(file.text);
        }
      }),
      { numRuns: runCount(20) },
    );
  });

  it('of any valid text is made or refused', () => {
    let made = 0;
    fc.assert(
      fc.property(fc.oneof(mutatedSeed, blocks), randomEdit, (text, one) => {
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
      { numRuns: runCount(60) },
    );
    expect(made).toBeGreaterThan(10);
  });
});
