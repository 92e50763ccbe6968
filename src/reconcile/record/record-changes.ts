import { createHash } from 'node:crypto';
import type { PendingObject, PendingWrites, RecordedOrphan } from '../../model/applied-record.ts';
import { desiredByKey, type BaseState, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import type { Remembered } from '../../model/applied-record.ts';
import { canonical, compareText } from '../../model/json.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { type Diff, isWritten, liveKeyOf, renamesOf, withNames, type Plan } from '../../model/plan/plan.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import type { ApplyResult, Outcome, WrittenSecrets } from '../../model/result/outcome.ts';
import type { ResourceId } from '../../model/resource.ts';
import { findRemoved } from '../diff/removed-objects.ts';
import { manifestsBeyond, ownObjects, withRemembered } from '../prepare/base-states.ts';

type PlannedWrites = Pick<Plan, 'changes' | 'edges'>;

/** Returns what an apply of the plan is about to write, for the record. A deletion may close its object first. */
export function pendingWritesOf({ changes, edges }: PlannedWrites): PendingWrites {
  const objects = changes.flatMap((change): readonly PendingObject[] => {
    if (!isWritten(change)) return [];
    const { id, action, uid } = change;
    // A rename gives the object a name that no base declares.
    const ours = action === 'create' || action === 'rename';
    return [{ ...identityOf(id, liveKeyOf(change)), ...(action === 'rename' && uid !== undefined ? { uid } : {}), ours }];
  });
  const attached = edges.filter(({ action }) => action === 'attach').map(({ rule, connection }) => ({ rule, connection }));
  return { objects, edges: attached };
}

function identityOf(id: ResourceId, key: ResourceId): Pick<PendingObject, 'id' | 'key'> {
  return key === id ? { id } : { id, key };
}

/** Returns the writes that an apply which is not complete did, or may have done. */
export function writesAfter(plan: PlannedWrites, { outcomes, uids }: ApplyResult, base: BaseState | undefined): PendingWrites {
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  const declared = desiredByKey(base?.desired.resources ?? []);
  const objects = pendingWritesOf(plan).objects.flatMap((object): readonly PendingObject[] => {
    const outcome = byId.get(object.id);
    if (outcome === undefined || !mayHaveWritten(outcome) || isDeleted(outcome)) return [];
    const { id, key = id, ours } = object;
    const uid = isComplete(outcome) ? uids?.get(key) : undefined;
    return [{ ...identityOf(id, key), ...(uid === undefined ? {} : { uid }), ours: ours || (isComplete(outcome) && !declared.has(key)) }];
  });
  const writers = new Set(plan.changes.flatMap((change) => (hasWritten(byId.get(change.id)) ? [liveKeyOf(change)] : [])));
  const attached = plan.edges.filter(({ action, by }) => action === 'attach' && by !== undefined && writers.has(by));
  return { objects, edges: attached.map(({ rule, connection }) => ({ rule, connection })) };
}

function hasWritten(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && mayHaveWritten(outcome);
}

/** Returns whether a change may have reached the gateway. Something else created an object that was found instead of created. */
function mayHaveWritten(outcome: Outcome): boolean {
  const { status, begun, code } = outcome;
  return begun === true || isComplete(outcome) || (status === 'failed' && code !== 'apply/moved');
}

function isDeleted(outcome: Outcome): boolean {
  return outcome.action === 'delete' && isComplete(outcome);
}

function isComplete({ status, begun }: Outcome): boolean {
  return begun !== true && (status === 'done' || status === 'already');
}

/** Both sides of a complete apply, and what was ours before it. */
type CompleteApply = {
  readonly plan: Pick<Plan, 'changes' | 'orphans'>;
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly remembered: Remembered | undefined;
  readonly released: readonly string[];
};

/** Returns the objects that a complete apply leaves live although no manifest declares them any more. */
export function orphansAfter({ plan, desired, live, base, remembered, released }: CompleteApply): readonly RecordedOrphan[] {
  const own = ownObjects(remembered, live);
  const known = withRemembered(base, remembered, own);
  const deleted = new Set(plan.changes.flatMap((change) => (change.action === 'delete' ? [liveKeyOf(change)] : [])));
  const described = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const named = liveById(withNames(live, renamesOf(plan.changes)).resources);
  return findRemoved(known, desired, { live: named, beyond: manifestsBeyond(known, own), released })
    .filter(({ base: { key } }) => !deleted.has(key))
    .map(({ base: resource, live: { uid } }): RecordedOrphan => {
      const { id, key } = resource;
      const before = own.get(key);
      // Without an id of the gateway, the next plan compares it with its manifest again.
      const isCertain = before?.unfinished !== true;
      const commit = before === undefined ? base?.commit : before.commit;
      const place = resource.locate('');
      const at = before?.at ?? `${place.file.slice(place.file.indexOf(':') + 1)}:${place.line}`;
      const { removedIn, subject } = described.get(id) ?? before ?? {};
      return {
        ...identityOf(id, key),
        ...(isCertain ? { uid } : {}),
        ...(commit === undefined ? {} : { commit }),
        at: at.slice(0, 4096),
        ...(removedIn === undefined ? {} : { removedIn }),
        ...(subject === undefined ? {} : { subject: subject.slice(0, 300) }),
      };
    });
}

/** By a hash of the gateway's id of an object: a hash of the version of its secrets when they were equal to those of the manifest. */
type SecretVersions = ReadonlyMap<string, string>;

/** 48 bits of a hash: a changed version has another hash, and no caller chooses a version. */
const hashLength = 8;

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(canonical(parts)).digest('base64url').slice(0, hashLength);
}

