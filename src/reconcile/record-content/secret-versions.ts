import { createHmac, hash } from 'node:crypto';
import { type PendingWrites, recordedKeyOf } from '../../model/applied-record.ts';
import { desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { canonical, compareText } from '../../model/json.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { type Diff, liveKeyOf } from '../../model/plan/plan.ts';
import { isWithinAny } from '../../model/pointer.ts';
import type { ApplyResult, Outcome, WrittenSecrets } from '../../model/result/outcome.ts';
import { setsSecret } from '../cells/secret-cells.ts';
import { hasEqualSecrets, withSecretsOf } from '../prepare/verified-secrets.ts';

/** 48 bits of a hash: a changed version has another hash, and no caller chooses a version. */
const hashLength = 8;

/** 72 bits of a keyed hash. */
const proofLength = 12;

function shortHash(parts: readonly string[]): string {
  return hash('sha256', canonical(parts), 'base64url').slice(0, hashLength);
}

/** Reads the text of a record: by the hash of an object, another one of a length, without a separator. */
function readPairs(text: string, length: number): ReadonlyMap<string, string> {
  const pair = hashLength + length;
  return new Map(
    Array.from({ length: Math.floor(text.length / pair) }, (_, index) => {
      const at = index * pair;
      return [text.slice(at, at + hashLength), text.slice(at + hashLength, at + pair)] as const;
    }),
  );
}

function printPairs(pairs: ReadonlyMap<string, string>): string | undefined {
  if (pairs.size === 0) return undefined;
  const sorted = [...pairs].toSorted(([left], [right]) => compareText(left, right));
  return sorted.map(([uid, found]) => `${uid}${found}`).join('');
}

/** What an apply knows of both sides. */
type AppliedSides = { readonly plan: Pick<Diff, 'changes'>; readonly desired: DesiredState; readonly live: LiveState };

/**
 * Returns the versions of secrets after an apply, for the record: those that it wrote, and those that it found equal to the manifests.
 * Only objects whose manifests set secrets count, so that the record stays small. These entries follow from no value of a secret.
 */
export function secretVersionsAfter(
  { plan, desired, live }: AppliedSides,
  { outcomes, secretVersions }: ApplyResult,
  { before = '', complete }: { readonly before?: string | undefined; readonly complete: boolean },
): string | undefined {
  const next = new Map(readPairs(before, hashLength));
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
  return printPairs(complete ? new Map([...next].filter(([uid]) => declared.has(uid))) : next);
}

/** Returns the paths of the secrets that a manifest sets. */
function managedPaths(resource: DesiredResource): readonly string[] {
  return Object.keys(resource.secrets).filter((path) => setsSecret(resource, path));
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
  const versions = readPairs(secrets, hashLength);
  const declared = desiredByKey(resources);
  // An apply that was interrupted may have written these, and recorded no version.
  const unproven = new Set(pending.flatMap(({ objects }) => objects.map(recordedKeyOf)));
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

/**
 * Returns for the record which secrets were equal to the manifests after an apply, so that a plan elsewhere reads none of them. An entry is a
 * keyed hash of an object's id, the version of its secrets, and the manifest's keys and values; its key follows from the token.
 */
export function secretProofsAfter(
  { resources }: DesiredState,
  live: readonly LiveResource[],
  { before = '', complete, key }: { readonly before?: string | undefined; readonly complete: boolean; readonly key: Buffer },
): string | undefined {
  const next = new Map(readPairs(before, proofLength));
  const found = liveById(live);
  const declared = new Set<string>();
  for (const resource of resources) {
    const read = found.get(resource.id) ?? found.get(resource.key);
    if (read === undefined || resource.wholeSecrets.length === 0) continue;
    const at = shortHash([read.uid]);
    declared.add(at);
    const proof = hasEqualSecrets(resource, read) ? proofOf(resource, read, key) : undefined;
    if (proof !== undefined) next.set(at, proof);
  }
  return printPairs(complete ? new Map([...next].filter(([uid]) => declared.has(uid))) : next);
}

/**
 * Returns a lookup of live objects with the secrets that a record proves equal to the manifest; undefined for an object whose secrets have to be
 * read: another version, manifest or token has another hash.
 */
export function provenSecrets(
  text: string | undefined,
  key: Buffer,
): (desired: DesiredResource, live: LiveResource) => LiveResource | undefined {
  const proofs = text === undefined ? new Map<string, string>() : readPairs(text, proofLength);
  return (desired, live) => {
    const proof = proofs.size === 0 ? undefined : proofs.get(shortHash([live.uid]));
    const isWhole = (live.leftOut ?? []).every((path) => desired.wholeSecrets.includes(path));
    return proof !== undefined && isWhole && proof === proofOf(desired, live, key)
      ? withSecretsOf(desired, live, Object.keys(desired.secrets))
      : undefined;
  };
}

/** Returns the keyed hash of all secrets of a manifest at a version; undefined if the manifest ignores one or has no value for it. */
function proofOf(
  { secrets, wholeSecrets, ignore }: DesiredResource,
  { uid, secretsVersion }: LiveResource,
  key: Buffer,
): string | undefined {
  const entries = Object.entries(secrets).toSorted(([left], [right]) => compareText(left, right));
  const isIncomplete = entries.some(([path, { state }]) => (state !== 'keep' && state !== 'value') || isWithinAny(path, ignore));
  if (secretsVersion === undefined || isIncomplete) return undefined;
  const values = entries.map(([path, secret]) => (secret.state === 'value' ? [path, secret.reveal()] : [path]));
  return createHmac('sha256', key)
    .update(canonical(['ostiary/recorded/v1', uid, secretsVersion, wholeSecrets.toSorted(compareText), values]))
    .digest('base64url')
    .slice(0, proofLength);
}
