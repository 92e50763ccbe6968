import { addToGroup, appendAll } from '../../model/collections.ts';
import { type DesiredResource, type DesiredState, formerIdOf } from '../../model/desired.ts';
import { type Checked, type Diagnostic, hasErrors, sortDiagnostics } from '../../model/diagnostic.ts';
import { liveById, type LiveResource } from '../../model/live.ts';
import { compareText, equal, distinctSorted } from '../../model/json.ts';
import {
  type Change,
  type Diff,
  type EdgeChange,
  type FieldPlace,
  liveKeyOf,
  type UncomparedSecret,
  type UnmanagedAccess,
  type UnwrittenSecret,
  withoutAttributes,
} from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import { type ResourceId, kindOf } from '../../model/resource.ts';
import { isClosable, isOpen } from '../../model/kind.ts';
import { predecessorsOf, unopenedSuccessors } from '../prepare/replacements.ts';
import { unplannableChange } from '../prepare/omissions.ts';
import type { NamedStates, Prepared } from '../prepare/prepare.ts';
import { sealsOf } from '../saved-plan/plan-digest.ts';
import {
  type ChangeContext,
  type ChangeDraft,
  draftChange,
  isUnchanged,
  type KindFields,
  kindFields,
  type ObjectPhase,
} from './draft-change.ts';
import { findExposed } from './unplannable-dependents.ts';
import { declaredEnds, type EdgeInput, indexEdges } from '../cells/edge-cells.ts';
import { diffEdges } from './diff-edges.ts';
import { explainMissing } from './missing-objects.ts';
import { type HoldableChange, findRevertedAttachments, holdStricterDrift } from './held-drift.ts';
import { lastAppliedLookup, manifestsBeyond } from '../prepare/base-states.ts';
import { needsOf, orderByNeeds } from './order-by-needs.ts';
import { reachOf } from './rule-reach.ts';
import {
  decidePrune,
  draftClose,
  draftDelete,
  findRemoved,
  orphanOf,
  type PruneDecision,
  referencesByEnd,
  type RemovedObject,
} from './removed-objects.ts';

/** The differences of two states, and the objects that were removed from the manifests and are still live. */
export type StateDiff = { readonly diff: Diff; readonly removed: readonly RemovedObject[] };

type KindTable = ReadonlyMap<string, KindFields>;

/** Compares desired and live; the result is the same for the same input in any order. Without a value on errors in the manifests. */
export function diffStates(prepared: Prepared): Checked<StateDiff> {
  const { input, base, named } = prepared;
  const { registry, consent } = input;
  const removed = findRemoved(base, named.desired, {
    live: named.liveById,
    beyond: manifestsBeyond(base, prepared.own),
    released: input.released,
  });
  const ends = { desired: named.desired, live: named.live, registry, base: base?.desired, attached: input.remembered?.attached };
  const decided = removed.length === 0 ? keepAll : prunable(removed, ends, prepared);
  const removal = consent?.prune === true ? decided : { ...keepAll, kept: decided.kept };
  const edgeInput = {
    ...ends,
    orphans: new Set(removed.map(({ live: { id } }) => id)),
    toDelete: new Set(removal.toDelete.map(({ live: { id } }) => id)),
    frozen: prepared.frozen,
    reverts: new Set(consent?.revert),
  };
  const kinds: KindTable = new Map([...registry].map(([name, kind]) => [name, kindFields(kind, named.live)]));
  // What a successor inherits goes with an attribute that the plan deletes.
  const withoutDeleted = (one: DesiredResource): DesiredResource =>
    one.replaces === undefined || one.stated.has('attributes') ? one : { ...one, spec: withoutAttributes(one.spec, edgeInput.toDelete) };
  const resources = named.desired.resources.map(withoutDeleted).toSorted((left, right) => compareText(left.id, right.id));
  const replaced = closedOrDeleted(named, removal.toDelete, kinds).map((draft) => (base === undefined ? draft : withIntent(draft)));
  const compareWith = (reverted?: ReadonlySet<string>): Compared => {
    const { edges, diagnostics } = diffEdges({ ...edgeInput, ...(reverted === undefined ? {} : { reverted }) });
    const writers = edgeWriters(edges);
    const changesOf = (drafts: readonly ChangeDraft[]): readonly Change[] =>
      [...drafts, ...replaced].flatMap((draft) => completeChange(draft, [], writers) ?? []);
    return { edges, diagnostics, writers, changesOf, compared: compareResources(prepared, { resources, kinds, writers }) };
  };
  const holding = compareWith();
  const reverted = findRevertedAttachments(prepared, holding.compared.drafted, holding);
  const { edges, diagnostics, writers, changesOf, compared } = reverted.size === 0 ? holding : compareWith(reverted);
  const ofObjects = explainMissing(
    prepared,
    compared.drafted.flatMap((one) => one.diagnostics),
  );
  const found = unrepeated([...named.diagnostics, ...ofObjects, ...diagnostics]);
  if (hasErrors(found)) return { diagnostics: found };
  const drafts = [...holdStricterDrift(prepared, compared.drafted, { edges, changesOf }), ...replaced];
  const diff = assembleDiff(prepared, { ...compared, resources, drafts, edges, writers, removed, kept: removal.kept });
  return { value: { diff, removed }, diagnostics: found };
}

