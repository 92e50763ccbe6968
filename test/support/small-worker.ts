import { afterAll } from 'vitest';

const mostHeapBytes = 200_000_000;

// Garbage of earlier files would make each start of a process slower.
afterAll(() => {
  if (process.memoryUsage().heapUsed > mostHeapBytes) globalThis.gc?.();
});
