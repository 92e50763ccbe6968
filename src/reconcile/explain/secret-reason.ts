import type { DesiredResource } from '../../model/desired.ts';
import type { FieldChange, UncomparedReason } from '../../model/plan/plan.ts';
import { isPointerWithin, type Pointer } from '../../model/pointer.ts';

/** What a plan knows of one secret. */
type SecretFacts = {
  readonly desired: DesiredResource | undefined;
  readonly found: 'value' | 'hidden' | undefined;
  readonly change: FieldChange | undefined;
  /** Why it was not compared; undefined if it was. */
  readonly reason: UncomparedReason | undefined;
  /** The manifests changed it since the base, and apply does not write it. */
  readonly isUnwritten: boolean;
};

/** Returns why a secret is a change or not. */
export function secretReason(path: Pointer, { desired, found, change, reason, isUnwritten }: SecretFacts): string {
  const wanted = desired?.secrets[path];
  const moved = isUnwritten ? '; the manifests changed it since the last apply, and apply writes nothing' : '';
  if (desired?.ignore.some((one) => isPointerWithin(path, one)) === true)
    return 'metadata.ignore excludes it: not compared, kept by every write';
  if (reason === 'hidden' || reason === 'unresolved')
    return reason === 'hidden' ? 'this token may not read it' : 'the value of its source was not read';
  if (wanted === undefined)
    return change === undefined ? `not declared: apply keeps it${moved}` : 'the manifest declares the whole map without this key';
  if (wanted.state === 'keep')
    return found === undefined ? 'keep: the gateway owns the value, but has none' : `keep: the gateway owns the value${moved}`;
  if (change !== undefined && isUnread(change)) return 'the live value was not compared';
  if (found === undefined) return 'not live yet';
  return change === undefined ? `the values are equal${moved}` : 'the values differ';
}

function isUnread({ before, after }: FieldChange): boolean {
  return [before, after].some((value) => 'secret' in value && value.state === 'unknown');
}
