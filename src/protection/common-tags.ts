import { equal, type JsonObject } from '../model/json.ts';
import type { ResourceId } from '../model/resource.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { postureIn } from './posture/posture.ts';

/** Returns the tags that all connections have with the same values, after a plan or else before it. */
export function sharedTags(connections: readonly ResourceId[], { before, after }: Pick<PlanSnapshots, 'before' | 'after'>): JsonObject {
  const [first = {}, ...rest] = connections.map((id) => (postureIn(after, id) ?? postureIn(before, id))?.tags ?? {});
  return Object.fromEntries(Object.entries(first).filter(([key, value]) => rest.every((tags) => equal(tags[key], value))));
}
