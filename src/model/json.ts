/** A JSON value; objects have string keys and never a prototype of interest. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Returns whether the value is a JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object; an empty one where the value is not an object. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the list; an empty one where the value is not a list. */
export function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the text; an empty one where the value is not a text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the text; undefined where the value is not a text, or empty. */
export function nonEmptyText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the text; undefined where the value is not a text. */
export function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the fields of an object that are not undefined, in their order. */
export function definedFields(fields: { readonly [key: string]: Json | undefined }): JsonObject {
  const defined: Record<string, Json> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value !== undefined) defined[key] = value;
  }
  return defined;
}

/** Returns whether two JSON values are equal: arrays in order, object keys in any order. */
export function equal(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) if (!equal(left[index], right[index])) return false;
    return true;
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !equal(left[key], right[key])) return false;
  return true;
}

/** Returns the keys of an object, sorted by `compareText`. */
export function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  for (let index = 1; index < keys.length; index += 1) {
    if (compareText(keys[index - 1] ?? '', keys[index] ?? '') > 0)
      return keys.length > fewKeys ? keys.toSorted(compareText) : sortFew(keys);
  }
  return keys;
}

const fewKeys = 16;

/** Sorts a short list in place by insertion; the built-in sort needs more memory than the list. */
function sortFew(keys: string[]): readonly string[] {
  for (let index = 1; index < keys.length; index += 1) {
    const key = keys[index] ?? '';
    let place = index;
    for (; place > 0 && compareText(keys[place - 1] ?? '', key) > 0; place -= 1) keys[place] = keys[place - 1] ?? '';
    keys[place] = key;
  }
  return keys;
}

/** Serializes a JSON value canonically: object keys sorted, no whitespace; what is undefined is left out. */
export function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const entry of value) text += `${text === '' ? '' : ','}${canonical(entry)}`;
    return `[${text}]`;
  }
  if (!isObject(value)) return '';
  for (const key of sortedKeys(value)) {
    const entry = value[key];
    if (entry !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(entry)}`;
  }
  return `{${text}}`;
}

/** Yields the text of `canonical` in pieces; values below `depth` levels are one piece each. The text of a large plan takes gigabytes as a whole. */
export function* canonicalPieces(value: Json, depth = 4): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield canonical(value);
    return;
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.map((entry: Json) => ['', entry] as const) : isObject(value) ? sortedEntries(value) : [];
  yield isList ? '[' : '{';
  for (const [index, [start, entry]] of entries.entries()) {
    yield `${index === 0 ? '' : ','}${start}`;
    yield* canonicalPieces(entry, depth - 1);
  }
  yield isList ? ']' : '}';
}

function sortedEntries(value: JsonObject): readonly (readonly [string, Json])[] {
  return sortedKeys(value).flatMap((key) => {
    const entry = value[key];
    return entry === undefined ? [] : [[`${JSON.stringify(key)}:`, entry] as const];
  });
}

/** Returns the distinct texts, sorted. */
export function distinctSorted<Text extends string>(texts: Iterable<Text>): Text[] {
  return [...new Set(texts)].toSorted(compareText);
}

/** Compares two texts by code unit, independent of the locale. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Parses JSON; returns undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Returns whether the brackets of a JSON text nest deeper, before anything recurses into its value. */
export function nestsDeeper(text: string, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      const end = closingQuote(text, index);
      // The text is not JSON.
      if (end < 0) return false;
      index = end;
    } else if (code === openObject || code === openList) {
      depth += 1;
      if (depth > levels) return true;
    } else if (code === closeObject || code === closeList) depth -= 1;
  }
  return false;
}

/** Returns the index of the quote that ends the JSON string at a quote; -1 if there is none. */
export function closingQuote(text: string, from: number): number {
  let index = text.indexOf('"', from + 1);
  while (isEscaped(text, index)) index = text.indexOf('"', index + 1);
  return index;
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === backslash) slashes += 1;
  return slashes % 2 === 1;
}

/** Returns the strings of a JSON list; an empty list for any other value. */
export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((element: Json) => typeof element === 'string') : [];
}

/** Returns the objects of a JSON list; an empty list for any other value. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Lists all texts in a value, without the names of fields. */
export function leafTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(leafTexts);
}

/** What an object has where a property is not undefined. */
type Defined<T extends object> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Returns an object without its undefined properties, as documents and exact types require. */
export function defined<T extends object>(object: T): Defined<T>;
/** Returns the same of any object. */
export function defined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
