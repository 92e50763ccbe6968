import type { StoredObject } from './objects/object-reader.ts';

type VersionedRow = Pick<StoredObject, 'id' | 'revision'>;

/** The strong `ETag` of an object: it changes with every write of the object or of edges that it lists. */
export function entityTag({ id, revision }: VersionedRow): string {
  return `"${id}.${revision}"`;
}

/** Tells whether an `If-Match` header lets the object be written; no header lets all. */
export function isAllowedVersion(object: VersionedRow, ifMatch: string | undefined): boolean {
  return isAllowedTag(entityTag(object), ifMatch);
}

/** Tells whether an `If-Match` header lets be written what has this `ETag`. */
export function isAllowedTag(tag: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((one) => one.trim() === tag);
}
