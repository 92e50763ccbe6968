import { type Diagnostic, formatPosition, type Position } from '../diagnostic.ts';
import { compareText, equal, type Json, type JsonObject, textsIn } from '../json.ts';
import type { Pointer } from '../pointer.ts';
import type { PolicyReport } from '../protection/policy.ts';
import type { Headline, Protection } from '../protection/protection.ts';
import { type AccessMode, attributeId, isAttribute } from '../protection/access-objects.ts';
import { nameOf, type ResourceId } from '../resource.ts';
import type { LiveState } from '../live.ts';
import type { ChangedCheck, UncoveredCheck } from './changed-check.ts';
import type { TimedGrant } from '../protection/timed-grants.ts';
import { timeText } from '../time.ts';

/** The risk classes from the safest to the most dangerous; `unknown` never counts as safe. */
export const riskClasses = ['strengthens', 'neutral', 'availability', 'reroutes', 'exposes', 'unknown', 'weakens'] as const;

export type RiskClass = (typeof riskClasses)[number];

/** One effect of a change, by code. A change that weakens one control and strengthens another has two risks. */
export type Risk = {
  readonly code: `risk/${string}`;
  readonly class: RiskClass;
  /** The field, or the common path of several fields; absent when an edge or the whole resource is the cause. */
  readonly path?: Pointer | undefined;
  /** The affected connections, unless the resource is the connection itself. */
  readonly connections?: readonly ResourceId[] | undefined;
  /** The position in a manifest: `file:line:column`. */
  readonly place?: string | undefined;
};

/** The risks of a resource whose manifest differs from the base although nothing is written. */
export type UnwrittenRisks = { readonly id: ResourceId; readonly risks: readonly Risk[] };

/**
 * A change of the manifests that the gateway already has, because it was changed outside Ostiary: apply writes nothing for it. Its
 * sides are those of the last applied manifests and of the current ones.
 */
export type AcceptedDrift = Pick<AssessedChange, 'id' | 'key' | 'at' | 'own' | 'fields' | 'positions' | 'risks'> & {
  /** What the manifests do with the object. */
  readonly action: 'create' | 'update' | 'rename' | 'delete';
  readonly edges: readonly AcceptedEdge[];
  /** Who changed the gateway, and when (RFC 3339); absent unless the audit log shows it. */
  readonly by?: string;
  readonly when?: string;
};

/** An attachment that the manifests add or remove as the gateway did before. */
export type AcceptedEdge = Pick<EdgeChange, 'rule' | 'connection' | 'declared'> & { readonly action: 'attach' | 'detach' };

/** Returns what was done outside Ostiary, and by whom if that is known. */
export function acceptedCause({ action, by, when }: Pick<AcceptedDrift, 'action' | 'by' | 'when'>): string {
  const what = { create: 'created', update: 'changed', rename: 'renamed', delete: 'deleted' }[action];
  return `${what} outside Ostiary${by === undefined ? '' : ` by ${by}`}${when === undefined ? '' : `, ${timeText(when)}`}`;
}

/** Returns whether a risk class is more dangerous than another. */
export function isRiskierThan(one: RiskClass, other: RiskClass): boolean {
  return riskClasses.indexOf(one) > riskClasses.indexOf(other);
}

/** Returns the highest class of the risks; undefined when there are none. */
export function highestRisk(risks: readonly Pick<Risk, 'class'>[]): RiskClass | undefined {
  let highest: RiskClass | undefined;
  for (const risk of risks) if (highest === undefined || isRiskierThan(risk.class, highest)) highest = risk.class;
  return highest;
}

/** `set`: a new value; `differs`: not equal to the live value; `unknown`: the live value is hidden; `kept`: stays; `removed`: the key is removed. */
type SecretState = 'set' | 'differs' | 'unknown' | 'kept' | 'removed';

/** One side of a field's change; never the value of a secret. */
export type Value =
  | { readonly value: Json }
  | { readonly absent: true }
  | { readonly unknown: string }
  | { readonly secret: string; readonly state: SecretState };

/** Returns the value of one side; undefined if it is absent, unknown or a secret. */
export function shownValue(value: Value): Json | undefined {
  return 'value' in value ? value.value : undefined;
}

