import type { Drift } from '../model/drift.ts';
import type { JsonObject } from '../model/json.ts';
import { escapeJson } from './escape.ts';
import { planObject } from './plan-json.ts';

/** Drifts as the JSON text that `schemas/documents/drift.schema.json` describes; only data, keys in a fixed order. */
export function driftJson(drifts: readonly Drift[]): string {
  return `${escapeJson(JSON.stringify({ version: 1, drifts: drifts.map(driftObject) }, null, 2))}\n`;
}

function driftObject({ plan, pending, unfinished, protection, writes }: Drift): JsonObject {
  const entries = [...(writes ?? [])].map(([id, all]) => ({
    id,
    writes: all.map(({ at, by, from, method, path }) => ({ at, by, from, method, path })),
  }));
  return {
    plan: planObject({ ...plan, protection }),
    pending,
    unfinished,
    ...(writes === undefined ? {} : { writers: entries }),
  };
}
