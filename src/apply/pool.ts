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
