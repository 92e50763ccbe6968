/** Runs a function when there is room for it; the function may call `release` to make room before it ends. */
export type Limited = <T>(act: (release: () => void) => Promise<T>) => Promise<T>;

/** Limits how many functions run at once; the others wait in order. */
export function limitConcurrency(most: number): Limited {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (act) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    };
    try {
      return await act(release);
    } finally {
      release();
    }
  };
}

/**
 * Runs the work for all entries in their order, at most `concurrency` at a time. After an error no entry starts, and the first
 * error is thrown when all started entries have ended.
 */
export async function runPool<T>(entries: readonly T[], concurrency: number, work: (entry: T) => Promise<void>): Promise<void> {
  const waiting = entries.values();
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const entry of waiting) {
      try {
        await work(entry);
      } catch (error) {
        errors.push(error);
      }
      if (errors.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, worker));
  if (errors.length > 0) throw errors[0];
}

/** Runs work of `total` steps and shows its progress; the work calls `step` after each one. */
export type TrackSteps = (total: number, work: (step: () => void) => Promise<void>) => Promise<void>;