/** One changed field, set element, map key or keyed list entry. */
export type FieldChange = {
  readonly path: Pointer;
  readonly before: Value;
  readonly after: Value;
  /** Which side changed since the base; absent without a base. */
  readonly origin?: Origin;
  /** The pull request itself makes this change; absent when that was not computed. */
  readonly own?: boolean;
  /** The drift stays, because the gateway is stricter: the write carries `before` and does not revert it. */
  readonly held?: true;
  /** The reason why a secret with an unchanged source differs; absent for drift that was compared. */
  readonly cause?: SecretCause;
  /** The ends that the manifest gives the groups of this field; one that is over is why the group is removed. */
  readonly ends?: readonly GrantEnd[];
};

/** The end of a group in a field. */
export type GrantEnd = Omit<TimedGrant, 'path'>;

/**
 * `file`: the committed file has another content than in the base; `inline`: the manifest has another value. `source`: the value at the
 * source changed, not the gateway's. `gateway`: the gateway changed secrets of the object, which this run cannot compare one by one.
 * `undetermined`: the source or the gateway changed it.
 */
export type SecretCause = 'file' | 'inline' | 'source' | 'gateway' | 'undetermined';

/**
 * Why a secret was not compared. `hidden`: the token may not read the live value; `unresolved`: the run does not read the source;
 * `missing`: the manifest keeps it, and the gateway has none.
 */
export type UncomparedReason = 'hidden' | 'unresolved' | 'missing';

/** A secret whose live value was not compared with that of the manifest. */
export type UncomparedSecret = FieldPlace & { readonly reason: UncomparedReason };

/** A secret that the manifests changed since the base, and that no write changes. */
export type UnwrittenSecret = FieldPlace & Pick<FieldChange, 'before' | 'after'>;

/** Which side changed since the base. `intent`: the manifests; `drift`: the gateway; `both`: a conflict. */
export type Origin = 'intent' | 'drift' | 'both';

/** `blocked`: the object is managed by another tool, or cannot be planned; `held`: all differences are held, so nothing is written. */
export type Action = 'create' | 'update' | 'rename' | 'delete' | 'blocked' | 'held';

/** The positions of changed fields in the manifest, by path. */
export type FieldPositions = { readonly byPath: Readonly<Record<Pointer, Position>> };

export type Change = {
  readonly id: ResourceId;
  /** The identity of the resource on the gateway, if that is not `id`. */
  readonly key?: ResourceId;
  readonly action: Action;
  /** The gateway's id of the live object. */
  readonly uid?: string;
  readonly managedBy?: string;
  readonly at?: Position;
  /** The pull request itself makes the change; absent when that was not computed. */
  readonly own?: boolean;
  /** The plan imports a live object that was declared but never applied. */
  readonly adoption?: true;
  /** Why a blocked object cannot be planned; absent if it is managed by another tool. */
  readonly error?: BlockingError;
  readonly fields: readonly FieldChange[];
  readonly positions?: FieldPositions;
  /** Changes that must be done before this one starts. */
  readonly needs: readonly ResourceId[];
  /** An interrupted apply created the object closed, and this change opens it. */
  readonly unfinished?: true;
  /** The object that replaces this one, which is closed or deleted once that exists. */
  readonly replacedBy?: ResourceId;
  /**
   * An open object is closed before it is deleted, or closed first, or created closed, and opened at the end, because no order of writes keeps it as
   * protected as before or after; then its fields state how open it is.
   */
  readonly closed?: 'first' | 'between';
  /** A rule includes every connection from now on, because it names none, or only those that it names. */
  readonly reach?: 'every' | 'named';
  /** Live values that the write carries over although the manifest does not state them. */
  readonly carried: readonly Pointer[];
  /** The touched top-level fields before and after, secrets masked; for deriving a patch, not written to a plan document. */
  readonly touched?: { readonly before: JsonObject; readonly after: JsonObject };
  /** The derived patch, in a plan that was read from a file. */
  readonly patch?: readonly Json[];
};

/** Why one object is left out of a plan that otherwise goes on. */
export type BlockingError = Pick<Diagnostic, 'code' | 'message' | 'hint'>;

/** The code of an object that was deleted on the gateway, and that its manifest cannot recreate: drift, which stops no plan. */
export const deletedOutside = 'plan/deleted-outside';

/** The code of a secret that was deleted on the gateway, and that the manifest of its object keeps: drift, which stops no plan. */
export const secretDeletedOutside = 'plan/secret-deleted-outside';

