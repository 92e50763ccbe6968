/** Decides how many reads of one gateway run at once. */
export type ReadLimiter = {
  /** Runs a read when there is room for it; the read gets the round that `slowDown` asks for. */
  readonly run: <T>(read: (round: number) => Promise<T>) => Promise<T>;
  /** Halves the number of reads after a read of this round that the gateway refused for its load, and lets no read start for a while. */
  readonly slowDown: (round: number, pauseMs: number) => void;
  /** Returns the milliseconds for which the gateway asked to be left alone. */
  readonly pauseMs: () => number;
};

/** The answers for each concurrent read, before one more read runs at once. */
const patience = 8;

/**
 * Makes a limiter for at most `most` reads at once. Reads that fail together count once, and after eight times as many answers as reads
 * run at once, one more runs.
 */
export function createReadLimiter(most: number, now: () => number): ReadLimiter {
  const waiting: (() => void)[] = [];
  let limit = most;
  let running = 0;
  let answered = 0;
  let round = 0;
  let until = 0;

  function start(): void {
    while (running < limit && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  }

  return {
    async run(read) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        start();
      });
      const began = round;
      try {
        return await read(began);
      } finally {
        running -= 1;
        answered += 1;
        if (limit < most && began === round && answered >= patience * limit) {
          limit += 1;
          answered = 0;
        }
        start();
      }
    },
    slowDown(began, pauseMs) {
      until = Math.max(until, now() + pauseMs);
      if (began !== round) return;
      limit = Math.max(1, Math.floor(limit / 2));
      round += 1;
      answered = 0;
    },
    pauseMs: () => Math.max(0, until - now()),
  };
}
