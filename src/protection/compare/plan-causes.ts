import { groupBy } from '../../model/collections.ts';
import { desiredById, type DesiredResource, type DesiredState, type EdgeDeclaration } from '../../model/desired.ts';
import { type Position, formatPosition } from '../../model/diagnostic.ts';
import { compareText, isObject, type JsonObject, leafTexts } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type Change, type EdgeChange, type FieldChange, fieldPosition, isWritten, liveKeyOf, shownValue } from '../../model/plan/plan.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { overlaps, type Pointer, pointer, tokensOf } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Cause } from '../../model/protection/protection.ts';
import { type EdgeEnds, edgeKey, type ResourceId, kindOf } from '../../model/resource.ts';
import { decidesProtection } from '../controls/control-table.ts';
import { accessControl } from '../effective/deciders.ts';
import type { PlannedWrites, PlanSnapshots } from '../posture/diff-postures.ts';
import { findEditedEntries } from '../posture/edited-entries.ts';

/** Texts of which a written entry has to contain one; with a side, in its value there. */
type NamedTexts = { readonly texts: ReadonlySet<string>; readonly side?: 'before' | 'after' | undefined };

/** Finds what a plan writes of deciders. */
export type PlanCauses = {
  /** Returns the keys of the changes that write a decider: an edge belongs to what writes it. */
  readonly writersOf: (decider: Decider) => readonly ResourceId[];
  /**
   * Returns the written fields, edges and objects that deciders stand for, each once and sorted. Of a list in which several entries changed,
   * those that name none of the texts are left out.
   */
  readonly causesOf: (deciders: readonly Decider[], named?: NamedTexts) => readonly Cause[];
};

