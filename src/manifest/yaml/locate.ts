import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { isObject, type Json } from '../../model/json.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';
import { type AllEntryOffsets, readStrictlyWithOffsets } from './strict-reader.ts';
import type { Offsets } from './strict-scalar.ts';
import { compose } from './read-yaml.ts';

/** The offsets at which a value and its key begin, and the offsets of the values inside it: all of them, and one by its key, index or name. */
export type NodeOffsets = {
  readonly key: number;
  readonly value: number;
  readonly below: ReadonlyMap<string, NodeOffsets>;
  readonly child: (token: string) => NodeOffsets | undefined;
};

/** Returns the offset at which the value at a document's pointer, or its key, begins. */
type Locator = (index: number, path: Pointer, part: 'key' | 'value') => number;

/** Creates a locator for a text. It reads the text on the first call and keeps only the offsets. */
export function createLocator(text: string): Locator {
  let roots: readonly NodeOffsets[] | undefined;
  return (index, path, part) => {
    roots ??= findOffsetsStrictly(text) ?? findOffsets(text);
    let place = roots[index];
    if (place === undefined) return 0;
    for (const token of tokensOf(path)) {
      const next = place.child(token);
      if (next === undefined) break;
      place = next;
    }
    return place[part];
  };
}

/** Returns the offsets of a text if the strict reader accepts it; many times faster than a second pass with `yaml`. */
export function findOffsetsStrictly(text: string): readonly NodeOffsets[] | undefined {
  const read = readStrictlyWithOffsets(text);
  if (read === undefined) return undefined;
  const roots: NodeOffsets[] = [];
  for (const { index, value, start } of read.documents) roots[index] = new LazyOffsets(value, { key: start, value: start }, read.marks);
  return roots;
}

/** Offsets whose `below` is computed on first use: few places of a text are ever looked up. */
class LazyOffsets implements NodeOffsets {
  readonly key: number;
  readonly value: number;
  readonly #node: Json;
  readonly #marks: AllEntryOffsets;
  #below: ReadonlyMap<string, NodeOffsets> | undefined;
  /** The child that was looked up last: one after the other, the fields of a spec are. */
  #last: { readonly token: string; readonly child: NodeOffsets } | undefined;

  constructor(node: Json, { key, value }: Pick<NodeOffsets, 'key' | 'value'>, marks: AllEntryOffsets) {
    this.key = key;
    this.value = value;
    this.#node = node;
    this.#marks = marks;
  }

