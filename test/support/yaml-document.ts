import * as fc from 'fast-check';
import { equal, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { pointer } from '../../src/model/pointer.ts';

/** A line of a generated file, and the value that it belongs to; `isNote` is true for a comment or a blank line. */
export type Line = Written & { readonly document: number; readonly end: LineEnd };

type Written = { readonly text: string; readonly path: string; readonly isNote: boolean };

/** The line end; empty for the last line of some files. */
export type LineEnd = '\n' | '\r\n' | '';

/** A file of several hand-written documents, and their values. */
export type YamlFile = {
  readonly text: string;
  readonly lines: readonly Line[];
  readonly values: readonly JsonObject[];
};

const scalars: readonly Json[] = [
  'a',
  'dba-team',
  '10.0.0.5',
  'with: colon',
  "it's",
  '',
  'yes',
  '5',
  'ü 🚪',
  ' pad ',
  'a # b',
  '$HOST',
  'x\ny\n',
  'one\n\ntwo',
  'q"q',
  5,
  0.5,
  true,
  null,
];
const keys = ['name', 'type', 'envvar:HOST', 'tags', 'ключ', 'a b', '-x', 'null', 'deep/er', 'k~1', '"q"', 'list', 'empty'] as const;

const scalar: fc.Arbitrary<Json> = fc.constantFrom(...scalars);
/** Small values, often the same ones. */
export const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json; list: Json; map: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, { arbitrary: scalar, weight: 4 }, tie('list'), {
    arbitrary: tie('map'),
    weight: 2,
  }),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 4, noNullPrototype: true }),
})).value;
const root = fc.dictionary(fc.constantFrom(...keys), anyValue, { minKeys: 1, maxKeys: 6, noNullPrototype: true });

/** Takes numbers from an endless list of choices. */
export type Choose = (count: number) => number;

function chooser(seeds: readonly number[]): Choose {
  let next = 0;
  return (count) => {
    const seed = seeds[next % seeds.length] ?? 0;
    next += 1;
    return seed % count;
  };
}

/** Numbers that choose a style. */
export const seeds: fc.Arbitrary<number[]> = fc.array(fc.nat({ max: 999 }), { minLength: 40, maxLength: 120 });

const ends = ['\n', '\r\n'] as const;

/** Files in many styles, some with mixed line ends. */
export const yamlFile: fc.Arbitrary<YamlFile> = fc
  .record({
    values: fc.array(root, { minLength: 1, maxLength: 3 }),
    seeds,
    newline: fc.constantFrom<LineEnd | 'mixed'>('\n', '\n', '\r\n', '\r\n', 'mixed'),
    bom: fc.constantFrom('', '', '\ufeff'),
    open: fc.boolean(),
  })
  .map(({ values, seeds: choices, newline, bom, open }) => {
    const choose = chooser(choices);
    const written: Omit<Line, 'end'>[] = [];
    for (const [document, value] of values.entries()) {
      const note = (text: string): void => void written.push({ text, document, path: '', isNote: true });
      if (document === 0 && choose(4) === 1) for (const text of ['%YAML 1.2', '---']) note(text);
      else if (document > 0 || choose(3) === 1) note(['---', '--- # next', '---'][choose(3)] ?? '---');
      const writer: Writer = { choose, step: [2, 4, 1][choose(3)] ?? 2, listStep: [0, 2][choose(2)] ?? 0, anchors: [], names: [] };
      for (const line of mapLines(writer, value, '', 0)) written.push({ ...line, document });
      if (choose(4) === 1) note('# the end');
      if (document < values.length - 1 && choose(5) === 1) note('...');
    }
    const lines = written.map((line, index): Line => {
      const end = newline === 'mixed' ? ends[choose(2)] : newline;
      return { ...line, end: open && index === written.length - 1 ? '' : (end ?? '\n') };
    });
    return { text: bom + lines.map((line) => line.text + line.end).join(''), lines, values };
  });

/** Prints a document in a style that the numbers choose. */
export function styledText(value: JsonObject, choices: readonly number[]): string {
  const choose = chooser(choices);
  const writer: Writer = { choose, step: [2, 4][choose(2)] ?? 2, listStep: [0, 2][choose(2)] ?? 0, anchors: [], names: [] };
  const newline = choose(4) === 1 ? '\r\n' : '\n';
  return mapLines(writer, value, '', 0)
    .map(({ text }) => text + newline)
    .join('');
}

type Writer = {
  readonly choose: Choose;
  readonly step: number;
  readonly listStep: number;
  readonly anchors: { readonly name: string; readonly value: Json }[];
  /** The names of anchors, used or unused. */
  readonly names: string[];
};

function notes({ choose }: Writer, path: string, pad: string): readonly Written[] {
  const texts = [[], [], [], [`${pad}# about ${choose(9)}`], [''], ['', `${pad}# two`, `${pad}# lines`]][choose(6)] ?? [];
  return texts.map((text) => ({ text, path, isNote: true }));
}

function tail({ choose }: Writer): string {
  return ['', '', '', '  # why', ' '][choose(5)] ?? '';
}

function mapLines(writer: Writer, map: JsonObject, path: string, column: number): readonly Written[] {
  const pad = ' '.repeat(column);
  return Object.entries(map).flatMap(([key, value]) => {
    const own = path + pointer(key);
    const before = notes(writer, path, pad);
    const head = `${pad}${scalarText(writer, key, false)}:`;
    return [
      ...before,
      ...valueLines(writer, value, own, {
        head,
        column: column + (Array.isArray(value) ? writer.listStep : writer.step),
        body: column + writer.step,
      }),
    ];
  });
}

