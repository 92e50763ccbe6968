import type { StoredObject } from './reader.ts';

type Versioned = Pick<StoredObject, 'id' | 'revision'>;

/** The strong `ETag` of an object: it changes with every write of the object or of edges that it lists. */
export function entityTag({ id, revision }: Versioned): string {
  return `"${id}.${revision}"`;
}

/** Tells whether an `If-Match` header lets the object be written; no header lets all. */
export function matches(object: Versioned, ifMatch: string | undefined): boolean {
  return matchesTag(entityTag(object), ifMatch);
}

/** Tells whether an `If-Match` header lets be written what has this `ETag`. */
export function matchesTag(tag: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((one) => one.trim() === tag);
}
