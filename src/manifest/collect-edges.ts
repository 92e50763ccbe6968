import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { DeclaredEdge, EdgeDeclaration } from '../model/desired.ts';
import { compareText, isObject } from '../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import { readStrings } from './json-values.ts';
import type { Manifest } from './manifest.ts';
import { createTagSelector } from './tag-selector.ts';

/** A diagnostic and the manifest that it is about. */
export type ManifestDiagnostic = { readonly manifest: Manifest; readonly diagnostic: DocumentDiagnostic };

type EdgeEnds = Pick<DeclaredEdge, 'rule' | 'connection'>;
type CollectedEdges = Map<string, EdgeEnds & { readonly declarations: EdgeDeclaration[] }>;

/** Collects the edges that manifests declare on either side or by a selector. One edge may have many declarations. */
export function collectEdges(manifests: readonly Manifest[]): {
  readonly edges: readonly DeclaredEdge[];
  readonly diagnostics: readonly ManifestDiagnostic[];
} {
  const edges: CollectedEdges = new Map();
  const diagnostics: ManifestDiagnostic[] = [];
  const excepted: EdgeEnds[] = [];
  const select = createTagSelector(manifests);
  for (const manifest of manifests) {
    const own = { kind: manifest.view.kind.name, text: manifest.name };
    for (const field of manifest.view.edges) {
      for (const text of readStrings(manifest.spec[field.name])) {
        addDeclaration(edges, toEnds(field, own, text), { by: manifest.id, how: 'listed', path: pointer(field.name, text) });
      }
    }
    for (const selector of manifest.view.selectors) {
      const field = manifest.view.edges.find(({ name }) => name === selector.edge);
      const value = manifest.spec[selector.name];
      if (field === undefined || !isObject(value)) continue;
      const selected = select(manifest, selector, field.refers, value);
      diagnostics.push(...selected.diagnostics.map((diagnostic) => ({ manifest, diagnostic })));
      excepted.push(...readStrings(value['except']).map((name) => toEnds(field, own, name)));
      for (const name of selected.names) {
        addDeclaration(edges, toEnds(field, own, name), { by: manifest.id, how: 'selector', path: pointer(selector.name) });
      }
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
    return (edges.get(edgeKeyOf(ends))?.declarations ?? []).flatMap(({ by, path }) => {
      const manifest = byId.get(by);
      if (manifest === undefined || by === `${rule.kind}/${rule.text}`) return [];
      const message = `${manifest.id} lists "${rule.text}", which leaves it out by except`;
      const hint = 'it is listed, so the rule applies; take it out of one of them';
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
  return pointer(field, String(readStrings(manifest.spec[field]).indexOf(text)));
}

type End = EdgeEnds['rule'];

function toEnds(field: { readonly edge: 'rule' | 'connection'; readonly refers: string }, own: End, text: string): EdgeEnds {
  const other = { kind: field.refers, text };
  return field.edge === 'rule' ? { rule: own, connection: other } : { rule: other, connection: own };
}

function edgeKeyOf({ rule, connection }: EdgeEnds): string {
  return `${rule.kind}\0${rule.text}\0${connection.kind}\0${connection.text}`;
}

function addDeclaration(edges: CollectedEdges, { rule, connection }: EdgeEnds, declaration: EdgeDeclaration): void {
  const key = edgeKeyOf({ rule, connection });
  const found = edges.get(key);
  if (found === undefined) edges.set(key, { rule, connection, declarations: [declaration] });
  else found.declarations.push(declaration);
}

function sortEdges(edges: CollectedEdges): readonly DeclaredEdge[] {
  return [...edges]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, { rule, connection, declarations }]) => ({ rule, connection, declarations: sortDeclarations(declarations) }));
}

function sortDeclarations(declarations: readonly EdgeDeclaration[]): readonly EdgeDeclaration[] {
  if (declarations.length < 2) return declarations;
  return declarations.toSorted((left, right) => compareText(declarationText(left), declarationText(right)));
}

function declarationText({ by, how, path }: EdgeDeclaration): string {
  return `${by}\0${how}\0${path}`;
}