/** One comparison of both states: the edges, and the changes that follow. */
type Compared = {
  readonly edges: readonly EdgeChange[];
  readonly diagnostics: readonly Diagnostic[];
  readonly writers: EdgeWriters;
  readonly changesOf: (drafts: readonly ChangeDraft[]) => readonly Change[];
  readonly compared: Comparison;
};

/** Sorts diagnostics, and reports one that is found in several places once, at the first of them. */
function unrepeated(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const one of sortDiagnostics(diagnostics)) {
    const key = `${one.code} ${one.message}`;
    addToGroup(groups, key, one);
  }
  return sortDiagnostics(
    [...groups.values()].flatMap((group) =>
      group.slice(0, 1).map((one) => (group.length === 1 ? one : { ...one, message: `${one.message} (${group.length} times)` })),
    ),
  );
}

/** Throws for a kind that is not registered: no resource is left out silently. */
function knownKind(id: ResourceId, kinds: KindTable): KindFields {
  const fields = kinds.get(kindOf(id));
  if (fields === undefined) throw new Error(`${id} has an unknown kind`);
  return fields;
}

type Comparison = {
  readonly drafted: readonly HoldableChange[];
  readonly unwatched: readonly FieldPlace[];
  readonly notCompared: readonly UncomparedSecret[];
  readonly unwrittenSecrets: readonly UnwrittenSecret[];
};

type CompareInput = { readonly resources: readonly DesiredResource[]; readonly kinds: KindTable; readonly writers: EdgeWriters };

/** Compares each desired resource with its live counterpart; resources in sync are only checked for unwatched protections. */
function compareResources(
  { input, base, named, own, uncertain, isOurs }: Prepared,
  { resources, kinds, writers }: CompareInput,
): Comparison {
  const { live, desired } = named;
  const pastOf = lastAppliedLookup(base);
  const reverts = new Set<string>(input.consent?.revert);
  const renamed = new Map([...named.renames].map(([from, to]) => [to, from]));
  for (const id of named.taken.values()) renamed.set(id, id);
  const present = liveById(live.resources);
  const waiting = unopenedSuccessors(predecessorsOf(desired, live), live, input.registry);
  const drafted: HoldableChange[] = [];
  // Renaming or replacing an object that was never applied imports it, whatever had the new name.
  const takesOver = (resource: DesiredResource, found: LiveResource | undefined): boolean => {
    const former = formerIdOf(resource);
    return former !== undefined && !isOurs(former) && (renamed.has(resource.key) || (found === undefined && present.has(former)));
  };
  const phaseOf = (resource: DesiredResource, found: LiveResource | undefined, past: DesiredResource | undefined): ObjectPhase => {
    const { id, key, adopt, replaces } = resource;
    const ours = uncertain.has(key) ? undefined : own.get(key);
    const former = formerIdOf(resource);
    const isUnknown = found !== undefined && found.isLabel !== true && past === undefined && ours === undefined && !renamed.has(key);
    const isImport = takesOver(resource, found) || (base !== undefined && isUnknown);
    if (isImport) return adopt || input.consent?.imports.includes(id) === true ? 'agreed-import' : 'import';
    if (waiting.has(key)) return 'new';
    // A predecessor may have been closed: one that is live, or that the interrupted apply deleted.
    const hadPredecessor = former !== undefined && (named.liveById.has(former) || input.remembered?.written.has(former) === true);
    if (replaces !== undefined && past !== undefined && (hadPredecessor || ours?.unfinished !== true)) return 'opened';
    return ours?.unfinished === true ? 'new' : 'known';
  };
  const unwatched: FieldPlace[] = [];
  const notCompared: UncomparedSecret[] = [];
  const unwrittenSecrets: UnwrittenSecret[] = [];
  for (const resource of resources) {
    const fields = knownKind(resource.id, kinds);
    const found = named.liveById.get(resource.key);
    if (found !== undefined) addUnwatched(unwatched, resource, found, fields);
    const from = renamed.get(resource.key);
    const past = takesOver(resource, found) ? undefined : pastOf(resource, found !== undefined);
    if (found !== undefined && from === undefined && !writers.all.has(resource.key) && isUnchanged(fields, resource, found, past)) continue;
    const forms = [...(input.remembered?.written.get(resource.key) ?? []), own.get(resource.key)].map((one) => one?.resource);
    const context: ChangeContext = {
      live: found,
      state: live,
      past,
      written: forms.filter((form) => form !== undefined),
      phase: phaseOf(resource, found, past),
      previewOnly: input.previewOnly === true,
    };
    const { draft, notCompared: unread = [], unwrittenSecrets: unwritten = [], diagnostics } = draftChange(fields.kind, resource, context);
    const withName = (one: ChangeDraft): ChangeDraft => (from === undefined ? one : { ...one, action: 'rename', key: from });
    appendAll(notCompared, unread);
    appendAll(unwrittenSecrets, unwritten);
    drafted.push({
      draft: withName(draft),
      diagnostics,
      ...(found === undefined || past === undefined || reverts.has(resource.id)
        ? {}
        : {
            holdable: {
              kind: fields.kind,
              desired: resource,
              live: found,
              redraft: (held) => withName(draftChange(fields.kind, resource, { ...context, held }).draft),
            },
          }),
    });
  }
  return { drafted, unwatched, notCompared, unwrittenSecrets };
}

