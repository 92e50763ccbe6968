import { compareText, isObject, type Json, type JsonObject, asArray } from '../json.ts';
import { type Pointer, pointer } from '../pointer.ts';

/** A group that a manifest grants through the whole day, or before the time, `until`. `path` leads to the group below spec. */
export type TimedGrant = {
  readonly path: Pointer;
  readonly group: string;
  readonly until: string;
  readonly reason?: string;
  /** The end is over, so the manifest no longer grants it. */
  readonly ended?: true;
};

/** The part of a field's rule that decides whether its elements may have an end. */
type TimedField = { readonly name: string; readonly timed?: string };

/** Returns ` until 2026-12-31 (migration)`. */
export function endText({ until, reason }: Pick<TimedGrant, 'until' | 'reason'>): string {
  return ` until ${until}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Returns until when access is granted: ` until 2026-12-31 (migration)`; empty without an end. */
export function termText({ until, reason }: { readonly until?: string | undefined; readonly reason?: string | undefined }): string {
  return until === undefined ? '' : endText({ until, ...(reason === undefined ? {} : { reason }) });
}

/** Returns the element of a list that may have an end: the name itself, or the one in its map. */
export function grantedName({ timed }: Pick<TimedField, 'timed'>, element: Json): Json {
  return timed !== undefined && isObject(element) ? (element[timed] ?? element) : element;
}

/** Returns a spec in which every element is a name, without its end; the same spec if none has an end. */
export function withoutEnds(fields: readonly TimedField[], spec: JsonObject): JsonObject {
  const timed = fields.filter((field) => field.timed !== undefined && hasEnds(spec[field.name]));
  if (timed.length === 0) return spec;
  const named = timed.map((field) => [field.name, asArray(spec[field.name]).map((element) => grantedName(field, element))] as const);
  return { ...spec, ...Object.fromEntries(named) };
}

/** Lists the elements with an end in a spec, by their paths. */
export function timedGrants(fields: readonly TimedField[], spec: JsonObject): readonly TimedGrant[] {
  const grants = fields.flatMap((field) =>
    (field.timed === undefined ? [] : asArray(spec[field.name])).flatMap((element): readonly TimedGrant[] => {
      const group = grantedName(field, element);
      if (!isObject(element) || typeof group !== 'string') return [];
      const { until, reason } = element;
      const why = typeof reason === 'string' ? { reason } : {};
      return typeof until === 'string' ? [{ path: pointer(field.name, group), group, until, ...why }] : [];
    }),
  );
  return grants.toSorted((left, right) => compareText(left.path, right.path));
}

function hasEnds(value: Json | undefined): boolean {
  return asArray(value).some(isObject);
}
