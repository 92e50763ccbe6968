import { createHash } from 'node:crypto';
import type { DesiredResource, DesiredState } from '../model/desired.ts';
import { hasErrors, sortDiagnostics, type Checked, type Diagnostic, type DocumentDiagnostic } from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { isPointerWithin, type Pointer } from '../model/pointer.ts';
import type { Policy } from '../model/protection/policy.ts';
import type { ResourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import { checkManifest } from './validate/check-manifest.ts';
import { locateDiagnostic, type SourceMap } from './source-map.ts';
import { removeDuplicates, readDocuments } from './read-documents.ts';
import { collectEdges } from './collect-edges.ts';
import { createKindView } from './kind-view.ts';
import { toGatewayKey, createManifestLocate, type Manifest } from './manifest.ts';
import { mergeOverlays } from './merge-overlays.ts';
import { policyKind, readPolicies } from './read-policies.ts';
import { checkSecrets, textsOf, toResource } from './to-resource.ts';
import type { SecretRules, SecretSource } from './secrets/read-secret.ts';
import { isSelected, selectManifests, type Selection } from './select-manifests.ts';
import { hasOnlyKnownValues, checkKnownValues } from './validate/known-values.ts';

/** Everything that decides what the manifests of one target want. */
export type LoadInput = {
  readonly files: readonly SourceFile[];
  /** The files of each overlay folder, in the order in which they apply. */
  readonly overlays: readonly (readonly SourceFile[])[];
  readonly target: string;
  /** The names of all targets. */
  readonly targets: readonly string[];
  readonly selection?: Selection;
  /** Prefixes that names of `valueFrom.env` must have. */
  readonly secretPrefixes: readonly string[];
  /** Prefixes of references that the gateway follows. */
  readonly referencePrefixes: readonly string[];
  /** Reads a secret's source, of selected manifests alone; without it sources stay unresolved. */
  readonly resolve?: (source: SecretSource) => Checked<Uint8Array | string>;
  /** The only resources whose sources are read; every selected one's unless told. */
  readonly resolveOnly?: ReadonlySet<string>;
  readonly registry: Registry;
  /** Looks through each selected resource for what no schema says. */
  readonly inspect?: (resource: DesiredResource) => readonly DocumentDiagnostic[];
  /** A file's path as it counts for the tree hash, whoever reads it from wherever; as given unless told. */
  readonly pathInTree?: (path: string) => string;
};

/** Reads the manifests of a target into one state; every mistake is a diagnostic, and with an error there is no state. */
export function loadManifests(input: LoadInput): Checked<DesiredState> {
  const { sources, manifests, policies, diagnostics } = readTargetManifests(input);
  const sound = !hasErrors(diagnostics);
  const { resources, diagnostics: found } = toResources(sources, manifests, input);
  diagnostics.push(...found);
  const { edges, problems } = collectEdges(manifests);
  const selected = selectManifests(manifests, input.selection);
  if (sound) {
    diagnostics.push(
      ...problems.map(({ manifest, problem }) => locateDiagnostic(sources, createManifestLocate(manifest), problem, manifest.id)),
      ...selected.diagnostics,
    );
    if (manifests.length === 0) diagnostics.push(noManifests(input.target));
  }
  const sorted = sortDiagnostics(diagnostics);
  if (hasErrors(sorted)) return { diagnostics: sorted };
  const { ids } = selected;
  const chosen = (id: ResourceId): boolean => ids === undefined || ids.has(id);
  const value = {
    resources: resources.filter(({ id }) => chosen(id)),
    edges: edges.filter(({ rule, connection }) => chosen(`${rule.kind}/${rule.text}`) || chosen(`${connection.kind}/${connection.text}`)),
    ...(policies.length === 0 ? {} : { policies }),
    tree: hashTree([...input.files, ...input.overlays.flat()], input.pathInTree),
    unselected: resources.filter(({ id }) => !chosen(id)).map(({ id, key, ignore }) => ({ id, key, ignore })),
    notices: sorted,
    diagnose: createDiagnose(sources, manifests),
  };
  return { value, diagnostics: sorted };
}

/** Prepares to tell of what is found later; the manifests are sorted by id when that is first asked for. */
function createDiagnose(sources: SourceMap, manifests: readonly Manifest[]): NonNullable<DesiredState['diagnose']> {
  let byId: ReadonlyMap<ResourceId, Manifest> | undefined;
  return (id, finding) => {
    byId ??= new Map(manifests.map((manifest) => [manifest.id, manifest]));
    const manifest = byId.get(id);
    if (manifest === undefined) throw new Error(`${id} has no manifest`);
    return locateDiagnostic(sources, createManifestLocate(manifest), finding, id);
  };
}

/** The policies that files declare for a target, whatever else is wrong with the files' manifests. */
export function loadPolicies({
  files,
  target,
  targets,
  registry,
}: Pick<LoadInput, 'files' | 'target' | 'targets' | 'registry'>): Checked<readonly Policy[]> {
  // Other files have none: reading them would take as long as reading all manifests again.
  const some = files.filter(({ text }) => text.includes(policyKind));
  const views = new Map([...registry].map(([name, kind]) => [name, createKindView(kind)]));
  const { sources, policies, diagnostics } = readDocuments(some, [], views);
  const unread = diagnostics.filter(({ severity, resource }) => severity === 'error' && resource === undefined);
  const { policies: value, diagnostics: found } = readPolicies(sources, policies, { name: target, all: targets });
  return { value, diagnostics: [...unread, ...found] };
}

type TargetManifests = {
  readonly sources: SourceMap;
  readonly manifests: readonly Manifest[];
  readonly policies: readonly Policy[];
  readonly diagnostics: Diagnostic[];
};

/** Reads the manifests that are for the target, overlays merged, sorted by id. */
export function readTargetManifests(input: LoadInput): TargetManifests {
  const views = new Map([...input.registry].map(([name, kind]) => [name, createKindView(kind)]));
  const { sources, base, invalid, overlays, policies, declared, complete, diagnostics } = readDocuments(input.files, input.overlays, views);
  const asked = readPolicies(sources, policies, { name: input.target, all: input.targets });
  const here = base.filter((manifest) => isFor(manifest, input.target));
  const unique = removeDuplicates(sources, here, ({ id }) => id, 'manifest/duplicate-name');
  const merged = mergeOverlays(sources, unique.manifests, overlays, { declared, complete });
  const distinct = removeDuplicates(
    sources,
    merged.manifests.filter((manifest) => isFor(manifest, input.target)),
    // What the gateway names has its id, of which there is one only.
    (manifest) => (manifest.view.kind.named ? undefined : toGatewayKey(manifest)),
    'manifest/duplicate-name',
  );
  const aside = invalid.flatMap(({ manifest, places }) => locateAll(sources, manifest, findFurtherProblems(manifest, places, input)));
  const elsewhere = base.filter((manifest) => !isFor(manifest, input.target));
  const checked = [...elsewhere, ...merged.manifests].flatMap((manifest) =>
    locateAll(sources, manifest, checkManifest(manifest, input.targets)),
  );
  return {
    sources,
    manifests: distinct.manifests.toSorted((left, right) => compareText(left.id, right.id)),
    policies: asked.policies,
    diagnostics: [diagnostics, unique.diagnostics, merged.diagnostics, distinct.diagnostics, aside, checked, asked.diagnostics].flat(),
  };
}

function toResources(
  sources: SourceMap,
  manifests: readonly Manifest[],
  input: LoadInput,
): { readonly resources: readonly DesiredResource[]; readonly diagnostics: readonly Diagnostic[] } {
  const rules = createSecretRules(input);
  const diagnostics: Diagnostic[] = [];
  const resources = manifests.map((manifest) => {
    const { resource, problems } = toResource(manifest, rules(manifest));
    if (problems.length > 0) diagnostics.push(...locateAll(sources, manifest, problems));
    if (!hasOnlyKnownValues(manifest.view.knownValues, manifest.spec)) {
      diagnostics.push(...locateAll(sources, manifest, checkKnownValues(manifest.view.knownValues, manifest.spec, ['spec'])));
    }
    if (input.inspect !== undefined && (input.selection === undefined || isSelected(manifest, input.selection)))
      diagnostics.push(...locateAll(sources, manifest, input.inspect(resource)));
    return resource;
  });
  return { resources, diagnostics };
}

/** The rules for each manifest's secrets: the sources of those that the run is not about are never read. */
function createSecretRules({
  secretPrefixes,
  referencePrefixes,
  resolve,
  resolveOnly,
  selection,
}: LoadInput): (manifest: Manifest) => SecretRules {
  const unresolved: SecretRules = { envPrefixes: secretPrefixes, referencePrefixes };
  if (resolve === undefined) return () => unresolved;
  const resolved: SecretRules = { ...unresolved, resolve };
  if (selection === undefined && resolveOnly === undefined) return () => resolved;
  return (manifest) => {
    const isMeant = resolveOnly?.has(manifest.id) ?? true;
    return isMeant && (selection === undefined || isSelected(manifest, selection)) ? resolved : unresolved;
  };
}

/** What else is wrong with a manifest, besides and apart from the places that its schema refuses. */
function findFurtherProblems(manifest: Manifest, places: readonly Pointer[], input: LoadInput): readonly DocumentDiagnostic[] {
  const problems = [
    ...checkManifest(manifest, input.targets),
    ...checkSecrets(manifest, createSecretRules(input)(manifest)),
    ...checkKnownValues(manifest.view.knownValues, manifest.spec, ['spec']),
  ];
  return problems.filter(({ pointer: at }) => !places.some((place) => isPointerWithin(at, place) || isPointerWithin(place, at)));
}

function isFor(manifest: Manifest, target: string): boolean {
  const targets = textsOf(manifest.metadata['targets']);
  return targets.length === 0 || targets.includes(target);
}

function locateAll(sources: SourceMap, manifest: Manifest, problems: readonly DocumentDiagnostic[]): readonly Diagnostic[] {
  return problems.map((problem) => locateDiagnostic(sources, createManifestLocate(manifest), problem, manifest.id));
}

function noManifests(target: string): Diagnostic {
  return {
    code: 'manifest/none',
    severity: 'error',
    message: `there is no manifest for the target "${target}"`,
    hint: 'name the folders of manifests in ostiary.yaml, or give a path; an empty state is never applied',
  };
}

// Many short texts cost more to hand over than to hash.
const batchLength = 65_536;

/** Hashes files by path in the tree and text, whatever order they come in and however their lines end: SHA-256 in hex. */
export function hashTree(files: readonly SourceFile[], pathInTree: (path: string) => string = (path) => path): string {
  const hash = createHash('sha256');
  const placed = files.map(({ path, text }) => ({
    path: pathInTree(path),
    text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text,
  }));
  let waiting = '';
  for (const { path, text } of placed.toSorted((left, right) => compareText(left.path, right.path))) {
    waiting += `${path.length}:${path}${text.length}:${text}`;
    if (waiting.length < batchLength) continue;
    hash.update(waiting);
    waiting = '';
  }
  return hash.update(waiting).digest('hex');
}