/** Returns whether a diagnostic is about something that was deleted outside Ostiary, and that only a value can restore. */
export function needsValues({ code }: { readonly code: string }): boolean {
  return code === deletedOutside || code === secretDeletedOutside;
}

/** Returns whether a change is blocked because its object was deleted outside Ostiary. */
export function isDeletedOutside({ error }: Pick<Change, 'error'>): boolean {
  return error?.code === deletedOutside;
}

/** Returns the changes of objects that cannot be planned. */
export function unplannedChanges<T extends Pick<Change, 'error'>>({ changes }: { readonly changes: readonly T[] }): readonly T[] {
  return changes.filter(({ error }) => error !== undefined);
}

/** Returns the id of a change's resource in edges and the live state; for a rename the new one. */
export function liveKeyOf({ id, key, action }: Pick<Change, 'id' | 'key' | 'action'>): ResourceId {
  return action === 'rename' ? id : (key ?? id);
}

/** Returns the objects that changes delete. */
export function deletedKeys(changes: readonly Pick<Change, 'id' | 'key' | 'action'>[]): ReadonlySet<ResourceId> {
  return new Set(changes.flatMap((change) => (change.action === 'delete' ? [liveKeyOf(change)] : [])));
}

/** Returns the position of a changed field; undefined where no manifest has it. */
export function fieldPosition({ positions }: Pick<Change, 'positions'>, { path }: Pick<FieldChange, 'path'>): Position | undefined {
  return positions?.byPath[path];
}

/** Returns whether a field is at the end of the plan as before it, and may have another value in between. */
export function isRestored({ before, after }: Pick<FieldChange, 'before' | 'after'>): boolean {
  return 'value' in before && 'value' in after && equal(before.value, after.value);
}

/** Returns whether applying the change writes something. */
export function isWritten({ action }: Change): boolean {
  return action !== 'blocked' && action !== 'held';
}

/** Returns whether the change writes an object that already exists. */
export function isOnLiveObject({ action }: Pick<Change, 'action'>): boolean {
  return action === 'update' || action === 'rename' || action === 'delete';
}

export type EdgeAction = 'attach' | 'detach' | 'foreign' | 'held' | 'blocked';

export type EdgeChange = {
  readonly rule: ResourceId;
  readonly connection: ResourceId;
  readonly action: EdgeAction;
  /** Where manifests declare it: `file:line:column`. */
  readonly declared: readonly string[];
  /** Only the selector of the rule declares the edge. */
  readonly bySelector?: true;
  /** The change that writes the edge, for attach and detach. */
  readonly by?: ResourceId;
  readonly origin?: Origin;
  /** The pull request itself adds or removes the declaration; absent when that was not computed. */
  readonly own?: boolean;
};

/** Returns the end of an edge that is not the resource itself. */
export function otherEnd(edge: Pick<EdgeChange, 'rule' | 'connection'>, key: ResourceId): ResourceId {
  return edge.rule === key ? edge.connection : edge.rule;
}

/** A live object that we applied and no manifest declares any more, with the commit that removed its manifest. */
export type Orphan = {
  readonly id: ResourceId;
  readonly removedIn?: string;
  /** The first line of that commit's message. */
  readonly subject?: string;
  /** The reason why a prune does not delete it. */
  readonly kept?: string;
  /** Whether people can use it; absent for kinds without access modes. */
  readonly accessible?: boolean;
  readonly managedBy?: string;
};

/** The objects that were removed from the manifests, by id. */
export type Orphans = ReadonlyMap<ResourceId, Orphan>;

/** Returns the orphans that stay live after the plan. */
export function remainingOrphans({ orphans, changes }: Pick<Diff, 'orphans' | 'changes'>): readonly Orphan[] {
  if (orphans.length === 0) return [];
  const deleted = new Set(changes.flatMap(({ id, action }) => (action === 'delete' ? [id] : [])));
  return orphans.filter(({ id }) => !deleted.has(id));
}

/** Returns whether the plan writes something, accepts drift, or leaves an orphan live that nothing else manages. */
export function hasDifferences(plan: Pick<Plan, 'orphans' | 'changes' | 'accepted'>): boolean {
  return (
    plan.changes.some(isWritten) || plan.accepted.length > 0 || remainingOrphans(plan).some(({ managedBy }) => managedBy === undefined)
  );
}

