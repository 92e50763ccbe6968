import type { FieldChange, UncomparedReason } from '../../model/plan/plan.ts';
import type { Cell } from '../cells/cell.ts';

/** What a plan says of one secret. */
type PlannedSecret = {
  readonly change: FieldChange | undefined;
  /** Why it was not compared; undefined if it was. */
  readonly reason: UncomparedReason | undefined;
  /** The manifests changed it since the base, and apply does not write it. */
  readonly isUnwritten: boolean;
};

/** Returns why a secret is a change or not. */
export function secretReason({ head, live }: Cell, { change, reason, isUnwritten }: PlannedSecret): string {
  const moved = isUnwritten ? '; the manifests changed it since the last apply, and apply writes nothing' : '';
  if (reason === 'hidden') return 'this token may not read it';
  if (reason === 'unresolved') return 'the value of its source was not read';
  if (head.is !== 'secret')
    return change === undefined ? `not declared: apply keeps it${moved}` : 'the manifest declares the whole map without this key';
  if (head.proof.state === 'keep')
    return live.is === 'secret' ? `keep: the gateway owns the value${moved}` : 'keep: the gateway owns the value, but has none';
  if (change !== undefined && isUnread(change)) return 'the live value was not compared';
  if (live.is !== 'secret') return 'not live yet';
  return change === undefined ? `the values are equal${moved}` : 'the values differ';
}

function isUnread({ before, after }: FieldChange): boolean {
  return [before, after].some((value) => 'secret' in value && value.state === 'unknown');
}
