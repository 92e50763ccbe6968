import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { ObjectAddress, ListRows, WireList } from '../../dialect.ts';

/** Where each kind lives below the API root. */
export const roots = {
  Connection: '/connections',
  DataMaskingRule: '/datamasking-rules',
  GuardrailRule: '/guardrails',
  RunbookConfiguration: '/runbooks/configurations',
} as const;

/** A list of that path: a whole array, or `{ data, pages }` where the gateway pages by itself. */
export function restList(path: string): WireList {
  return { path, rows: readRows };
}

export function objectPath(root: string): (subject: ObjectAddress) => string {
  return ({ uid }) => `${root}/${encodeURIComponent(uid)}`;
}

export function readUid(entry: JsonObject): string | undefined {
  const { id } = entry;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The list, empty where there is none. */
export function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The text, empty where there is none. */
export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
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