type DiffParts = Omit<Comparison, 'drafted'> & {
  readonly resources: readonly DesiredResource[];
  readonly drafts: readonly ChangeDraft[];
  readonly edges: readonly EdgeChange[];
  readonly writers: EdgeWriters;
  readonly removed: readonly RemovedObject[];
  readonly kept: PruneDecision['kept'];
};

function assembleDiff(prepared: Prepared, parts: DiffParts): Diff {
  const { input, base, named } = prepared;
  const { resources, edges, removed, kept } = parts;
  const changes = [
    ...(input.unplannable ?? []).map(unplannableChange).toSorted((one, other) => compareText(one.id, other.id)),
    ...orderedChanges(parts).map(reachOf(edges, named.liveById)),
  ];
  const changed = new Set(changes.map(({ id }) => id));
  const closed = new Set(changes.flatMap(({ id, replacedBy }) => (replacedBy === undefined ? [] : [id])));
  const declared = declaredKeys(named.desired);
  const orphaned = new Set(removed.map(({ live: { id } }) => id));
  // With a selection, removed objects are not orphans, but not unmanaged either.
  const applied = new Set(named.desired.partial === true ? base?.desired.resources.map(({ key }) => key) : []);
  const isUnmanaged = (id: ResourceId): boolean => !declared.has(id) && !orphaned.has(id) && !applied.has(id);
  const unmanaged = [...named.liveById]
    .flatMap(([id, { isLabel }]) => (isUnmanaged(id) && isLabel !== true ? [id] : []))
    .toSorted(compareText);
  return {
    target: input.target,
    changes,
    edges,
    unchanged: resources.filter(({ id }) => !changed.has(id)).length,
    ...(base === undefined ? {} : { base: base.commit }),
    orphans: removed.map((one) => orphanOf(one, { removedIn: base?.removedIn ?? new Map(), kept, closed, registry: input.registry })),
    unmanaged,
    ...(input.reportUnmanaged === true ? { unmanagedAccess: findAccess(unmanaged, named.liveById, input.registry) } : {}),
    unwatched: parts.unwatched,
    notCompared: parts.notCompared,
    unwrittenSecrets: parts.unwrittenSecrets,
    seals: sealsOf({ target: input.target, changes, edges }, prepared),
  };
}

/** Lists the unmanaged objects of kinds that can be closed. */
function findAccess(
  unmanaged: readonly ResourceId[],
  live: NamedStates['liveById'],
  registry: Prepared['input']['registry'],
): readonly UnmanagedAccess[] {
  return unmanaged.flatMap((id): readonly UnmanagedAccess[] => {
    const [found, kind] = [live.get(id), registry.get(kindOf(id))];
    if (found === undefined || !isClosable(kind)) return [];
    const { managedBy } = found;
    return [{ id, accessible: isOpen(kind, found.spec), ...(managedBy === undefined ? {} : { managedBy }) }];
  });
}

/** Orders changes by need, deletions last. */
function orderedChanges({ drafts, edges, writers }: DiffParts): readonly Change[] {
  const created = new Set(drafts.filter((draft) => draft.action === 'create').map(liveKeyOf));
  const needs = needsOf(edges, created);
  const all = drafts.flatMap((draft) => completeChange(draft, needs.get(liveKeyOf(draft)) ?? [], writers) ?? []);
  const known = new Set(all.flatMap((change) => [change.id, liveKeyOf(change)]));
  const needing = all.map((change) => ({ ...change, needs: change.needs.filter((need) => known.has(need)) }));
  const [others, deletions] = [needing.filter(({ action }) => action !== 'delete'), needing.filter(({ action }) => action === 'delete')];
  return [...orderByNeeds(others), ...orderByNeeds(deletions)];
}

