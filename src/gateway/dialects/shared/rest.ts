import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { ObjectAddress, ListRows, WireList } from '../../dialect.ts';

/** Returns the list at a path: a whole array, or `{ data, pages }` where the gateway sends pages. */
export function restList(path: string): WireList {
  return { path, rows: readRows };
}

/** Returns the path of one object below a root. */
export function objectPath(root: string): (address: ObjectAddress) => string {
  return ({ uid }) => `${root}/${encodeURIComponent(uid)}`;
}

/** Returns the `id` of an entry; undefined where it has none. */
export function readUid(entry: JsonObject): string | undefined {
  const { id } = entry;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Returns the list; an empty one where the value is not a list. */
export function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the text; an empty one where the value is not a text. */
export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the text; undefined where the value is not a text, or empty. */
export function nonEmptyText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const roles = ['admin', 'auditor', 'standard'] as const;

/** Returns the role; undefined where it is none that Ostiary knows. */
export function readRole(value: Json | undefined): (typeof roles)[number] | undefined {
  return roles.find((role) => role === value);
}

function readRows(body: unknown): ListRows | undefined {
  if (Array.isArray(body)) return { rows: body };
  if (!isObject(body) || !isObject(body['pages'])) return undefined;
  const { page, size, total } = body['pages'];
  if (typeof page !== 'number' || typeof size !== 'number' || typeof total !== 'number') return undefined;
  const { data } = body;
  if (data !== null && !Array.isArray(data)) return undefined;
  return { rows: data ?? [], page: { number: page, size, total } };
}
