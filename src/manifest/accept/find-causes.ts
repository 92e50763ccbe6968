import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldRule } from '../../model/field.ts';
import { isObject, type Json } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { kindOf } from '../../model/resource.ts';
import { elementToken, entriesByToken } from '../../model/spec/list-tokens.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import type { SourceMap } from '../source-map.ts';
import type { LiveDifference } from './differences.ts';

/** The manifests after the edits: what is wrong with them, and the documents that the pointers of errors lead into. */
type EditedManifests = { readonly diagnostics: readonly Diagnostic[]; readonly sources: SourceMap; readonly registry: Registry };

/**
 * Finds the wanted differences that make the edited manifests invalid, each with the message of the error. The pointer of
 * an error decides: the difference at that place, else those around it, else those of the same field, else all of the
 * resource. An error that belongs to none of them counts against all.
 */
export function findCauses(
  { diagnostics, sources, registry }: EditedManifests,
  wanted: readonly LiveDifference[],
): ReadonlyMap<LiveDifference, string> {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const causes = errors.flatMap((error) => {
    const own = wanted.filter((one) => isAbout(one, error.resource));
    const place = findPlanPath(error, sources, registry);
    return (place === undefined ? own : findNearest(own, place)).map((one) => [one, error.message] as const);
  });
  if (causes.length > 0 || errors.length === 0) return new Map(causes);
  return new Map(wanted.map((one) => [one, errors[0]?.message ?? '']));
}

function isAbout(one: LiveDifference, resource: Diagnostic['resource']): boolean {
  return one.is === 'field' ? one.id === resource : one.ends.rule === resource || one.ends.connection === resource;
}

function findNearest(own: readonly LiveDifference[], place: Pointer): readonly LiveDifference[] {
  const [field = ''] = tokensOf(place);
  const conditions = [
    (path: Pointer) => isPointerWithin(place, path),
    (path: Pointer) => isPointerWithin(path, place),
    (path: Pointer) => isPointerWithin(path, pointer(field)),
  ];
  const found = conditions.map((condition) => own.filter((one) => one.is === 'field' && condition(one.field.path)));
  return found.find((some) => some.length > 0) ?? own;
}

/** Returns the place of an error as plans write it: below spec, with tokens instead of indexes in sets and keyed lists. */
function findPlanPath({ code, pointer: path, at, resource }: Diagnostic, sources: SourceMap, registry: Registry): Pointer | undefined {
  const [top, ...below] = path === undefined ? [] : tokensOf(path);
  // Two entries with one key: the error is about the list, because either entry may be the one that does not belong.
  const tokens =
    code === 'manifest/duplicate-entry'
      ? below.slice(
          0,
          below.findLastIndex((token) => /^\d+$/.test(token)),
        )
      : below;
  if (top !== 'spec' || tokens.length === 0 || at === undefined || resource === undefined) return undefined;
  const documents = sources.findFile(at.file)?.documents ?? [];
  const document = documents.find(({ value }) => isObject(value) && isManifestOf(value, resource));
  const spec = isObject(document?.value) ? document.value['spec'] : undefined;
  return pointer(...toPlanTokens(registry.get(kindOf(resource))?.fields ?? [], spec, tokens));
}

function isManifestOf(value: { readonly [key: string]: Json }, resource: string): boolean {
  const { kind, metadata } = value;
  return isObject(metadata) && `${String(kind)}/${String(metadata['name'])}` === resource;
}

function toPlanTokens(fields: readonly FieldRule[], value: Json | undefined, tokens: readonly string[]): readonly string[] {
  const [name = '', ...rest] = tokens;
  const rule = fields.find((field) => field.name === name);
  const found = isObject(value) ? value[name] : undefined;
  const [index, ...below] = rest;
  if (rule?.shape === 'object') return rest.length === 0 ? tokens : [name, ...toPlanTokens(rule.fields, found, rest)];
  if (!Array.isArray(found) || index === undefined) return tokens;
  const entry: Json | undefined = found[Number(index)];
  if (rule?.shape === 'set' && entry !== undefined) return [name, elementToken(entry), ...below];
  if (rule?.shape !== 'keyed') return tokens;
  const normal = found.map((one: Json) => (isObject(one) ? normalizeObject(rule.fields, one) : one));
  const token = [...entriesByToken(rule, normal).keys()][Number(index)] ?? index;
  return [name, token, ...(below.length === 0 ? [] : toPlanTokens(rule.fields, entry, below))];
}
