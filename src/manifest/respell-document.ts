import { isObject, type Json, type JsonObject, asObject } from '../model/json.ts';
import { pointer, type Pointer, tokensOf } from '../model/pointer.ts';
import { fieldName, type KindNames, respellIgnored, respellSpec, respellValue, type Spelling } from '../model/spec/spelling.ts';
import type { DocumentEdit } from './edit/apply-edit.ts';
import { defaultsKind } from './validate/validate-manifest.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** Returns a document with the names of manifests where it has those of the gateway, at the positions in the file; the same document where it has none. */
export function respellDocument(document: ManifestDocument, spelling: Spelling): ManifestDocument {
  const { value } = document;
  const kind = isObject(value) ? value['kind'] : undefined;
  if (!isObject(value) || typeof kind !== 'string') return document;
  const spec = asObject(value['spec']);
  if (kind === defaultsKind) {
    const fields = Object.entries(spec).map(([of, stated]) => {
      const names = spelling.toManifest.get(of);
      return [of, names === undefined || !isObject(stated) ? stated : respellSpec(names, stated)] as const;
    });
    return { ...document, value: { ...value, spec: Object.fromEntries(fields) }, locate: respelledLocate(document, spelling, spec) };
  }
  const names = spelling.toManifest.get(kind);
  if (names === undefined || !isObject(value['spec'])) return document;
  const metadata = asObject(value['metadata']);
  const respelled = { metadata: respellIgnored(names, metadata), spec: respellSpec(names, spec) };
  if (respelled.metadata === metadata && respelled.spec === spec) return document;
  return {
    ...document,
    value: { ...value, ...(isObject(value['metadata']) ? { metadata: respelled.metadata } : {}), spec: respelled.spec },
    specInFile: spec,
    locate: respelledLocate(document, spelling, spec),
  };
}

function respelledLocate({ value, locate }: ManifestDocument, spelling: Spelling, spec: JsonObject): ManifestDocument['locate'] {
  return (path, part) => locate(pathInFile(value, spelling, spec, path), part);
}

/** Returns the pointer that a file has for a place: the gateway's name of the field, where the file states that alone. */
function pathInFile(value: Json, spelling: Spelling, spec: JsonObject, path: Pointer): Pointer {
  const tokens = tokensOf(path);
  const kind = isObject(value) ? value['kind'] : undefined;
  const place = kind === defaultsKind ? 2 : 1;
  const of = kind === defaultsKind ? tokens[1] : kind;
  const field = tokens[place];
  const names = typeof of === 'string' ? spelling.toGateway.get(of) : undefined;
  if (tokens[0] !== 'spec' || field === undefined || names === undefined) return path;
  const stated = kind === defaultsKind ? asObject(spec[tokens[1] ?? '']) : spec;
  const other = fieldName(names, field);
  const isOther = Object.hasOwn(stated, other) && !Object.hasOwn(stated, field);
  return isOther ? pointer(...tokens.slice(0, place), other, ...tokens.slice(place + 1)) : path;
}

/** Returns an edit of a document with the names of the gateway; a field that the file states keeps its name there. */
export function respellEdit(edit: DocumentEdit, stated: JsonObject, names: KindNames | undefined): DocumentEdit {
  const [top, field, ...rest] = tokensOf(edit.path);
  if (names === undefined || top !== 'spec' || field === undefined) return edit;
  const nameOf = (one: string): string => (Object.hasOwn(stated, one) ? one : fieldName(names, one));
  const path = pointer('spec', nameOf(field), ...rest);
  const order = 'order' in edit ? { order: edit.order.map(nameOf) } : {};
  return 'value' in edit && rest.length === 0
    ? { ...edit, path, ...order, value: respellValue(names, field, edit.value) }
    : { ...edit, path, ...order };
}
