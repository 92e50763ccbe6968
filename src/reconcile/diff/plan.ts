import type { BaseState, DesiredResource, DesiredState } from '../../model/desired.ts';
import type { Limits } from '../../model/config.ts';
import { type Checked, type Diagnostic, hasErrors, sortDiagnostics } from '../../model/diagnostic.ts';
import { compareText, equal } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { liveKeyOf, type Allowance, type EdgeChange, type Plan, type Refusal, type TargetIdentity } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import { withNames } from '../../model/plan/renames.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { draftChange, type Draft, type Drafted } from './change.ts';
import { digestOf, sourcesOf } from '../saved-plan/digest.ts';
import { edgeKey } from '../../model/edges.ts';
import { declaredEnds, indexOf, type EdgeInput } from './edge-index.ts';
import { planEdges } from './edges.ts';
import { formerNames, formerOf } from '../prepare/former.ts';
import { changedName } from './immutable.ts';
import { lossesOf } from '../guard/losses.ts';
import { replacedBy, waitingHeirs } from '../prepare/inherit.ts';
import { inOrder, needsOf } from './order.ts';
import { historian } from './history.ts';
import { draftClose, draftDelete, leftBehind, orphanOf, removalOf, type Left, type Removal } from './orphans.ts';
import { changeOf, edgeReasons } from './reasons.ts';
import { refusalsOf } from '../guard/refusals.ts';
import { isUnchanged, kindFields, type KindFields } from './unchanged.ts';

/** All that a plan follows from. */
export type PlanInput = {
  readonly target: TargetIdentity;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The manifests of the last commit wholly applied; without it nothing has an origin, and nothing is an orphan. */
  readonly base: BaseState | undefined;
  readonly limits: Limits;
  readonly allowed: readonly Allowance[];
  readonly consent?: Consent;
  /** The plan is only looked at: that what is gone cannot come back with the secrets it kept is no mistake. */
  readonly looking?: boolean;
};

/** What the user asked to be done that a plan would leave alone, by `Kind/name`. */
export type Consent = {
  /** Resources to take over although they differ. */
  readonly adopt: readonly string[];
  /** Resources whose drift is undone even where that loosens them. */
  readonly revert: readonly string[];
  /** Orphans are deleted. */
  readonly prune: boolean;
};

/** Plans the difference between desired and live; pure, and the same for the same input in any order. */
export function plan(input: PlanInput, registry: Registry): Checked<Plan> {
  const { base, consent } = input;
  const former = formerNames(input.desired, input.live);
  const desired = withKeys(input.desired, former.blocked);
  const state = withNames(input.live, former.renames);
  const live = liveById(state.resources);
  const resources = desired.resources.toSorted((left, right) => compareText(left.id, right.id));
  const kinds = new Map([...registry].map(([name, kind]) => [name, kindFields(kind)]));
  const looking = input.looking === true;
  const left = leftBehind(base, desired, live);
  const ends = { desired, live: state, registry, base: base?.desired };
  const { doomed, kept } = consent?.prune === true ? prunable(left, ends) : nothing;
  const { edges, diagnostics } = planEdges({
    ...ends,
    orphans: new Set(left.map(({ live: { id } }) => id)),
    doomed: new Set(doomed.map(({ live: { id } }) => id)),
    reverts: new Set(consent?.revert),
  });
  const reasons = edgeReasons(edges);
  const pastOf = historian(base, consent?.revert);
  const renamed = new Map([...former.renames].map(([from, to]) => [to, from]));
  for (const id of former.blocked.values()) renamed.set(id, id);
  const waiting = waitingHeirs(replacedBy(desired, state), state, registry);
  const drafted: Drafted[] = [];
  const unwatched: Unwatched[] = [];
  const unverified: Unwatched[] = [];
  for (const resource of resources) {
    const fields = knownKind(resource.id, kinds);
    const found = live.get(resource.key);
    if (found !== undefined) addUnwatched(unwatched, resource, found, fields);
    const from = renamed.get(resource.key);
    if (found !== undefined && from === undefined && !reasons.has(resource.key) && isUnchanged(fields, resource, found)) continue;
    const past = pastOf(resource, found !== undefined);
    const isAdopted = base !== undefined && found !== undefined && from === undefined && past === undefined;
    const isWaiting = waiting.has(resource.key);
    const isSettled = resource.replaces !== undefined && past !== undefined && !isWaiting;
    const {
      draft,
      unverified: unread = [],
      diagnostics: said,
    } = draftChange(fields.kind, resource, { live: found, state, past, isAdopted, isWaiting, isSettled, looking });
    unverified.push(...unread.map((path) => ({ id: resource.id, path })));
    drafted.push({ draft: from === undefined ? draft : { ...draft, action: 'rename', key: from }, diagnostics: said });
  }
  const found = once([...former.diagnostics, ...drafted.flatMap((one) => one.diagnostics), ...diagnostics]);
  if (hasErrors(found)) return { diagnostics: found };
  const replaced = closedOrGone(desired, state, doomed, kinds).map((draft) => (base === undefined ? draft : withIntent(draft)));
  const drafts = [...drafted.map((one) => one.draft), ...replaced];
  return {
    value: assemble(input, { resources, drafts, edges, reasons, state, live, unwatched, unverified, left, kept, registry }),
    diagnostics: found,
  };
}