/** A reason to refuse the plan. If `allowable`, `--allow CODE=REASON` overrides it by its `code`. */
export type Refusal = Omit<Diagnostic, 'severity'> & {
  readonly allowable: boolean;
  /** Everything that people could do afterwards and not before, for a refusal of that. */
  readonly newAccess?: readonly NewAccess[];
};

/** What people could do on a connection after a plan, and not before, or only after more or other approval. */
export type NewAccess = {
  readonly connection: ResourceId;
  /** All groups of the people; empty: people in no group that decides anything. Absent where it cannot be known. */
  readonly groups?: readonly string[];
  /** Lists of groups that decide the same: the people are in one of each. Absent where each list has one, which is in `groups`. */
  readonly oneOfEach?: readonly (readonly string[])[];
  readonly machine?: string;
  readonly verb?: AccessMode;
  readonly runbook?: string;
};

/** A refusal that the user overrode. */
export type Allowance = { readonly code: string; readonly reason: string };

/**
 * A time between two writes in which connections are less protected than both before and after: `from` has taken away what it takes,
 * and `until` has not yet brought what it brings. Paths are fields of the change beside them.
 */
export type ExposureWindow = {
  readonly from: ResourceId;
  readonly lost: readonly Pointer[];
  readonly until: ResourceId;
  readonly missing: readonly Pointer[];
  readonly connections: readonly ResourceId[];
};

/** A change that the gateway accepts only as one write, or between whose writes connections are exposed. */
export type SingleWrite = {
  readonly id: ResourceId;
  /** The reason why the gateway rejects a first write with both parts; absent where no such form is as strict as before and after. */
  readonly why?: string;
  /** The resulting exposure windows; empty when the order of writes leaves none. */
  readonly windows: readonly ExposureWindow[];
};

/** An object of the gateway that refers to a replaced resource; the reference does not move to the successor. */
export type OutsideReference = {
  readonly id: ResourceId;
  readonly replaces: ResourceId;
  /** The type of the referring object: `access-request rule`, `runbook rule`… */
  readonly sort: string;
  /** Its name; absent when the gateway does not show whether one exists. */
  readonly name?: string;
  /** How it uses the replaced resource, or why that is unknown. */
  readonly how: string;
};

/** Returns the plural of a type of referring object. */
export function pluralOf(sort: string): string {
  return sort.endsWith('y') ? `${sort.slice(0, -1)}ies` : `${sort}s`;
}

export type TargetIdentity = { readonly name: string; readonly url: string; readonly dialect: string; readonly organisation?: string };

/** The path of a field of a resource. */
export type FieldPlace = { readonly id: ResourceId; readonly path: Pointer };

/** The differences between the manifests and the gateway, in the order of their needs: the result of the diff stage. */
export type Diff = {
  readonly target: TargetIdentity;
  readonly changes: readonly Change[];
  readonly edges: readonly EdgeChange[];
  readonly unchanged: number;
  /** The last applied commit, when one is known: origins, orphans and held changes come from it. */
  readonly base?: string;
  readonly orphans: readonly Orphan[];
  readonly unmanaged: readonly ResourceId[];
  /** The unmanaged objects that give access; absent unless the target reports them. */
  readonly unmanagedAccess?: readonly UnmanagedAccess[];
  /** Live protections that no manifest states. */
  readonly unwatched: readonly FieldPlace[];
  readonly notCompared: readonly UncomparedSecret[];
  readonly unwrittenSecrets: readonly UnwrittenSecret[];
  readonly seals: PlanSeals;
};

/** What shows that a plan is the same one, in hexadecimal. Those of a plan without changes are computed when they are first read. */
export type PlanSeals = {
  /** The keyed hash of the manifests. */
  readonly tree: string;
  /** SHA-256 of target, actions, non-secret values, edges, and everything about secrets that is in the repository. */
  readonly digest: string;
};

/** A change with its risks, the most dangerous first. */
export type AssessedChange = Change & { readonly risks: readonly Risk[] };

/** A change since the last apply of what decides access and no manifest states. */
export type WatchedChange = {
  /** The object; a connection for its groups and its attributes, and `accessControlId` for all groups. */
  readonly id: ResourceId;
  readonly happened: 'created' | 'changed' | 'deleted' | 'switched on' | 'switched off';
  readonly managedBy?: string;
  /** Empty for all rows. */
  readonly fields: readonly FieldChange[];
};

