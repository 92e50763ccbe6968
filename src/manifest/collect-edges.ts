import { addToGroup, appendAll, EdgeMap } from '../model/collections.ts';
import { type DocumentDiagnostic, type Diagnostic, type Position, documentError, didYouMean } from '../model/diagnostic.ts';
import { type DeclaredEdge, type EdgeDeclaration, type DesiredState, desiredById } from '../model/desired.ts';
import { asObject, compareText, isObject, type JsonObject, textsIn } from '../model/json.ts';
import { pointer, tokensOf, type Pointer, isPointerWithin } from '../model/pointer.ts';
import { toText } from './json-values.ts';
import type { Manifest, SelectorField } from './manifest.ts';
import type { Registry } from '../model/kind.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf, resourceId } from '../model/resource.ts';

/** A diagnostic and the manifest that it is about. */
type ManifestDiagnostic = { readonly manifest: Manifest; readonly diagnostic: DocumentDiagnostic };

type CollectedEdges = EdgeMap<DeclaredEdge>;

/** Collects the edges that manifests declare on either side or by a selector. One edge may have many declarations. */
export function collectEdges(manifests: readonly Manifest[]): {
  readonly edges: readonly DeclaredEdge[];
  readonly diagnostics: readonly ManifestDiagnostic[];
} {
  const edges: CollectedEdges = new EdgeMap();
  const diagnostics: ManifestDiagnostic[] = [];
  const excepted: EdgeEnds[] = [];
  const select = createTagSelector(manifests);
  const [toEnds, toPath] = [createEndReader(), onceForEach<Pointer>(pointer)];
  for (const manifest of manifests) {
    const own = manifest.id;
    for (const field of manifest.view.edges) {
      for (const text of textsIn(manifest.spec[field.name])) {
        addDeclarations(edges, toEnds(field, own, text), [{ by: manifest.id, how: 'listed', path: toPath(field.name, text) }]);
      }
    }
    for (const selector of manifest.view.selectors) {
      const field = manifest.view.edges.find(({ name }) => name === selector.edge);
      const value = manifest.spec[selector.name];
      if (field === undefined || !isObject(value)) continue;
      const selected = select(manifest, selector, field.refers, value);
      appendAll(
        diagnostics,
        selected.diagnostics.map((diagnostic) => ({ manifest, diagnostic })),
      );
      appendAll(
        excepted,
        textsIn(value['except']).map((name) => toEnds(field, own, name)),
      );
      const declarations = [{ by: manifest.id, how: 'selector', path: pointer(selector.name) }] as const;
      for (const name of selected.names) addDeclarations(edges, toEnds(field, own, name), declarations);
    }
  }
  return { edges: sortEdges(edges), diagnostics: [...diagnostics, ...warnOfContradictions(edges, excepted, manifests)] };
}

/** Warns if a manifest lists an edge that the selector of the other side excludes. */
function warnOfContradictions(
  edges: CollectedEdges,
  excepted: readonly EdgeEnds[],
  manifests: readonly Manifest[],
): readonly ManifestDiagnostic[] {
  if (excepted.length === 0) return [];
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  return excepted.flatMap((ends) => {
    const { rule } = ends;
    return (edges.get(ends)?.declarations ?? []).flatMap(({ by, path }) => {
      const manifest = byId.get(by);
      if (manifest === undefined || by === rule) return [];
      const message = `${manifest.id} lists "${nameOf(rule)}", which excludes it with except`;
      const hint = 'the rule applies because it is listed; remove it from one of them';
      const diagnostic = {
        code: 'manifest/selector-contradiction',
        severity: 'warning',
        pointer: `/spec${findListPath(manifest, path)}`,
        message,
        hint,
      } as const;
      return [{ manifest, diagnostic }];
    });
  });
}

/** Returns the path of a list entry with its index instead of its text. */
function findListPath(manifest: Manifest, path: Pointer): Pointer {
  const [field = '', text = ''] = tokensOf(path);
  return pointer(field, String(textsIn(manifest.spec[field]).indexOf(text)));
}

type EdgeField = { readonly edge: 'rule' | 'connection'; readonly refers: string };

/** Returns a reader of the ends of an edge; equal ids are one text, which lookups of many edges compare faster. */
function createEndReader(): (field: EdgeField, own: ResourceId, text: string) => EdgeEnds {
  const idOf = onceForEach(resourceId);
  return ({ edge, refers }, own, text) => {
    const other = idOf(refers, text);
    return edge === 'rule' ? { rule: own, connection: other } : { rule: other, connection: own };
  };
}

