import { LinkTable } from './link-table.ts';
import type { Store } from './store.ts';

/** Returns every table as sorted lines, one for each row: two dumps differ exactly in written rows. */
export function dumpStore(store: Store): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(store).map(([name, table]) => [name, rowsOf(table).map(print).toSorted()]));
}

function rowsOf(table: unknown): readonly unknown[] {
  if (table instanceof LinkTable) return table.pairs();
  if (table instanceof Map) return [...table.entries()];
  if (table instanceof Set) return [...table];
  return Array.isArray(table) ? table : [table];
}

function print(row: unknown): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Map ? [...value.entries()] : value;
  });
}