/** The written fields of one entry of a list, or another field, with the texts that it contains on each side. */
type WrittenEntry = {
  readonly paths: readonly Pointer[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly cause: Cause;
};

type CauseContext = {
  readonly registry: Registry;
  readonly snapshots: Pick<PlanSnapshots, 'before' | 'after'>;
  readonly attachments?: AttachmentLookup;
};

/** Returns a finder of what a plan writes of deciders. */
export function createPlanCauses(plan: PlannedWrites, { registry, snapshots, attachments = noManifests }: CauseContext): PlanCauses {
  const changes = new Map(plan.changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const edges = new Map<string, EdgeChange>();
  const byRule = new Map<ResourceId, EdgeChange>();
  for (const edge of plan.edges) {
    if (edge.action !== 'attach' && edge.action !== 'detach') continue;
    edges.set(edgeKey(edge), edge);
    if (!byRule.has(edge.rule)) byRule.set(edge.rule, edge);
  }
  const switching = [...changes.values()].filter(({ fields }) => fields.some(({ path }) => tokensOf(path)[0] === 'access_groups'));
  const causesOfEdge = edgeCauses(plan.changes, attachments);
  const known = new Map<Change, readonly WrittenEntry[]>();
  const entriesOf = (change: Change): readonly WrittenEntry[] => {
    const found = known.get(change) ?? writtenEntries(change, registry, snapshots);
    known.set(change, found);
    return found;
  };
  const ofChange = (change: Change, path: Pointer, named: NamedTexts): readonly Cause[] => {
    if (path === '' || change.action === 'create' || change.action === 'delete') return [resourceCause(change)];
    const entries = entriesOf(change).filter(({ paths }) => paths.some((one) => overlaps(one, path)));
    const naming = entries.filter((entry) => isNamed(entry, named));
    return (naming.length > 0 ? naming : entries).map(({ cause }) => cause);
  };
  const ofDecider = ({ id, path, edge }: Decider, named: NamedTexts): readonly Cause[] => {
    if (id === accessControl.id) return switching.flatMap((change) => ofChange(change, pointer('access_groups'), named));
    const change = changes.get(id);
    if (edge === undefined) return change === undefined ? [] : ofChange(change, path, named);
    // The first name that some rules get, or the last one that they lose, affects the connections that they do not name.
    const written = edges.get(edgeKey({ rule: id, connection: edge })) ?? byRule.get(id);
    if (written !== undefined) return causesOfEdge(written);
    return change === undefined ? [] : [resourceCause(change)];
  };
  return {
    writersOf: ({ id, edge }) => {
      if (id === accessControl.id) return switching.map(liveKeyOf);
      const by = edge === undefined ? id : (edges.get(edgeKey({ rule: id, connection: edge }))?.by ?? id);
      if (changes.has(by)) return [by];
      return edge !== undefined && changes.has(edge) ? [edge] : [];
    },
    causesOf: (deciders, named = { texts: new Set() }) => {
      const found = new Map<string, Cause>();
      for (const one of deciders.flatMap((decider) => ofDecider(decider, named))) found.set(causeKey(one), one);
      return [...found.keys()].toSorted(compareText).flatMap((key) => found.get(key) ?? []);
    },
  };
}

/** Returns a text that identifies a cause. */
export function causeKey({ by, path, edge, place }: Cause): string {
  return [by, path, edge, place].join('\0');
}

/** Groups the written fields that protect by entry; both sides of an edited entry are one group. */
function writtenEntries(change: Change, registry: Registry, { before, after }: CauseContext['snapshots']): readonly WrittenEntry[] {
  const key = liveKeyOf(change);
  const kind = registry.get(kindOf(key));
  if (kind === undefined) return [];
  const specOf = ({ resources }: typeof before): JsonObject => resources.get(key)?.spec ?? {};
  const written = change.fields.filter(({ held, path }) => held !== true && decidesProtection(kind.name, path));
  const edited = findEditedEntries(kind.fields, written, { before: specOf(before), after: specOf(after) });
  const former = new Set(edited.values());
  const current = written.filter((field) => !former.has(field));
  return [...groupBy(current, entryPath).values()].map((own) => {
    const fields = own.flatMap((field) => [field, edited.get(field.path) ?? []].flat());
    const textsOf = (side: 'before' | 'after'): readonly string[] => fields.flatMap((field) => leafTexts(shownValue(field[side]) ?? null));
    const paths = fields.map(({ path }) => path);
    return { paths, before: textsOf('before'), after: textsOf('after'), cause: fieldCause(change, own[0]) };
  });
}

/** Returns whether an entry contains one of some texts, on one side or on any; one without texts, such as a number, decides all of them. */
function isNamed({ before, after }: WrittenEntry, { texts, side }: NamedTexts): boolean {
  if (before.length + after.length === 0) return true;
  const own = [...(side === 'after' ? [] : before), ...(side === 'before' ? [] : after)];
  return own.some((text) => texts.has(text));
}

/** Returns the path of a field, or of the entry of a list that it is in. */
function entryPath({ path }: FieldChange): Pointer {
  return pointer(...tokensOf(path).slice(0, 3));
}

/** Returns the cause for a created or deleted resource; one that a drift deleted is marked `byHand`. */
function resourceCause({ id, at, fields }: Pick<Change, 'id' | 'at' | 'fields'>): Cause {
  return { by: id, place: placeText(at), byHand: fields.some(({ origin }) => origin === 'drift') || undefined };
}

/** Returns the cause for a field; deeper paths are cut to the entry of a list. */
function fieldCause(change: Change, field: FieldChange): Cause {
  const { id, at } = change;
  return {
    by: id,
    path: entryPath(field),
    place: placeText(fieldPosition(change, field) ?? at),
    byHand: (field.origin === 'drift' && expiryOf(field) === undefined) || undefined,
  };
}

/** What manifests state about attachments: the selector of a rule, and where the fields are that declared an attachment when it was applied. */
type AttachmentLookup = {
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
function edgeCauses(changes: readonly Change[], { selectorOf, formerPlaceOf }: AttachmentLookup): (edge: EdgeChange) => readonly Cause[] {
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
    place: first ?? placeText(former ?? byKey.get(writer)?.at),
    byHand: origin === 'drift' || undefined,
  };
}

function placeText(at: Position | undefined): string | undefined {
  return at && formatPosition(at);
}
