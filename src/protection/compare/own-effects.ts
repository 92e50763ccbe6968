import { equal, type JsonObject } from '../../model/json.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { attachingAttributes } from '../access/deciding-kinds.ts';
import { accessModes } from '../../model/protection/access-objects.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import { directionsIn } from '../access/terms.ts';
import { createSnapshot, type ProtectionSnapshot, type ResourceSnapshot } from '../posture/protection-snapshot.ts';
import { differencesBetween, type PlanDifferences } from './plan-differences.ts';

type Specs = { readonly before: JsonObject; readonly after: JsonObject };

const protectedConnection = resourceId('Connection', '');

/**
 * Compares what an object brings by itself to people who can use a connection: a connection without rules, or an open one of which one object
 * alone decides. Every connection of a rule loses at most what it loses here, because rules only add.
 */
export function compareOwn(id: ResourceId, { before, after }: Specs): PlanDifferences {
  const connection = kindOf(id) === 'Connection' ? id : protectedConnection;
  const kept = accessModes.map((mode) => `access_mode_${mode}`).filter((name) => equal(before[name] ?? null, after[name] ?? null));
  const opened = Object.fromEntries(kept.map((name) => [name, 'enabled']));
  const [had, has] = [before, after].map((spec) => stateWith(id, connection === id ? { ...spec, ...opened } : spec, opened));
  return had === undefined || has === undefined ? { access: [], aspects: [] } : differencesBetween(had, has, [connection]);
}

/** Returns the directions in which an object differs by itself. */
export function ownDirections(id: ResourceId, specs: Specs): ReadonlySet<AccessDirection> {
  const { access, aspects } = compareOwn(id, specs);
  return new Set(directionsIn([...access, ...aspects]));
}

/** Returns the state of a gateway that has one object, and an open connection if that is a rule; attributes grant groups only while access control is on. */
function stateWith(id: ResourceId, spec: JsonObject, opened: JsonObject): ProtectionSnapshot {
  const attributes = attachingAttributes(id);
  const own: ResourceSnapshot = { spec, unknown: [] };
  const open: ResourceSnapshot = { spec: { ...opened, attributes }, unknown: [] };
  const resources = new Map([
    [protectedConnection, open],
    [id, own],
  ]);
  if (kindOf(id) === 'Connection') resources.delete(protectedConnection);
  const edges = new Map([[protectedConnection, new Set([id])]]);
  return createSnapshot(resources, edges, { fixed: [], isControlled: attributes.length > 0, incomplete: new Set(), enforcing: {} });
}
