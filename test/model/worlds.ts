import { servedLimit } from './pools.ts';

/** What only the gateway knows. */
export type World = {
  /** Its own threshold of detection. */
  readonly threshold: number;
  /** Its own longest access in seconds. */
  readonly longest: number;
  /** Whether it reads what passes through the port of a type that no documentation describes. */
  readonly readsUnknown: boolean;
  /** Whether a proxy that cannot read refuses every session once a guardrail is attached; otherwise it forwards everything. */
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

/** The worlds of `ostiary serve`, which reports its longest access. */
export const servedWorlds: readonly World[] = worlds.map((world) => ({ ...world, longest: servedLimit }));
