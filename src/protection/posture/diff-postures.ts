import type { DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import {
  isWritten,
  liveKeyOf,
  type Change,
  type Diff,
  renamesOf,
  withNames,
  type EdgeChange,
  type FieldChange,
} from '../../model/plan/plan.ts';
import type {
  ControlType,
  ControlChange,
  PostureChange,
  ConnectionRule,
  ProtectionVerdict,
  Cause,
} from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { readDeclaredAttachments, liveSnapshot, plannedSnapshot, rulesOn, type ProtectionSnapshot } from './protection-snapshot.ts';
import { comparePostures, differenceVerdict, type ComparisonCache, type ControlDifference } from './compare-postures.ts';
import { emptyPosture, readPostures, type Posture, type PostureReader, controlTypesOf, fieldVerdict, ruleControlTypes } from './posture.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';

/** The part of a plan that affects protection. */
export type PlannedWrites = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** One connection whose protection a plan changes, with the differences. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly differences: readonly ControlDifference[];
  readonly before: Posture;
  readonly after: Posture;
  /** The causes by control type; for a created connection the cause of its creation. */
  readonly contributions: ReadonlyMap<ControlType, readonly Contribution[]>;
};

/** The protection before and after a plan, with readers of the postures. */
export type PlanSnapshots = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly postureBefore: PostureReader;
  readonly postureAfter: PostureReader;
};

/** The manifests that declare attachments: those of the plan, and those that were applied last. */
export type AttachmentSources = { readonly desired?: DesiredState | undefined; readonly base?: DesiredState | undefined };

/** Takes the snapshots before and after a plan. */
export function snapshotPlan(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  { desired, base }: AttachmentSources = {},
): PlanSnapshots {
  const renames = renamesOf(plan.changes);
  const named = withNames(live, renames);
  const snapshot = liveSnapshot(named, registry, plan.target.dialect);
  const before =
    base === undefined
      ? snapshot
      : { ...snapshot, declaredAttachments: readDeclaredAttachments(base, { live: named, renames, placed: false }) };
  const planned = plan.changes.some(isWritten) ? plannedSnapshot(plan, live, registry) : snapshot;
  const after =
    desired === undefined ? planned : { ...planned, declaredAttachments: readDeclaredAttachments(desired, { live: named, placed: true }) };
  return { before, after, postureBefore: readPostures(before), postureAfter: readPostures(after) };
}

/** Swaps both sides: from the planned state to the live state. */
export function reverseSnapshots({ before, after, postureBefore, postureAfter }: PlanSnapshots): PlanSnapshots {
  return { before: after, after: before, postureBefore: postureAfter, postureAfter: postureBefore };
}

/** Lists the connections whose protection a plan changes, directly or through a rule; sorted by id. */
export function diffPostures(
  plan: PlannedWrites,
  { before, after, postureBefore, postureAfter }: PlanSnapshots,
  causes: CauseFinder,
): readonly AffectedConnection[] {
  if (!plan.changes.some(isWritten)) return [];
  const compared: ComparisonCache = new Map();
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  return affectedIds(plan, before, after).flatMap((id) => {
    const rules = (): readonly ResourceId[] => [...new Set([...rulesOn(before, id), ...rulesOn(after, id)])].toSorted();
    return (
      affectedConnection({ id, own: changes.get(id), before: postureBefore(id), after: postureAfter(id), causes, rules }, compared) ?? []
    );
  });
}

/** Lists the connections that a written change, an attachment or a changed rule may affect; sorted by id. */
function affectedIds(plan: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const snapshot of isRuleWritten ? [before, after] : []) {
    for (const id of snapshot.resources.keys()) {
      if (kindOf(id) === 'Connection' && !ids.has(id) && [...rulesOn(snapshot, id)].some((rule) => written.has(rule))) ids.add(id);
    }
  }
  return [...ids].toSorted();
}

type Sides = {
  readonly id: ResourceId;
  readonly own: Change | undefined;
  readonly before: Posture | undefined;
  readonly after: Posture | undefined;
  readonly causes: CauseFinder;
  /** The rules that are attached before or after. */
  readonly rules: () => readonly ResourceId[];
};

