import { appendAll } from '../model/collections.ts';
import { createHash } from 'node:crypto';
import type { Acknowledged, DesiredResource, DesiredState, DigestSecret } from '../model/desired.ts';
import {
  type Checked,
  type Diagnostic,
  type DocumentDiagnostic,
  formatPosition,
  hasErrors,
  isDefaultsPath,
  sortDiagnostics,
  type SourceFile,
  didYouMean,
} from '../model/diagnostic.ts';
import { compareText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { overlapTest, type Pointer } from '../model/pointer.ts';
import type { Spelling } from '../model/spec/spelling.ts';
import type { AllowedValues } from '../model/config.ts';
import { type AccessTest, accessTestKind } from '../model/protection/access-test.ts';
import { type Policy, policyKind } from '../model/protection/policy.ts';
import type { ResourceId } from '../model/resource.ts';
import {
  findUnmatchedTerms,
  type ResourceSelection,
  selectionMatcher,
  tagTextsOf,
  type UnmatchedTerm,
} from '../model/resource-selection.ts';
import { acknowledge, acknowledgmentsIn } from './acknowledge.ts';
import { checkGrants, type GrantCheck } from './validate/check-grants.ts';
import { checkManifest } from './validate/check-manifest.ts';
import { checkTexts } from './validate/check-texts.ts';
import { locateDiagnostic, placeDiagnostic, type SourceMap } from './source-map.ts';
import { mergeOverlays, readDocuments, removeDuplicates } from './read-documents.ts';
import { collectEdges } from './collect-edges.ts';
import { checkKnownValues, createKindView, createManifestLocate, hasOnlyKnownValues, type Manifest, toGatewayKey } from './manifest.ts';
import { readAccessTests } from './read-access-tests.ts';
import { readPolicies } from './read-policies.ts';
import { type DocumentTarget, isForTarget } from './target-documents.ts';
import { checkSecrets, toResource } from './to-resource.ts';
import type { SecretRules, SecretSource } from './secrets/read-secret.ts';

/** The files, the target and the rules from which the desired state of one target is loaded. */
export type LoadInput = {
  readonly files: readonly SourceFile[];
  /** The files of each overlay folder, in the order of application. */
  readonly overlays: readonly (readonly SourceFile[])[];
  readonly target: string;
  readonly targets: readonly string[];
  readonly selection?: Selection | undefined;
  /** The prefixes that names in `valueFrom.env` must have. */
  readonly secretPrefixes: readonly string[];
  /** Values that are known besides those of the schemas. */
  readonly allowedValues?: AllowedValues | undefined;
  /** The names that manifests may have besides. */
  readonly spelling?: Spelling | undefined;
  /** The names of all gateways, for hints. */
  readonly gatewayNames?: Spelling;
  /** The prefixes of references that the gateway resolves. */
  readonly referencePrefixes: readonly string[];
  /** Reads the source of a secret, for selected manifests only. Without it, sources stay unresolved. */
  readonly resolve?: (source: SecretSource) => Checked<Uint8Array | string>;
  /** Reads a secret file only to find out whether it contains a value. Without it, no value is checked. */
  readonly peek?: SecretRules['peek'];
  /** The resources whose sources are read; by default all selected ones. */
  readonly resolveOnly?: ReadonlySet<string>;
  readonly registry: Registry;
  /** The time, or the day, by which ends of access are checked, and what an end that is over is. Without it, none is checked. */
  readonly ends?: GrantCheck | undefined;
  /** Checks each selected resource beyond its schema. */
  readonly inspect?: ((resource: DesiredResource) => readonly DocumentDiagnostic[]) | undefined;
  /** Checks each selected resource for what its gateway rejects; the findings have positions. */
  readonly checkForGateway?: (resource: DesiredResource) => readonly Diagnostic[];
  /** Returns the path of a file in the tree hash, which must not depend on the working directory; by default the path itself. */
  readonly pathInTree?: ((path: string) => string) | undefined;
  /** Whether each place of an unfamiliar value has a warning, also beside an error; by default, all places have one. */
  readonly everyPlace?: true | undefined;
  /** The key that the config has for digests. */
  readonly digestKey?: string | undefined;
  /** The hash of the files, if it was computed before. */
  readonly tree?: string;
};

/** Returns what has files and overlays with other texts of files, by path. */
export function withTexts<T extends Pick<LoadInput, 'files' | 'overlays'>>(read: T, texts: ReadonlyMap<string, string>): T {
  const now = ({ path, text }: SourceFile): SourceFile => ({ path, text: texts.get(path) ?? text });
  return { ...read, files: read.files.map(now), overlays: read.overlays.map((folder) => folder.map(now)) };
}

/** Reads the manifests of a target into its desired state. Errors are diagnostics; with an error there is no state. */
export function loadManifests(input: LoadInput): Checked<DesiredState> {
  const { sources, manifests, policies, accessTests, diagnostics } = readTargetManifests(input);
  const isValid = !hasErrors(diagnostics);
  const selected = selectManifests(manifests, input.selection);
  const { ids } = selected;
  const chosen = (id: ResourceId): boolean => ids === undefined || ids.has(id);
  const { resources, diagnostics: found, acknowledged } = toResources(sources, manifests, { input, chosen });
  appendAll(diagnostics, found);
  const { edges, diagnostics: edgeDiagnostics } = collectEdges(manifests);
  if (isValid) {
    appendAll(
      diagnostics,
      edgeDiagnostics.map(({ manifest, diagnostic }) => locateDiagnostic(sources, createManifestLocate(manifest), diagnostic, manifest.id)),
    );
    appendAll(diagnostics, selected.diagnostics);
    if (manifests.length === 0) diagnostics.push(noManifests(input.target));
  }
  const all = sortDiagnostics(reportDefaultsOnce(diagnostics));
  const sorted = input.everyPlace === true ? all : foldUnfamiliarValues(all);
  if (hasErrors(sorted)) return { diagnostics: sorted };
  const value = {
    resources: resources.filter(({ id }) => chosen(id)),
    edges: edges.filter(({ rule, connection }) => chosen(rule) || chosen(connection)),
    ...(policies.length === 0 ? {} : { policies }),
    ...(accessTests.length === 0 ? {} : { accessTests }),
    tree: input.tree ?? hashTree([...input.files, ...input.overlays.flat()], input.pathInTree),
    ...(ids === undefined ? {} : { partial: true as const }),
    ...(acknowledged.length === 0 ? {} : { acknowledged }),
    unselected: resources.filter(({ id }) => !chosen(id)).map(({ id, key, ignore }) => ({ id, key, ignore })),
    notices: sorted,
    diagnose: createDiagnose(sources, manifests),
    acknowledge: (finding: Diagnostic) => acknowledge(sources, finding),
    acknowledgments: () => acknowledgmentsIn([...input.files, ...input.overlays.flat()]),
    digestSecret: () => digestSecretOf(input, manifests, resources),
  };
  return { value, diagnostics: sorted };
}

/** Returns the key of the config; without one, a hash of all manifests of the target that contain values of secrets, or name files of them. */
function digestSecretOf(
  { digestKey, tree, files: read, overlays, pathInTree }: LoadInput,
  manifests: readonly Manifest[],
  resources: readonly DesiredResource[],
): DigestSecret {
  if (digestKey !== undefined) return { text: digestKey, random: true };
  const files = resources.flatMap(({ secrets }, index) =>
    Object.values(secrets).some(({ source }) => source === 'inline' || source.startsWith('file:'))
      ? (manifests[index]?.layers ?? []).map(({ file }) => file)
      : [],
  );
  const unique = [...new Map(files.map((file) => [file.path, file])).values()];
  if (unique.length === 0) return { text: '', random: true };
  const isWhole = unique.length === [...read, ...overlays.flat()].length;
  return { text: (isWhole ? tree : undefined) ?? hashTree(unique, pathInTree), random: false };
}

/** Returns the diagnostics with one warning for each unfamiliar value of a field, at its first place. */
function foldUnfamiliarValues(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  const counts = new Map<string, number>();
  for (const { message } of sorted.filter(isUnfamiliar)) counts.set(message, (counts.get(message) ?? 0) + 1);
  return sorted.flatMap((one) => {
    const count = isUnfamiliar(one) ? counts.get(one.message) : 1;
    if (count === undefined) return [];
    if (isUnfamiliar(one)) counts.delete(one.message);
    return count === 1 ? [one] : [{ ...one, message: `${one.message}, also in ${count - 1} other place${count === 2 ? '' : 's'}` }];
  });
}

function isUnfamiliar({ code }: Diagnostic): boolean {
  return code === 'manifest/unfamiliar-value';
}

/** Keeps one of the equal findings that many manifests have about the same default. */
function reportDefaultsOnce(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = new Set<string>();
  return diagnostics.filter(({ at, code, message }) => {
    if (at === undefined || !isDefaultsPath(at.file)) return true;
    const key = `${formatPosition(at)} ${code} ${message}`;
    return !known.has(key) && known.add(key).has(key);
  });
}

/** Creates the function that locates later findings in their manifests; it indexes the manifests on first use. */
function createDiagnose(sources: SourceMap, manifests: readonly Manifest[]): NonNullable<DesiredState['diagnose']> {
  let byId: ReadonlyMap<ResourceId, Manifest> | undefined;
  return (id, finding) => {
    byId ??= new Map(manifests.map((manifest) => [manifest.id, manifest]));
    const manifest = byId.get(id);
    if (manifest === undefined) throw new Error(`${id} has no manifest`);
    const located = acknowledge(sources, locateDiagnostic(sources, createManifestLocate(manifest), finding, id));
    return located.reason === undefined ? located.finding : undefined;
  };
}

/** What checks the connections of a target: policies and access tests. */
export type Checks = {
  readonly policies: readonly Policy[];
  readonly accessTests: readonly AccessTest[];
};

const checkKinds: readonly string[] = [policyKind, accessTestKind];

/** Reads the policies and access tests that files declare for a target, even if manifests in those files are invalid. */
export function loadChecks({
  files,
  target,
  targets,
  registry,
}: Pick<LoadInput, 'files' | 'target' | 'targets' | 'registry'>): Checked<Checks> {
  // Other files contain none. Reading them would take as long as reading all manifests again.
  const some = files.filter(({ text }) => checkKinds.some((kind) => text.includes(kind)));
  const views = new Map([...registry].map(([name, kind]) => [name, createKindView(kind)]));
  const documents = readDocuments(some, [], { views, placeOf: (path) => path });
  const unread = documents.diagnostics.filter(({ severity, resource }) => severity === 'error' && resource === undefined);
  const { value, diagnostics } = readChecks(documents, { name: target, all: targets });
  return { value, diagnostics: [...unread, ...diagnostics] };
}

function readChecks(
  { sources, policies, accessTests }: ReturnType<typeof readDocuments>,
  target: DocumentTarget,
): { readonly value: Checks; readonly diagnostics: readonly Diagnostic[] } {
  const asked = readPolicies(sources, policies, target);
  const tests = readAccessTests(sources, accessTests, target);
  return {
    value: { policies: asked.policies, accessTests: tests.accessTests },
    diagnostics: [...asked.diagnostics, ...tests.diagnostics],
  };
}

type TargetManifests = Checks & {
  readonly sources: SourceMap;
  readonly manifests: readonly Manifest[];
  readonly diagnostics: Diagnostic[];
};

/** Reads the manifests of a target, with defaults and overlays merged, sorted by id. */
export function readTargetManifests(input: LoadInput): TargetManifests {
  const views = new Map(
    [...input.registry].map(([name, kind]) => [name, createKindView(kind, input.allowedValues, input.gatewayNames?.toManifest.get(name))]),
  );
  const read = readDocuments(input.files, input.overlays, {
    views,
    placeOf: input.pathInTree ?? ((path) => path),
    spelling: input.spelling,
  });
  const { sources, base, invalid, overlays, declared, complete, diagnostics } = read;
  const checks = readChecks(read, { name: input.target, all: input.targets });
  const here = base.filter((manifest) => isForTarget(manifest.metadata, input.target));
  const unique = removeDuplicates(sources, here, ({ id }) => id, 'manifest/duplicate-name');
  const merged = mergeOverlays(sources, unique.manifests, overlays, { declared, complete });
  const distinct = removeDuplicates(
    sources,
    merged.manifests.filter((manifest) => isForTarget(manifest.metadata, input.target)),
    // A kind that the gateway names has its id, which is unique already.
    (manifest) => (manifest.view.kind.named ? undefined : toGatewayKey(manifest)),
    'manifest/duplicate-name',
  );
  const further = invalid.flatMap(({ manifest, places }) => locateAll(sources, manifest, findFurtherProblems(manifest, places, input)));
  const elsewhere = base.filter((manifest) => !isForTarget(manifest.metadata, input.target));
  const checked = [...elsewhere, ...merged.manifests].flatMap((manifest) =>
    locateAll(sources, manifest, checkManifest(manifest, input.targets)),
  );
  return {
    sources,
    manifests: distinct.manifests.toSorted((left, right) => compareText(left.id, right.id)),
    ...checks.value,
    diagnostics: [diagnostics, unique.diagnostics, merged.diagnostics, distinct.diagnostics, further, checked, checks.diagnostics].flat(),
  };
}

function toResources(
  sources: SourceMap,
  manifests: readonly Manifest[],
  { input, chosen }: { readonly input: LoadInput; readonly chosen: (id: ResourceId) => boolean },
): {
  readonly resources: readonly DesiredResource[];
  readonly diagnostics: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledged[];
} {
  const rules = createSecretRules(input, ({ id }) => chosen(id));
  const diagnostics: Diagnostic[] = [];
  const acknowledged: Acknowledged[] = [];
  const unusual = checkTexts(manifests);
  const resources = manifests.map((manifest) => {
    const { resource, problems } = toResource(manifest, rules(manifest));
    if (problems.length > 0) appendAll(diagnostics, locateAll(sources, manifest, problems));
    const { ends, inspect, checkForGateway } = chosen(manifest.id) ? input : {};
    if (ends !== undefined && resource.grants !== undefined)
      appendAll(diagnostics, locateAll(sources, manifest, checkGrants(manifest, resource, ends)));
    const unfamiliar = hasOnlyKnownValues(manifest.view.knownValues, manifest.spec)
      ? []
      : locateAll(sources, manifest, checkKnownValues(manifest.view.knownValues, manifest.spec, ['spec']));
    const texts = locateAll(sources, manifest, unusual.get(manifest) ?? []);
    const found = inspect !== undefined ? locateAll(sources, manifest, inspect(resource)) : [];
    const placed = (checkForGateway?.(resource) ?? []).map((one) =>
      one.at === undefined ? one : placeDiagnostic(sources, one.at, one, resource.id),
    );
    // One mistake has one finding.
    const isPlain = ({ at }: Diagnostic): boolean =>
      input.everyPlace === true || ![...placed, ...texts].some((one) => one.at?.line === at?.line && one.at?.column === at?.column);
    for (const one of [...unfamiliar.filter(isPlain), ...texts, ...found, ...placed]) {
      const { finding, reason } = acknowledge(sources, one, placed.includes(one) || one.code === 'rule/score-below-threshold');
      if (reason === undefined) diagnostics.push(finding);
      else acknowledged.push({ finding, reason });
    }
    return resource;
  });
  return { resources, diagnostics, acknowledged };
}

/** Creates the rules for the secrets of each manifest. Sources of manifests outside the selection are never read. */
function createSecretRules(
  { secretPrefixes, referencePrefixes, resolve, peek, resolveOnly, selection }: LoadInput,
  isChosen: (manifest: Manifest) => boolean,
): (manifest: Manifest) => SecretRules {
  const unresolved: SecretRules = { envPrefixes: secretPrefixes, referencePrefixes, peek };
  if (resolve === undefined) return () => unresolved;
  const resolved: SecretRules = { ...unresolved, resolve };
  if (selection === undefined && resolveOnly === undefined) return () => resolved;
  return (manifest) => ((resolveOnly?.has(manifest.id) ?? true) && isChosen(manifest) ? resolved : unresolved);
}

/** Finds further errors in an invalid manifest, outside the places that its schema rejects. */
function findFurtherProblems(manifest: Manifest, places: readonly Pointer[], input: LoadInput): readonly DocumentDiagnostic[] {
  const problems = [
    ...checkManifest(manifest, input.targets),
    ...checkSecrets(manifest, createSecretRules(input, manifestMatcher(input.selection))(manifest)),
    ...checkKnownValues(manifest.view.knownValues, manifest.spec, ['spec']),
  ];
  const isRejected = overlapTest(places);
  return problems.filter(({ pointer: at }) => !isRejected(at));
}

function locateAll(sources: SourceMap, manifest: Manifest, problems: readonly DocumentDiagnostic[]): readonly Diagnostic[] {
  return problems.map((problem) => locateDiagnostic(sources, createManifestLocate(manifest), problem, manifest.id));
}

function noManifests(target: string): Diagnostic {
  return {
    code: 'manifest/none',
    severity: 'error',
    message: `no manifests found for the target "${target}"`,
    hint: 'list the folders of manifests in ostiary.yaml, or pass a path; Ostiary never applies an empty state',
  };
}

// Many short texts cost more to hand over than to hash, and appending them one by one needs memory for each sum.
const batchSize = 256;

/** Returns the SHA-256 of the files in hex, independent of their order and of their line breaks. */
export function hashTree(files: readonly SourceFile[], pathInTree: (path: string) => string = (path) => path): string {
  const hash = createHash('sha256');
  const placed = files.map(({ path, text }) => ({
    path: pathInTree(path),
    text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text,
  }));
  let waiting: string[] = [];
  for (const { path, text } of placed.toSorted((left, right) => compareText(left.path, right.path))) {
    waiting.push(`${path.length}:${path}${text.length}:`, text);
    if (waiting.length < batchSize) continue;
    hash.update(waiting.join(''));
    waiting = [];
  }
  return hash.update(waiting.join('')).digest('hex');
}

/** The resources of a run: those selected by name and tag whose files are at one of the paths. */
type Selection = ResourceSelection & { readonly paths?: readonly SelectedPath[] };

/** A path as the user gave it, and a test for files at or below it. */
export type SelectedPath = { readonly path: string; readonly holds: (file: string) => boolean };

/** Creates the test for selected manifests; without a selection, all are selected. */
function manifestMatcher(selection: Selection | undefined): (manifest: Manifest) => boolean {
  if (selection === undefined) return () => true;
  const { paths } = selection;
  const matches = selectionMatcher(selection);
  return (manifest) => matches(manifest) && (paths === undefined || paths.some(({ holds }) => isAnyAt(manifest.layers, holds)));
}

/** Returns the ids of the selected manifests; no set if everything is selected. */
function selectManifests(
  manifests: readonly Manifest[],
  selection: Selection | undefined,
): { readonly ids?: ReadonlySet<ResourceId>; readonly diagnostics: readonly Diagnostic[] } {
  if (selection === undefined) return { diagnostics: [] };
  const { paths = [] } = selection;
  const unmatched = manifests.length === 0 ? [] : findUnmatchedTerms(selection, manifests);
  const barren = manifests.length === 0 ? [] : paths.filter(({ holds }) => !manifests.some(({ layers }) => isAnyAt(layers, holds)));
  const diagnostics = [...unmatched.map((term) => unmatchedDiagnostic(term, manifests)), ...barren.map(({ path }) => nothingAt(path))];
  const chosen = manifests.filter(manifestMatcher(selection));
  if (chosen.length === 0 && diagnostics.length === 0 && manifests.length > 0) return { ids: new Set(), diagnostics: [nothingSelected] };
  return { ids: new Set(chosen.map(({ id }) => id)), diagnostics };
}

function unmatchedDiagnostic({ option, text }: UnmatchedTerm, manifests: readonly Manifest[]): Diagnostic {
  const isTag = option === '--tag';
  const known = isTag ? tagTextsOf(manifests) : manifests.map(({ id }) => id);
  const form = isTag
    ? 'check KEY=VALUE: a tag in connection_tags of a manifest'
    : "check KIND/NAME, or pass a pattern such as '*/orders-*'";
  const message = isTag ? `no manifest of this target has the tag "${text}"` : `no manifest of this target matches "${text}"`;
  return {
    code: 'manifest/unknown-selection',
    severity: 'error',
    message: `${option}: ${message}`,
    hint: didYouMean(text, known) ?? form,
  };
}

function isAnyAt(layers: Manifest['layers'], holds: SelectedPath['holds']): boolean {
  return layers.some(({ file }) => holds(file.path));
}

function nothingAt(path: string): Diagnostic {
  return {
    code: 'manifest/nothing-selected',
    severity: 'error',
    message: `no manifest of this target at ${JSON.stringify(path)}`,
    hint: 'pass files or folders of manifests',
  };
}

const nothingSelected: Diagnostic = {
  code: 'manifest/nothing-selected',
  severity: 'error',
  message: 'no manifest of this target matches --only, --tag, --exclude and the paths together',
  hint: 'remove some of them',
};
