import { createHash } from 'node:crypto';
import type { PendingWrites } from '../../model/applied-record.ts';
import { desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { canonical, compareText } from '../../model/json.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import { liveKeyOf, type Diff } from '../../model/plan/plan.ts';
import type { ApplyResult, Outcome, WrittenSecrets } from '../../model/result/outcome.ts';
import { isRotatable } from '../diff/origin.ts';

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
export type AppliedSides = { readonly plan: Pick<Diff, 'changes'>; readonly desired: DesiredState; readonly live: LiveState };

/**
 * Returns the versions of secrets after an apply, for the record: those that it wrote, and those that it found equal to the manifests.
 * Only objects whose secrets may be rotated count, so that the record stays small. The record has no value of a secret and no hash of one.
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
    const paths = rotatablePaths(resource);
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

function rotatablePaths({ secrets, ignore }: DesiredResource): readonly string[] {
  return Object.entries(secrets).flatMap(([path, secret]) =>
    isRotatable(secret) && !ignore.some((prefix) => isPointerWithin(path, prefix)) ? [path] : [],
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
    if (desired === undefined || one.changedSecrets !== undefined || rotatablePaths(desired).length === 0) return one;
    const changedSecrets = changedSide(one);
    return changedSecrets === undefined ? one : { ...one, changedSecrets };
  };
  return { ...live, resources: live.resources.map(mark) };
}
