import type { Adoption, Drift } from '../model/result/drift.ts';
import type { JsonObject } from '../model/json.ts';
import { driftRows } from './subjects/drift.ts';
import { escapeJson } from './escape.ts';
import { planObject } from './subjects/plan-json.ts';

/** Drifts as the JSON value that `schemas/documents/drift.schema.json` describes; only data, keys in a fixed order. */
export function driftDocument(drifts: readonly Drift[]): JsonObject {
  return { version: 1, drifts: drifts.map(driftObject) };
}

/** The drift document as text. */
export function driftJson(drifts: readonly Drift[]): string {
  return `${escapeJson(JSON.stringify(driftDocument(drifts), null, 2))}\n`;
}

function driftObject({ plan, pending, unfinished, protection, writes, adoption }: Drift): JsonObject {
  const entries = [...(writes ?? [])].map(([id, all]) => ({
    id,
    writes: all.map(({ at, by, from, method, path }) => ({ at, by, from, method, path })),
  }));
  return {
    plan: planObject({ ...plan, protection }),
    pending,
    unfinished,
    ...(writes === undefined ? {} : { writers: entries }),
    ...(adoption === undefined ? {} : { adoption: adoptionObject(adoption) }),
  };
}

function adoptionObject({ accepted, created, files, left, branch }: Adoption): JsonObject {
  const ids = new Set(accepted === undefined ? [] : driftRows(accepted).map(({ change }) => change.id));
  return {
    accepted: [...ids],
    files: [...files],
    ...(created === undefined ? {} : { created: created.map(({ id, file }) => ({ id, file })) }),
    left: left.map(({ code, message, resource, at }) => ({
      code,
      message,
      ...(resource === undefined ? {} : { resource }),
      ...(at === undefined ? {} : { at: { file: at.file, line: at.line, column: at.column } }),
    })),
    ...(branch === undefined ? {} : { branch: { ...branch } }),
  };
}