function affectedConnection({ id, own, before, after, causes, rules }: Sides, compared: ComparisonCache): AffectedConnection | undefined {
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  const isCreated = before === undefined || own?.reasons.includes('unfinished') === true;
  const isDeleted = after === undefined;
  const [first, last] = [before ?? emptyPosture, after ?? emptyPosture];
  const differences = comparePostures(isCreated ? emptyPosture : first, last, compared);
  if (differences.length === 0 && !isCreated && !isDeleted) return undefined;
  const contributions = isCreated
    ? creationContribution(own)
    : new Map(isDeleted ? [] : differences.map(({ aspect }) => [aspect, causes(id, rules(), aspect)] as const));
  const controlChanges = differences.map((difference): ControlChange => {
    const { aspect, before: lostTexts, after: gainedTexts } = difference;
    return {
      aspect,
      way: isCreated || isDeleted ? 'neutral' : differenceVerdict(difference),
      before: lostTexts,
      after: gainedTexts,
      ...(first.incomplete.has(aspect) || last.incomplete.has(aspect) ? { atLeast: true } : {}),
      causes: isCreated ? [] : (contributions.get(aspect) ?? []).map(({ cause }) => cause),
    };
  });
  const rulesOnIt = rulesOnEither(isCreated ? emptyPosture : first, last);
  const change: PostureChange = {
    connection: id,
    way: combineVerdicts(controlChanges),
    ...(isCreated ? { comes: true } : {}),
    ...(isDeleted ? { goes: true } : {}),
    tags: isDeleted ? first.tags : last.tags,
    aspects: controlChanges,
    ...(rulesOnIt.length === 0 ? {} : { rules: rulesOnIt }),
  };
  return { change, differences: isCreated || isDeleted ? [] : differences, before: first, after: last, contributions };
}

/** Lists the rules on one connection before and after. */
export function connectionRules(id: ResourceId, { postureBefore, postureAfter }: PlanSnapshots): readonly ConnectionRule[] {
  return rulesOnEither(postureBefore(id) ?? emptyPosture, postureAfter(id) ?? emptyPosture);
}