type Place = { readonly head: string; readonly column: number; readonly body: number };

function valueLines(writer: Writer, value: Json, path: string, { head, column, body }: Place): readonly Written[] {
  const { choose, anchors } = writer;
  const known = anchors.findLast((anchor) => equal(anchor.value, value));
  const line = (text: string): Written => ({ text, path, isNote: false });
  if (known !== undefined && choose(2) === 1) return [line(`${head} *${known.name}${tail(writer)}`)];
  const name = `n${writer.names.length}`;
  const mark = choose(5) === 1 ? ` &${name}` : '';
  writer.names.push(name);
  const done = (lines: readonly Written[]): readonly Written[] => {
    if (mark !== '') anchors.push({ name, value });
    return lines;
  };
  if (typeof value === 'string' && value.includes('\n') && choose(2) === 1)
    return done(literalLines(value, { head: head + mark, column: body }, path, tail(writer)));
  const isFull = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (value === null && mark === '' && choose(2) === 1) return [line(head + tail(writer))];
  if (!isFull || choose(3) === 1) return done(flowLines(writer, value, path, { head: head + mark, column: body }));
  const first = line(head + mark + tail(writer));
  return done([
    first,
    ...(Array.isArray(value) ? listLines(writer, value, path, column) : mapLines(writer, isObject(value) ? value : {}, path, column)),
  ]);
}

function literalLines(value: string, { head, column }: { head: string; column: number }, path: string, end: string): readonly Written[] {
  const texts = value.replace(/\n$/, '').split('\n');
  const mark = value.endsWith('\n') ? '|' : '|-';
  return [`${head} ${mark}${end}`, ...texts.map((text) => (text === '' ? '' : ' '.repeat(column) + text))].map((text) => ({
    text,
    path,
    isNote: false,
  }));
}

function listLines(writer: Writer, list: readonly Json[], path: string, column: number): readonly Written[] {
  const pad = ' '.repeat(column);
  const gap = [' ', ' ', '   '][writer.choose(3)] ?? ' ';
  return list.flatMap((entry, index) => {
    const own = path + pointer(String(index));
    const before = notes(writer, path, pad);
    const inner = column + 1 + gap.length;
    if (isObject(entry) && Object.keys(entry).length > 0 && writer.choose(3) !== 1) {
      const [first, ...rest] = mapLines({ ...writer, choose: writer.choose }, entry, own, inner).filter(
        (line, at, all) => !line.isNote || all.slice(0, at).some((one) => !one.isNote),
      );
      return [...before, { path: own, isNote: false, text: `${pad}-${gap}${(first?.text ?? '').trimStart()}` }, ...rest];
    }
    return [...before, ...valueLines(writer, entry, own, { head: `${pad}-`, column: column + 2, body: column + 2 })];
  });
}

/** Prints a value in braces or brackets, on one line or with one line for each entry; a scalar on one line. */
function flowLines(writer: Writer, value: Json, path: string, { head, column }: { head: string; column: number }): readonly Written[] {
  const { choose } = writer;
  const parts = flowParts(writer, value);
  const line = (text: string): Written => ({ text, path, isNote: false });
  if (parts.length === 0 || choose(3) !== 1) return [line(`${head} ${flowText(writer, value, false)}${tail(writer)}`)];
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const rows = parts.map(
    (part, index) => `${' '.repeat(column)}${part}${index < parts.length - 1 || choose(2) === 1 ? ',' : ''}${tail(writer)}`,
  );
  return [`${head} ${open}`, ...rows, `${' '.repeat(column)}${close}`].map(line);
}

function flowParts(writer: Writer, value: Json): readonly string[] {
  if (Array.isArray(value)) return value.map((entry: Json) => flowText(writer, entry));
  return isObject(value) ? Object.entries(value).map(([key, one]) => `${scalarText(writer, key, true)}: ${flowText(writer, one)}`) : [];
}

function flowText(writer: Writer, value: Json, isPart = true): string {
  const pad = ['', ' '][writer.choose(2)] ?? '';
  const comma = [', ', ', ', ' ,', ',  '][writer.choose(4)] ?? ', ';
  const end = [pad, pad, `,${pad}`][writer.choose(3)] ?? pad;
  const known = writer.anchors.findLast((anchor) => equal(anchor.value, value));
  if (known !== undefined && isPart && writer.choose(2) === 1) return `*${known.name} `;
  const parts = flowParts(writer, value);
  if (Array.isArray(value)) return parts.length === 0 ? '[]' : `[${pad}${parts.join(comma)}${end}]`;
  if (isObject(value)) return parts.length === 0 ? '{}' : `{${pad}${parts.join(comma)}${end}}`;
  return scalarText(writer, value, true);
}

const plain = /^[A-Za-z$ü][\w.$/-]*(?: [\w🚪]+)*$/u;

function scalarText({ choose }: Writer, value: Json, inFlow: boolean): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = (plain.test(value) || value === '10.0.0.5' || (!inFlow && value === 'envvar:HOST')) && !/^(?:yes|null|true)$/.test(value);
  if (isPlain && choose(3) !== 1) return value;
  return choose(2) === 1 && !value.includes('\n') ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}
