import { createHmac } from 'node:crypto';
import type { DesiredResource } from '../../model/desired.ts';
import { asArray, canonical, compareText, isObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { LiveSecret } from '../../model/secret.ts';
import { toolSecrets, withTools } from '../../model/spec/tool-lists.ts';
import { compareSecrets, setsSecret } from '../cells/secret-cells.ts';

/** The secrets of an object at one version: their paths and a keyed hash of their values, never a value. */
export type SecretRecord = {
  readonly version: string;
  /** They were equal to the manifest at this version. */
  readonly equal: boolean;
  /** All paths; true for those whose values are hashed. */
  readonly paths: Readonly<Record<Pointer, boolean>>;
  readonly hash: string;
};

/**
 * Secrets that were read or written before, by the gateway's id of their object. They save reads and never hide a change: they count
 * only while the list shows the same version, and any doubt is a miss.
 */
export type VerifiedSecrets = ReadonlyMap<string, SecretRecord>;

/** Returns the key that hashes verified secrets and seals their cache; it differs by token, gateway and organization. */
export function verificationKey(token: string, url: string, organisation: string | undefined): Buffer {
  return createHmac('sha256', token)
    .update(canonical(['ostiary/verified/v2', url, organisation ?? null]))
    .digest();
}

/** Returns the text of verified secrets. */
export function printVerified(verified: VerifiedSecrets): string {
  const entries = Object.fromEntries(
    [...verified].map(([uid, { version, equal, paths, hash }]) => [uid, [version, equal, paths, hash]] as const),
  );
  return canonical(entries);
}

/** Reads the text of `printVerified`; empty without one. */
export function readVerified(text: string | undefined): VerifiedSecrets {
  const entries: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(entries)) return new Map();
  return new Map(
    Object.entries(entries).flatMap(([uid, entry]) => {
      const [version, equal, paths, hash] = asArray(entry);
      if (typeof version !== 'string' || typeof equal !== 'boolean' || !isObject(paths) || typeof hash !== 'string') return [];
      const read = Object.fromEntries(Object.entries(paths).map(([path, isHashed]) => [path, isHashed === true] as const));
      return [[uid, { version, equal, paths: read, hash }] as const];
    }),
  );
}

/** Returns whether a manifest sets secrets that the bulk read omitted. */
export function needsSecrets(desired: DesiredResource, live: LiveResource): boolean {
  return (live.leftOut ?? []).some(
    (left) =>
      desired.wholeSecrets.some((path) => isPointerWithin(path, left)) ||
      Object.keys(desired.secrets).some((path) => isPointerWithin(path, left)),
  );
}

/** Returns the live object with its verified secrets; undefined if they are not known, or differ from the manifest. */
export function recallSecrets(
  desired: DesiredResource,
  live: LiveResource,
  verified: VerifiedSecrets,
  key: Buffer,
): LiveResource | undefined {
  const record = verified.get(live.uid);
  if (record === undefined || live.secretsVersion === undefined || live.secretsVersion !== record.version) return undefined;
  return withRecorded(desired, live, record, key);
}

/**
 * Returns which side alone has changed since the secrets were last equal to the manifest: the source if their version is the same, the
 * gateway if the manifest's values are. Undefined if they were not proven equal, and if both sides or neither changed.
 */
export function changedSince(
  desired: DesiredResource,
  live: LiveResource,
  verified: VerifiedSecrets,
  key: Buffer,
): LiveResource['changedSecrets'] {
  const record = verified.get(live.uid);
  if (record?.equal !== true || live.secretsVersion === undefined) return undefined;
  const isSameVersion = record.version === live.secretsVersion;
  const recorded = withRecorded(desired, live, record, key);
  const isSameSource = recorded !== undefined && hasEqualSecrets(desired, recorded);
  if (isSameVersion === isSameSource) return undefined;
  return isSameVersion ? 'source' : 'gateway';
}

/** Returns the record of an object whose secrets were read; undefined if the gateway reports no version of them or hides a value. */
export function recordOf(desired: DesiredResource | undefined, live: LiveResource, key: Buffer): SecretRecord | undefined {
  if (live.secretsVersion === undefined || live.unknown.length > 0) return undefined;
  const paths: Record<Pointer, boolean> = {};
  const values: (readonly [Pointer, string])[] = [];
  for (const [path, secret] of Object.entries(live.secrets)) {
    if (secret.state !== 'value') return undefined;
    paths[path] = desired === undefined || setsSecret(desired, path);
    if (paths[path]) values.push([path, secret.reveal()]);
  }
  const equal = desired !== undefined && hasEqualSecrets(desired, live);
  return { version: live.secretsVersion, equal, paths, hash: hashOf(values, live.uid, key) };
}

/** Returns a record after another one of the same object: while the version is the same, secrets that were equal stay proven equal. */
export function mergeRecords(earlier: SecretRecord | undefined, fresh: SecretRecord): SecretRecord {
  return earlier?.equal === true && earlier.version === fresh.version ? { ...fresh, equal: true } : fresh;
}

/** Returns the live object with the secrets of a record, if the values of the manifest have its hash; those that it does not set are hidden. */
function withRecorded(desired: DesiredResource, live: LiveResource, { paths, hash }: SecretRecord, key: Buffer): LiveResource | undefined {
  const values = Object.entries(desired.secrets).flatMap(([path, secret]) =>
    secret.state === 'value' && Object.hasOwn(paths, path) && setsSecret(desired, path) ? [[path, secret.reveal()] as const] : [],
  );
  const hashed = new Set(Object.keys(paths).filter((path) => paths[path] === true));
  const isComparable = values.length === hashed.size && values.every(([path]) => hashed.has(path));
  if (values.length > 0 && !(isComparable && hash === hashOf(values, live.uid, key))) return undefined;
  return withSecretsOf(desired, live, Object.keys(paths));
}

/** Returns the live object with the values of the manifest at some paths; those that it does not set are hidden. */
export function withSecretsOf(desired: DesiredResource, live: LiveResource, paths: readonly Pointer[]): LiveResource {
  const { leftOut = [], ...rest } = live;
  const lists = toolSecrets(live.spec);
  const secrets = paths.map((path): readonly [Pointer, LiveSecret] => {
    const secret = desired.secrets[path];
    const isKnown = secret?.state === 'value' && setsSecret(desired, path);
    if (lists[path] !== undefined) return [path, lists[path]];
    return [path, isKnown ? secret.withSource('live') : { state: 'hidden', source: 'live' }];
  });
  const found = Object.fromEntries(secrets);
  const unknown = live.unknown.filter((path) => !leftOut.includes(path));
  return { ...rest, spec: withTools(live.spec, found, unknown), secrets: found, unknown };
}

/** Returns whether the manifest is proven to have the live secrets. */
export function hasEqualSecrets(desired: DesiredResource, live: LiveResource): boolean {
  if (Object.values(desired.secrets).some(({ state }) => state === 'unresolved')) return false;
  const { fields, notCompared, missing } = compareSecrets(desired, live);
  return fields.length === 0 && notCompared.size === 0 && missing.length === 0;
}

/** Hashes secrets; each text has its length, so that no two lists have the same text. */
function hashOf(values: readonly (readonly [Pointer, string])[], uid: string, key: Buffer): string {
  const texts = values
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([path, value]) => `\n${path.length} ${path} ${value.length} ${value}`);
  return createHmac('sha256', key)
    .update(`values\n${uid}${texts.join('')}`)
    .digest('base64url');
}
