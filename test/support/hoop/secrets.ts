import { printGo, type Json, type JsonObject } from './json.ts';

type Text = Readonly<Record<string, string>>;

const reference = /^_(?:aws|envjson|vaultkv1|vaultkv2|aws_iam_rds):/;

/** A secret map as the gateway stores it: every value printed as text, never checked. */
export function toStored(secret: JsonObject | null): Text {
  return Object.fromEntries(Object.entries(secret ?? {}).map(([key, value]) => [key, printGo(value)]));
}

/** Merges the map of a caller with hidden secrets: null keeps, a text replaces, an absent key is removed. */
export function overlaySecrets(incoming: JsonObject, stored: Text): Text {
  const pairs = Object.entries(incoming).map(([key, value]) => [key, value === null ? (stored[key] ?? '') : printGo(value)]);
  return Object.fromEntries(pairs);
}

/** Returns the secret map as the caller sees it. */
export function showSecrets(secret: Text, hidden: boolean): JsonObject {
  const keys = Object.keys(secret).toSorted();
  return Object.fromEntries(keys.map((key): [string, Json] => [key, shown(secret[key] ?? '', hidden)]));
}

function shown(value: string, hidden: boolean): Json {
  return hidden && !reference.test(decode(value)) ? null : value;
}

/** The database that the secret `envvar:DB` names. */
export function defaultDatabase(secret: Text): string {
  const value = secret['envvar:DB'];
  return value === undefined ? '' : decode(value);
}

export function decode(value: string): string {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0 ? Buffer.from(value, 'base64').toString('utf8') : '';
}

export function encode(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

export function sameMap(left: Text, right: Text): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
