import { equal, type Json } from '../../model/json.ts';
import type { Origin, SecretCause } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import { contentOf, type DesiredSecret, isSameSecretSource, type LiveSecret } from '../../model/secret.ts';

/**
 * What one state has at a path. `absent`: nothing, neither there nor below `at`, which is the path itself or one that contains it; `left`: a
 * manifest leaves it to the gateway, because it omits or ignores it; `unread`: the token may not read it.
 */
export type Side =
  | { readonly is: 'value'; readonly value: Json }
  | SecretSide
  | { readonly is: 'absent'; readonly at: Pointer }
  | { readonly is: 'left' | 'unread' };

/** A secret: where it comes from, and what can prove its value. */
export type SecretSide = {
  readonly is: 'secret';
  readonly source: string;
  readonly proof: DesiredSecret | LiveSecret;
  /** The side whose secrets have changed since this one was applied, where that is proven: the value is or is not that of the gateway still. */
  readonly changed?: 'gateway' | 'source' | undefined;
};

/**
 * One field, element, entry, key of a secret or attachment of an object, in every state that a plan compares; a state that is not known is
 * undefined. Everything that a plan says of the place follows from its row.
 */
export type Cell = {
  readonly path: Pointer;
  /** As it was applied last. */
  readonly base: Side | undefined;
  /** In the manifests. */
  readonly head: Side;
  readonly live: Side;
  /** As incomplete applies may have written it since. */
  readonly written: readonly Side[];
};

export type Proof = 'equal' | 'different' | 'unknown';

/** Returns whether two states have the same at a path. Two manifests state the same secret if its source and its committed content are the same. */
export function prove(one: Side, other: Side): Proof {
  if (one.is === 'unread' || other.is === 'unread') return proveByChange(one, other);
  if (one.is === 'secret' && other.is === 'secret') return proveSecrets(one, other);
  if (one.is === 'value' && other.is === 'value') return equal(one.value, other.value) ? 'equal' : 'different';
  // An element that is missing with its entry is not missing in the same way as one of an entry that is there.
  if (one.is === 'absent' && other.is === 'absent') return one.at === other.at ? 'equal' : 'different';
  return one.is === other.is ? 'equal' : 'different';
}

function proveSecrets(one: SecretSide, other: SecretSide): Proof {
  if (isLive(one) === isLive(other)) return isSameSecretSource(one.proof, other.proof) ? 'equal' : 'different';
  if (one.proof.state === 'value' && other.proof.state === 'value') return one.proof.equals(other.proof) ? 'equal' : 'different';
  return proveByChange(one, other);
}

/** Returns what is proven without the values: whether the secrets of the gateway have changed since the other side was applied. */
function proveByChange(...sides: readonly [Side, Side]): Proof {
  const [changed] = sides.flatMap((side) => (side.is === 'secret' ? (side.changed ?? []) : []));
  if (changed === undefined) return 'unknown';
  return changed === 'source' ? 'equal' : 'different';
}

function isLive({ source }: SecretSide): boolean {
  return source === 'live';
}

/** Returns whether two secrets come from files with the same committed content, or neither does. */
export function hasSameContent(one: SecretSide, other: SecretSide): boolean {
  return contentOf(one.proof) === contentOf(other.proof);
}

/** Returns whether the value may change while the manifests stay: it comes from the environment or from a file that is not committed. */
export function isRotatable({ source, content }: DesiredSecret): boolean {
  return source.startsWith('env:') || (source.startsWith('file:') && content === undefined);
}

/** Returns which side changed a place that differs: `drift` if the gateway alone did; undefined without a base. */
export function originOf({ base, head, live, written }: Cell): Origin | undefined {
  if (base === undefined) return undefined;
  // What was left to the gateway did not drift.
  const moved = base.is === 'left' ? 'unknown' : prove(base, live);
  const isChanged = prove(base, head) === 'different' || (moved === 'unknown' && written.some((form) => prove(form, head) === 'different'));
  if (isChanged) return moved === 'different' ? 'both' : 'intent';
  return moved === 'equal' ? 'intent' : 'drift';
}

/** Returns why a secret with the same source differs; undefined for another place, and if the gateway has changed it. */
export function causeOf(cell: Cell): SecretCause | undefined {
  const { base, head, live } = cell;
  if (base?.is !== 'secret' || head.is !== 'secret' || base.source !== head.source) return undefined;
  if (!hasSameContent(base, head)) return 'file';
  if (live.is !== 'secret' || head.proof.state === 'hidden' || !isRotatable(head.proof)) return undefined;
  const [origin, moved] = [originOf(cell), prove(base, live)];
  if (origin === 'intent' && moved === 'equal') return 'source';
  return origin === 'drift' && moved === 'unknown' ? 'undetermined' : undefined;
}
