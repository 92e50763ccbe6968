import type { JsonObject } from './json.ts';

/** A resource's identity: `Kind/name`. The kind has no slash; the name may. */
export type ResourceId = `${string}/${string}`;

/** The body of a resource: its fields by the names of the interface, without secrets and edges. */
export type Spec = JsonObject;

/** Returns the id `KIND/NAME`. */
export function resourceId(kind: string, name: string): ResourceId {
  return `${kind}/${name}`;
}

/** Returns the part of an id before its first slash. */
export function kindOf(id: ResourceId): string {
  return id.slice(0, id.indexOf('/'));
}

/** Returns the part of an id after its first slash. */
export function nameOf(id: ResourceId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** The form of the ids that gateways give. */
export const idPattern: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a text has the form of the ids that gateways give. */
export function isUuid(text: string): boolean {
  return idPattern.test(text);
}

/** The two ends of an edge. */
export type EdgeEnds = { readonly rule: ResourceId; readonly connection: ResourceId };

/** Returns a text that identifies an edge. */
export function edgeKey({ rule, connection }: EdgeEnds): string {
  return `${rule}\u0000${connection}`;
}