/** What is known of the changes of what decides access and no manifest states. */
export type WatchedDrift = {
  readonly changes: readonly WatchedChange[];
  /** What the changes together do to connections, the worst first. */
  readonly headlines: readonly Headline[];
  /** The columns of the record that the token cannot read. */
  readonly unreadable: readonly string[];
  /** The role of the token, if the gateway reports it. */
  readonly role?: string;
  /** The columns with objects that the last apply did not record. */
  readonly unrecorded: readonly string[];
};

/** A live object without a manifest that gives access; `accessible` is false if all its access modes are disabled. */
export type UnmanagedAccess = { readonly id: ResourceId; readonly accessible: boolean; readonly managedBy?: string };

/** When a snapshot was taken (RFC 3339), and how long before the plan. */
export type SnapshotAge = { readonly taken: string; readonly seconds: number };

/** What a forge calls a proposal to merge a branch. */
export type ForgeRequest = 'pull request' | 'merge request';

/** A complete plan: scheduled, assessed and guarded. `apply` executes it, and reports print it. */
export type Plan = Omit<Diff, 'changes'> & {
  readonly changes: readonly AssessedChange[];
  /** Rules that are written once although they both strengthen and weaken. */
  readonly singleWrites: readonly SingleWrite[];
  /** Objects of the gateway that refer to a replaced resource. */
  readonly references: readonly OutsideReference[];
  /** The results of policies; absent when there are none. */
  readonly policies?: PolicyReport;
  readonly protection: Protection;
  /** What changed outside Ostiary and outside the manifests; absent when there is nothing to report. */
  readonly outside?: WatchedDrift;
  /**
   * How many connections were read from their list alone, because the plan is of a selection and does not change them; then nothing is known of
   * `outside`. Absent if everything was read.
   */
  readonly unread?: number;
  /** The plan was made from a snapshot of the gateway, so that it approves no apply. Absent if the gateway was read. */
  readonly snapshot?: SnapshotAge;
  /** How many connections were read from their list alone, because a proposal leaves them as applied. Absent if everything was read. */
  readonly unreadDetails?: number;
  /** Risks of manifests that changed since the base although nothing is written for them. */
  readonly unwritten: readonly UnwrittenRisks[];
  /** Drift that the manifests accept. */
  readonly accepted: readonly AcceptedDrift[];
  /** What the forge calls the proposal with the plan's own changes; absent for a pull request. */
  readonly request?: ForgeRequest;
  /** What the plan changes of its own checks, those that check less first; absent when there is nothing to report. */
  readonly checks?: readonly ChangedCheck[];
  readonly refusals: readonly Refusal[];
  readonly allowed: readonly Allowance[];
};

/** The source of one secret; never its value. `content` is the keyed hash of a committed file. */
export type SecretProvenance = { readonly id: ResourceId; readonly path: Pointer; readonly source: string; readonly content?: string };

/** The state of a live object at planning time, without its values. */
export type Fingerprint = {
  /** The identity on the gateway, after the plan. */
  readonly id: ResourceId;
  /** The gateway's own id. */
  readonly uid: string;
  /** A hash of every compared field. */
  readonly fields: Readonly<Record<string, string>>;
  /** Paths that were not compared: ignored or kept ones, and those that the token cannot read. */
  readonly without: readonly Pointer[];
};

/** A plan file with the conditions that must still hold when it is applied. */
export type SavedPlan = {
  readonly plan: Plan;
  /** The version of Ostiary that created the plan. */
  readonly tool: string;
  /** Whether the plan covers all manifests, not a selection. */
  readonly whole: boolean;
  /** The root commits of the repository; empty when they are unknown. */
  readonly repository: readonly string[];
  /** The state of the objects that the plan writes. */
  readonly live: readonly Fingerprint[];
  /** The sources of the secrets of all planned manifests. */
  readonly sources: readonly SecretProvenance[];
  /** A keyed hash of everything about these secrets that is in the repository, such as inline values. */
  readonly seal: string;
};

/** New ids by the current ids of live objects. */
export type Renames = ReadonlyMap<ResourceId, ResourceId>;

/** Returns the renames of a plan by the current ids of the objects. */
export function renamesOf(changes: readonly Change[]): Renames {
  return new Map(changes.flatMap(({ id, key, action }) => (action === 'rename' && key !== undefined ? [[key, id] as const] : [])));
}

