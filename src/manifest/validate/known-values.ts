import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { suggest } from '../../model/suggest.ts';
import { suggestWord, formatPlace, quoteValue } from '../wording.ts';
import { resolveReference, fieldNodes } from './schema-nodes.ts';

/** The parts of a schema that lead to lists of known values. */
export type KnownValues = {
  readonly known?: ReadonlySet<string>;
  readonly fields?: readonly (readonly [string, KnownValues])[];
  readonly entries?: KnownValues;
};

/** Finds the lists of known values in a schema; returns undefined if there are none. */
export function findKnownValues(schema: JsonObject, node: JsonObject): KnownValues | undefined {
  const known = Array.isArray(node['x-ostiary-known']) ? new Set(node['x-ostiary-known'].map(String)) : undefined;
  const fields = Object.entries(fieldNodes(node)).flatMap(([name, field]) => {
    const below = isObject(field) ? findKnownValues(schema, resolveReference(schema, field)) : undefined;
    return below === undefined ? [] : [[name, below] as const];
  });
  const entries = isObject(node['items']) ? findKnownValues(schema, resolveReference(schema, node['items'])) : undefined;
  if (known === undefined && fields.length === 0 && entries === undefined) return undefined;
  return {
    ...(known === undefined ? {} : { known }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(entries === undefined ? {} : { entries }),
  };
}

/** Tells whether all values are known. This fast check suffices for nearly all manifests. */
export function hasOnlyKnownValues(familiar: KnownValues | undefined, value: Json | undefined): boolean {
  if (familiar === undefined || value === undefined || value === null) return true;
  if (typeof value === 'string') return familiar.known === undefined || value === '' || familiar.known.has(value);
  const { fields, entries } = familiar;
  if (fields !== undefined && isObject(value)) return fields.every(([name, below]) => hasOnlyKnownValues(below, value[name]));
  return entries === undefined || !Array.isArray(value) || value.every((entry: Json) => hasOnlyKnownValues(entries, entry));
}

/** Warns of unknown values: a gateway may support more, but a typo is more likely. */
export function checkKnownValues(
  familiar: KnownValues | undefined,
  value: Json | undefined,
  tokens: readonly string[],
): readonly DocumentDiagnostic[] {
  if (familiar === undefined || hasOnlyKnownValues(familiar, value)) return [];
  const { known, fields = [], entries } = familiar;
  if (typeof value === 'string') {
    const message = `${quoteValue(value)} is not a known value of ${formatPlace(tokens)}`;
    const hint = suggestWord(suggest(value, known ?? [])) ?? 'it is sent as it stands; the gateway decides';
    return [{ code: 'manifest/unfamiliar-value', severity: 'warning', pointer: pointer(...tokens), message, hint }];
  }
  if (Array.isArray(value)) return value.flatMap((entry: Json, index) => checkKnownValues(entries, entry, [...tokens, String(index)]));
  return isObject(value) ? fields.flatMap(([name, below]) => checkKnownValues(below, value[name], [...tokens, name])) : [];
}