/** Reads the text of a record: pairs of hashes, without a separator. */
function readVersions(text: string): SecretVersions {
  const pair = 2 * hashLength;
  return new Map(
    Array.from({ length: Math.floor(text.length / pair) }, (_, index) => {
      const at = index * pair;
      return [text.slice(at, at + hashLength), text.slice(at + hashLength, at + pair)] as const;
    }),
  );
}

function printVersions(versions: SecretVersions): string | undefined {
  if (versions.size === 0) return undefined;
  const sorted = [...versions].toSorted(([left], [right]) => compareText(left, right));
  return sorted.map(([uid, version]) => `${uid}${version}`).join('');
}

/** What an apply knows of both sides. */
type AppliedSides = { readonly plan: Pick<Diff, 'changes'>; readonly desired: DesiredState; readonly live: LiveState };

/**
 * Returns the versions of secrets after an apply, for the record: those that it wrote, and those that it found equal to the manifests.
 * Only objects whose manifests set secrets count, so that the record stays small. The record has no value of a secret and no hash of one.
 */
export function secretVersionsAfter(
  { plan, desired, live }: AppliedSides,
  { outcomes, secretVersions }: ApplyResult,
  { before = '', complete }: { readonly before?: string | undefined; readonly complete: boolean },
): string | undefined {
  const next = new Map(readVersions(before));
  const found = liveById(live.resources);
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  const declared = new Set<string>();
  for (const resource of desired.resources) {
    const paths = managedPaths(resource);
    if (paths.length === 0) continue;
    const change = changes.get(resource.id);
    const key = change === undefined ? resource.key : liveKeyOf(change);
    const read = found.get(key);
    const isSecretWritten = change?.fields.some(({ before: from, after }) => 'secret' in from || 'secret' in after) === true;
    const written = isSecretWritten ? secretVersions?.get(key) : undefined;
    const uid = written?.uid ?? read?.uid;
    if (uid === undefined) continue;
    const at = shortHash([uid]);
    declared.add(at);
    const outcome = byId.get(resource.id);
    const version = isSecretWritten ? versionOfWrite(outcome, written) : versionIfEqual(resource, read, paths);
    if (version !== undefined) next.set(at, shortHash([uid, version]));
    else if (isSecretWritten && outcome?.status !== 'blocked') next.delete(at);
  }
  return printVersions(complete ? new Map([...next].filter(([uid]) => declared.has(uid))) : next);
}

/** Returns the paths of the secrets that a manifest sets. */
function managedPaths({ secrets, ignore }: DesiredResource): readonly string[] {
  return Object.entries(secrets).flatMap(([path, { state }]) =>
    state !== 'keep' && !ignore.some((prefix) => isPointerWithin(path, prefix)) ? [path] : [],
  );
}

function versionOfWrite(outcome: Outcome | undefined, written: WrittenSecrets | undefined): string | undefined {
  const isWhole = outcome !== undefined && outcome.begun !== true && (outcome.status === 'done' || outcome.status === 'already');
  return isWhole ? written?.version : undefined;
}

/** Returns the version of secrets that the plan read and found equal. */
function versionIfEqual({ secrets }: DesiredResource, read: LiveResource | undefined, paths: readonly string[]): string | undefined {
  const isRead = paths.every((path) => secrets[path]?.state === 'value' && read?.secrets[path]?.state === 'value');
  return isRead ? read?.secretsVersion : undefined;
}

/** Marks live objects with the side whose secrets have changed since an apply, as far as the record of applies proves it. */
export function withChangedSecrets(
  live: LiveState,
  { resources }: DesiredState,
  { secrets, pending }: { readonly secrets?: string; readonly pending: readonly PendingWrites[] },
): LiveState {
  if (secrets === undefined) return live;
  const versions = readVersions(secrets);
  const declared = desiredByKey(resources);
  // An apply that was interrupted may have written these, and recorded no version.
  const unproven = new Set(pending.flatMap(({ objects }) => objects.map(({ id, key = id }) => key)));
  const changedSide = ({ id, uid, secretsVersion }: LiveResource): LiveResource['changedSecrets'] => {
    const version = versions.get(shortHash([uid]));
    if (version === undefined || secretsVersion === undefined) return undefined;
    if (version === shortHash([uid, secretsVersion])) return 'source';
    return unproven.has(id) ? undefined : 'gateway';
  };
  const mark = (one: LiveResource): LiveResource => {
    const desired = declared.get(one.id);
    if (desired === undefined || one.changedSecrets !== undefined || managedPaths(desired).length === 0) return one;
    const changedSecrets = changedSide(one);
    return changedSecrets === undefined ? one : { ...one, changedSecrets };
  };
  return { ...live, resources: live.resources.map(mark) };
}
