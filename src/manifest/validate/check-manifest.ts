import { appendAll, memoizeByObject } from '../../model/collections.ts';
import { type DocumentDiagnostic, suggest, suggestWord, documentError, didYouMean } from '../../model/diagnostic.ts';
import type { FieldRule } from '../../model/kind.ts';
import { asArray, asObject, isObject, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import { pointer, type Pointer, tokensOf } from '../../model/pointer.ts';
import { elementToken, entriesByToken } from '../../model/spec/edit.ts';
import { grantedName } from '../../model/protection/timed-grants.ts';
import { isEnd } from '../../model/time.ts';
import { formatPlace, quoteValue } from '../json-values.ts';
import type { Manifest } from '../manifest.ts';
import { fieldNodes, findNode, readAnnotation } from '../schema-nodes.ts';

/** Finds errors that no schema can express: duplicate keys in lists, pointers to nothing, unknown targets. */
export function checkManifest(manifest: Manifest, targets: readonly string[]): readonly DocumentDiagnostic[] {
  const { view, metadata } = manifest;
  if (!view.keyed && !view.implying && !view.timed && metadata['ignore'] === undefined && metadata['targets'] === undefined) return [];
  return [
    ...findImpliedElements(manifest),
    ...timedFields(view.kind.fields).flatMap((field) => checkEnds(field, manifest.spec[field.name])),
    ...findDuplicateKeys(manifest.view.kind.fields, manifest.spec, ['spec']),
    ...textsIn(manifest.metadata['ignore']).flatMap((path, index) => checkIgnoredPath(manifest, path, index)),
    ...checkTargets(manifest.metadata, targets),
  ];
}

const implyingFields = memoizeByObject((fields: readonly FieldRule[]) => fields.filter(({ implied }) => implied !== undefined));
const timedFields = memoizeByObject((fields: readonly FieldRule[]) => fields.filter(({ timed }) => timed !== undefined));

/** Finds elements that a list contains although manifests do not state them: stated, they would differ from what is live. */
function findImpliedElements({ view: { kind }, spec }: Manifest): readonly DocumentDiagnostic[] {
  return implyingFields(kind.fields).flatMap((field) => {
    const { name, implied } = field;
    const index = asArray(spec[name]).findIndex((element) => grantedName(field, element) === implied);
    if (index === -1) return [];
    const message = `invalid value ${quoteValue(implied)} of ${name}: the gateway always includes it`;
    const hint = `remove it; ${name}: [] admits only ${implied}`;
    return [documentError('manifest/not-allowed-value', ['spec', name, String(index)], message, hint)];
  });
}

/** Finds ends that are no dates, and elements that a list has twice: with and without an end, or with two ends. */
function checkEnds(field: FieldRule, value: Json | undefined): readonly DocumentDiagnostic[] {
  const { name } = field;
  const elements = asArray(value);
  if (!elements.some(isObject)) return [];
  const names = elements.map((element) => grantedName(field, element));
  const firstOf = new Map(names.map((one, index) => [one, index] as const).toReversed());
  return elements.flatMap((element, index): readonly DocumentDiagnostic[] => {
    const place = ['spec', name, String(index)];
    const until = isObject(element) ? element['until'] : undefined;
    const invalid = typeof until === 'string' ? dateProblems(until, pointer(...place, 'until'), 'manifest/no-such-day') : [];
    if (firstOf.get(names[index] ?? null) === index) return invalid;
    const message = `duplicate value ${quoteValue(names[index])} in ${name}`;
    return [...invalid, documentError('manifest/duplicate-entry', place, message, 'remove one of them')];
  });
}

/** Returns the error about an end that is no date. */
export function dateProblems(until: string, at: Pointer, code: DocumentDiagnostic['code']): readonly DocumentDiagnostic[] {
  if (isEnd(until)) return [];
  const message = `invalid date ${quoteValue(until)}`;
  return [documentError(code, at, message, 'expected YYYY-MM-DD')];
}

function findDuplicateKeys(fields: readonly FieldRule[], value: JsonObject, tokens: readonly string[]): readonly DocumentDiagnostic[] {
  const problems: DocumentDiagnostic[] = [];
  for (const field of fields) {
    if (field.shape !== 'keyed' && field.shape !== 'object') continue;
    const below = value[field.name];
    const place = [...tokens, field.name];
    if (field.shape === 'object' && isObject(below)) appendAll(problems, findDuplicateKeys(field.fields, below, place));
    if (field.shape === 'keyed' && Array.isArray(below)) appendAll(problems, findDuplicateEntries(field.key, below, place));
  }
  return problems;
}

function findDuplicateEntries(key: string, entries: readonly Json[], place: readonly string[]): readonly DocumentDiagnostic[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const name = isObject(entry) ? entry[key] : undefined;
    if (typeof name !== 'string') return [];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const message = `duplicate ${key} ${quoteValue(name)} in ${formatPlace(place)}`;
    const at = pointer(...place, String(index), key);
    return [documentError('manifest/duplicate-entry', at, message, `give each entry a unique ${key}`)];
  });
}

