import type { Limits } from '../model/config.ts';
import type { DesiredResource, DesiredState } from '../model/desired.ts';
import type { Checked, Diagnostic } from '../model/diagnostic.ts';
import { hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { compareText, equal } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { Allowance, Change, EdgeChange, Plan, TargetIdentity } from '../model/plan.ts';
import { pointer } from '../model/pointer.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import { draftChange, type Draft, type Drafted } from './change.ts';
import { digestOf } from './digest.ts';
import { planEdges } from './edges.ts';
import { inOrder, needsOf } from './order.ts';
import { refusalsOf } from './refusals.ts';
import { isUnchanged, kindFields, type KindFields } from './unchanged.ts';

/** All that a plan follows from. */
export type PlanInput = {
  readonly target: TargetIdentity;
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The manifests of the last commit wholly applied; none is known yet, so nothing is an orphan. */
  readonly base: undefined;
  readonly limits: Limits;
  readonly allowed: readonly Allowance[];
};

/** Plans the difference between desired and live; pure, and the same for the same input in any order. */
export function plan(input: PlanInput, registry: Registry): Checked<Plan> {
  const live = new Map(input.live.resources.map((resource) => [resource.id, resource]));
  const resources = input.desired.resources.toSorted((left, right) => compareText(left.id, right.id));
  const kinds = new Map([...registry].map(([name, kind]) => [name, kindFields(kind)]));
  const { edges, diagnostics } = planEdges({ desired: input.desired, live: input.live, registry });
  const reasons = edgeReasons(edges);
  const drafted: Drafted[] = [];
  const unwatched: Unwatched[] = [];
  for (const resource of resources) {
    const fields = knownKind(resource.id, kinds);
    const found = live.get(resource.key);
    if (found !== undefined) unwatched.push(...unwatchedOf(resource, found, fields));
    if (found !== undefined && !reasons.has(resource.key) && isUnchanged(fields, resource, found)) continue;
    drafted.push(draftChange(fields.kind, resource, found, input.live));
  }
  const found = once([...drafted.flatMap((one) => one.diagnostics), ...diagnostics]);
  if (hasErrors(found)) return { diagnostics: found };
  return {
    value: assemble(input, { resources, drafts: drafted.map((one) => one.draft), edges, reasons, live, unwatched }),
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
};

type Unwatched = Plan['unwatched'][number];

function assemble(input: PlanInput, { resources, drafts, edges, reasons, live, unwatched }: Parts): Plan {
  const created = new Set(drafts.filter((draft) => draft.action === 'create').map(keyOf));
  const needs = needsOf(edges, created);
  const all = drafts.flatMap((draft) => changeOf(draft, needs.get(keyOf(draft)) ?? [], reasons.get(keyOf(draft)) ?? []) ?? []);
  const changes = inOrder(all);
  const declared = new Set<ResourceId>();
  for (const { key } of resources) declared.add(key);
  for (const { key } of input.desired.unselected) declared.add(key);
  let ours = 0;
  for (const id of declared) if (live.has(id)) ours += 1;
  const { refusals, used } = refusalsOf(changes, { ours, limits: input.limits, allowed: input.allowed });
  return {
    target: input.target,
    tree: input.desired.tree,
    changes,
    edges,
    unchanged: resources.length - changes.length,
    orphans: [],
    unmanaged: [...live.keys()].filter((id) => !declared.has(id)).toSorted(compareText),
    unwatched,
    refusals,
    allowed: used,
    digest: digestOf(input.target, changes, edges, resources),
  };
}

function keyOf(draft: Draft): ResourceId {
  return draft.key ?? draft.id;
}

/** Why edges make a change of their writer, or of the managed end they cannot be written to. */
function edgeReasons(edges: readonly EdgeChange[]): ReadonlyMap<ResourceId, readonly string[]> {
  const reasons = new Map<ResourceId, Set<string>>();
  const add = (id: ResourceId, reason: string): void => {
    reasons.set(id, (reasons.get(id) ?? new Set()).add(reason));
  };
  for (const edge of edges) {
    if (edge.by !== undefined) add(edge.by, `edge/${edge.action}`);
    if (edge.action === 'blocked') for (const id of [edge.rule, edge.connection]) add(id, 'edge/blocked');
  }
  return new Map([...reasons].map(([id, set]) => [id, [...set].toSorted(compareText)]));
}

function changeOf(draft: Draft, needs: readonly ResourceId[], edgeWhy: readonly string[]): Change | undefined {
  const { action, unfinished, ...change } = draft;
  const differs = draft.fields.length === 0 ? [] : [unfinished === true ? 'unfinished' : 'differs'];
  if (draft.managedBy !== undefined) {
    const why = [...differs, ...edgeWhy];
    return why.length === 0 ? undefined : { ...change, action: 'blocked', needs: [], reasons: [...why, 'managed'] };
  }
  const reasons = [...(action === 'create' ? ['not-live'] : differs), ...edgeWhy.filter((reason) => reason !== 'edge/blocked')];
  return reasons.length === 0 ? undefined : { ...change, action, needs, reasons };
}

/** Kept fields that protect and are not empty live, although the manifest does not state them. */
function unwatchedOf(desired: DesiredResource, live: LiveResource, { silent }: KindFields): Plan['unwatched'] {
  return silent.flatMap((field) => {
    const value = live.spec[field.name];
    return desired.spec[field.name] === undefined && value !== undefined && !equal(value, field.empty)
      ? [{ id: desired.id, path: pointer(field.name) }]
      : [];
  });
}
