import type { Position } from '../../model/diagnostic.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { isWritten, liveKeyOf, type Change, type EdgeChange, type FieldChange } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import type { ControlType, Cause, ProtectionVerdict } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { controlTypesOf, fieldVerdict, ruleControlTypes } from './control-types.ts';

/** Why an aspect of a connection changes, with the rules that are on it before or after. */
export type CauseFinder = (connection: ResourceId, rules: readonly ResourceId[], aspect: ControlType) => readonly Contribution[];

/** A cause, what it bears on, and which way it goes there. */
export type Contribution = { readonly aspects: readonly ControlType[]; readonly way: ProtectionVerdict; readonly cause: Cause };

/** Finds causes among a plan's written fields and edges; each is named once. */
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
    const ties = (byConnection.get(connection) ?? []).flatMap((edge) =>
      causesOfEdge(edge).map((cause) => attachmentContribution(edge, cause)),
    );
    const all = [...(byResource.get(connection) ?? []), ...ties, ...rules.flatMap((rule) => byResource.get(rule) ?? [])];
    return all.filter(({ aspects }) => aspects.includes(aspect));
  };
}

/** A rule that comes or goes is a cause as a whole. */
function contributionsOf(change: Change, registry: Registry): readonly Contribution[] {
  const key = liveKeyOf(change);
  const kind = registry.get(kindOf(key));
  if (kind === undefined) return [];
  if (change.action === 'create' || change.action === 'delete')
    return [
      { aspects: ruleControlTypes(kind.name), way: change.action === 'create' ? 'strengthens' : 'weakens', cause: resourceCause(change) },
    ];
  const bearings = new Map<string, Contribution>();
  for (const field of change.fields) {
    const way = fieldVerdict(kind, field);
    if (field.held === true || way === 'neutral') continue;
    const cause = fieldCause(change, field);
    const earlier = bearings.get(cause.path ?? '');
    if (earlier === undefined) bearings.set(cause.path ?? '', { aspects: controlTypesOf(kind.name, field.path), way, cause });
    else if (earlier.way !== way) bearings.set(cause.path ?? '', { ...earlier, way: 'both' });
  }
  return [...bearings.values()];
}

/** A resource that comes or goes; one that comes back was taken away by hand. */
export function resourceCause({ id, at, fields }: Pick<Change, 'id' | 'at' | 'fields'>): Cause {
  return { by: id, ...placeOf(at), ...(fields.some(({ origin }) => origin === 'drift') ? { byHand: true } : {}) };
}

/** Of what is deep inside, the entry is named. */
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

/** What the selector of a rule asks for, as far as manifests say. */
export type SelectorLookup = (rule: ResourceId) => JsonObject | undefined;

function noSelector(): undefined {}

/** Why an edge comes or goes: where it is declared, or the tag that its rule selects no more, or else the change that writes it. */
export function edgeCauses(changes: readonly Change[], selectorOf: SelectorLookup): (edge: EdgeChange) => readonly Cause[] {
  const byKey = new Map(changes.map((change) => [liveKeyOf(change), change]));
  return (edge) => {
    const tags = edge.action === 'detach' && edge.declared.length === 0 ? tagCauses(edge, byKey.get(edge.connection), selectorOf) : [];
    return tags.length > 0 ? tags : [attachmentCause(edge, byKey)];
  };
}

/** The tags that the rule still asks for, and that this plan takes from the connection. */
function tagCauses({ rule, connection }: EdgeChange, change: Change | undefined, selectorOf: SelectorLookup): readonly Cause[] {
  const asked = selectorOf(rule)?.['match_tags'];
  if (change === undefined || !isObject(asked)) return [];
  return change.fields.flatMap((field): readonly Cause[] => {
    const [name, key = ''] = tokensOf(field.path);
    const isLost = name === 'connection_tags' && 'value' in field.before && field.before.value === asked[key] && field.held !== true;
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
  return at === undefined ? {} : { place: positionText(at) };
}

/** A place as one text: `file:line:column`. */
export function positionText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}
