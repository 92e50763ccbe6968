import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DesiredResource } from '../../model/desired.ts';
import { canonical, compareText, isObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';
import type { LiveSecret } from '../../model/secret.ts';
import { compareSecrets } from '../diff/compare-secrets.ts';

/**
 * What was found equal before: by the gateway's id of an object, the version of its secrets and a keyed hash of what
 * the manifest wanted of them. It can save reads, and never hides a change: any doubt is a miss.
 */
export type VerifiedSecrets = ReadonlyMap<string, { readonly version: string; readonly hash: string }>;

/** The key that hashes and authenticates what was verified: another token, gateway or organisation has another. */
export function verificationKey(token: string, url: string, organisation: string | undefined): Buffer {
  return createHmac('sha256', token)
    .update(canonical(['ostiary/verified/v1', url, organisation ?? null]))
    .digest();
}

/** A name for the file of one key. */
export function verificationName(key: Buffer): string {
  return createHmac('sha256', key).update('name').digest('hex').slice(0, 16);
}

/** Reads what `printVerified` wrote; nothing where a single byte of it is not ours. */
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

/** Writes what was verified; ids, times and hashes, never a value. */
export function printVerified(verified: VerifiedSecrets, key: Buffer): string {
  const entries = Object.fromEntries([...verified].map(([uid, { version, hash }]) => [uid, [version, hash]]));
  const body = canonical(entries);
  return `${body}\n${macOf(body, key)}`;
}

/** Returns whether a manifest states secrets that the bulk read left out. */
export function needsSecrets(desired: DesiredResource, live: LiveResource): boolean {
  return (live.leftOut ?? []).some(
    (left) =>
      desired.wholeSecrets.some((path) => isPointerWithin(path, left)) ||
      Object.keys(desired.secrets).some((path) => isPointerWithin(path, left)),
  );
}

/** The live object with its secrets as they were verified; undefined where that is not known. */
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
  const secrets = Object.entries(desired.secrets).map(([path, wish]): readonly [Pointer, LiveSecret] => {
    return [path, wish.state === 'value' ? wish.withSource('live') : { state: 'hidden', source: 'live' }];
  });
  return { ...rest, secrets: Object.fromEntries(secrets), unknown: live.unknown.filter((path) => !leftOut.includes(path)) };
}

/** What to remember of an object whose secrets were read: undefined where they differ, are hidden, or are more than the manifest's. */
export function verificationOf(
  desired: DesiredResource,
  live: LiveResource,
  key: Buffer,
): { readonly version: string; readonly hash: string } | undefined {
  if (live.secretsVersion === undefined || live.unknown.length > 0) return undefined;
  const { fields, diagnostics } = compareSecrets(desired, live);
  const strangers = Object.keys(live.secrets).some((path) => !Object.hasOwn(desired.secrets, path));
  if (fields.length > 0 || diagnostics.length > 0 || strangers) return undefined;
  return { version: live.secretsVersion, hash: hashOf(desired, live.uid, key) };
}

/** Everything is written with its length, so that no two wishes have the same text. */
function hashOf(desired: DesiredResource, uid: string, key: Buffer): string {
  let text = `${uid}\n${canonical([desired.wholeSecrets, desired.ignore])}`;
  for (const path of Object.keys(desired.secrets).toSorted(compareText)) {
    const wish = desired.secrets[path];
    const value = wish?.state === 'value' ? wish.reveal() : (wish?.source ?? '');
    text += `\n${path.length} ${path} ${wish?.state ?? ''} ${value.length} ${value}`;
  }
  return createHmac('sha256', key).update(text).digest('hex');
}

function macOf(body: string, key: Buffer): string {
  return createHmac('sha256', key).update('mac\n').update(body).digest('hex');
}
