import type { DesiredResource } from '../../model/desired.ts';
import { comparedFields, type FieldRule, type Kind } from '../../model/kind.ts';
import { equal } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';

/** The fields of a kind by use, computed once for many resources. */
export type KindFields = {
  readonly kind: Kind;
  readonly compared: readonly FieldRule[];
  /** The compared fields whose empty value may mean another value. */
  readonly filledIn: readonly FieldRule[];
  /** Fields that protect, and that a manifest may omit. */
  readonly silent: readonly FieldRule[];
};

/** Returns the fields of a kind by use. */
export function kindFields(kind: Kind): KindFields {
  const compared = comparedFields(kind);
  return {
    kind,
    compared,
    filledIn: compared.filter((field) => field.omitted !== 'empty'),
    silent: kind.fields.filter((field) => field.omitted === 'kept' && field.protects !== undefined),
  };
}

/**
 * Returns true if a cheap comparison proves that a resource is in sync, as most are. Returns false when the full comparison is
 * needed, which may find no difference.
 */
export function isUnchanged({ compared, filledIn }: KindFields, desired: DesiredResource, live: LiveResource): boolean {
  if (desired.ignore.length > 0 || !isReadable(compared, desired, live)) return false;
  for (const { name, empty } of compared) {
    const wanted = desired.spec[name];
    if (wanted !== undefined && !equal(wanted, live.spec[name] ?? empty)) return false;
  }
  if (filledIn.some(({ name, empty }) => desired.stated.has(name) && equal(desired.spec[name], empty))) return false;
  return sameSecrets(desired, live);
}

/** Returns whether the token may read everything that the manifest sets. */
function isReadable(compared: KindFields['compared'], { secrets, wholeSecrets }: DesiredResource, { unknown }: LiveResource): boolean {
  if (unknown.length === 0) return true;
  if (wholeSecrets.length > 0 || Object.keys(secrets).length > 0) return false;
  return !unknown.some((path) => path === '' || compared.some(({ name }) => isPointerWithin(path, pointer(name))));
}

function sameSecrets(desired: DesiredResource, live: LiveResource): boolean {
  for (const path in desired.secrets) {
    const wanted = desired.secrets[path];
    const found = live.secrets[path];
    if (wanted?.state === 'keep' && found !== undefined) continue;
    if (wanted?.state !== 'value' || found?.state !== 'value' || !wanted.equals(found)) return false;
  }
  for (const path in live.secrets) if (desired.secrets[path] === undefined && desired.wholeSecrets.length > 0) return false;
  return true;
}
