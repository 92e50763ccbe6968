import { addToGroup } from '../../model/append-all.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { isWritten, liveKeyOf, type Change, type EdgeChange, type FieldChange } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import type { Cause, ControlType, ProtectionVerdict } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { combineEffects } from '../controls/compare-protection.ts';
import { conditionedTypesOf, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { fieldEffects } from './own-effects.ts';
import type { ProtectionSnapshot } from './protection-snapshot.ts';

/** Returns the causes of a changed control type of a connection; `rules` are attached before or after. */
export type CauseFinder = (connection: ResourceId, rules: readonly ResourceId[], aspect: ControlType) => readonly Contribution[];

/** A cause, the control types that it affects, and its verdict there. */
export type Contribution = { readonly aspects: readonly ControlType[]; readonly way: ProtectionVerdict; readonly cause: Cause };

/** Returns a finder of causes among the written fields and attachments of a plan; each cause is listed once. */
export function createCauseFinder(
  { changes, edges }: { readonly changes: readonly Change[]; readonly edges: readonly EdgeChange[] },
  { registry, snapshots, selectorOf = noSelector }: CauseContext,
): CauseFinder {
  const written = new Map(changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const known = new Map<ResourceId, readonly Contribution[]>();
  const byResource = (id: ResourceId): readonly Contribution[] => {
    const change = written.get(id);
    const found = known.get(id) ?? (change === undefined ? [] : contributionsOf(change, registry, snapshots));
    known.set(id, found);
    return found;
  };
  const causesOfEdge = edgeCauses(changes, selectorOf);
  const byConnection = new Map<ResourceId, EdgeChange[]>();
  for (const edge of edges) {
    if (edge.action !== 'attach' && edge.action !== 'detach') continue;
    addToGroup(byConnection, edge.connection, edge);
  }
  return (connection, rules, aspect) => {
    const attachments = (byConnection.get(connection) ?? []).flatMap((edge) =>
      causesOfEdge(edge).map((cause) => attachmentContribution(edge, cause)),
    );
    const all = [...byResource(connection), ...attachments, ...rules.flatMap(byResource)];
    return all.filter(({ aspects }) => aspects.includes(aspect));
  };
}

/** The input of a cause finder: the states before and after, and the selectors of rules. */
type CauseContext = {
  readonly registry: Registry;
  readonly snapshots: { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };
  readonly selectorOf?: SelectorLookup;
};

/** Lists the contributions of a change, one for each entry; a created or deleted rule is one cause as a whole. */
function contributionsOf(change: Change, registry: Registry, { before, after }: CauseContext['snapshots']): readonly Contribution[] {
  const key = liveKeyOf(change);
  const kind = registry.get(kindOf(key));
  if (kind === undefined) return [];
  if (change.action === 'create' || change.action === 'delete')
    return [
      { aspects: ruleControlTypes(kind.name), way: change.action === 'create' ? 'strengthens' : 'weakens', cause: resourceCause(change) },
    ];
  const groups = new Map<string, FieldChange[]>();
  for (const field of change.fields) {
    if (field.held === true || aspectsAt(kind, field).length === 0) continue;
    const entry = pointer(...tokensOf(field.path).slice(0, 3));
    groups.set(entry, [...(groups.get(entry) ?? []), field]);
  }
  const sides = { before: specIn(before, key), after: specIn(after, key), longestAccess: before.longestAccess };
  return [...groups.values()].flatMap((fields): readonly Contribution[] => {
    const [first] = fields;
    const way = combineEffects(fieldEffects(kind, key, { fields, sides }));
    return first === undefined || way === 'neutral' ? [] : [{ aspects: aspectsAt(kind, first), way, cause: fieldCause(change, first) }];
  });
}

function aspectsAt({ name }: Kind, { path }: FieldChange): readonly ControlType[] {
  return [...new Set([...controlTypesOf(name, path), ...conditionedTypesOf(name, path)])];
}

function specIn({ resources }: ProtectionSnapshot, id: ResourceId): JsonObject {
  return resources.get(id)?.spec ?? {};
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
