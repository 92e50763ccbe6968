import type { ModelGateway } from './gateway-objects.ts';
import { servedLimit } from './pools.ts';

/** What only the gateway knows. */
export type World = {
  /** Its own threshold of detection. */
  readonly threshold: number;
  /** Its own longest access in seconds. */
  readonly longest: number;
  /** The public gateway, and what it reports of itself; absent on one of the interface, which reports nothing. */
  readonly gateway?: ModelGateway;
  /** Whether it reads what passes through the port of a type that no documentation describes. */
  readonly readsUnknown: boolean;
  /** Whether a proxy of which no source shows it refuses every session once a guardrail is attached. */
  readonly refuses: boolean;
};

const thresholds = [0, 0.1, 0.35, 0.6, 0.75, 0.95, 1];
const limits = [servedLimit, 1, 3600, 86_400, 2_592_000, 600, 7_776_000];

/** Worlds that differ in all ways that the pools can show; the conditions of an action depend on one of these values each. */
export const worlds: readonly World[] = thresholds.flatMap((threshold, index) =>
  [true, false].map((readsUnknown) => ({
    threshold,
    longest: limits[index] ?? servedLimit,
    readsUnknown,
    refuses: index % 2 === 0,
  })),
);

const known = new Map<string, readonly World[]>();

/** Returns the worlds that are possible with what the gateway reports: its longest access, as `ostiary serve` does, or its version and flags. */
export function worldsOf({
  reportsLimit = false,
  gateway,
}: {
  readonly reportsLimit?: boolean;
  readonly gateway?: ModelGateway;
}): readonly World[] {
  const key = JSON.stringify([reportsLimit, gateway]);
  const found =
    known.get(key) ??
    worlds.map((world) => ({ ...world, ...(reportsLimit ? { longest: servedLimit } : {}), ...(gateway === undefined ? {} : { gateway }) }));
  known.set(key, found);
  return found;
}