/** Sorted, and what is wrong in many places with the same words told once, at the first of them. */
function once(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const one of sortDiagnostics(diagnostics)) {
    const key = `${one.code} ${one.message}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return sortDiagnostics(
    [...groups.values()].flatMap((group) =>
      group.slice(0, 1).map((one) => (group.length === 1 ? one : { ...one, message: `${one.message} (${group.length} times)` })),
    ),
  );
}

/** What cannot be planned is never passed over in silence. */
function knownKind(id: ResourceId, kinds: ReadonlyMap<string, KindFields>): KindFields {
  const fields = kinds.get(kindOf(id));
  if (fields === undefined) throw new Error(`${id} is of no known kind`);
  return fields;
}

type Parts = {
  readonly resources: readonly DesiredResource[];
  readonly drafts: readonly Draft[];
  readonly edges: readonly EdgeChange[];
  readonly reasons: ReadonlyMap<ResourceId, readonly string[]>;
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  readonly unwatched: readonly Unwatched[];
  readonly unverified: readonly Unwatched[];
  readonly state: LiveState;
  readonly left: readonly Left[];
  readonly kept: Removal['kept'];
  readonly registry: Registry;
};

type Unwatched = Plan['unwatched'][number];

function assemble(input: PlanInput, parts: Parts): Plan {
  const { resources, drafts, edges, reasons, live, unwatched, unverified, state, left, kept, registry } = parts;
  const created = new Set(drafts.filter((draft) => draft.action === 'create').map(liveKeyOf));
  const needs = needsOf(edges, created);
  const all = drafts.flatMap((draft) => changeOf(draft, needs.get(liveKeyOf(draft)) ?? [], reasons.get(liveKeyOf(draft)) ?? []) ?? []);
  const known = new Set(all.flatMap((change) => [change.id, liveKeyOf(change)]));
  const needing = all.map((change) => ({ ...change, needs: change.needs.filter((need) => known.has(need)) }));
  const [staying, going] = [needing.filter(({ action }) => action !== 'delete'), needing.filter(({ action }) => action === 'delete')];
  const changes = [...inOrder(staying), ...inOrder(going)];
  const changed = new Set(changes.map(({ id }) => id));
  const declared = new Set<ResourceId>();
  for (const { key } of resources) declared.add(key);
  for (const { key } of input.desired.unselected) declared.add(key);
  let ours = 0;
  for (const id of declared) if (live.has(id)) ours += 1;
  const applied = new Set(input.base?.desired.resources.map(({ id }) => id));
  const comers = drafts.filter(({ id }) => !applied.has(id));
  const { refusals, used } = refusalsOf(changes, changedNames(comers, resources, left, registry), {
    ours: ours + left.length,
    losses: lossesOf(changes, edges, state, registry),
    limits: input.limits,
    allowed: input.allowed,
    adopts: new Set([...(input.consent?.adopt ?? []), ...resources.flatMap(({ id, adopt }) => (adopt ? [id] : []))]),
  });
  const orphaned = new Set(left.map(({ live: { id } }) => id));
  return {
    target: input.target,
    tree: input.desired.tree,
    changes,
    edges,
    unchanged: resources.filter(({ id }) => !changed.has(id)).length,
    ...(input.base === undefined ? {} : { base: input.base.commit }),
    orphans: left.map((one) => orphanOf(one, input.base?.removedIn ?? new Map(), kept.get(one.live.id))),
    unmanaged: [...live.keys()].filter((id) => !declared.has(id) && !orphaned.has(id)).toSorted(compareText),
    unwatched,
    ...(unverified.length === 0 ? {} : { unverified }),
    refusals,
    allowed: used,
    digest: digestOf(input.target, changes, edges, sourcesOf(resources)),
  };
}

/** What cannot take its new name is known by the one it has. */
function withKeys(desired: DesiredState, blocked: ReadonlyMap<ResourceId, ResourceId>): DesiredState {
  if (blocked.size === 0) return desired;
  return { ...desired, resources: desired.resources.map((resource) => ({ ...resource, key: blocked.get(resource.key) ?? resource.key })) };
}

/** What happens to objects that no manifest declares: those whose place is taken are closed, the doomed are deleted. */
function closedOrGone(
  desired: DesiredState,
  state: LiveState,
  doomed: readonly Left[],
  kinds: ReadonlyMap<string, KindFields>,
): readonly Draft[] {
  const going = new Set(doomed.map(({ live: { id } }) => id));
  const heirs = new Map<ResourceId, ResourceId>();
  const closed: Draft[] = [];
  for (const [heir, former] of replacedBy(desired, state)) {
    const resource = desired.resources.find(({ id }) => id === heir);
    heirs.set(former.id, heir);
    const draft = resource === undefined || going.has(former.id) ? undefined : draftClose(knownKind(heir, kinds).kind, former, resource);
    if (draft !== undefined) closed.push(draft);
  }
  const deleted = doomed.map((one): Draft => {
    const heir = heirs.get(one.live.id);
    return { ...draftDelete(knownKind(one.base.id, kinds).kind, one), ...(heir === undefined ? {} : { replacedBy: heir }) };
  });
  return [...closed, ...deleted];
}

/** Whoever takes a place, or goes, does so by the manifests. */
function withIntent(draft: Draft): Draft {
  return { ...draft, fields: draft.fields.map((field) => ({ ...field, origin: 'intent' })) };
}

const nothing: Removal = { doomed: [], kept: new Map() };

function prunable(left: readonly Left[], ends: EdgeInput): Removal {
  const index = indexOf(ends);
  const named = new Set(declaredEnds(ends.desired, index).flatMap(({ rule, connection }) => [rule, connection]));
  return removalOf(left, [...index.edges.values()], {
    isManaged: (id) => index.live.get(id)?.managedBy !== undefined,
    isDeclared: (id) => index.declared.has(id),
    isApplied: (edge) => index.past?.has(edgeKey(edge)) === true,
    isNamed: (id) => named.has(id),
  });
}

function changedNames(
  drafts: readonly Draft[],
  resources: readonly DesiredResource[],
  left: readonly Left[],
  registry: Registry,
): readonly Refusal[] {
  if (left.length === 0) return [];
  const created = new Set(drafts.flatMap(({ id, action }) => (action === 'create' ? [id] : [])));
  const taken = new Set(resources.map(formerOf));
  const free = left.filter(({ live }) => !taken.has(live.id));
  return resources.flatMap((resource) => {
    const kind = registry.get(kindOf(resource.id));
    return kind === undefined || !created.has(resource.id) ? [] : (changedName(kind, resource, free) ?? []);
  });
}

/** Adds the kept fields that protect and are not empty live, although the manifest does not state them. */
function addUnwatched(unwatched: Unwatched[], { id, spec }: DesiredResource, live: LiveResource, { silent }: KindFields): void {
  for (const { name, empty } of silent) {
    const value = spec[name] === undefined ? live.spec[name] : undefined;
    if (value !== undefined && !equal(value, empty)) unwatched.push({ id, path: pointer(name) });
  }
}
