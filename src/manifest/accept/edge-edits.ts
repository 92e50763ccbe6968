import type { DeclaredEdge } from '../../model/desired.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { edgeKey, type EdgeEnds, type LiveState } from '../../model/live.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { readStrings } from '../json-values.ts';
import { collectEdges, createTagSelector } from '../collect-edges.ts';
import { type KindView, type SelectorField, findEditableLayer, type Manifest } from '../manifest.ts';
import type { LayerEdit } from './field-edits.ts';

/** The ends of edges by edge key. */
type EdgesByKey = ReadonlyMap<string, EdgeEnds>;

/** Lists the edges that manifests declare by the names of their ends; a uid counts as the name of its object. */
export function listDeclaredEdges(
  manifests: readonly Manifest[],
  live: LiveState,
): ReadonlyMap<string, { readonly ends: EdgeEnds; readonly edge: DeclaredEdge }> {
  const uids = new Map(live.resources.map(({ id, uid }) => [resourceId(kindOf(id), uid.toLowerCase()), id]));
  const named = new Set<ResourceId>([...manifests.map(({ id }) => id), ...live.resources.map(({ id }) => id)]);
  const end = ({ kind, text }: DeclaredEdge['rule']): ResourceId => {
    const id = resourceId(kind, text);
    return named.has(id) ? id : (uids.get(resourceId(kind, text.toLowerCase())) ?? id);
  };
  return new Map(
    collectEdges(manifests).edges.map((edge) => {
      const ends = { rule: end(edge.rule), connection: end(edge.connection) };
      return [edgeKey(ends), { ends, edge }];
    }),
  );
}

/** Creates the edits after which manifests declare exactly the wanted edges: names in lists, and exceptions of selectors. */
export function createEdgeEdits(
  manifests: readonly Manifest[],
  wanted: EdgesByKey,
  live: LiveState,
): readonly (LayerEdit & { readonly key: string })[] {
  const declared = listDeclaredEdges(manifests, live);
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  const lost = [...declared].filter(([key]) => !wanted.has(key));
  const gained = [...wanted].filter(([key]) => !declared.has(key)).toSorted(([left], [right]) => compareText(left, right));
  const undeclared = lost.flatMap(([key, { edge }]) =>
    edge.declarations.flatMap(({ by, how, path }) => {
      const manifest = byId.get(by);
      if (manifest === undefined) return [];
      const edit = how === 'listed' ? removeFromList(manifest, tokensOf(path)) : addException(manifest, path, edge.connection.text);
      return edit.map((one) => ({ ...one, key }));
    }),
  );
  const select = createTagSelector(manifests);
  const added = gained.flatMap(([key, ends]) => declareEdge(ends, byId, select).map((edit) => ({ ...edit, key })));
  return [...undeclared, ...added, ...allowEmptySelectors(manifests, [...undeclared, ...added])];
}

function removeFromList(manifest: Manifest, [field = '', text = '']: readonly string[]): readonly LayerEdit[] {
  const place = ['spec', field];
  const layer = findEditableLayer(manifest, place);
  return [{ layer, edit: { edit: 'drop', path: pointer(...place), value: text } }];
}

/** Adds an exception to a selector, in the document that states the exceptions, else the selector. */
function addException(manifest: Manifest, path: string, name: string): readonly LayerEdit[] {
  const place = ['spec', ...tokensOf(path)];
  const own = [...place, 'except'];
  const layer = findEditableLayer(manifest, own, place);
  return [{ layer, edit: { edit: 'add', path: pointer(...own), value: name, order: ['match_tags', 'except', 'allow_empty'] } }];
}

/** Allows selectors to be empty if their new exceptions exclude every match. */
function allowEmptySelectors(
  manifests: readonly Manifest[],
  edits: readonly LayerEdit[],
): readonly (LayerEdit & { readonly key: string })[] {
  const select = createTagSelector(manifests);
  return manifests.flatMap((rule) =>
    rule.view.selectors.flatMap((selector) => {
      const value = rule.spec[selector.name];
      const kind = rule.view.edges.find(({ name }) => name === selector.edge)?.refers;
      if (!isObject(value) || kind === undefined || value['allow_empty'] === true) return [];
      const path = pointer('spec', selector.name, 'except');
      const news = edits.filter(({ layer, edit }) => rule.layers.includes(layer) && edit.path === path && edit.edit === 'add');
      if (news.length === 0) return [];
      const names = news.flatMap(({ edit }) => (edit.edit === 'add' ? [edit.value] : []));
      const except: readonly Json[] = [...readStrings(value['except']), ...names];
      if (select(rule, selector, kind, { ...value, except }).names.length > 0) return [];
      const layer = findEditableLayer(rule, ['spec', selector.name]);
      return [{ layer, key: '', edit: { edit: 'set', path: pointer('spec', selector.name, 'allow_empty'), value: true } as const }];
    }),
  );
}

type EdgeSide = { readonly manifest: Manifest; readonly field: KindView['edges'][number]; readonly other: ResourceId };

/**
 * Creates the edits that declare an edge: an exception of a matching selector is removed; otherwise the edge is listed on
 * the side that states its edges, the connection's if both or none do.
 */
function declareEdge(
  ends: EdgeEnds,
  byId: ReadonlyMap<ResourceId, Manifest>,
  select: ReturnType<typeof createTagSelector>,
): readonly LayerEdit[] {
  const sides = [findSide(byId.get(ends.connection), ends.rule), findSide(byId.get(ends.rule), ends.connection)].flatMap(
    (side) => side ?? [],
  );
  const freed = sides.flatMap((side) => side.manifest.view.selectors.map((selector) => removeException(side, selector, select)));
  const edits = freed.flatMap((one) => one.edits);
  if (freed.some(({ isSelected }) => isSelected)) return edits;
  const side =
    sides.find(({ manifest, field }) => readStrings(manifest.spec[field.name]).length > 0) ??
    sides.find(({ manifest, field }) => manifest.spec[field.name] !== undefined) ??
    sides[0];
  if (side === undefined) return edits;
  const place = ['spec', side.field.name];
  const layer = findEditableLayer(side.manifest, place);
  const order = side.manifest.view.kind.fields.map(({ name }) => name);
  return [...edits, { layer, edit: { edit: 'add', path: pointer(...place), value: nameOf(side.other), order } }];
}

function findSide(manifest: Manifest | undefined, other: ResourceId): EdgeSide | undefined {
  const field = manifest?.view.edges.find(({ refers }) => refers === kindOf(other));
  return manifest === undefined || field === undefined ? undefined : { manifest, field, other };
}

/** Removes a name from a selector's exceptions, and returns whether the selector then matches it. */
function removeException(
  { manifest, field, other }: EdgeSide,
  selector: SelectorField,
  select: ReturnType<typeof createTagSelector>,
): { readonly edits: readonly LayerEdit[]; readonly isSelected: boolean } {
  const value = manifest.spec[selector.name];
  const name = nameOf(other);
  const except = isObject(value) ? readStrings(value['except']) : [];
  if (selector.edge !== field.name || !isObject(value) || !except.includes(name)) return { edits: [], isSelected: false };
  const place = ['spec', selector.name, 'except'];
  const layer = findEditableLayer(manifest, place);
  const without: JsonObject = { ...value, except: except.filter((one) => one !== name) };
  const isSelected = select(manifest, selector, field.refers, without).names.includes(name);
  return { edits: [{ layer, edit: { edit: 'drop', path: pointer(...place), value: name } }], isSelected };
}