/** Returns the live state after the renames, including edge ends; everything else is unchanged. */
export function withNames(live: LiveState, renames: Renames): LiveState {
  if (renames.size === 0) return live;
  const named = (id: ResourceId): ResourceId => renames.get(id) ?? id;
  const attributes = attributeRenames(renames);
  return {
    ...live,
    resources: live.resources.map((resource) => ({
      ...resource,
      id: named(resource.id),
      spec: withAttributeNames(resource.spec, attributes),
      edges: Object.fromEntries(Object.entries(resource.edges).map(([field, ends]) => [field, ends.map(named)])),
    })),
    ...(live.watched === undefined
      ? {}
      : { watched: live.watched.map((one) => ({ ...one, spec: withAttributeNames(one.spec, attributes) })) }),
  };
}

/** Returns the new names of attributes, which connections and rules have by name. */
export function attributeRenames(renames: Renames): ReadonlyMap<string, string> {
  return new Map([...renames].flatMap(([from, to]) => (isAttribute(from) ? [[nameOf(from), nameOf(to)] as const] : [])));
}

/** Returns a spec with the new names of its attributes; the same spec if it has none of them. */
export function withAttributeNames(spec: JsonObject, renames: ReadonlyMap<string, string>): JsonObject {
  const names = renames.size === 0 ? [] : textsIn(spec['attributes']);
  return names.some((name) => renames.has(name))
    ? { ...spec, attributes: names.map((name) => renames.get(name) ?? name).toSorted(compareText) }
    : spec;
}

/** Returns fields without deleted attributes, which the gateway takes from what has them; the same fields if they have none of them. */
export function withoutAttributes(fields: JsonObject, deleted: ReadonlySet<ResourceId>): JsonObject {
  const isLost = (name: string): boolean => deleted.has(attributeId(name));
  const names = deleted.size === 0 ? [] : textsIn(fields['attributes']);
  return names.some(isLost) ? { ...fields, attributes: names.filter((name) => !isLost(name)) } : fields;
}

/** A risk and its resource. */
export type ResourceRisk = { readonly id: ResourceId; readonly risk: Risk };

/** The parts of a plan that have risks. */
export type RiskyParts = Pick<Plan, 'changes' | 'unwritten' | 'accepted' | 'checks'>;

/** Lists all risks of a plan; those of manifests without a write and of checks come last. */
export function planRisks({ changes, unwritten, accepted, checks = [] }: RiskyParts): readonly ResourceRisk[] {
  return [
    ...[...changes, ...unwritten, ...accepted].flatMap(({ id, risks }) => risks.map((risk) => ({ id, risk }))),
    ...checks.flatMap((one) => (one.action === 'uncovered' ? [{ id: one.id, risk: uncoveredRisk(one) }] : [])),
  ];
}

function uncoveredRisk({ code, class: weakens, connections, at }: UncoveredCheck): Risk {
  return { code, class: weakens, connections, ...(at === undefined ? {} : { place: formatPosition(at) }) };
}

/** Returns the highest risk class of a plan; undefined when it has no risk. */
export function highestPlanRisk(plan: RiskyParts): RiskClass | undefined {
  return highestRisk(planRisks(plan).map(({ risk }) => risk));
}

/** Returns whether a field is a secret. */
export function isSecretChange({ before, after }: Pick<FieldChange, 'before' | 'after'>): boolean {
  return 'secret' in before || 'secret' in after;
}

type PlannedChanges = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** Returns the plan that reverts all held drift, too. */
export function revertHeld({ target, changes, edges }: PlannedChanges): PlannedChanges {
  return { target, changes: changes.map(withoutHeld), edges: edges.map(detachHeld) };
}

/** Returns whether a plan holds drift. */
export function hasHeld({ changes, edges }: PlannedChanges): boolean {
  return changes.some(({ fields }) => fields.some(({ held }) => held === true)) || edges.some(({ action }) => action === 'held');
}

function withoutHeld(change: Change): Change {
  const fields = change.fields.map(withoutHeldMark);
  return change.action === 'held' ? { ...change, action: 'update', fields } : { ...change, fields };
}

function withoutHeldMark(field: FieldChange): FieldChange {
  const { path, before, after, origin, ends } = field;
  return { path, before, after, ...(origin === undefined ? {} : { origin }), ...(ends === undefined ? {} : { ends }) };
}

function detachHeld(edge: EdgeChange): EdgeChange {
  return edge.action === 'held' ? { ...edge, action: 'detach' } : edge;
}

/** The value of `--digest` without a reviewed plan. */
export const noDigest = 'none';
