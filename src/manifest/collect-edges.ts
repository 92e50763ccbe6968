import type { DeclaredEdge, EdgeDeclaration } from '../model/desired.ts';
import { compareText, isObject } from '../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import type { Manifest } from './manifest.ts';
import type { Problem } from './wording.ts';
import { textsOf } from './to-resource.ts';
import { tagSelector } from './tag-selector.ts';

/** A problem of one manifest. */
export type ManifestProblem = { readonly manifest: Manifest; readonly problem: Problem };

type Ends = Pick<DeclaredEdge, 'rule' | 'connection'>;
type Collected = Map<string, Ends & { readonly declarations: EdgeDeclaration[] }>;

/** Collects the edges that manifests declare, on either side or by a selector; one edge may be declared many times. */
export function collectEdges(manifests: readonly Manifest[]): {
  readonly edges: readonly DeclaredEdge[];
  readonly problems: readonly ManifestProblem[];
} {
  const edges: Collected = new Map();
  const problems: ManifestProblem[] = [];
  const excepted: Ends[] = [];
  const select = tagSelector(manifests);
  for (const manifest of manifests) {
    const own = { kind: manifest.view.kind.name, text: manifest.name };
    for (const field of manifest.view.edges) {
      for (const text of textsOf(manifest.spec[field.name])) {
        add(edges, endsOf(field, own, text), { by: manifest.id, how: 'listed', path: pointer(field.name, text) });
      }
    }
    for (const selector of manifest.view.selectors) {
      const field = manifest.view.edges.find(({ name }) => name === selector.edge);
      const value = manifest.spec[selector.name];
      if (field === undefined || !isObject(value)) continue;
      const selected = select(manifest, selector, field.refers, value);
      problems.push(...selected.problems.map((problem) => ({ manifest, problem })));
      excepted.push(...textsOf(value['except']).map((name) => endsOf(field, own, name)));
      for (const name of selected.names) {
        add(edges, endsOf(field, own, name), { by: manifest.id, how: 'selector', path: pointer(selector.name) });
      }
    }
  }
  return { edges: inOrder(edges), problems: [...problems, ...contradicted(edges, excepted, manifests)] };
}

/** Warns where a manifest lists an edge that the other end's selector leaves out. */
function contradicted(edges: Collected, excepted: readonly Ends[], manifests: readonly Manifest[]): readonly ManifestProblem[] {
  if (excepted.length === 0) return [];
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  return excepted.flatMap((ends) => {
    const { rule } = ends;
    return (edges.get(keyOf(ends))?.declarations ?? []).flatMap(({ by, path }) => {
      const manifest = byId.get(by);
      if (manifest === undefined || by === `${rule.kind}/${rule.text}`) return [];
      const message = `${manifest.id} lists "${rule.text}", which leaves it out by except`;
      const hint = 'it is listed, so the rule applies; take it out of one of them';
      const problem = {
        code: 'manifest/selector-contradiction',
        severity: 'warning',
        at: `/spec${listPath(manifest, path)}`,
        message,
        hint,
      } as const;
      return [{ manifest, problem }];
    });
  });
}

/** The path of a list's entry by its index. */
function listPath(manifest: Manifest, path: Pointer): Pointer {
  const [field = '', text = ''] = tokensOf(path);
  return pointer(field, String(textsOf(manifest.spec[field]).indexOf(text)));
}

type End = Ends['rule'];

function endsOf(field: { readonly edge: 'rule' | 'connection'; readonly refers: string }, own: End, text: string): Ends {
  const other = { kind: field.refers, text };
  return field.edge === 'rule' ? { rule: own, connection: other } : { rule: other, connection: own };
}

function keyOf({ rule, connection }: Ends): string {
  return `${rule.kind}\0${rule.text}\0${connection.kind}\0${connection.text}`;
}

function add(edges: Collected, { rule, connection }: Ends, declaration: EdgeDeclaration): void {
  const key = keyOf({ rule, connection });
  const found = edges.get(key);
  if (found === undefined) edges.set(key, { rule, connection, declarations: [declaration] });
  else found.declarations.push(declaration);
}

function inOrder(edges: Collected): readonly DeclaredEdge[] {
  return [...edges]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, { rule, connection, declarations }]) => ({ rule, connection, declarations: sorted(declarations) }));
}

function sorted(declarations: readonly EdgeDeclaration[]): readonly EdgeDeclaration[] {
  if (declarations.length < 2) return declarations;
  return declarations.toSorted((left, right) => compareText(declarationText(left), declarationText(right)));
}

function declarationText({ by, how, path }: EdgeDeclaration): string {
  return `${by}\0${how}\0${path}`;
}