function checkIgnoredPath({ view, spec }: Manifest, path: string, index: number): readonly DocumentDiagnostic[] {
  const tokens = tokensOf(path);
  const at = pointer('metadata', 'ignore', String(index));
  const wrong = (message: string, hint: string): readonly DocumentDiagnostic[] => [documentError('manifest/bad-ignore', at, message, hint)];
  const names = view.kind.fields.filter((field) => field.manifestOnly !== true).map((field) => field.name);
  const first = tokens[0] ?? '';
  if (!names.includes(first)) {
    const field = fieldNodes(findNode(view.kind.schema, ['spec']) ?? {})[first];
    if (readAnnotation(isObject(field) ? field : undefined, 'x-ostiary-read-only') !== undefined) {
      return wrong(`"${path}" is read-only and never compared`, 'remove it from ignore');
    }
    const near = suggest(first, names);
    return wrong(
      `"${path}" is not a field of ${view.kind.name}`,
      suggestWord(near && pointer(near)) ?? 'use a JSON Pointer into spec, such as /description',
    );
  }
  if (/~(?![01])/.test(path)) return wrong(`"${path}" is not a JSON Pointer`, 'write ~0 for ~ and ~1 for /');
  const position = findListPosition(view.kind.fields, spec, tokens);
  if (position !== undefined) {
    const { list, element } = position;
    const whole = `ignore the whole list (${pointer(...list)})`;
    const hint = element === undefined ? whole : `write ${pointer(...list, element)}, or ${whole}`;
    return wrong(`"${path}" is a position in a list, which changes with its other elements`, hint);
  }
  return leadsToPlace(view.kind.fields, tokens)
    ? []
    : wrong(`"${path}" is not a field of ${view.kind.name}`, `/${first} has no such field`);
}

/** A list in which a pointer gives a position, and the token of an element that it may give instead. */
type ListPosition = { readonly list: readonly string[]; readonly element: string | undefined };

/** Finds the list in which tokens give a position; an element or entry of the manifest that has this name is none. */
function findListPosition(
  fields: readonly FieldRule[],
  value: JsonObject,
  [name = '', token, ...rest]: readonly string[],
  above: readonly string[] = [],
): ListPosition | undefined {
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined || token === undefined) return undefined;
  const list = [...above, name];
  const found = value[name];
  if (field.shape === 'object') return findListPosition(field.fields, isObject(found) ? found : {}, [token, ...rest], list);
  if (field.shape !== 'keyed' && field.shape !== 'set' && field.shape !== 'list') return undefined;
  const values = asArray(found);
  const entries = field.shape === 'keyed' ? entriesByToken(field, values) : new Map(values.map((one) => [elementToken(one), one]));
  const isPosition = /^(?:0|[1-9]\d*|-)$/.test(token) && (field.shape === 'list' || !entries.has(token));
  if (isPosition) return { list, element: field.shape === 'list' ? undefined : ([...entries.keys()].find(isShort) ?? 'NAME') };
  const entry = entries.get(token);
  return field.shape === 'keyed' ? findListPosition(field.fields, isObject(entry) ? entry : {}, rest, [...list, token]) : undefined;
}

function isShort(token: string): boolean {
  return /^[\w.-]{1,40}$/.test(token);
}

/** Returns the path or its nearest parent that a manifest may ignore; undefined if there is none. */
export function findIgnorablePath(fields: readonly FieldRule[], path: Pointer): Pointer | undefined {
  for (let tokens = tokensOf(path); tokens.length > 0; tokens = tokens.slice(0, -1))
    if (leadsToPlace(fields, tokens)) return pointer(...tokens);
  return undefined;
}

/** Returns whether the tokens lead to a field, a key of a map, or an entry of a set or keyed list. */
function leadsToPlace(fields: readonly FieldRule[], tokens: readonly string[]): boolean {
  const field = fields.find(({ name }) => name === tokens[0]);
  if (field === undefined) return false;
  const rest = tokens.slice(1);
  if (rest.length === 0) return true;
  switch (field.shape) {
    case 'object':
      return leadsToPlace(field.fields, rest);
    case 'keyed':
      return rest.length === 1 || leadsToPlace(field.fields, rest.slice(1));
    case 'set':
    case 'map':
      return rest.length === 1 && rest[0] !== '';
    case 'list':
    case 'scalar':
      return false;
  }
}

/** Checks that the names in the `targets` of metadata are targets. */
export function checkTargets(metadata: Json | undefined, targets: readonly string[]): readonly DocumentDiagnostic[] {
  return textsIn(asObject(metadata)['targets']).flatMap((name, index) => {
    if (targets.includes(name)) return [];
    const hint = didYouMean(name, targets) ?? `the targets are ${targets.join(', ')}`;
    return [documentError('manifest/unknown-target', ['metadata', 'targets', String(index)], `"${name}" is not a target`, hint)];
  });
}
