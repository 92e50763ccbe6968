import { type DialectFields, hasField } from '../../model/gateway.ts';
import type { Limits } from '../../model/config.ts';
import { type BaseState, type DeclaredEdge, desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import type { Remembered, RememberedObject } from '../../model/applied-record.ts';
import { type Checked, type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { resolveEdges } from '../../model/edge-ends.ts';
import { defined } from '../../model/json.ts';
import { closableFields, comparedFields, type Kind, type Registry } from '../../model/kind.ts';
import { isMissingRow, liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { type Allowance, type Renames, type TargetIdentity, withNames } from '../../model/plan/plan.ts';
import { isWithinAny, type Pointer } from '../../model/pointer.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import { adaptToDialect, ambiguousNames, type UnplannableObject, frozenKeys, unreadKinds, withoutUnplannable } from './omissions.ts';
import { withoutEndedGrants } from './ended-grants.ts';
import { resolveFormerNames, withKnownNames } from './former-names.ts';
import { isGone, layEdges, layNames, layWrites, withNamesInSpecs } from './lay-record.ts';
import { resolveReplacements } from './replacements.ts';
import { type OwnObjects, ownObjects, withRemembered } from './base-states.ts';
import { compareSecrets } from '../cells/secret-cells.ts';
import { compareSpecs, skippedPaths } from '../cells/compare-specs.ts';
import { resolveDefaults, resolveReferences } from '../cells/resolve-specs.ts';

/** Everything that a plan follows from, except the gateway's preflight and the policies. */
export type ReconcileInput = {
  readonly registry: Registry;
  readonly target: TargetIdentity;
  /** Fields of another dialect that the gateway has as well: `Kind.field`. */
  readonly borrowed?: readonly string[] | undefined;
  readonly desired: DesiredState;
  /** The diagnostics of loading them; reported with those of planning. */
  readonly diagnostics?: readonly Diagnostic[];
  readonly live: LiveState;
  /** The manifests of the last applied commit; without it nothing has an origin, and nothing is an orphan. */
  readonly base: BaseState | undefined;
  /** The manifests that the proposal started from; without them nothing is labeled as its own. */
  readonly start?: DesiredState | undefined;
  /** The time, or the day in UTC, at which access that is granted for a time has ended or not; without it none has. */
  readonly now?: string | undefined;
  readonly limits: Limits;
  readonly allowed: readonly Allowance[];
  readonly consent?: Consent;
  /** What the record of applies knows beyond the base. */
  readonly remembered?: Remembered | undefined;
  /** Removed objects that are no orphans: they stay live on purpose. */
  readonly released?: readonly string[];
  /** Nothing will be applied: a kept secret that is missing on the gateway is a difference, not an error. */
  readonly previewOnly?: boolean;
  /** The token may not write, so it need not be able to copy secrets. */
  readonly readOnly?: boolean;
  /**
   * Objects that are left out because they cannot be planned. If given, an error about a single object blocks that object and what
   * depends on it; otherwise it is an error of the whole plan.
   */
  readonly unplannable?: readonly UnplannableObject[] | undefined;
  /** Lists live connections without a manifest, and checks their policies. */
  readonly reportUnmanaged?: boolean;
};

/** Changes by `Kind/name` that the user agreed to, and that a plan leaves out otherwise. */
export type Consent = {
  /** Resources to import although they differ. */
  readonly imports: readonly string[];
  /** Resources whose drift is reverted even where that weakens them. */
  readonly revert: readonly string[];
  readonly prune: boolean;
};

/** Both sides of a plan in one form: fields of the gateway's dialect, successors with everything that they inherit, names as they will be. */
export type Prepared = {
  readonly input: ReconcileInput;
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly start: DesiredState | undefined;
  /** The applied manifests; the same object as `desired` when nothing changed since. */
  readonly applied: DesiredState | undefined;
  /** The live objects that are ours beyond the manifests of the base. */
  readonly own: OwnObjects;
  /** Returns whether the base or the record has an object, by its key; without a base, every object. */
  readonly isOurs: (key: ResourceId) => boolean;
  /** The live keys that unplannable objects have, rename or replace: they and their edges stay as they are. */
  readonly frozen: ReadonlySet<ResourceId>;
  /** Those of them that something else may have created. */
  readonly uncertain: ReadonlySet<ResourceId>;
  readonly named: NamedStates;
};

/** Both sides under the names that the objects have after the plan. */
export type NamedStates = {
  /** A resource that cannot take its new name has its former name as key. */
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly liveById: ReadonlyMap<ResourceId, LiveResource>;
  readonly renames: Renames;
  /** The former names of managed objects, by the names that they cannot take. */
  readonly taken: ReadonlyMap<ResourceId, ResourceId>;
  readonly diagnostics: readonly Diagnostic[];
};

/** Brings manifests, live state and base into one form; without a value when a successor cannot inherit what it needs. */
export function prepare(given: ReconcileInput): Checked<Prepared> {
  const input = withoutEndedGrants(given);
  const { registry, live, target, borrowed, readOnly = false, unplannable = [] } = input;
  const fields = { dialect: target.dialect, ...defined({ borrowed }) };
  const { desired: adapted, diagnostics: dropped } = adaptToDialect(withoutUnplannable(input.desired, unplannable), fields, registry);
  const own = ownObjects(input.remembered, live);
  const { remembered } = input;
  const uncertain = findUncertain(own, live, { registry, dialect: fields });
  const certain = [...own.values()].filter(({ key }) => !uncertain.has(key));
  const renamed = input.base && layNames(input.base, certain, { objects: remembered?.objects ?? [], live });
  const whole = withRemembered(renamed, remembered, { own, live });
  const earlier = whole && { ...whole, desired: adaptToDialect(whole.desired, fields, registry).desired };
  const laid = earlier && remembered ? layWrites(earlier, remembered, { live, registry }) : earlier;
  const isOurs = ownership(laid, { own, uncertain, remembered, live });
  const known = withKnownNames(adapted, { live, base: laid, registry, isOurs });
  const names = nameLive(known, live);
  const began = input.start && adaptToDialect(input.start, fields, registry).desired;
  const linked = withResolvedEdges({ desired: known, base: laid, start: began }, { names, registry, remembered });
  const { base, start } = linked;
  const { desired, diagnostics: replaced } = resolveReplacements(linked.desired, live, {
    named: names.live,
    registry,
    dialect: target.dialect,
    base,
    revert: input.consent?.revert ?? [],
    onlyReads: readOnly,
  });
  const unknown = [
    ...unreadKinds(live.unread ?? [], desired, base?.desired),
    ...ambiguousNames(live.namesakes ?? [], desired, base?.desired),
  ];
  const refused = [...dropped, ...unknown, ...replaced];
  const diagnostics = [...(input.diagnostics ?? []), ...refused];
  if (hasErrors(refused)) return { diagnostics };
  const isSame = whole?.desired === input.desired && (remembered?.begun ?? []).length === 0;
  const applied = isSame ? desired : base?.desired;
  const frozen = frozenKeys(input.desired, unplannable);
  const named = { ...names, desired: withKeys(desired, names.taken) };
  const value = { input, desired, live, base, start, applied, own, isOurs, frozen, uncertain, named };
  return { value, diagnostics };
}

/** Returns whether an object is ours: the base declares it, an apply created it for certain, or an incomplete one wrote to it. */
function ownership(
  base: BaseState | undefined,
  { own, uncertain, remembered, live }: Pick<Prepared, 'own' | 'uncertain' | 'live'> & Pick<ReconcileInput, 'remembered'>,
): Prepared['isOurs'] {
  const [applied, found] = [base && desiredByKey(base.desired.resources), liveById(live.resources)];
  const isWritten = (key: ResourceId): boolean => {
    const forms = remembered?.written.get(key);
    return forms !== undefined && !(found.has(key) && isGone(forms, found.get(key)));
  };
  return (key) => applied === undefined || applied.has(key) || (own.has(key) && !uncertain.has(key)) || isWritten(key);
}

/** The gateway under the names that the objects have after the plan. */
type NamedLive = Omit<NamedStates, 'desired'>;

function nameLive(desired: DesiredState, live: LiveState): NamedLive {
  const { renames, taken, diagnostics } = resolveFormerNames(desired, live);
  const state = withNames(live, renames);
  return { live: state, liveById: liveById(state.resources), renames, taken, diagnostics };
}

type ManifestStates = { readonly desired: DesiredState; readonly base: BaseState | undefined; readonly start: DesiredState | undefined };

type LinkContext = Pick<ReconcileInput, 'registry' | 'remembered'> & { readonly names: NamedLive };

/** Resolves the ends of the edges of all manifests to the names that the objects have after the plan. */
function withResolvedEdges(
  { desired, base, start }: ManifestStates,
  { names: { live, taken, renames: renamed }, registry, remembered }: LinkContext,
): ManifestStates {
  const ends = { desired: withKeys(desired, taken), live, registry };
  const renames = new Map(
    ends.desired.resources.flatMap(({ id, key, renamedFrom }) =>
      renamedFrom === undefined ? [] : [[resourceId(kindOf(id), renamedFrom), key] as const],
    ),
  );
  const resolve = (edges: readonly DeclaredEdge[]): readonly DeclaredEdge[] => resolveEdges(edges, { ...ends, renames });
  const applied = base && withNamesInSpecs({ ...base, desired: { ...base.desired, edges: resolve(base.desired.edges) } }, renamed);
  return {
    desired: { ...desired, edges: resolveEdges(desired.edges, ends) },
    base: applied && remembered ? layEdges(applied, remembered, { live, registry, resolve, renames }) : applied,
    start: start && { ...start, edges: resolve(start.edges) },
  };
}

/** Keys a resource that cannot take its new name by the name that it has. */
function withKeys(desired: DesiredState, taken: ReadonlyMap<ResourceId, ResourceId>): DesiredState {
  if (taken.size === 0) return desired;
  return { ...desired, resources: desired.resources.map((resource) => ({ ...resource, key: taken.get(resource.key) ?? resource.key })) };
}

/**
 * Returns the objects that an interrupted creation may have made, or something else: the record has no id of the gateway for them,
 * and they differ from the manifest that was applied. They are never deleted or changed without a question.
 */
function findUncertain(
  own: OwnObjects,
  live: LiveState,
  { registry, dialect }: { readonly registry: Registry; readonly dialect: DialectFields },
): ReadonlySet<ResourceId> {
  const unfinished = [...own.values()].filter((one) => one.unfinished === true);
  if (unfinished.length === 0) return new Set();
  const found = liveById(live.resources);
  const isCertain = ({ key, resource, holds = [] }: RememberedObject): boolean => {
    const [kind, object] = [registry.get(kindOf(key)), found.get(key)];
    const isKnown = kind !== undefined && object !== undefined && resource !== undefined;
    return isKnown && isAsCreated(kind, resource, { object, holds, live, dialect });
  };
  return new Set(unfinished.flatMap((one) => (isCertain(one) ? [] : [one.key])));
}

type Creation = {
  readonly object: LiveResource;
  readonly holds: readonly Pointer[];
  readonly live: LiveState;
  readonly dialect: DialectFields;
};

/** Fields that the gateway saves after the object itself: the attributes of objects of every kind, and rows of a plugin. */
const savedAfterwards: readonly Pointer[] = ['/attributes', '/slack_channels'];

/**
 * Returns whether an object is what the creation of a resource leaves: as in the manifest, closed, or without what the gateway saves after the
 * object itself.
 */
function isAsCreated(kind: Kind, resource: DesiredResource, { object, holds, live, dialect }: Creation): boolean {
  const { spec, diagnostics } = resolveReferences(kind, resource, object, live);
  if (diagnostics.length > 0 || compareSecrets(resource, object).fields.length > 0) return false;
  const fields = comparedFields(kind).filter((field) => hasField(dialect, kind.name, field));
  const desired = resolveDefaults(kind, { ...resource, spec }, object);
  const differing = compareSpecs(fields, desired, object.spec, skippedPaths(resource, object));
  const closed = new Set(closableFields(kind).flatMap(({ name, path, value }) => (object.spec[name] === value ? [path] : [])));
  return differing.every(
    ({ path, before }) =>
      closed.has(path) ||
      isWithinAny(path, holds) ||
      isMissingRow(path, object, live) ||
      ('absent' in before && isWithinAny(path, savedAfterwards)),
  );
}
