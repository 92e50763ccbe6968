/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/** Returns whether a value is a JSON object, not an array. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the value with the keys of objects in the order of Go maps. */
export function sortKeys(value: Json): Json {
  if (isList(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}

/** The text of a value as Go's encoder writes it into HTML-safe JSON. */
export function toGoJson(value: Json): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value as Go's `%v` prints it. */
export function printGo(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return printFloat(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(printGo).join(' ')}]`;
  if (!isObject(value)) return '';
  const object = value;
  return `map[${Object.keys(object)
    .toSorted()
    .map((key) => `${key}:${printGo(object[key] ?? null)}`)
    .join(' ')}]`;
}

function printFloat(value: number): string {
  const [digits = '0', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value === 0 || (exponent >= -4 && exponent < 6)) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
