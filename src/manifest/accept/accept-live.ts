import { appendAll } from '../../model/collections.ts';
import { type DesiredState, desiredById } from '../../model/desired.ts';
import { sortDiagnostics, type Diagnostic, type SourceFile } from '../../model/diagnostic.ts';
import { specValueAt, elementToken, entriesByToken } from '../../model/spec/edit.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import { isObject, type Json } from '../../model/json.ts';
import type { Diff } from '../../model/plan/plan.ts';
import type { EndNames } from '../../model/edge-ends.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf, nameOf } from '../../model/resource.ts';
import { loadManifests, readTargetManifests, type LoadInput } from '../load-manifests.ts';
import type { Manifest } from '../manifest.ts';
import {
  createFieldEdits,
  findDifferences,
  type LiveDifference,
  normalEntries,
  listDeclaredEdges,
  createEdgeEdits,
} from './field-edits.ts';
import {
  createExpectedSpec,
  groupByResource,
  editTexts,
  replaceInputTexts,
  type AttributedEdit,
  findValuesToState,
  findImplied,
  findMismatches,
  stateDefaultLists,
} from './verify-accepted.ts';
import type { FieldRule, Registry } from '../../model/kind.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { grantedName } from '../../model/protection/timed-grants.ts';
import type { SourceMap } from '../source-map.ts';

/** The manifests of one target, the live state, and the plan between them. */
export type AcceptInput = Omit<LoadInput, 'resolve' | 'resolveOnly'> & {
  readonly live: LiveState;
  readonly plan: Pick<Diff, 'changes' | 'edges'>;
  /** The differences to accept: drift (held changes included, the default) or all. */
  readonly which?: 'drift' | 'all';
  /** Live protections that no manifest states, to be stated too. */
  readonly watch?: Diff['unwatched'];
};

