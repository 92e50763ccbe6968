/**
 * Runs the work for all entries, at most `concurrency` at a time, each beginning in order. Where one throws, none is
 * begun any more, and the first error is thrown once all that were begun have ended.
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