/** Returns a function that makes each value once: many rules list the same connections, and equal ids and paths are one text. */
function onceForEach<Value>(make: (of: string, text: string) => Value): (of: string, text: string) => Value {
  const all = new Map<string, Map<string, Value>>();
  return (of, text) => {
    const known = all.get(of) ?? new Map<string, Value>();
    const value = known.get(text) ?? make(of, text);
    all.set(of, known.set(text, value));
    return value;
  };
}

function addDeclarations(edges: CollectedEdges, { rule, connection }: EdgeEnds, declarations: readonly EdgeDeclaration[]): void {
  const found = edges.get({ rule, connection });
  // Spread, half a million edges take 100 MiB more.
  edges.set({ rule, connection, declarations: found === undefined ? declarations : [...found.declarations, ...declarations] });
}

function sortEdges(edges: CollectedEdges): readonly DeclaredEdge[] {
  return edges
    .sorted()
    .map((edge) => (edge.declarations.length < 2 ? edge : { ...edge, declarations: sortDeclarations(edge.declarations) }));
}

function sortDeclarations(declarations: readonly EdgeDeclaration[]): readonly EdgeDeclaration[] {
  return declarations.toSorted((left, right) => compareText(declarationText(left), declarationText(right)));
}

function declarationText({ by, how, path }: EdgeDeclaration): string {
  return `${by}\0${how}\0${path}`;
}

type DeferredReference = { readonly kind: string; readonly text: string; readonly at: () => Position; readonly count: number };

/** The number of names for which similar names are searched. The search is slow, and more unknown names have another cause. */
const maxSuggestions = 50;

/**
 * Reports each name that no manifest declares, once: only the gateway knows whether it exists. A name that is similar to
 * that of a manifest is a warning.
 */
export function findDeferredReferences(desired: DesiredState, registry: Registry): readonly Diagnostic[] {
  const names = collectDeclaredNames(desired);
  const deferred = [...collectReferences(desired, registry, names).values()].toSorted((left, right) =>
    compareText(`${left.kind}/${left.text}`, `${right.kind}/${right.text}`),
  );
  return deferred.map(({ kind, text, at, count }, index) => {
    const near = index < maxSuggestions ? didYouMean(text, names.get(kind) ?? []) : undefined;
    const times = count === 1 ? '' : ` (named ${count} times)`;
    return {
      code: 'manifest/deferred-reference',
      severity: near === undefined ? 'notice' : 'warning',
      message: `no manifest declares ${kind} "${text}"${times}; it must exist on the gateway`,
      hint: near ?? 'run plan to look it up',
      at: at(),
    };
  });
}

function collectDeclaredNames(desired: DesiredState): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const id of [...desired.resources, ...desired.unselected].map((resource) => resource.id)) {
    const known = names.get(kindOf(id));
    if (known === undefined) names.set(kindOf(id), new Set([nameOf(id)]));
    else known.add(nameOf(id));
  }
  return names;
}

