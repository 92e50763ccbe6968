import { type DialectFields, hasField } from '../../model/gateway.ts';
import { isDefaultsPath, type SourceFile } from '../../model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject, asObject } from '../../model/json.ts';
import type { FieldRule, Registry } from '../../model/kind.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import { kindOf } from '../../model/resource.ts';
import { withoutEnds } from '../../model/protection/timed-grants.ts';
import { createKindView, type Manifest } from '../manifest.ts';
import { readDefaults } from '../read-defaults.ts';
import { createSourceMap } from '../source-map.ts';
import type { Spelling } from '../../model/spec/spelling.ts';
import { respellDocument } from '../respell-document.ts';
import { parseLeniently } from '../yaml/parse-documents.ts';
import type { DraftManifest } from './draft-manifests.ts';

/** The valid files of a project, and the gateway whose objects are drafted. */
type DefaultsContext = {
  readonly files: readonly SourceFile[];
  readonly registry: Registry;
  readonly speech: DialectFields;
  /** Returns the path of a file relative to the folder of the config file. */
  readonly placeOf: (path: string) => string;
  readonly spelling: Spelling | undefined;
};

/** Creates the function that removes from a draft what the defaults of its folder give, and resets what only they give. */
export function createDefaultsSubtraction({
  files,
  registry,
  speech,
  placeOf,
  spelling,
}: DefaultsContext): (draft: DraftManifest, path: string) => JsonObject {
  const pages = files
    .filter(({ path }) => isDefaultsPath(path))
    .map((file) => ({ file: { ...file, path: placeOf(file.path) }, ...parseLeniently(file) }))
    .map((page) => (spelling === undefined ? page : { ...page, documents: page.documents.map((one) => respellDocument(one, spelling)) }));
  const defaults = readDefaults(
    createSourceMap(pages, () => undefined),
    pages,
    (path) => path,
  );
  const views = new Map([...registry].map(([name, kind]) => [name, createKindView(kind)]));
  return ({ id, value }, path) => {
    const kind = kindOf(id);
    const view = views.get(kind);
    const below: Manifest | undefined = view === undefined ? undefined : defaults.find(path, view);
    if (view === undefined || below === undefined) return value;
    const fields = view.kind.fields.filter((field) => field.secret === undefined && hasField(speech, kind, field));
    return { ...value, spec: subtractFields(fields, asObject(value['spec']), withoutEnds(fields, below.spec)) };
  };
}

function subtractFields(fields: readonly FieldRule[], stated: JsonObject, below: JsonObject): JsonObject {
  const left: Record<string, Json> = { ...stated };
  for (const field of fields) {
    const { name } = field;
    const value = subtractValue(field, stated[name], below[name]);
    if (value === undefined) delete left[name];
    else left[name] = value;
  }
  return left;
}

/** Returns the value that gives the stated one over the defaults: none if the defaults give it, null if it is omitted but the defaults give another. */
function subtractValue(field: FieldRule, stated: Json | undefined, below: Json | undefined): Json | undefined {
  if (below === undefined) return stated;
  if (stated === undefined) return equal(normalizeValue(field, below), field.empty) ? undefined : null;
  if (equal(normalizeValue(field, stated), normalizeValue(field, below))) return undefined;
  if (!isObject(stated) || !isObject(below)) return stated;
  if (field.shape === 'object') return subtractFields(field.fields, stated, below);
  return field.shape === 'map' ? subtractMap(stated, below) : stated;
}

function subtractMap(stated: JsonObject, below: JsonObject): JsonObject {
  const own = Object.entries(stated).filter(([key, value]) => !equal(below[key], value));
  const removed = Object.keys(below).filter((key) => !Object.hasOwn(stated, key));
  return Object.fromEntries([...own, ...removed.map((key) => [key, null] as const)]);
}