function rulesOnEither({ rules: rulesBefore }: Posture, { rules: rulesAfter }: Posture): readonly ConnectionRule[] {
  return [...new Set([...rulesBefore.keys(), ...rulesAfter.keys()])].toSorted().map((rule) => {
    const [before, after] = [rulesBefore.get(rule), rulesAfter.get(rule)];
    return { rule, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}

/** Returns the cause of a connection's creation, which also opens its access. */
function creationContribution(change: Change | undefined): AffectedConnection['contributions'] {
  return new Map(change === undefined ? [] : [['access', [{ aspects: ['access'], way: 'neutral', cause: resourceCause(change) }]]]);
}

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'unknown', 'strengthens', 'neutral'];

/** Combines verdicts: one control that weakens and another that strengthens give `both`. */
function combineVerdicts(changes: readonly ControlChange[]): ProtectionVerdict {
  const ways = new Set(changes.map(({ way }) => way));
  if (ways.has('both') || (ways.has('weakens') && ways.has('strengthens'))) return 'both';
  return verdictOrder.find((way) => ways.has(way)) ?? 'neutral';
}

/** Returns the causes of a changed control type of a connection; `rules` are attached before or after. */
export type CauseFinder = (connection: ResourceId, rules: readonly ResourceId[], aspect: ControlType) => readonly Contribution[];

/** A cause, the control types that it affects, and its verdict there. */
export type Contribution = { readonly aspects: readonly ControlType[]; readonly way: ProtectionVerdict; readonly cause: Cause };

/** Returns a finder of causes among the written fields and attachments of a plan; each cause is listed once. */
export function createCauseFinder(
  { changes, edges }: { readonly changes: readonly Change[]; readonly edges: readonly EdgeChange[] },
  registry: Registry,
  selectorOf: SelectorLookup = noSelector,
): CauseFinder {
  const byResource = new Map(changes.filter(isWritten).map((change) => [liveKeyOf(change), contributionsOf(change, registry)]));
  const causesOfEdge = edgeCauses(changes, selectorOf);
  const byConnection = new Map<ResourceId, EdgeChange[]>();
  for (const edge of edges) {
    if (edge.action !== 'attach' && edge.action !== 'detach') continue;
    const group = byConnection.get(edge.connection);
    if (group === undefined) byConnection.set(edge.connection, [edge]);
    else group.push(edge);
  }
  return (connection, rules, aspect) => {
    const attachments = (byConnection.get(connection) ?? []).flatMap((edge) =>
      causesOfEdge(edge).map((cause) => attachmentContribution(edge, cause)),
    );
    const all = [...(byResource.get(connection) ?? []), ...attachments, ...rules.flatMap((rule) => byResource.get(rule) ?? [])];
    return all.filter(({ aspects }) => aspects.includes(aspect));
  };
}

/** Lists the contributions of a change; a created or deleted rule is one cause as a whole. */
function contributionsOf(change: Change, registry: Registry): readonly Contribution[] {
  const key = liveKeyOf(change);
  const kind = registry.get(kindOf(key));
  if (kind === undefined) return [];
  if (change.action === 'create' || change.action === 'delete')
    return [
      { aspects: ruleControlTypes(kind.name), way: change.action === 'create' ? 'strengthens' : 'weakens', cause: resourceCause(change) },
    ];
  const contributions = new Map<string, Contribution>();
  for (const field of change.fields) {
    const way = fieldVerdict(kind, field);
    if (field.held === true || way === 'neutral') continue;
    const cause = fieldCause(change, field);
    const existing = contributions.get(cause.path ?? '');
    if (existing === undefined) contributions.set(cause.path ?? '', { aspects: controlTypesOf(kind.name, field.path), way, cause });
    else if (existing.way !== way) contributions.set(cause.path ?? '', { ...existing, way: 'both' });
  }
  return [...contributions.values()];
}

/** Returns the cause for a created or deleted resource; one that a drift deleted is marked `byHand`. */
export function resourceCause({ id, at, fields }: Pick<Change, 'id' | 'at' | 'fields'>): Cause {
  return { by: id, ...placeOf(at), ...(fields.some(({ origin }) => origin === 'drift') ? { byHand: true } : {}) };
}

/** Returns the cause for a field; deeper paths are cut to the entry of a list. */
function fieldCause({ id, at }: Change, field: FieldChange): Cause {
  return {
    by: id,
    path: pointer(...tokensOf(field.path).slice(0, 3)),
    ...placeOf(field.at ?? at),
    ...(field.origin === 'drift' ? { byHand: true } : {}),
  };
}

function attachmentContribution({ rule, action }: EdgeChange, cause: Cause): Contribution {
  return { aspects: ruleControlTypes(kindOf(rule)), way: action === 'attach' ? 'strengthens' : 'weakens', cause };
}

/** Returns the selector of a rule; undefined when no manifest declares one. */
export type SelectorLookup = (rule: ResourceId) => JsonObject | undefined;

function noSelector(): undefined {}

/** Returns a finder of causes for attached and detached edges: the declaration, the lost tag, or the change that writes it. */
export function edgeCauses(changes: readonly Change[], selectorOf: SelectorLookup): (edge: EdgeChange) => readonly Cause[] {
  const byKey = new Map(changes.map((change) => [liveKeyOf(change), change]));
  return (edge) => {
    const tags = edge.action === 'detach' && edge.declared.length === 0 ? tagCauses(edge, byKey.get(edge.connection), selectorOf) : [];
    return tags.length > 0 ? tags : [attachmentCause(edge, byKey)];
  };
}

/** Lists the tags that the rule still requires and that this plan removes from the connection. */
function tagCauses({ rule, connection }: EdgeChange, change: Change | undefined, selectorOf: SelectorLookup): readonly Cause[] {
  const required = selectorOf(rule)?.['match_tags'];
  if (change === undefined || !isObject(required)) return [];
  return change.fields.flatMap((field): readonly Cause[] => {
    const [name, key = ''] = tokensOf(field.path);
    const isLost = name === 'connection_tags' && 'value' in field.before && field.before.value === required[key] && field.held !== true;
    return isLost ? [{ ...fieldCause(change, field), by: connection, edge: rule }] : [];
  });
}

function attachmentCause({ rule, connection, declared, by, origin }: EdgeChange, byKey: ReadonlyMap<ResourceId, Change>): Cause {
  const [first] = declared;
  const writer = by ?? rule;
  return {
    by: writer,
    edge: writer === rule ? connection : rule,
    ...(first === undefined ? placeOf(byKey.get(writer)?.at) : { place: first }),
    ...(origin === 'drift' ? { byHand: true } : {}),
  };
}

function placeOf(at: Position | undefined): { readonly place?: string } {
  return at === undefined ? {} : { place: formatPosition(at) };
}
