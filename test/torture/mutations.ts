import * as fc from 'fast-check';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { anyJson } from '../support/schema-arbitrary.ts';
import { seeds, styledText } from '../support/yaml-document.ts';

/** Changes the bytes of a file. */
export type MutateBytes = (bytes: Buffer) => Buffer;

/** Texts that are special in YAML, in JSON, in a terminal or in a database. */
const tokens = [
  '\n---\n',
  '\n...\n',
  '&a ',
  '*a',
  '!!binary ',
  '<<: *a\n',
  '? ',
  '- ',
  ': ',
  '|\n',
  '>-\n',
  '%YAML 9.9\n',
  '\t',
  '\r',
  '\u0000',
  '\ufeff',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  '1e999',
  '-0',
  '0x1f',
  '9'.repeat(400),
  '__proto__',
  '"constructor":',
  '\u202e',
  '\u001b[2J',
  '{'.repeat(3000),
  '['.repeat(3000),
  'a'.repeat(70_000),
  '${{ secrets.X }}',
  '../'.repeat(40),
].map((text) => Buffer.from(text));

/** A number from 0 to 1, all equally likely: fast-check prefers doubles close to 0. */
export const fraction: fc.Arbitrary<number> = fc.noBias(fc.nat({ max: 999_999 })).map((number) => number / 1_000_000);

/** A part of the bytes: its start, and its end. */
function partOf(bytes: Buffer, from: number, size: number): readonly [number, number] {
  const start = Math.floor(from * bytes.length);
  return [start, Math.min(bytes.length, start + size)];
}

const edit: fc.Arbitrary<MutateBytes> = fc.oneof(
  fc.tuple(fraction, fc.nat({ max: 255 })).map(([at, value]): MutateBytes => (bytes) => {
    const copy = Buffer.from(bytes);
    copy[Math.floor(at * copy.length)] = value;
    return copy;
  }),
  fc.tuple(fraction, fc.nat({ max: 60 })).map(([at, size]): MutateBytes => (bytes) => {
    const [start, end] = partOf(bytes, at, size);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  }),
  fc.tuple(fraction, fc.constantFrom(...tokens)).map(([at, token]): MutateBytes => (bytes) => {
    const [start] = partOf(bytes, at, 0);
    return Buffer.concat([bytes.subarray(0, start), token, bytes.subarray(start)]);
  }),
  fc.tuple(fraction, fraction, fc.nat({ max: 200 })).map(([at, from, size]): MutateBytes => (bytes) => {
    const [start] = partOf(bytes, at, 0);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(...partOf(bytes, from, size)), bytes.subarray(start)]);
  }),
  fraction.map(
    (at): MutateBytes =>
      (bytes) =>
        bytes.subarray(0, Math.floor(at * bytes.length)),
  ),
  fc.uint8Array({ maxLength: 40 }).map(
    (noise): MutateBytes =>
      (bytes) =>
        Buffer.concat([bytes, noise]),
  ),
);

/** One to three changes of the bytes of a file. */
const byBytes: fc.Arbitrary<MutateBytes> = fc.array(edit, { minLength: 1, maxLength: 3 }).map(
  (edits): MutateBytes =>
    (bytes) =>
      edits.reduce((current, one) => one(current), bytes),
);

/** A way to change one node of a JSON value. */
type MutateNode = (node: Json) => Json;

const nodeEdit: fc.Arbitrary<MutateNode> = fc.oneof(
  anyJson.map(
    (value): MutateNode =>
      () =>
        value,
  ),
  fc.constantFrom<MutateNode>(
    (node) => [node],
    (node) => ({ value: node }),
    (node) => (Array.isArray(node) ? [...node, ...node] : null),
    (node) => (isObject(node) ? Object.fromEntries(Object.entries(node).slice(1)) : ''),
    (node) => (typeof node === 'string' ? `${node} ` : 0),
    (node) => (typeof node === 'string' ? node.toUpperCase() : -1),
  ),
  anyJson.map(
    (value): MutateNode =>
      (node) =>
        isObject(node) ? { ...node, unknown: value } : [value],
  ),
);

/** Changes a JSON value. */
type MutateValue = (value: Json) => Json;

/** A text of a JSON document; that of a key ends with a colon. */
const text = /"(?:[^"\\]|\\.)*":?/g;

/** Puts another text of the value in the place of a text, which keeps it valid. */
const exchange: fc.Arbitrary<MutateValue> = fc.tuple(fraction, fraction).map(([from, to]) => (value) => {
  const texts = [...new Set(JSON.stringify(value).match(text) ?? [])].filter((one) => !one.endsWith(':'));
  const [one = '', other = ''] = [from, to].map((at) => texts[Math.floor(at * texts.length)]);
  return one === '' ? value : JSON.parse(JSON.stringify(value).replaceAll(text, (found) => (found === one ? other : found)));
});

/** Changes one to three nodes of a JSON value. */
const byGrammar: fc.Arbitrary<MutateValue> = fc.oneof(
  { weight: 2, arbitrary: exchange },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.tuple(fraction, nodeEdit), { minLength: 1, maxLength: 3 })
      .map((edits) => (value: Json) => edits.reduce((current, [at, change]) => mutateNode(current, at, change), value)),
  },
);

function mutateNode(value: Json, at: number, change: MutateNode): Json {
  let left = Math.floor(at * countNodes(value));
  const visit = (node: Json): Json => {
    left -= 1;
    if (left === -1) return change(node);
    if (Array.isArray(node)) return node.map((entry: Json) => visit(entry));
    return isObject(node) ? Object.fromEntries(Object.entries(node).map(([key, entry]) => [key, visit(entry)])) : node;
  };
  return visit(value);
}

function countNodes(value: Json): number {
  const below = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return below.reduce<number>((sum, entry: Json) => sum + countNodes(entry), 1);
}

/** Changes a JSON text by bytes or by grammar; a text of other content by bytes alone. */
export const mutateText: fc.Arbitrary<MutateBytes> = fc.oneof(
  byBytes,
  byGrammar.map((change): MutateBytes => (bytes) => {
    const value = parseJson(bytes);
    return value === undefined ? bytes.subarray(1) : Buffer.from(JSON.stringify(change(value)));
  }),
);

/** Changes a manifest in JSON by bytes or by grammar, and prints it in any style of YAML. */
export const mutateManifest: fc.Arbitrary<MutateBytes> = fc.oneof(
  byBytes,
  fc.tuple(byGrammar, fc.option(seeds)).map(([change, style]): MutateBytes => (bytes) => {
    const value = change(parseJson(bytes) ?? {});
    return Buffer.from(isPrintable(value) && style !== null ? styledText(value, style) : JSON.stringify(value));
  }),
);

function isPrintable(value: Json): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/** Returns the value of a JSON text; undefined for other texts. */
export function parseJson(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
