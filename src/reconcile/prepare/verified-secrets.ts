import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DesiredResource } from '../../model/desired.ts';
import { canonical, compareText, isObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { LiveSecret } from '../../model/secret.ts';
import { compareSecrets } from '../diff/compare-secrets.ts';

/**
 * Secrets that were equal to the manifest before: by the gateway id of an object, the version of its secrets and a keyed hash of the
 * manifest's values. It saves reads and never hides a change: any doubt is a miss.
 */
export type VerifiedSecrets = ReadonlyMap<string, { readonly version: string; readonly hash: string }>;

/** Returns the key that hashes and authenticates verified secrets; it differs by token, gateway and organization. */
export function verificationKey(token: string, url: string, organisation: string | undefined): Buffer {
  return createHmac('sha256', token)
    .update(canonical(['ostiary/verified/v1', url, organisation ?? null]))
    .digest();
}

/** Returns the file name of the cache of one key. */
export function verificationName(key: Buffer): string {
  return createHmac('sha256', key).update('name').digest('hex').slice(0, 16);
}

/** Reads the text of `printVerified`; empty if a single byte was changed. */
export function readVerified(text: string | undefined, key: Buffer): VerifiedSecrets {
  const [body = '', mac = ''] = (text ?? '').split('\n');
  const right = macOf(body, key);
  if (mac.length !== right.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(right))) return new Map();
  const entries: unknown = JSON.parse(body);
  if (!isObject(entries)) return new Map();
  return new Map(
    Object.entries(entries).flatMap(([uid, entry]) => {
      const [version, hash] = Array.isArray(entry) ? entry : [];
      return typeof version === 'string' && typeof hash === 'string' ? [[uid, { version, hash }] as const] : [];
    }),
  );
}

/** Returns the text of verified secrets: ids, versions and hashes, never a value. */
export function printVerified(verified: VerifiedSecrets, key: Buffer): string {
  const entries = Object.fromEntries([...verified].map(([uid, { version, hash }]) => [uid, [version, hash]]));
  const body = canonical(entries);
  return `${body}\n${macOf(body, key)}`;
}

/** Returns whether a manifest sets secrets that the bulk read omitted. */
export function needsSecrets(desired: DesiredResource, live: LiveResource): boolean {
  return (live.leftOut ?? []).some(
    (left) =>
      desired.wholeSecrets.some((path) => isPointerWithin(path, left)) ||
      Object.keys(desired.secrets).some((path) => isPointerWithin(path, left)),
  );
}

/** Returns the live object with its verified secrets; undefined if they are not known. */
export function recallSecrets(
  desired: DesiredResource,
  live: LiveResource,
  verified: VerifiedSecrets,
  key: Buffer,
): LiveResource | undefined {
  const entry = verified.get(live.uid);
  if (entry === undefined || live.secretsVersion === undefined || live.secretsVersion !== entry.version) return undefined;
  if (entry.hash !== hashOf(desired, live.uid, key)) return undefined;
  const { leftOut = [], ...rest } = live;
  const secrets = Object.entries(desired.secrets).map(([path, secret]): readonly [Pointer, LiveSecret] => {
    return [path, secret.state === 'value' ? secret.withSource('live') : { state: 'hidden', source: 'live' }];
  });
  return { ...rest, secrets: Object.fromEntries(secrets), unknown: live.unknown.filter((path) => !leftOut.includes(path)) };
}

/**
 * Returns which side alone has changed since the secrets were last verified: the source if their version is the same, the gateway if
 * the manifest's values are. Undefined without a verification, and if both sides or neither changed.
 */
export function changedSince(
  desired: DesiredResource,
  live: LiveResource,
  verified: VerifiedSecrets,
  key: Buffer,
): LiveResource['changedSecrets'] {
  const entry = verified.get(live.uid);
  if (entry === undefined || live.secretsVersion === undefined) return undefined;
  const isSameVersion = entry.version === live.secretsVersion;
  const isSameSource = entry.hash === hashOf(desired, live.uid, key);
  if (isSameVersion === isSameSource) return undefined;
  return isSameVersion ? 'source' : 'gateway';
}

/** Returns the cache entry of an object whose secrets were read; undefined if they differ, are hidden, or the manifest does not declare all. */
export function verificationOf(
  desired: DesiredResource,
  live: LiveResource,
  key: Buffer,
): { readonly version: string; readonly hash: string } | undefined {
  if (live.secretsVersion === undefined || live.unknown.length > 0) return undefined;
  const { fields, diagnostics } = compareSecrets(desired, live);
  const hasUndeclared = Object.keys(live.secrets).some((path) => !Object.hasOwn(desired.secrets, path));
  if (fields.length > 0 || diagnostics.length > 0 || hasUndeclared) return undefined;
  return { version: live.secretsVersion, hash: hashOf(desired, live.uid, key) };
}

/** Hashes the desired secrets; each text has its length, so that no two lists have the same text. */
function hashOf(desired: DesiredResource, uid: string, key: Buffer): string {
  let text = `${uid}\n${canonical([desired.wholeSecrets, desired.ignore])}`;
  for (const path of Object.keys(desired.secrets).toSorted(compareText)) {
    const secret = desired.secrets[path];
    const value = secret?.state === 'value' ? secret.reveal() : (secret?.source ?? '');
    text += `\n${path.length} ${path} ${secret?.state ?? ''} ${value.length} ${value}`;
  }
  return createHmac('sha256', key).update(text).digest('hex');
}

function macOf(body: string, key: Buffer): string {
  return createHmac('sha256', key).update('mac\n').update(body).digest('hex');
}
