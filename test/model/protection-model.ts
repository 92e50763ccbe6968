import { actionKinds, allowedOn, conditions, hiddenByRedaction, type Admitted, type Allowed, type Condition } from './allowed-actions.ts';
import type { ModelState } from './gateway-objects.ts';
import { worlds, type World } from './worlds.ts';

/**
 * A second opinion about protection. It shares no code with `src/protection`: it lists what a person can do on a connection, one
 * condition after the other, and compares the lists.
 */

/** The effect of a change on one connection. */
export type ModelVerdict = {
  /**
   * What became possible. Each set stands for actions that only these conditions prevented before, so a report has to name one
   * of them.
   */
  readonly demands: readonly ReadonlySet<Condition>[];
  /** Conditions that surely admit more, whatever the gateway does and whichever modes are open. */
  readonly surelyLost: ReadonlySet<Condition>;
  /** Those of them that do so by a mode that is open on both sides. */
  readonly surelyLostWhereOpen: ReadonlySet<Condition>;
  /** Conditions that admit less in some world. */
  readonly gained: ReadonlySet<Condition>;
};

type Comparison = { readonly predecessor?: string; readonly possible?: readonly World[] };

/** Compares one connection in two states; `predecessor` is the connection that it replaces. */
export function judgeConnection(
  before: ModelState,
  after: ModelState,
  id: string,
  { predecessor = id, possible = worlds }: Comparison = {},
): ModelVerdict {
  const pairs = possible.map((world) => ({ world, first: allowedOn(before, predecessor, world), last: allowedOn(after, id, world) }));
  const demands = pairs.flatMap(({ first, last }) => actionKinds.flatMap((kind) => demandsOf(first[kind], last[kind])));
  const lost = pairs.map(({ first, last }) => ({ lost: conditionsWith(first, last, (was, is) => (is & ~was) !== 0n) }));
  const gained = pairs.flatMap(({ first, last }) => [...conditionsWith(first, last, (was, is) => (was & ~is) !== 0n)]);
  const open = actionKinds.filter((kind) => pairs.every(({ first, last }) => isOpen(first[kind]) && isOpen(last[kind])));
  const lostOpen = pairs.map(({ first, last }) => conditionsWith(first, last, (was, is) => (is & ~was) !== 0n, open));
  const isLost = (condition: Condition): boolean => lost.every((one) => one.lost.has(condition));
  return {
    demands: [...new Map(demands.map((demand) => [[...demand].join(' '), demand])).values()],
    surelyLost: new Set(conditions.filter(isLost)),
    surelyLostWhereOpen: new Set(conditions.filter((condition) => lostOpen.every((one) => one.has(condition)))),
    gained: new Set(gained),
  };
}

/** Lists the smallest sets of conditions that prevented an action before and admit it after. */
function demandsOf(before: Admitted, after: Admitted): readonly ReadonlySet<Condition>[] {
  const found = conditions.filter((condition) => after[condition] !== undefined);
  // What no rule masks any longer stays hidden where the session redacts its type.
  const hidden = hiddenByRedaction(after);
  const pairs = found.map((condition) => {
    const [was, is] = [before[condition] ?? 0n, after[condition] ?? 0n];
    return { condition, was, is: condition === 'masking' ? is & (was | ~hidden) : is };
  });
  if (pairs.some(({ is }) => is === 0n)) return [];
  const always = pairs.filter(({ was, is }) => (was & is) === 0n).map(({ condition }) => condition);
  if (always.length > 0) return [new Set(always)];
  return pairs.filter(({ was, is }) => (is & ~was) !== 0n).map(({ condition }) => new Set([condition]));
}

/** Returns whether a mode is open; browsing has no mode. */
function isOpen({ access = 1n }: Admitted): boolean {
  return access !== 0n;
}

function conditionsWith(
  before: Allowed,
  after: Allowed,
  test: (was: bigint, is: bigint) => boolean,
  kinds: readonly (typeof actionKinds)[number][] = actionKinds,
): ReadonlySet<Condition> {
  return new Set(conditions.filter((condition) => kinds.some((kind) => test(before[kind][condition] ?? 0n, after[kind][condition] ?? 0n))));
}

/** Lists what `state` allows on a connection and `wished` forbids, in any world. */
export function excessOf(state: ModelState, wished: ModelState, id: string, possible: readonly World[]): readonly string[] {
  return judgeConnection(wished, state, id, { possible }).demands.map((demand) => [...demand].join(' or '));
}
