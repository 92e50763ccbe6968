import type { FieldRule } from '../../model/field.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { suggest } from '../../model/suggest.ts';
import type { Manifest } from '../manifest.ts';
import { didYouMean, placeName, quoted, type Problem } from '../wording.ts';
import { textsOf } from '../to-resource.ts';
import { annotation, fieldsOf, nodeAt } from './schema-nodes.ts';

/** Finds what a schema cannot say of a valid manifest: doubled keys of lists, pointers to nothing, unknown targets. */
export function checkManifest(manifest: Manifest, targets: readonly string[]): readonly Problem[] {
  if (!manifest.view.keyed && manifest.metadata['ignore'] === undefined && manifest.metadata['targets'] === undefined) return [];
  return [
    ...duplicateKeys(manifest.view.kind.fields, manifest.spec, ['spec']),
    ...textsOf(manifest.metadata['ignore']).flatMap((path, index) => badIgnore(manifest, path, index)),
    ...textsOf(manifest.metadata['targets']).flatMap((name, index) => unknownTarget(name, index, targets)),
  ];
}

function duplicateKeys(fields: readonly FieldRule[], value: JsonObject, tokens: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (const field of fields) {
    if (field.shape !== 'keyed' && field.shape !== 'object') continue;
    const below = value[field.name];
    const place = [...tokens, field.name];
    if (field.shape === 'object' && isObject(below)) problems.push(...duplicateKeys(field.fields, below, place));
    if (field.shape === 'keyed' && Array.isArray(below)) problems.push(...doubledEntries(field.key, below, place));
  }
  return problems;
}

function doubledEntries(key: string, entries: readonly Json[], place: readonly string[]): readonly Problem[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const name = isObject(entry) ? entry[key] : undefined;
    if (typeof name !== 'string') return [];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const message = `${quoted(name)} is the ${key} of two entries of ${placeName(place)}`;
    const at = pointer(...place, String(index), key);
    return [{ code: 'manifest/duplicate-entry', severity: 'error', at, message, hint: `give each entry a ${key} of its own` }];
  });
}

function badIgnore({ view }: Manifest, path: string, index: number): readonly Problem[] {
  const tokens = tokensOf(path);
  const at = pointer('metadata', 'ignore', String(index));
  const wrong = (message: string, hint: string): readonly Problem[] => [
    { code: 'manifest/bad-ignore', severity: 'error', at, message, hint },
  ];
  const names = view.kind.fields.filter((field) => field.manifestOnly !== true).map((field) => field.name);
  const first = tokens[0] ?? '';
  if (!names.includes(first)) {
    const field = fieldsOf(nodeAt(view.kind.schema, ['spec']) ?? {})[first];
    if (annotation(isObject(field) ? field : undefined, 'x-ostiary-read-only') !== undefined) {
      return wrong(`"${path}" is read-only and never compared`, 'leave it out of ignore');
    }
    const near = suggest(first, names);
    return wrong(
      `"${path}" points to no field of ${view.kind.name}`,
      didYouMean(near && pointer(near)) ?? 'write a JSON Pointer into spec, such as /description',
    );
  }
  if (/~(?![01])/.test(path)) return wrong(`"${path}" is no JSON Pointer`, 'write ~0 for ~ and ~1 for /');
  return reaches(view.kind.fields, tokens) ? [] : wrong(`"${path}" points to no field of ${view.kind.name}`, `/${first} has no such place`);
}

/** The path, or the nearest one above it, that a manifest may ignore; undefined where there is none. */
export function ignorablePath(fields: readonly FieldRule[], path: Pointer): Pointer | undefined {
  for (let tokens = tokensOf(path); tokens.length > 0; tokens = tokens.slice(0, -1)) if (reaches(fields, tokens)) return pointer(...tokens);
  return undefined;
}

/** Tells whether the tokens lead to a field, a key of a map, or an entry of a set or keyed list. */
function reaches(fields: readonly FieldRule[], tokens: readonly string[]): boolean {
  const field = fields.find(({ name }) => name === tokens[0]);
  if (field === undefined) return false;
  const rest = tokens.slice(1);
  if (rest.length === 0) return true;
  switch (field.shape) {
    case 'object':
      return reaches(field.fields, rest);
    case 'keyed':
      return rest.length === 1 || reaches(field.fields, rest.slice(1));
    case 'set':
    case 'map':
      return rest.length === 1 && rest[0] !== '';
    case 'list':
    case 'scalar':
      return false;
  }
}

/** A name of `metadata.targets` that no target has. */
export function unknownTarget(name: string, index: number, targets: readonly string[]): readonly Problem[] {
  if (targets.includes(name)) return [];
  const hint = didYouMean(suggest(name, targets)) ?? `the targets are ${targets.join(', ')}`;
  return [
    {
      code: 'manifest/unknown-target',
      severity: 'error',
      at: pointer('metadata', 'targets', String(index)),
      message: `"${name}" is not a target`,
      hint,
    },
  ];
}