/** The changed files and the differences that they accept. */
export type AcceptResult = {
  readonly files: readonly SourceFile[];
  readonly accepted: readonly LiveDifference[];
  /** The differences that cannot be accepted, with reasons; if the manifests have errors, nothing is accepted. */
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Edits manifests in place so that they state the live values. A value goes to the file that set it, overlay or manifest; a
 * value that no file set goes to the manifest, in the order of the schema. A key that an overlay removes becomes null there;
 * lists of overlays are edited in place. A detached edge leaves its list, or becomes an exception of the selector that
 * declares it; an attached edge is listed on the side that states edges. Edges that other accepted changes would add or
 * remove (tags that selectors match) stay as they are live. Secrets are only stated as kept. The edited files are loaded
 * again: differences that they would not state exactly are left out and reported, and the rest is accepted.
 */
export function acceptLive(input: AcceptInput): AcceptResult {
  const load: LoadInput = replaceInputTexts(input, new Map());
  const { value: desired, diagnostics } = loadManifests(load);
  if (desired === undefined) return { files: [], accepted: [], diagnostics: diagnostics.filter(({ severity }) => severity === 'error') };
  const found = findDifferences(input.plan, input.which ?? 'drift');
  const reported: Diagnostic[] = found.removed.map(({ id, at }) => ({
    code: 'adopt/removed',
    severity: 'warning',
    message: `${id} was deleted outside Ostiary; its manifest is kept`,
    hint: 'delete the manifest, or let apply create the object again',
    resource: id,
    at,
  }));
  const differences = [...found.differences, ...convertUnwatched(input, desired)];
  let wanted = [...differences, ...findValuesToState(load.registry, desired, input.live, differences)];
  for (;;) {
    const { texts, failures } = tryAccept(load, { desired, live: input.live, wanted });
    if (failures.size === 0) return { files: listChangedFiles(load, texts), accepted: wanted, diagnostics: sortDiagnostics(reported) };
    appendAll(
      reported,
      [...failures].map(([one, why]) => impossibleDiagnostic(one, why, desired)),
    );
    wanted = wanted.filter((one) => !failures.has(one));
  }
}

/** Converts unwatched values to differences that a manifest could state. */
function convertUnwatched({ watch = [], live, registry }: AcceptInput, desired: DesiredState): readonly LiveDifference[] {
  return watch.flatMap(({ id, path }): readonly LiveDifference[] => {
    const key = desiredById(desired.resources).get(id)?.key;
    const spec = (key === undefined ? undefined : liveById(live.resources).get(key))?.spec ?? {};
    const value = specValueAt(registry.get(kindOf(id))?.fields ?? [], spec, path);
    return value === undefined ? [] : [{ is: 'field', id, field: { path, before: { value }, after: { absent: true } } }];
  });
}

type AcceptState = { readonly desired: DesiredState; readonly live: LiveState; readonly wanted: readonly LiveDifference[] };
type AcceptAttempt = { readonly texts: ReadonlyMap<string, string>; readonly failures: ReadonlyMap<LiveDifference, string> };

/** Edits the files for all wanted differences, after copies of the lists that come from defaults. */
function tryAccept(input: LoadInput, state: AcceptState): AcceptAttempt {
  const stated = stateDefaultLists(input, state.wanted);
  const { texts, failures } = tryEdits(replaceInputTexts(input, stated), state);
  return { texts: new Map([...stated, ...texts]), failures };
}

/** Edits the files for all wanted differences, fields before edges, and finds those that failed. */
function tryEdits(load: LoadInput, { desired, live, wanted }: AcceptState): AcceptAttempt {
  const { manifests } = readTargetManifests(load);
  const byField = editFields(load, manifests, { desired, live, wanted });
  if (byField.failures.size > 0) return byField;
  const after = readTargetManifests(replaceInputTexts(load, byField.texts));
  const causes = findCauses({ ...after, registry: load.registry }, wanted);
  if (causes.size > 0) return { texts: byField.texts, failures: causes };
  const gateway = { live, registry: load.registry };
  const edges = listWantedEdges(manifests, gateway, wanted);
  const edits = createEdgeEdits(after.manifests, edges, gateway).map(({ key, ...one }): AttributedEdit => ({
    ...one,
    causes: findEdgeCauses(wanted, key),
  }));
  const byEdges = editTexts(replaceInputTexts(load, byField.texts), edits, byField.texts);
  if (byEdges.failures.size > 0) return byEdges;
  const { value, diagnostics } = loadManifests(replaceInputTexts(load, byEdges.texts));
  const last = readTargetManifests(replaceInputTexts(load, byEdges.texts));
  if (value === undefined) {
    return { texts: byEdges.texts, failures: findCauses({ diagnostics, sources: last.sources, registry: load.registry }, wanted) };
  }
  const declared = new Set(listDeclaredEdges(last.manifests, gateway).keys());
  const hasOtherEdges = [...edges.keys()].some((key) => !declared.has(key)) || declared.size !== edges.size;
  const failures = new Map(findMismatches(load.registry, desired, value, wanted));
  const edged = wanted.filter(({ is }) => is === 'edge');
  if (hasOtherEdges)
    for (const one of edged.length > 0 ? edged : wanted) failures.set(one, 'the manifests would not declare exactly the live attachments');
  return { texts: byEdges.texts, failures };
}

function editFields(load: LoadInput, manifests: readonly Manifest[], { desired, live, wanted }: AcceptState): AcceptAttempt {
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  const implied = findImplied(load.registry, desired, live, wanted);
  const [resources, found] = [desiredById(desired.resources), liveById(live.resources)];
  const edits: AttributedEdit[] = [];
  const failures = new Map<LiveDifference, string>();
  for (const [id, group] of groupByResource(wanted.filter((one) => !implied.has(one)))) {
    const [manifest, resource] = [byId.get(id), resources.get(id)];
    const spec = found.get(resource?.key ?? id)?.spec ?? {};
    const expected = manifest && resource ? createExpectedSpec(manifest.view.kind, resource, group) : {};
    for (const one of group) {
      const made = manifest === undefined ? noManifest : createFieldEdits(manifest, one.field, { live: spec, expected });
      if ('reason' in made) failures.set(one, made.reason);
      else
        appendAll(
          edits,
          made.map((edit) => ({ ...edit, causes: [one] })),
        );
    }
  }
  return failures.size > 0 ? { texts: new Map(), failures } : editTexts(load, edits, new Map());
}

const noManifest = { reason: 'no manifest declares it' };

/** Returns the edges that manifests should declare: the declared ones, without detached and with attached edges. */
function listWantedEdges(
  manifests: readonly Manifest[],
  gateway: Pick<EndNames, 'live' | 'registry'>,
  wanted: readonly LiveDifference[],
): ReadonlyMap<string, EdgeEnds> {
  const edges = new Map<string, EdgeEnds>(listDeclaredEdges(manifests, gateway));
  for (const one of wanted) {
    if (one.is !== 'edge') continue;
    if (one.attached) edges.set(edgeKey(one.ends), one.ends);
    else edges.delete(edgeKey(one.ends));
  }
  return edges;
}

/** Returns the causes of an edge's edit: the difference of that edge, or all if it follows from accepted fields. */
function findEdgeCauses(wanted: readonly LiveDifference[], key: string): readonly LiveDifference[] {
  const own = wanted.filter((one) => one.is === 'edge' && edgeKey(one.ends) === key);
  return own.length > 0 ? own : wanted;
}

function listChangedFiles(load: LoadInput, texts: ReadonlyMap<string, string>): readonly SourceFile[] {
  return [...load.files, ...load.overlays.flat()].flatMap(({ path, text }) => {
    const after = texts.get(path);
    return after === undefined || after === text ? [] : [{ path, text: after }];
  });
}

function impossibleDiagnostic(one: LiveDifference, why: string, desired: DesiredState): Diagnostic {
  const id = one.is === 'field' ? one.id : one.ends.rule;
  const what = one.is === 'field' ? `${one.field.path} of ${one.id}` : `the attachment of ${one.ends.rule} to ${one.ends.connection}`;
  const at = desiredById(desired.resources)
    .get(id)
    ?.locate(one.is === 'field' ? one.field.path : '');
  return {
    code: 'adopt/impossible',
    severity: 'warning',
    message: `the manifests cannot accept ${what}: ${why}`,
    hint: 'edit the manifest, or change the gateway',
    resource: id,
    at,
  };
}

/** The manifests after the edits: what is wrong with them, and the documents that the pointers of errors lead into. */
type EditedManifests = { readonly diagnostics: readonly Diagnostic[]; readonly sources: SourceMap; readonly registry: Registry };

/**
 * Finds the wanted differences that make the edited manifests invalid, each with the message of the error. The pointer of
 * an error decides: the difference at that place, else those around it, else those of the same field, else all of the
 * resource. An error that belongs to none of them counts against all.
 */
function findCauses(
  { diagnostics, sources, registry }: EditedManifests,
  wanted: readonly LiveDifference[],
): ReadonlyMap<LiveDifference, string> {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const causes = errors.flatMap((error) => {
    const own = wanted.filter((one) => isAbout(one, error.resource));
    const place = findPlanPath(error, sources, registry);
    return (place === undefined ? own : findNearest(own, place)).map((one) => [one, error.message] as const);
  });
  if (causes.length > 0 || errors.length === 0) return new Map(causes);
  return new Map(wanted.map((one) => [one, errors[0]?.message ?? '']));
}

function isAbout(one: LiveDifference, resource: Diagnostic['resource']): boolean {
  return one.is === 'field' ? one.id === resource : one.ends.rule === resource || one.ends.connection === resource;
}

function findNearest(own: readonly LiveDifference[], place: Pointer): readonly LiveDifference[] {
  const [field = ''] = tokensOf(place);
  const conditions = [
    (path: Pointer) => isPointerWithin(place, path),
    (path: Pointer) => isPointerWithin(path, place),
    (path: Pointer) => isPointerWithin(path, pointer(field)),
  ];
  const found = conditions.map((condition) => own.filter((one) => one.is === 'field' && condition(one.field.path)));
  return found.find((some) => some.length > 0) ?? own;
}

/** Returns the place of an error as plans write it: below spec, with tokens instead of indexes in sets and keyed lists. */
function findPlanPath({ code, pointer: path, at, resource }: Diagnostic, sources: SourceMap, registry: Registry): Pointer | undefined {
  const [top, ...below] = path === undefined ? [] : tokensOf(path);
  // Two entries with one key: the error is about the list, because either entry may be the one that does not belong.
  const tokens =
    code === 'manifest/duplicate-entry'
      ? below.slice(
          0,
          below.findLastIndex((token) => /^\d+$/.test(token)),
        )
      : below;
  if (top !== 'spec' || tokens.length === 0 || at === undefined || resource === undefined) return undefined;
  const documents = sources.findFile(at.file)?.documents ?? [];
  const document = documents.find(({ value }) => isObject(value) && isManifestOf(value, resource));
  const spec = isObject(document?.value) ? document.value['spec'] : undefined;
  return pointer(...toPlanTokens(registry.get(kindOf(resource))?.fields ?? [], spec, tokens));
}

function isManifestOf(value: { readonly [key: string]: Json }, resource: ResourceId): boolean {
  const { kind, metadata } = value;
  return isObject(metadata) && kind === kindOf(resource) && metadata['name'] === nameOf(resource);
}

function toPlanTokens(fields: readonly FieldRule[], value: Json | undefined, tokens: readonly string[]): readonly string[] {
  const [name = '', ...rest] = tokens;
  const rule = fields.find((field) => field.name === name);
  const found = isObject(value) ? value[name] : undefined;
  const [index, ...below] = rest;
  if (rule?.shape === 'object') return rest.length === 0 ? tokens : [name, ...toPlanTokens(rule.fields, found, rest)];
  if (!Array.isArray(found) || index === undefined) return tokens;
  const entry: Json | undefined = found[Number(index)];
  if (rule?.shape === 'set' && entry !== undefined) return [name, elementToken(grantedName(rule, entry)), ...below];
  if (rule?.shape !== 'keyed') return tokens;
  const token = [...entriesByToken(rule, normalEntries(rule, found)).keys()][Number(index)] ?? index;
  return [name, token, ...(below.length === 0 ? [] : toPlanTokens(rule.fields, entry, below))];
}