/** Returns the live keys of everything that manifests declare, selected or not. */
export function declaredKeys({ resources, unselected }: DesiredState): ReadonlySet<ResourceId> {
  const declared = new Set<ResourceId>();
  for (const { key } of resources) declared.add(key);
  for (const { key } of unselected) declared.add(key);
  return declared;
}

/** Drafts the changes of objects that no manifest declares: replaced objects are closed, prunable orphans are deleted. */
function closedOrDeleted({ desired, live }: NamedStates, toDelete: readonly RemovedObject[], kinds: KindTable): readonly ChangeDraft[] {
  const deleted = new Set(toDelete.map(({ live: { id } }) => id));
  const successors = new Map<ResourceId, ResourceId>();
  const closed: ChangeDraft[] = [];
  for (const [successor, predecessor] of predecessorsOf(desired, live)) {
    const resource = desired.resources.find(({ id }) => id === successor);
    successors.set(predecessor.id, successor);
    const isDeleted = resource === undefined || deleted.has(predecessor.id);
    const draft = isDeleted ? undefined : draftClose(knownKind(successor, kinds).kind, predecessor, resource);
    if (draft !== undefined) closed.push(draft);
  }
  const deletions = toDelete.map((one): ChangeDraft => {
    const successor = successors.get(one.live.id);
    return { ...draftDelete(knownKind(one.base.id, kinds).kind, one), ...(successor === undefined ? {} : { replacedBy: successor }) };
  });
  return [...closed, ...deletions];
}

/** Marks the fields as changed in the manifests: replacing and pruning follow from them. */
function withIntent(draft: ChangeDraft): ChangeDraft {
  return { ...draft, fields: draft.fields.map((field) => ({ ...field, origin: 'intent' })) };
}

const keepAll: PruneDecision = { toDelete: [], kept: new Map() };

function prunable(removed: readonly RemovedObject[], ends: EdgeInput, prepared: Prepared): PruneDecision {
  const exposed = findExposed(prepared);
  const index = indexEdges(ends);
  const referring = referencesByEnd(declaredEnds(ends.desired, index), ends.desired);
  return decidePrune(removed, index.edges.values(), {
    isManaged: (id) => index.live.get(id)?.managedBy !== undefined,
    isDeclared: (id) => index.declared.has(id),
    isApplied: (edge) => index.applied.has(edge),
    referencesTo: (id) => referring.get(id) ?? [],
    blockedBy: (id) => exposed.get(id),
    isUncertain: (id) => prepared.uncertain.has(id),
  });
}

/** Adds the live protections in kept fields that the manifest does not state. */
function addUnwatched(unwatched: FieldPlace[], { id, spec, stated }: DesiredResource, live: LiveResource, { silent }: KindFields): void {
  for (const { name, empty } of silent) {
    const value = spec[name] === undefined && !stated.has(name) ? live.spec[name] : undefined;
    if (value !== undefined && !equal(value, empty)) unwatched.push({ id, path: pointer(name) });
  }
}

/** The objects that write attachments, and with them the managed ends that block some. */
type EdgeWriters = { readonly writing: ReadonlySet<ResourceId>; readonly all: ReadonlySet<ResourceId> };

function edgeWriters(edges: readonly EdgeChange[]): EdgeWriters {
  const writing = new Set(edges.flatMap(({ by }) => by ?? []));
  const blocked = edges.flatMap(({ action, rule, connection }) => (action === 'blocked' ? [rule, connection] : []));
  return { writing, all: new Set([...writing, ...blocked]) };
}

/** Completes a draft; undefined if nothing changes. */
function completeChange(draft: ChangeDraft, needs: readonly ResourceId[], { writing, all }: EdgeWriters): Change | undefined {
  const { action, replacedBy, managedBy, fields } = draft;
  const after = replacedBy === undefined ? needs : distinctSorted([...needs, replacedBy]);
  if (action === 'delete') return { ...draft, action, needs: after };
  const differs = fields.some(({ held }) => held !== true);
  const key = liveKeyOf(draft);
  if (managedBy !== undefined) {
    const { adoption: _, ...change } = draft;
    return differs || action === 'rename' || all.has(key) ? { ...change, action: 'blocked', needs: [] } : undefined;
  }
  const writes = action !== 'update' || differs || replacedBy !== undefined || writing.has(key);
  if (writes) return { ...draft, action, needs: after };
  return fields.length === 0 ? undefined : { ...draft, action: 'held', needs: [] };
}
