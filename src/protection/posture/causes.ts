import { addToGroup } from '../../model/collections.ts';
import { desiredById, type DesiredResource, type DesiredState, type EdgeDeclaration } from '../../model/desired.ts';
import { type Position, formatPosition } from '../../model/diagnostic.ts';
import { type JsonObject, equal, isObject, textsIn } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { type Change, type EdgeChange, type FieldChange, type Value, fieldPosition, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import type { Cause, ControlType, ProtectionVerdict } from '../../model/protection/protection.ts';
import { type EdgeEnds, edgeKey, type ResourceId, kindOf, resourceId } from '../../model/resource.ts';
import { type Edit, editSpec } from '../../model/spec/edit.ts';
import {
  type ControlDifference,
  type ProtectionEffect,
  combineEffects,
  compareProtection,
  effectsOfDifferences,
} from '../controls/compare-protection.ts';
import { byName, compareSets } from '../controls/compare-controls.ts';
import type { GatewayAccess, Posture } from '../controls/control-row.ts';
import { accessLookup, noAccessObjects } from '../access/access-index.ts';
import { accessAfter, attachingAttributes, decidesAccess } from '../access/deciding-kinds.ts';
import { conditionedTypesOf, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { findEditedEntries } from './edited-entries.ts';
import { createPostureBuilder, isEffectiveRule, type PostureBuilder } from './posture.ts';
import { affectsEveryConnection, readAccessIn, type ProtectionSnapshot, type ResourceSnapshot } from './protection-snapshot.ts';

/** What the gateway adds to a connection, and no manifest states. */
type GatewayPart = {
  readonly access?: GatewayAccess;
  /** Samples of reviewed manifests, which decide what cannot be compared. */
  readonly samples?: ProtectionSnapshot['samples'];
};

type ObjectSides = GatewayPart & { readonly before: JsonObject; readonly after: JsonObject };

/**
 * Compares what an object brings to a connection by itself: a connection without rules, or a rule alone on a connection. Every
 * connection of a rule loses at most what it loses here, because rules only add.
 */
export function compareOwn(id: ResourceId, { before, after, ...part }: ObjectSides): readonly ControlDifference[] {
  const differences = compareProtection(ownPosture(id, before, part), ownPosture(id, after, part));
  return kindOf(id) === 'Connection' ? differences : [...differences, ...attachmentsByAttribute(before, after)];
}

/** Compares the attributes of a rule: each attaches it to connections, and does nothing else. */
function attachmentsByAttribute(before: JsonObject, after: JsonObject): readonly ControlDifference[] {
  const [had, has] = [textsIn(before['attributes']), textsIn(after['attributes'])].map((names) => names.map((name) => ({ name })));
  const found = compareSets(had ?? [], has ?? [], byName);
  return found.lost.length + found.gained.length === 0 ? [] : [{ control: 'attributes', ...found }];
}

type OwnPosture = GatewayPart & { readonly id: ResourceId; readonly posture: Posture };

/** The posture that was last read of each spec, which never changes: a change is compared field by field, always with the same sides. */
const lastPostures = new WeakMap<JsonObject, OwnPosture>();

function ownPosture(id: ResourceId, spec: JsonObject, part: GatewayPart): Posture {
  const last = lastPostures.get(spec);
  if (last?.id === id && last.access === part.access && last.samples === part.samples) return last.posture;
  const posture = readOwnPosture(id, spec, part);
  lastPostures.set(spec, { ...part, id, posture });
  return posture;
}

const nothingElse: GatewayAccess = { lookup: noAccessObjects, incomplete: new Set() };
const builders = new WeakMap<GatewayAccess, PostureBuilder>();

/** Returns a builder for connections without rules; it remembers none of them, so all of a gateway share it. */
function builderWithoutRules(access: GatewayAccess): PostureBuilder {
  const build = builders.get(access) ?? createPostureBuilder({ access });
  builders.set(access, build);
  return build;
}

function readOwnPosture(id: ResourceId, spec: JsonObject, { access = nothingElse, samples }: GatewayPart): Posture {
  const resource: ResourceSnapshot = { spec, unknown: [] };
  if (kindOf(id) === 'Connection') return builderWithoutRules(access)({ id, resource, rules: new Map() });
  if (decidesAccess(kindOf(id))) return readAlone(id, resource);
  const build = createPostureBuilder({ access: nothingElse, samples });
  return build({ id, resource: { spec: {}, unknown: [] }, rules: new Map([[id, resource]]) });
}

const openConnection: JsonObject = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

/** Returns the posture of an open connection of which one object alone decides the access. */
function readAlone(id: ResourceId, resource: ResourceSnapshot): Posture {
  const connection = resourceId('Connection', '');
  const attributes = attachingAttributes(id);
  const after = accessAfter(
    // An attribute grants groups only while access control is on.
    attributes.length === 0 ? {} : { 'access-control': [] },
    { resources: new Map(), edges: new Map() },
    { resources: new Map([[id, resource]]), edges: new Map([[connection, new Set([id])]]) },
  );
  const access = { ...nothingElse, ...(after === undefined ? {} : { lookup: accessLookup(after) }) };
  return createPostureBuilder({ access })({
    id: connection,
    resource: { spec: { ...openConnection, attributes }, unknown: [] },
    rules: new Map(),
  });
}

/** Returns the effects of some changed fields of an object: from its state before, and towards its state after the change. */
function fieldEffects(
  kind: Kind,
  id: ResourceId,
  { fields, sides, isIdle }: { readonly fields: readonly FieldChange[]; readonly sides: ObjectSides; readonly isIdle: IdleCheck },
): ReadonlySet<ProtectionEffect> {
  const { before, after } = sides;
  const isUnseen = fields.some((field) => 'unknown' in field.before || 'unknown' in field.after);
  const made = sameOr(after, editSpec(kind.fields, before, editsOf(fields, 'after')));
  const undone = sameOr(before, editSpec(kind.fields, after, editsOf(fields, 'before')));
  const isWhole = made === after && undone === before;
  const found = effectsOfDifferences([
    ...compareOwn(id, { ...sides, after: made }),
    ...(isWhole ? [] : compareOwn(id, { ...sides, before: undone })),
  ]);
  // What a type enforces and what an attribute attaches depends on the rules, which are not compared here.
  const isCondition = fields.some(({ path }) => conditionedTypesOf(kind.name, path).length > 0);
  const attaches = kind.name === 'Connection' && fields.some(({ path }) => tokensOf(path)[0] === 'attributes' && !isIdle(path));
  return isUnseen || ((isCondition || attaches) && found.size === 0) ? new Set([...found, 'unknown']) : found;
}

/** Returns whether an attribute of a connection attaches nothing. */
type IdleCheck = (path: FieldChange['path']) => boolean;

/** Returns a check against the objects of two states; nothing is known to be idle where the gateway does not list what attributes do. */
function idleCheck({ before, after }: CauseContext['snapshots']): IdleCheck {
  if (readAccessIn(before).incomplete.has('attributes')) return () => false;
  return (path) => {
    const [, name] = tokensOf(path);
    return name !== undefined && [before, after].every((one) => effectiveRules(one, name).length === 0);
  };
}

function effectiveRules({ rulesByAttribute, resources }: ProtectionSnapshot, attribute: string): readonly ResourceId[] {
  return [...(rulesByAttribute.get(attribute) ?? [])].filter((id) => isEffectiveRule(id, resources.get(id)));
}

/** Returns the known spec if the made one is equal, as it is if only these fields differ: its posture is known. */
function sameOr(known: JsonObject, made: JsonObject): JsonObject {
  return equal(known, made) ? known : made;
}

function editsOf(fields: readonly FieldChange[], side: 'before' | 'after'): readonly Edit[] {
  return fields.flatMap(({ path, [side]: value }) => editOf(path, value));
}

function editOf(path: FieldChange['path'], value: Value): readonly Edit[] {
  if ('value' in value) return [{ path, value: value.value }];
  return 'absent' in value ? [{ path, value: undefined }] : [];
}

/** Returns the causes of a changed control type of a connection; `rules` are attached before or after. */
export type CauseFinder = (connection: ResourceId, rules: readonly ResourceId[], control: ControlType) => readonly Contribution[];

/** A cause, the control types that it affects, and its verdict there. A joint one has the verdict of the connection: it has none alone. */
export type Contribution = {
  readonly controls: readonly ControlType[];
  readonly direction: ProtectionVerdict;
  readonly isJoint?: true;
  readonly cause: Cause;
};

function jointly(kind: string): Pick<Contribution, 'isJoint'> {
  return decidesAccess(kind) ? { isJoint: true } : {};
}

/**
 * Returns a finder of causes among the written fields and attachments of a plan; each cause is listed once. With `isReversed`, the verdict
 * of each is that of undoing it.
 */
export function createCauseFinder(
  { changes, edges }: { readonly changes: readonly Change[]; readonly edges: readonly EdgeChange[] },
  context: CauseContext,
): CauseFinder {
  const { attachments = noManifests, isReversed = false } = context;
  const written = new Map(changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const known = new Map<ResourceId, readonly Contribution[]>();
  const byResource = (id: ResourceId): readonly Contribution[] => {
    const change = written.get(id);
    const found = known.get(id) ?? (change === undefined ? [] : contributionsOf(change, context));
    known.set(id, found);
    return found;
  };
  const causesOfEdge = edgeCauses(changes, attachments);
  const byConnection = new Map<ResourceId, EdgeChange[]>();
  const everywhere = new Map<ResourceId, EdgeChange>();
  for (const edge of edges) {
    if (edge.action !== 'attach' && edge.action !== 'detach') continue;
    addToGroup(byConnection, edge.connection, edge);
    // The first name that such a rule gets or the last one that it loses affects the connections that it does not name.
    const { before, after } = context.snapshots;
    if (!everywhere.has(edge.rule) && affectsEveryConnection(edge.rule, before, after)) everywhere.set(edge.rule, edge);
  }
  return (connection, rules, control) => {
    const own = byConnection.get(connection) ?? [];
    const others = rules.flatMap((rule) => everywhere.get(rule) ?? []).filter(({ rule }) => !own.some((edge) => edge.rule === rule));
    const moved = [...own, ...others.filter(({ rule }) => byResource(rule).length === 0)].flatMap((edge) =>
      causesOfEdge(edge).map((cause) => attachmentContribution(edge, cause, isReversed)),
    );
    const all = [...byResource(connection), ...moved, ...rules.flatMap(byResource)];
    return all.filter(({ controls }) => controls.includes(control));
  };
}

/** The input of a cause finder: the states before and after, and what manifests state about attachments. */
type CauseContext = {
  readonly registry: Registry;
  readonly snapshots: { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };
  readonly attachments?: AttachmentLookup;
  readonly isReversed?: boolean;
};

/** Lists the contributions of a change, one for each entry; a created or deleted rule is one cause as a whole. */
function contributionsOf(change: Change, { registry, snapshots, isReversed = false }: CauseContext): readonly Contribution[] {
  const { before, after } = snapshots;
  const key = liveKeyOf(change);
  const kind = registry.get(kindOf(key));
  if (kind === undefined) return [];
  if (change.action === 'create' || change.action === 'delete') {
    const direction = (change.action === 'create') === isReversed ? 'weakens' : 'strengthens';
    return [{ controls: ruleControlTypes(kind.name), direction, ...jointly(kind.name), cause: resourceCause(change) }];
  }
  const specs = { before: specIn(before, key), after: specIn(after, key) };
  const sides = { ...(isReversed ? swapped(specs) : specs), access: readAccessIn(before), samples: before.samples };
  const directionOf = (fields: readonly FieldChange[]): ProtectionVerdict => {
    const directed = isReversed ? fields.map((field) => ({ ...field, ...swapped(field) })) : fields;
    return combineEffects(fieldEffects(kind, key, { fields: directed, sides, isIdle: idleCheck(snapshots) }));
  };
  const groups = fieldGroups(kind, change, specs).flatMap((fields): readonly GroupedContribution[] => {
    const [first] = fields;
    return first === undefined
      ? []
      : [{ fields, direction: directionOf(fields), controls: aspectsAt(kind, first), cause: fieldCause(change, first) }];
  });
  const isEffective = ({ direction }: Contribution): boolean => direction !== 'neutral';
  return [...groups.filter(isEffective), ...jointContributions(groups, directionOf).filter(isEffective)].map(
    ({ controls, direction, cause }) => ({
      controls,
      direction,
      cause,
    }),
  );
}

type GroupedContribution = Contribution & { readonly fields: readonly FieldChange[] };

/**
 * Lists the contributions of fields that have an effect only together, such as a reviewer and the number of approvals beside groups that
 * can approve alone; only for control types on which no field has an effect of its own.
 */
function jointContributions(
  groups: readonly GroupedContribution[],
  directionOf: (fields: readonly FieldChange[]) => ProtectionVerdict,
): readonly Contribution[] {
  const explained = new Set(groups.flatMap(({ direction, controls }) => (direction === 'neutral' ? [] : controls)));
  const open = new Set(groups.flatMap(({ controls }) => controls.filter((control) => !explained.has(control))));
  return [...open].flatMap((control) => {
    const together = groups.filter(({ controls }) => controls.includes(control));
    const direction = together.length < 2 ? 'neutral' : directionOf(together.flatMap(({ fields }) => fields));
    return together.map(({ cause }) => ({ controls: [control], direction, cause }));
  });
}

/** Groups the written fields that protect by entry; both sides of an edited entry are one group. */
function fieldGroups(
  kind: Kind,
  { fields }: Change,
  specs: { readonly before: JsonObject; readonly after: JsonObject },
): readonly (readonly FieldChange[])[] {
  const written = fields.filter((field) => field.held !== true && aspectsAt(kind, field).length > 0);
  const edited = findEditedEntries(kind.fields, written, specs);
  const former = new Set(edited.values());
  const groups = new Map<string, FieldChange[]>();
  for (const field of written) {
    if (former.has(field)) continue;
    const own = edited.get(field.path);
    addToGroup(groups, pointer(...tokensOf(field.path).slice(0, 3)), field);
    if (own !== undefined) addToGroup(groups, pointer(...tokensOf(field.path).slice(0, 3)), own);
  }
  return [...groups.values()];
}

function swapped<Side>({ before, after }: { readonly before: Side; readonly after: Side }): {
  readonly before: Side;
  readonly after: Side;
} {
  return { before: after, after: before };
}

function aspectsAt({ name }: Kind, { path }: FieldChange): readonly ControlType[] {
  return [...new Set([...controlTypesOf(name, path), ...conditionedTypesOf(name, path)])];
}

function specIn({ resources }: ProtectionSnapshot, id: ResourceId): JsonObject {
  return resources.get(id)?.spec ?? {};
}

/** Returns the cause for a created or deleted resource; one that a drift deleted is marked `byHand`. */
export function resourceCause({ id, at, fields }: Pick<Change, 'id' | 'at' | 'fields'>): Cause {
  return { by: id, ...placeField(at), ...(fields.some(({ origin }) => origin === 'drift') ? { byHand: true } : {}) };
}

/** Returns the cause for a field; deeper paths are cut to the entry of a list. */
function fieldCause(change: Change, field: FieldChange): Cause {
  const { id, at } = change;
  return {
    by: id,
    path: pointer(...tokensOf(field.path).slice(0, 3)),
    ...placeField(fieldPosition(change, field) ?? at),
    ...(field.origin === 'drift' && expiryOf(field) === undefined ? { byHand: true } : {}),
  };
}

function attachmentContribution({ rule, action }: EdgeChange, cause: Cause, isReversed: boolean): Contribution {
  const direction = (action === 'attach') === isReversed ? 'weakens' : 'strengthens';
  return { controls: ruleControlTypes(kindOf(rule)), direction, ...jointly(kindOf(rule)), cause };
}

/** What manifests state about attachments: the selector of a rule, and where the fields are that declared an attachment when it was applied. */
export type AttachmentLookup = {
  readonly selectorOf: (rule: ResourceId) => JsonObject | undefined;
  readonly formerPlaceOf: (ends: EdgeEnds) => Position | undefined;
};

const noManifests: AttachmentLookup = { selectorOf: () => undefined, formerPlaceOf: () => undefined };

/** Looks up attachments in manifests, and in those that were applied last. */
export function lookUpAttachments({ resources }: DesiredState, applied: DesiredState | undefined): AttachmentLookup {
  const selectors = new Map(resources.flatMap(({ key, selector }) => (selector === undefined ? [] : [[key, selector.value] as const])));
  let declarations: ReadonlyMap<string, readonly EdgeDeclaration[]> | undefined;
  let manifests: ReadonlyMap<ResourceId, DesiredResource> | undefined;
  return {
    selectorOf: (rule) => selectors.get(rule),
    formerPlaceOf: ({ rule, connection }) => {
      declarations ??= new Map(applied?.edges.map((edge) => [edgeKey(edge), edge.declarations]));
      manifests ??= desiredById(resources);
      const [first] = declarations.get(edgeKey({ rule, connection })) ?? [];
      return first && manifests.get(first.by)?.locate(pointer(...tokensOf(first.path).slice(0, 1)));
    },
  };
}

/** Returns a finder of causes for attached and detached edges: the declaration, the lost tag, or the change that writes it. */
export function edgeCauses(
  changes: readonly Change[],
  { selectorOf, formerPlaceOf }: AttachmentLookup,
): (edge: EdgeChange) => readonly Cause[] {
  const byKey = new Map(changes.map((change) => [liveKeyOf(change), change]));
  return (edge) => {
    const tags =
      edge.action === 'detach' && edge.declared.length === 0 ? tagCauses(edge, byKey.get(edge.connection), selectorOf(edge.rule)) : [];
    return tags.length > 0 ? tags : [attachmentCause(edge, byKey, formerPlaceOf(edge))];
  };
}

/** Lists the tags that the rule still requires and that this plan removes from the connection. */
function tagCauses({ rule, connection }: EdgeChange, change: Change | undefined, selector: JsonObject | undefined): readonly Cause[] {
  const required = selector?.['match_tags'];
  if (change === undefined || !isObject(required)) return [];
  return change.fields.flatMap((field): readonly Cause[] => {
    const [name, key = ''] = tokensOf(field.path);
    const isLost = name === 'connection_tags' && 'value' in field.before && field.before.value === required[key] && field.held !== true;
    return isLost ? [{ ...fieldCause(change, field), by: connection, edge: rule }] : [];
  });
}

function attachmentCause(
  { rule, connection, declared, by, origin }: EdgeChange,
  byKey: ReadonlyMap<ResourceId, Change>,
  former: Position | undefined,
): Cause {
  const [first] = declared;
  const writer = by ?? rule;
  return {
    by: writer,
    edge: writer === rule ? connection : rule,
    ...(first === undefined ? placeField(former ?? byKey.get(writer)?.at) : { place: first }),
    ...(origin === 'drift' ? { byHand: true } : {}),
  };
}

function placeField(at: Position | undefined): { readonly place?: string } {
  return at === undefined ? {} : { place: formatPosition(at) };
}
