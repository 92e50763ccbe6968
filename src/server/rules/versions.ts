import type { RecordWrite } from '../store/audit-log.ts';
import { Rejection } from '../rejection.ts';

/** The author of a write: the name and manager of the key, the time, and the function that records the write in the audit log. */
export type Author = { readonly name: string; readonly manager: string; readonly now: Date; readonly record: RecordWrite };

type VersionedRow = { readonly id: string; readonly revision: number };

/** Returns the strong `ETag` of an object. It changes with every write of the object or of edges that it lists. */
export function entityTag({ id, revision }: VersionedRow): string {
  return `"${id}.${revision}"`;
}

/** The versions that a request requires and excludes: `If-Match` and `If-None-Match` (RFC 9110, section 13). */
export type Conditions = { readonly ifMatch: string | undefined; readonly ifNoneMatch: string | undefined };

/** Throws a 412 unless the conditions allow a write of the object with this `ETag`; without any, every write is allowed. */
export function requireAllowedTag(what: string, tag: string, conditions: Conditions): void {
  if (!isRequiredTag(tag, conditions)) throw new Rejection(412, `${what} has changed since it was read`);
  if (isExcludedTag(tag, conditions)) throw new Rejection(412, `${what} exists, and If-None-Match excludes its version`);
}

/** Returns whether `If-Match` accepts an `ETag`. The comparison is strong: a weak tag never matches. */
export function isRequiredTag(tag: string, { ifMatch }: Conditions): boolean {
  return ifMatch === undefined || ifMatch.trim() === '*' || tagsIn(ifMatch).includes(tag);
}

/** Returns whether `If-None-Match` excludes an `ETag`. The comparison is weak, because proxies may weaken a tag. */
export function isExcludedTag(tag: string, { ifNoneMatch }: Conditions): boolean {
  if (ifNoneMatch === undefined) return false;
  const given = tagsIn(ifNoneMatch).map((one) => (one.startsWith('W/') ? one.slice(2) : one));
  return given.includes(tag) || given.includes('*');
}

/** Returns the members of a list of tags; a tag may contain commas. */
function tagsIn(list: string): readonly string[] {
  return list.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? [];
}

/** The object that a caller names by id or name, and the versions that the caller accepts. */
export type WriteTarget = Conditions & { readonly text: string };