function collectReferences(
  desired: DesiredState,
  registry: Registry,
  names: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, DeferredReference> {
  const found = new Map<string, DeferredReference>();
  const byId = desiredById(desired.resources);
  const note = (kind: string, text: string, at: () => Position): void => {
    if (names.get(kind)?.has(text) === true) return;
    const known = found.get(`${kind}/${text}`);
    found.set(`${kind}/${text}`, known === undefined ? { kind, text, at, count: 1 } : { ...known, count: known.count + 1 });
  };
  for (const resource of desired.resources) {
    for (const field of registry.get(kindOf(resource.id))?.fields ?? []) {
      const text = resource.spec[field.name];
      if (field.refers !== undefined && typeof text === 'string' && text !== '') {
        note(field.refers, text, () => resource.locate(pointer(field.name)));
      }
    }
  }
  for (const { rule, connection, declarations } of desired.edges) {
    for (const { by, path } of declarations) {
      const resource = byId.get(by);
      if (resource === undefined) continue;
      for (const end of [rule, connection]) note(kindOf(end), nameOf(end), () => resource.locate(path));
    }
  }
  return found;
}

/** The names of the manifests that a selector matches, and the errors in the selector. */
type SelectorMatch = { readonly names: readonly string[]; readonly diagnostics: readonly DocumentDiagnostic[] };

/** Creates a function that selects manifests by their tags; it builds its indexes on first use. */
export function createTagSelector(
  manifests: readonly Manifest[],
): (rule: Manifest, selector: SelectorField, kind: string, value: JsonObject) => SelectorMatch {
  const indexes = new Map<string, ReadonlyMap<string, readonly Manifest[]>>();
  const byKind = new Map<string, readonly Manifest[]>();
  return (rule, selector, kind, value) => {
    const candidates = byKind.get(kind) ?? manifests.filter((manifest) => manifest.view.kind.name === kind);
    byKind.set(kind, candidates);
    const index = indexes.get(`${kind}\0${selector.tags}`) ?? indexTags(candidates, selector.tags);
    indexes.set(`${kind}\0${selector.tags}`, index);
    const wanted = Object.entries(asObject(value['match_tags']));
    const except = new Set(textsIn(value['except']));
    const [first] = wanted;
    const near = first === undefined ? [] : (index.get(`${first[0]}=${toText(first[1])}`) ?? []);
    const matched = near.filter((manifest) => {
      const tags = manifest.spec[selector.tags];
      return isObject(tags) && wanted.every(([key, text]) => tags[key] === text);
    });
    const names = matched.map(({ name }) => name).filter((name) => !except.has(name));
    const diagnostics = [
      ...unknownNames(selector, kind, textsIn(value['except']), candidates),
      ...contradictions(rule, selector, except),
      ...ignoredTags(
        selector,
        wanted,
        candidates.filter(({ name }) => !except.has(name)),
      ),
      ...(names.length > 0 || value['allow_empty'] === true ? [] : [emptySelector(selector, kind, matched.length)]),
    ];
    return { names, diagnostics };
  };
}

function indexTags(manifests: readonly Manifest[], field: string): ReadonlyMap<string, readonly Manifest[]> {
  const index = new Map<string, Manifest[]>();
  for (const manifest of manifests) {
    const tags = manifest.spec[field];
    for (const [key, value] of Object.entries(asObject(tags))) {
      const text = `${key}=${toText(value)}`;
      addToGroup(index, text, manifest);
    }
  }
  return index;
}

function unknownNames(
  selector: SelectorField,
  kind: string,
  except: readonly string[],
  candidates: readonly Manifest[],
): readonly DocumentDiagnostic[] {
  if (except.length === 0) return [];
  const names = new Set(candidates.map(({ name }) => name));
  return except.flatMap((name, index) => {
    if (names.has(name)) return [];
    const hint = didYouMean(name, names) ?? 'except must contain names of manifests';
    const message = `no manifest declares ${kind} "${name}"`;
    return [documentError('manifest/unknown-name', ['spec', selector.name, 'except', String(index)], message, hint)];
  });
}

function contradictions(rule: Manifest, selector: SelectorField, except: ReadonlySet<string>): readonly DocumentDiagnostic[] {
  return textsIn(rule.spec[selector.edge]).flatMap((name, index) => {
    if (!except.has(name)) return [];
    const message = `"${name}" is in ${selector.edge} and in except of ${selector.name}`;
    const hint = 'the rule applies because it is listed; remove it from one of them';
    return [documentError('manifest/selector-contradiction', ['spec', selector.edge, String(index)], message, hint)];
  });
}

function ignoredTags(
  selector: SelectorField,
  wanted: readonly (readonly [string, unknown])[],
  candidates: readonly Manifest[],
): readonly DocumentDiagnostic[] {
  return wanted.flatMap(([key]) => {
    const path = pointer(selector.tags, key);
    const ignoring = candidates.find(({ metadata }) => textsIn(metadata['ignore']).some((ignored) => isPointerWithin(path, ignored)));
    if (ignoring === undefined) return [];
    const message = `the selector requires the tag "${key}", which ${ignoring.id} ignores`;
    const hint = `remove ${path} from its metadata.ignore, or add "${ignoring.name}" to except`;
    return [
      {
        code: 'manifest/selector-ignored-tag',
        severity: 'error',
        pointer: pointer('spec', selector.name, 'match_tags', key),
        part: 'key',
        message,
        hint,
      },
    ];
  });
}

function emptySelector(selector: SelectorField, kind: string, excepted: number): DocumentDiagnostic {
  const message = excepted === 0 ? `no ${kind} manifest has these tags` : `except excludes every ${kind} manifest that has these tags`;
  const hint = 'correct the tags, or set allow_empty: true';
  return { code: 'manifest/selector-empty', severity: 'error', pointer: pointer('spec', selector.name), part: 'key', message, hint };
}
