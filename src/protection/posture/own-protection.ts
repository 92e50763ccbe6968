import type { JsonObject } from '../../model/json.ts';
import { kindOf, type ResourceId, resourceId } from '../../model/resource.ts';
import { accessLookup, noAccessObjects } from '../access/access-index.ts';
import { attachingAttributes, decidesAccess } from '../access/deciding-kinds.ts';
import { type ControlDifference, compareProtection } from '../controls/compare-protection.ts';
import type { GatewayAccess, Posture } from '../controls/control-row.ts';
import { createPostureBuilder } from './posture.ts';
import type { ResourceSnapshot } from './protection-snapshot.ts';

type ObjectSides = {
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** What the gateway adds to a connection, and no manifest states; by default nothing. */
  readonly access?: GatewayAccess;
};

/**
 * Compares what an object brings to a connection by itself: a connection without rules, or a rule alone on a connection. Every
 * connection of a rule loses at most what it loses here, because rules only add.
 */
export function compareOwn(id: ResourceId, { before, after, access = nothingElse }: ObjectSides): readonly ControlDifference[] {
  return compareProtection(ownPosture(id, before, access), ownPosture(id, after, access));
}

const nothingElse: GatewayAccess = { lookup: noAccessObjects, incomplete: new Set() };

function ownPosture(id: ResourceId, spec: JsonObject, access: GatewayAccess): Posture {
  const resource: ResourceSnapshot = { spec, unknown: [] };
  if (kindOf(id) === 'Connection') return createPostureBuilder({ access })({ id, resource, rules: new Map() });
  if (decidesAccess(kindOf(id))) return readAlone(id, resource);
  return createPostureBuilder({ access: nothingElse })({ id, resource: { spec: {}, unknown: [] }, rules: new Map([[id, resource]]) });
}

const openConnection: JsonObject = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Returns the posture of an open connection of which one object alone decides the access. */
function readAlone(id: ResourceId, resource: ResourceSnapshot): Posture {
  const connection = resourceId('Connection', '');
  const attributes = attachingAttributes(id);
  const lookup = accessLookup({
    resources: new Map([[id, resource]]),
    edges: new Map([[connection, new Set([id])]]),
    fixed: [],
    // An attribute grants groups only while access control is on.
    isControlled: attributes.length > 0,
  });
  const access = { ...nothingElse, lookup };
  return createPostureBuilder({ access })({
    id: connection,
    resource: { spec: { ...openConnection, attributes }, unknown: [] },
    rules: new Map(),
  });
}
