import { type DeclaredEdge, type DesiredResource, type DesiredState, emptyState } from '../../src/model/desired.ts';
import type { Position } from '../../src/model/diagnostic.ts';
import type { FieldRule, Kind } from '../../src/model/kind.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { LiveResource, LiveState } from '../../src/model/live.ts';
import { nameOf, type ResourceId } from '../../src/model/resource.ts';

/** Returns a position that identifies its pointer: the line is the length of the pointer. */
export function placeOf(path: string): Position {
  return { file: `access${path}`, line: path.length + 1, column: 1 };
}

/** Creates a desired resource with an id; all given fields are stated. */
export function desiredOf(id: ResourceId, given: Partial<DesiredResource> = {}): DesiredResource {
  return {
    id,
    key: id,
    spec: {},
    stated: new Set(Object.keys(given.spec ?? {})),
    secrets: {},
    wholeSecrets: [],
    ignore: [],
    protect: false,
    adopt: false,
    locate: placeOf,
    locateIgnore: () => placeOf(''),
    ...given,
  };
}

/** Creates a live resource with an id; its uid is `uid-NAME`. */
export function liveOf(id: ResourceId, given: Partial<LiveResource> = {}): LiveResource {
  return { id, uid: `uid-${nameOf(id)}`, spec: {}, secrets: {}, edges: {}, raw: undefined, unknown: [], ...given };
}

export function stateOf(...resources: readonly LiveResource[]): LiveState {
  return { resources, lookups: {} };
}

/** Creates a desired state of resources, edges and unselected resources. */
export function wantedOf(
  resources: readonly DesiredResource[],
  edges: readonly DeclaredEdge[] = [],
  unselected: readonly ResourceId[] = [],
): DesiredState {
  return { ...emptyState, resources, edges, unselected: unselected.map((id) => ({ id, key: id, ignore: [] })), tree: 'tree' };
}

/** Creates an edge that the resource's manifest declares, by its field. */
export function edgeOf(rule: ResourceId, connection: ResourceId, by: ResourceId = rule): DeclaredEdge {
  const path = by === rule ? `/connection_ids/${nameOf(connection)}` : `/guardrail_rules/${nameOf(rule)}`;
  return { rule, connection, declarations: [{ by, how: 'listed', path }] };
}

/** Creates a kind with these fields, without derived values and defaults. */
export function fakeKind(name: string, fields: readonly FieldRule[], given: Partial<Kind> = {}): Kind {
  return {
    name,
    schema: {},
    fields,
    identity: (text) => text,
    named: true,
    renamable: false,
    derived: nothing,
    createDefaults: nothing,
    check: () => [],
    ...given,
  };
}

function nothing(): JsonObject {
  return {};
}
