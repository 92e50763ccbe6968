import { type DesiredState, desiredById } from '../../model/desired.ts';
import { sortDiagnostics, type Diagnostic } from '../../model/diagnostic.ts';
import { specValueAt } from '../../model/spec/edit.ts';
import { edgeKey, type EdgeEnds } from '../../model/edges.ts';
import type { JsonObject } from '../../model/json.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import type { Diff } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { SourceFile } from '../../model/source.ts';
import { loadManifests, readTargetManifests, type LoadInput } from '../load-manifests.ts';
import type { Manifest } from '../manifest.ts';
import { findChangedEntries } from './changed-entries.ts';
import { findCauses } from './find-causes.ts';
import { findDifferences, type LiveDifference } from './differences.ts';
import { listDeclaredEdges, createEdgeEdits } from './edge-edits.ts';
import { createFieldEdits } from './field-edits.ts';
import { editTexts, groupBy, replaceInputTexts, type AttributedEdit } from './edit-texts.ts';
import { findValuesToState, findImplied, findMismatches } from './verify-accepted.ts';

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
  /** Changed files and overlays with their new text. */
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
  const told: Diagnostic[] = found.removed.map(({ id, at }) => ({
    code: 'adopt/removed',
    severity: 'warning',
    message: `${id} was deleted on the gateway; its manifest stays`,
    hint: 'delete the manifest, or let apply create the object again',
    resource: id,
    ...(at === undefined ? {} : { at }),
  }));
  const differences = [...found.differences, ...convertUnwatched(input, desired)];
  let wanted = [...differences, ...findValuesToState(load.registry, desired, input.live, differences)];
  for (;;) {
    const { texts, failures } = tryAccept(load, { desired, live: input.live, wanted });
    if (failures.size === 0) return { files: listChangedFiles(load, texts), accepted: wanted, diagnostics: sortDiagnostics(told) };
    told.push(...[...failures].map(([one, why]) => impossibleDiagnostic(one, why, desired)));
    wanted = wanted.filter((one) => !failures.has(one));
  }
}

/** Converts unwatched values to differences that a manifest could state. */
function convertUnwatched({ watch = [], live, registry }: AcceptInput, desired: DesiredState): readonly LiveDifference[] {
  return watch.flatMap(({ id, path }): readonly LiveDifference[] => {
    const key = desired.resources.find((one) => one.id === id)?.key;
    const spec = live.resources.find((one) => one.id === key)?.spec ?? {};
    const value = specValueAt(registry.get(kindOf(id))?.fields ?? [], spec, path);
    return value === undefined ? [] : [{ is: 'field', id, field: { path, before: { value }, after: { absent: true } } }];
  });
}

type AcceptState = { readonly desired: DesiredState; readonly live: LiveState; readonly wanted: readonly LiveDifference[] };
type AcceptAttempt = { readonly texts: ReadonlyMap<string, string>; readonly failures: ReadonlyMap<LiveDifference, string> };

/** Edits the files for all wanted differences, fields before edges, and finds those that failed. */
function tryAccept(load: LoadInput, { desired, live, wanted }: AcceptState): AcceptAttempt {
  const { manifests } = readTargetManifests(load);
  const byField = editFields(load, manifests, { desired, live, wanted });
  if (byField.failures.size > 0) return byField;
  const after = readTargetManifests(replaceInputTexts(load, byField.texts));
  const causes = findCauses({ ...after, registry: load.registry }, wanted);
  if (causes.size > 0) return { texts: byField.texts, failures: causes };
  const edges = listWantedEdges(manifests, live, wanted);
  const edits = createEdgeEdits(after.manifests, edges, live).map(({ key, ...one }): AttributedEdit => ({
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
  const declared = new Set(listDeclaredEdges(last.manifests, live).keys());
  const hasOtherEdges = [...edges.keys()].some((key) => !declared.has(key)) || declared.size !== edges.size;
  const failures = new Map(findMismatches(load.registry, desired, value, wanted));
  const edged = wanted.filter(({ is }) => is === 'edge');
  if (hasOtherEdges)
    for (const one of edged.length > 0 ? edged : wanted)
      failures.set(one, 'the manifests would not declare exactly the edges that are live');
  return { texts: byEdges.texts, failures };
}

function editFields(load: LoadInput, manifests: readonly Manifest[], { desired, live, wanted }: AcceptState): AcceptAttempt {
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  const implied = findImplied(load.registry, desired, live, wanted);
  const [resources, found] = [desiredById(desired.resources), liveById(live.resources)];
  const specOf = (id: ResourceId): JsonObject => found.get(resources.get(id)?.key ?? id)?.spec ?? {};
  const own = wanted.filter((one) => one.is === 'field').filter((one) => !implied.has(one));
  const whole = [...groupBy(own, ({ id }) => id)].flatMap(([id, some]) => {
    const manifest = byId.get(id);
    return manifest === undefined ? [] : findChangedEntries(manifest, some);
  });
  const failures = new Map<LiveDifference, string>();
  const edits = own.flatMap((one): readonly AttributedEdit[] => {
    const manifest = byId.get(one.id);
    const made = manifest === undefined ? { reason: 'no manifest declares it' } : createFieldEdits(manifest, one.field, specOf(one.id));
    if (!('reason' in made)) return made.map((edit) => ({ ...edit, causes: [one] }));
    failures.set(one, made.reason);
    return [];
  });
  if (failures.size > 0) return { texts: new Map(), failures };
  const paired = new Set<LiveDifference>(whole.flatMap(({ by }) => by));
  const inPlace = whole.flatMap(({ by, edits: some }) => some.map((edit): AttributedEdit => ({ ...edit, causes: by })));
  const kept = editTexts(load, [...edits.filter(({ causes: by }) => !by.some((one) => paired.has(one))), ...inPlace], new Map());
  return whole.length === 0 || kept.failures.size === 0 ? kept : editTexts(load, edits, new Map());
}

/** Returns the edges that manifests should declare: the declared ones, without detached and with attached edges. */
function listWantedEdges(
  manifests: readonly Manifest[],
  live: LiveState,
  wanted: readonly LiveDifference[],
): ReadonlyMap<string, EdgeEnds> {
  const edges = new Map([...listDeclaredEdges(manifests, live)].map(([key, { ends }]) => [key, ends]));
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
  const what = one.is === 'field' ? `${one.field.path} of ${one.id}` : `the edge between ${one.ends.rule} and ${one.ends.connection}`;
  const at = one.is === 'field' ? one.field.at : desired.resources.find((resource) => resource.id === id)?.locate('');
  return {
    code: 'adopt/impossible',
    severity: 'warning',
    message: `the manifests cannot take over ${what}: ${why}`,
    hint: 'change the manifest by hand, or the gateway',
    resource: id,
    ...(at === undefined ? {} : { at }),
  };
}
