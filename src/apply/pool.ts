/** Runs the work for all entries, at most `concurrency` at a time, each beginning in order; never rejects before all ended. */
export async function runPool<T>(entries: readonly T[], concurrency: number, work: (entry: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < entries.length) {
      const entry = entries[next];
      next += 1;
      if (entry !== undefined) await work(entry);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, worker));
}