  get below(): ReadonlyMap<string, NodeOffsets> {
    return (this.#below ??= findOffsetsBelow(this.#node, this.#marks));
  }

  child(token: string): NodeOffsets | undefined {
    if (this.#last?.token === token) return this.#last.child;
    const mark = markOf(this.#marks.get(this.#node), token);
    if (mark !== undefined) {
      const child = new LazyOffsets(findChild(this.#node, token), mark, this.#marks);
      this.#last = { token, child };
      return child;
    }
    return Array.isArray(this.#node) ? this.below.get(token) : undefined;
  }
}

function findOffsetsBelow(value: Json, marks: AllEntryOffsets): ReadonlyMap<string, NodeOffsets> {
  const own = marks.get(value);
  if (own === undefined) return noOffsets;
  const below = new Map<string, NodeOffsets>();
  const all = Array.isArray(own) ? own.map((start, index) => [String(index), { key: start, value: start }] as const) : [...own];
  const entries = all.map(([name, mark]) => {
    const entry = findChild(value, name);
    return { name, entry, place: new LazyOffsets(entry, mark, marks) };
  });
  if (Array.isArray(value)) {
    for (const { entry, place } of entries) {
      const name = isObject(entry) ? entry['name'] : toScalarText(entry);
      if (typeof name === 'string' && !below.has(name)) below.set(name, place);
    }
  }
  for (const { name, place } of entries) below.set(name, place);
  return below;
}

function markOf(own: Offsets | undefined, token: string): Pick<NodeOffsets, 'key' | 'value'> | undefined {
  if (!Array.isArray(own)) return own?.get(token);
  const start = /^(?:0|[1-9]\d*)$/.test(token) ? own[Number(token)] : undefined;
  return start === undefined ? undefined : { key: start, value: start };
}

const noOffsets: ReadonlyMap<string, NodeOffsets> = new Map();

function toScalarText(value: Json): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : String(value);
}

function findChild(value: Json, name: string): Json {
  if (isObject(value)) return value[name] ?? null;
  return Array.isArray(value) ? (value[Number(name)] ?? null) : null;
}

/** Returns the offsets of any text, as `yaml` reports them. */
export function findOffsets(text: string): readonly NodeOffsets[] {
  const composed = compose(text);
  return 'stopped' in composed ? [] : composed.documents.map((document) => findNodeOffsets(document.contents));
}

/** Offsets that are known as a whole. */
class KnownOffsets implements NodeOffsets {
  readonly key: number;
  readonly value: number;
  readonly below: ReadonlyMap<string, NodeOffsets>;

  constructor({ key, value, below }: Omit<NodeOffsets, 'child'>) {
    this.key = key;
    this.value = value;
    this.below = below;
  }

  child(token: string): NodeOffsets | undefined {
    return this.below.get(token);
  }
}

function findNodeOffsets(node: ParsedNode | null, key?: number): NodeOffsets {
  const start = node?.range[0] ?? 0;
  const isAbsent = node === null || (isScalar(node) && node.range[0] === node.range[1]);
  const value = key !== undefined && isAbsent ? key : start;
  return new KnownOffsets({ key: key ?? value, value, below: findNodeOffsetsBelow(node) });
}

function findNodeOffsetsBelow(node: ParsedNode | null): ReadonlyMap<string, NodeOffsets> {
  if (!isMap(node) && !isSeq(node)) return noOffsets;
  const places = new Map<string, NodeOffsets>();
  if (isMap(node)) {
    for (const pair of node.items)
      if (isScalar(pair.key)) places.set(String(pair.key.value), findNodeOffsets(pair.value, pair.key.range[0]));
    return places;
  }
  const entries = node.items.map((entry) => [findEntryName(entry), findNodeOffsets(entry)] as const);
  for (const [name, place] of entries) if (name !== undefined && !places.has(name)) places.set(name, place);
  for (const [index, [, place]] of entries.entries()) places.set(String(index), place);
  return places;
}

/** Returns the name by which an entry of a list is found besides its index: its text, or its `name`. */
function findEntryName(entry: ParsedNode): string | undefined {
  if (isScalar(entry)) return String(entry.value);
  const name: unknown = isMap(entry) ? entry.get('name') : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The number of source characters that an escape in double quotes takes, by the character after the backslash. */
const escapes: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/**
 * Returns the source offset of a character of a YAML scalar. The scalar begins at `start` and may be plain, quoted or a
 * block. Returns `start` if source and value cannot be matched character by character.
 */
export function findScalarOffset(
  source: string,
  start: number,
  { value, offset }: { readonly value: string; readonly offset: number },
): number {
  const style = source[start];
  const isBlock = style === '|' || style === '>';
  const isQuoted = style === '"' || style === "'";
  const body = isBlock ? findBlockStart(source, start) : start + (isQuoted ? 1 : 0);
  const indent = isBlock ? measureIndent(source, body) : 0;
  let at = isBlock ? skipIndent(source, body, indent) : body;
  for (let index = 0; index < offset && index < value.length; index += 1) {
    const next = advance(source, at, { character: value[index] ?? '', style: style ?? '', indent, isBlock });
    if (next === undefined) return start;
    at = next;
  }
  return at;
}

type ScalarStep = { readonly character: string; readonly style: string; readonly indent: number; readonly isBlock: boolean };

/** Advances by one character of the value. A line break in the source may be a space or one of several line breaks in the value. */
function advance(source: string, at: number, { character, style, indent, isBlock }: ScalarStep): number | undefined {
  const found = source[at];
  if (style === "'" && character === "'") return source.startsWith("''", at) ? at + 2 : undefined;
  if (style === '"' && found === '\\') return at + (escapes[source[at + 1] ?? ''] ?? 2);
  if (found === '\n' || found === '\r') {
    if (character !== ' ' && character !== '\n') return undefined;
    const line = at + (source.startsWith('\r\n', at) ? 2 : 1);
    return isBlock ? skipIndent(source, line, indent) : skipBlank(source, line);
  }
  if (found === character) return at + 1;
  // Spaces before the end of a folded line are not part of the text.
  const end = /^[ \t]+(?=\r?\n)/.exec(source.slice(at, at + 200))?.[0].length ?? 0;
  return end > 0 ? advance(source, at + end, { character, style, indent, isBlock }) : undefined;
}

function findBlockStart(source: string, start: number): number {
  const end = source.indexOf('\n', start);
  return end === -1 ? source.length : end + 1;
}

/** Returns the indentation of the first line that is not blank. */
function measureIndent(source: string, body: number): number {
  return /^(?:[ \t]*\r?\n)*( *)/.exec(source.slice(body, body + 10_000))?.[1]?.length ?? 0;
}

function skipIndent(source: string, at: number, indent: number): number {
  let found = at;
  while (found < at + indent && source[found] === ' ') found += 1;
  return found;
}

function skipBlank(source: string, at: number): number {
  let found = at;
  while (source[found] === ' ' || source[found] === '\t') found += 1;
  return found;
}
