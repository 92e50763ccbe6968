import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { ObjectAddress, ListRows, WireList } from '../../dialect.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import { pointer } from '../../../model/pointer.ts';
import { diagnosticAt, type ProposedWrite } from './proposed-writes.ts';

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

/** Returns the list of groups, an array of names on the wire; `none` is what a null body means. */
export function groupsList(none: ListRows | undefined): WireList {
  return {
    path: '/users/groups',
    rows(body): ListRows | undefined {
      if (body === null) return none;
      return Array.isArray(body) ? { rows: body.filter((name: Json) => name !== '').map((name: Json) => ({ id: name, name })) } : undefined;
    },
  };
}

/** Warns about groups that a manifest states as reviewers, and that the gateway does not have. */
export function checkGroups(code: Diagnostic['code'], write: ProposedWrite, groups: readonly string[] | undefined): readonly Diagnostic[] {
  if (groups === undefined) return [];
  const known = new Set(groups);
  return ['reviewers', 'force_approve_groups'].flatMap((field) =>
    asArray(write.spec[field]).flatMap((group) => {
      if (typeof group !== 'string' || known.has(group) || !write.resource.stated.has(field)) return [];
      const message = `the gateway knows no group "${group}"`;
      const hint = 'nobody is in it, so nobody can approve';
      return [diagnosticAt(write, pointer(field, group), { code, severity: 'warning', message, hint })];
    }),
  );
}
