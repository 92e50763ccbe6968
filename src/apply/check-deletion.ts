import { addToGroup } from '../model/append-all.ts';
import { compareText, equal } from '../model/json.ts';
import { type LiveResource, type LiveState, liveById } from '../model/live.ts';
import { memoizeByList } from '../model/memoize.ts';
import { liveKeyOf, type EdgeChange } from '../model/plan/plan.ts';
import { isPointerWithin, pointer, type Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import type { Step } from '../model/plan/schedule.ts';
import { kindsToRead, type ApplyState } from './apply-state.ts';
import { changedFieldText, isCompared, type ChangedField } from './fingerprint.ts';

/**
 * Returns why an object must not be deleted: a field or a secret differs from the plan, also one that was empty, or an
 * attachment exists that the plan does not detach. Attachments that are gone since the plan do not count: the deletion does less.
 */
export async function findDeletionObstacles(step: Step, fresh: LiveResource, state: ApplyState): Promise<readonly string[]> {
  const fields = [...changedFields(step, fresh).map(changedFieldText), ...changedSecrets(step, fresh, state)];
  const others = await endsOnOtherSide(step, fresh, state);
  if (others === undefined) return [...fields, 'its attachments could not be read completely'];
  const ends = [...Object.values(fresh.edges).flat(), ...others];
  const planned = new Set(detachedEnds(state.input.plan.edges).get(liveKeyOf(step.change)));
  const added = [...new Set(ends)].filter((id) => !planned.has(id)).toSorted(compareText);
  return [...fields, ...added.map((id) => `it has an attachment to ${id} that is not in the plan`)];
}

/**
 * Compares all fields: a deletion names every field that is not empty, so each field that it does not name was empty. A field may
 * have the value that closes the object, because the plan closes it first.
 */
function changedFields({ change, kind }: Step, fresh: LiveResource): readonly ChangedField[] {
  const planned = new Map(change.fields.map(({ path, before }) => [path, 'value' in before ? before.value : undefined]));
  return kind.fields.filter(isCompared).flatMap(({ name, empty, closed }): readonly ChangedField[] => {
    const path = pointer(name);
    const from = planned.get(path) ?? empty;
    const now = fresh.spec[name] ?? empty;
    return equal(from, now) || (closed !== undefined && equal(closed, now)) ? [] : [{ path, from, now, desired: undefined }];
  });
}

/** Compares the keys of secrets with the plan, and values and versions with those that were read when the run began. */
function changedSecrets({ change, kind }: Step, fresh: LiveResource, { input, secretVersions }: ApplyState): readonly string[] {
  const key = liveKeyOf(change);
  const read = liveById(input.live.resources).get(key);
  const unread = [...(input.seen?.get(key)?.without ?? []), ...(read?.unknown ?? []), ...(read?.leftOut ?? []), ...fresh.unknown];
  const planned = new Set(change.fields.flatMap(({ path, before }) => ('secret' in before ? [path] : [])));
  const differs = (path: Pointer): boolean => {
    if (unread.some((hidden) => isPointerWithin(path, hidden))) return false;
    const [before, now] = [read?.secrets[path], fresh.secrets[path]];
    if (planned.has(path) !== (now !== undefined)) return true;
    return before?.state === 'value' && now?.state === 'value' && !before.equals(now);
  };
  const paths = [...new Set([...planned, ...Object.keys(fresh.secrets)])].filter(differs).toSorted(compareText);
  if (paths.length > 0) return paths.map((path) => `${path} changed since the plan`);
  const versions = [(secretVersions.get(key) ?? { version: read?.secretsVersion }).version, fresh.secretsVersion];
  const isRewritten = versions.every((version) => version !== undefined) && versions[0] !== versions[1];
  return isRewritten
    ? kind.fields.flatMap(({ name, secret }) => (secret === undefined ? [] : [`/${name} was written since the plan`]))
    : [];
}

/** Returns, for each object, the other ends of the attachments that the plan detaches. */
const detachedEnds = memoizeByList((edges: readonly EdgeChange[]) => {
  const detached = edges.filter(({ action }) => action === 'detach');
  return groupPairs(detached.flatMap(({ rule, connection }) => [[rule, connection] as const, [connection, rule] as const]));
});

/** Returns, for each object, the objects that list it in their attachments. */
const objectsThatList = memoizeByList((resources: readonly LiveResource[]) =>
  groupPairs(resources.flatMap(({ id, edges }) => [...new Set(Object.values(edges).flat())].map((end) => [end, id] as const))),
);

function groupPairs(pairs: readonly (readonly [ResourceId, ResourceId])[]): ReadonlyMap<ResourceId, readonly ResourceId[]> {
  const groups = new Map<ResourceId, ResourceId[]>();
  for (const [id, other] of pairs) addToGroup(groups, id, other);
  return groups;
}

/** Reads the attachments that only their other end lists, such as those of masking rules to a connection; undefined if the list is not complete. */
async function endsOnOtherSide({ kind }: Step, { id }: LiveResource, state: ApplyState): Promise<readonly ResourceId[] | undefined> {
  const listed = new Set(kind.fields.flatMap(({ edge, refers }) => (edge === undefined ? [] : [refers])));
  const others = [...state.input.registry.values()].filter(
    ({ name, fields }) => !listed.has(name) && fields.some(({ edge, refers }) => edge !== undefined && refers === kind.name),
  );
  if (others.length === 0) return [];
  const live = await readOncePerStage(kindsToRead(others), state);
  return live === undefined ? undefined : (objectsThatList(live.resources).get(id) ?? []);
}

/** Reads the kinds once for all deletions of a stage. */
async function readOncePerStage(kinds: readonly string[], { input, stageReads }: ApplyState): Promise<LiveState | undefined> {
  const key = kinds.join(' ');
  const reading = stageReads.get(key) ?? input.gateway.readAll(kinds);
  stageReads.set(key, reading);
  return (await reading).value;
}
