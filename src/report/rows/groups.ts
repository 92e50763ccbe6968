import { parsePosition } from '../../model/diagnostic.ts';
import {
  type AcceptedDrift,
  type AssessedChange,
  type EdgeAction,
  type EdgeChange,
  type FieldChange,
  isDeletedOutside,
  liveKeyOf,
  type Orphan,
  type OutsideReference,
  type Plan,
  pluralOf,
  remainingOrphans,
  type Risk,
  unplannedChanges,
  type UnwrittenRisks,
  type Value,
} from '../../model/plan/plan.ts';
import type { SampleChange } from '../../model/protection/protection.ts';
import { addToGroup } from '../../model/collections.ts';
import { notComparedText } from '../../model/plan/not-compared.ts';
import { equal } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { acceptedNote, blockedReason, changeNote, edgeText, groupEdges, secretSideText } from './change-rows.ts';
import { pathText, removalText, sampleChangesOf } from '../wording/value.ts';
import { risksText, unwrittenSecretsText, unwrittenText } from '../wording/summary.ts';
import { plural, shortList, shortPosition } from '../wording/phrases.ts';
import { exposureWindowText } from '../../model/plan/schedule.ts';
import { escapeTerminal } from '../escape.ts';
import type { ListBlock } from '../blocks.ts';
import { overlaps } from '../../model/pointer.ts';

/** The parts of groups, the most important first: what is held, and the pull request's own changes with their details. */
const partOrder = ['held row', 'own row', 'held detail', 'own detail', 'also row', 'undone row', 'elsewhere', 'list', 'detail'] as const;

/** Returns the rank of a part, a multiple of ten: the higher, the earlier it is left out for length. */
export function rankOf(part: (typeof partOrder)[number]): number {
  return 10 + 10 * partOrder.indexOf(part);
}

/** The groups of a plan, in reading order. */
export type GroupName = 'held' | 'accepted' | 'changed' | 'own' | 'also' | 'undone' | 'elsewhere';

/** The part of a change that one group shows; a partly held change is in two groups. */
export type GroupedChange = {
  readonly change: AssessedChange;
  readonly edges: readonly EdgeChange[];
  readonly note: string;
  /** Samples whose result the change affects; only one group lists them. */
  readonly changedSamples: readonly SampleChange[];
};

export type ChangeGroup = {
  readonly name: GroupName;
  /** Empty if there is only one group. */
  readonly title: string;
  readonly changes: readonly GroupedChange[];
  /** Held attachments, which no change writes. */
  readonly edges: readonly EdgeChange[];
};

/** A plan in reading order, with the attachments that no group shows. */
type GroupedPlan = { readonly groups: readonly ChangeGroup[]; readonly others: readonly EdgeChange[] };

const order: readonly GroupName[] = ['held', 'accepted', 'changed', 'own', 'also', 'undone', 'elsewhere'];

/**
 * Groups a plan for people: held changes, the pull request's own changes, other changes of the apply, drift that it reverts,
 * and unrelated drift. Without a pull request, the changes of the manifests come before drift.
 */
export function groupPlan(plan: Plan): GroupedPlan {
  const edges = groupEdges(plan);
  const near = nearOwn(plan);
  const orphans = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const entries = new Map<GroupName, GroupedChange[]>(order.map((name) => [name, []]));
  const shown = withoutFieldsOfSuccessors(plan.changes);
  for (const change of plan.changes) {
    const undone = change.own === false && !near.has(liveKeyOf(change)) ? 'elsewhere' : 'undone';
    const parts = partsOf(shown.get(change) ?? change, edges.written.get(change.id) ?? [], undone);
    const main = parts.find(([name]) => name !== 'held') ?? parts[0];
    for (const [name, part] of parts) {
      const changedSamples = name === main?.[0] ? sampleChangesOf(plan.protection, change) : [];
      entries
        .get(name)
        ?.push({ ...part, note: changeNote(part.change, change.action === 'delete' ? orphans.get(change.id) : undefined), changedSamples });
    }
  }
  entries.set(
    'accepted',
    plan.accepted.map((drift) => acceptedChange(drift, plan)),
  );
  const held = edges.others.filter(({ action }) => action === 'held');
  const found = order
    .map((name) => ({ name, changes: entries.get(name) ?? [], edges: name === 'held' ? held : [] }))
    .filter((group) => group.changes.length + group.edges.length > 0);
  const groups = found.map((group) => (found.length === 1 ? alone(group) : { ...group, title: titleOf(group, plan) }));
  return { groups, others: edges.others.filter(({ action }) => action !== 'held') };
}

/** Returns accepted drift as a change of the manifests. */
function acceptedChange(drift: AcceptedDrift, plan: Pick<Plan, 'request'>): GroupedChange {
  const edges = drift.edges.map((edge): EdgeChange => ({ ...edge, by: liveKeyOf(drift) }));
  return { change: { ...drift, needs: [], carried: [] }, edges, note: acceptedNote(drift, plan), changedSamples: [] };
}

type Untitled = Omit<ChangeGroup, 'title'>;

/** Returns the only group, without a title. Unrelated drift counts as drift if there is nothing else. */
function alone(group: Untitled): ChangeGroup {
  if (group.name === 'accepted') return { ...group, title: acceptedTitle };
  return { ...group, name: group.name === 'elsewhere' ? 'undone' : group.name, title: '' };
}

/** Returns the deletions of replaced objects with the fields alone that their successors do not have. */
function withoutFieldsOfSuccessors(changes: readonly AssessedChange[]): ReadonlyMap<AssessedChange, AssessedChange> {
  const byId = new Map(changes.map((change) => [change.id, change]));
  return new Map(
    changes.flatMap((change) => {
      const successor = successorOf(change, byId);
      if (successor === undefined) return [];
      const has = new Map(successor.fields.map(({ path, after }) => [path, after]));
      const fields = change.fields.filter(({ path, before }) => !isSameSide(before, has.get(path)));
      return [[change, { ...change, fields }] as const];
    }),
  );
}

function successorOf({ action, replacedBy }: AssessedChange, byId: ReadonlyMap<ResourceId, AssessedChange>): AssessedChange | undefined {
  return action === 'delete' && replacedBy !== undefined ? byId.get(replacedBy) : undefined;
}

/** Returns whether both sides have the same value; secrets of two objects cannot be compared. */
function isSameSide(before: Value, after: Value | undefined): boolean {
  if (after === undefined) return false;
  return 'secret' in before ? 'secret' in after : 'value' in before && 'value' in after && equal(before.value, after.value);
}

const acceptedTitle = 'Drift accepted in the manifests: the gateway already has these changes, so apply writes nothing for them';

function titleOf({ name, changes: entries }: Untitled, plan: Plan): string {
  const titles: Readonly<Record<GroupName, string>> = {
    held: 'Held: made stricter outside Ostiary; apply keeps these values',
    accepted: acceptedTitle,
    changed: 'Changed in the manifests',
    own: `This ${plan.request ?? 'pull request'}`,
    also: plan.base === undefined ? 'Other changes' : 'Pending: merged earlier, not applied yet',
    undone: 'Drift that apply reverts: changed outside Ostiary since the last apply',
    elsewhere: `Unrelated drift that apply reverts: changed outside Ostiary on ${plural(entries.length, 'resource')}`,
  };
  return titles[name];
}

type Part = readonly [GroupName, Omit<GroupedChange, 'note' | 'changedSamples'>];

/** Splits an update by the group of each field and attachment; other actions stay whole. */
function partsOf(change: AssessedChange, edges: readonly EdgeChange[], undone: GroupName): readonly Part[] {
  const isSplit = change.action === 'update' || change.action === 'rename';
  if (change.action === 'held') return [['held', { change: { ...change, carried: [] }, edges }]];
  if (!isSplit) return [[wholeGroup(change, edges, undone), { change, edges }]];
  const parts = new Map<GroupName, { readonly fields: FieldChange[]; readonly edges: EdgeChange[] }>();
  const partFor = (name: GroupName): { readonly fields: FieldChange[]; readonly edges: EdgeChange[] } => {
    const part = parts.get(name) ?? { fields: [], edges: [] };
    parts.set(name, part);
    return part;
  };
  for (const field of change.fields) partFor(groupFor(change, field, undone)).fields.push(field);
  for (const edge of edges) partFor(groupFor(change, edge, undone)).edges.push(edge);
  if (parts.size === 0) return [[wholeGroup(change, edges, undone), { change, edges }]];
  const held = new Set(parts.get('held')?.fields.map(({ path }) => path));
  const carried = change.carried.filter((path) => !held.has(path));
  // One group alone lists the carried fields, and the risks of the change as a whole.
  const first = order.find((name) => name !== 'held' && parts.has(name));
  return [...parts].map(([name, part]): Part => {
    const action = name === 'held' ? 'held' : change.action;
    const risks = change.risks.filter((risk) => isRiskOf(risk, name, { parts, first }));
    const partOfChange = { action, fields: part.fields, carried: name === first ? carried : [], risks } as const;
    return [name, { change: { ...change, ...partOfChange }, edges: part.edges }];
  });
}

type Split = { readonly parts: ReadonlyMap<GroupName, Pick<AssessedChange, 'fields'>>; readonly first: GroupName | undefined };

/** Returns whether a field of the group causes the risk. A risk that no field causes belongs to the first group. */
function isRiskOf({ path }: Risk, group: GroupName, { parts, first }: Split): boolean {
  const names = [...parts.keys()].filter(
    (name) => name !== 'held' && path !== undefined && parts.get(name)?.fields.some((field) => overlaps(field.path, path)) === true,
  );
  return names.length === 0 ? group === first : names.includes(group);
}

type Moved = Pick<FieldChange, 'origin' | 'own' | 'held'>;

function groupFor(change: AssessedChange, { origin, own = change.own, held }: Moved, undone: GroupName): GroupName {
  if (held === true) return 'held';
  if (change.action === 'update' && origin === 'drift') return undone;
  return mainGroup(own);
}

function mainGroup(own: boolean | undefined): GroupName {
  if (own === undefined) return 'changed';
  return own ? 'own' : 'also';
}

function wholeGroup(change: AssessedChange, edges: readonly EdgeChange[], undone: GroupName): GroupName {
  return change.own === true || !isDrift(change, edges) ? mainGroup(change.own) : undone;
}

/** Returns the ends of moving attachments to objects that the pull request changes: drift there is related to it. */
function nearOwn({ changes, edges }: Plan): ReadonlySet<ResourceId> {
  const own = new Set(changes.flatMap((change) => (change.own === true ? [liveKeyOf(change)] : [])));
  const moving = edges.filter(({ action, rule, connection }) => isMoving(action) && (own.has(rule) || own.has(connection)));
  return new Set(moving.flatMap(({ rule, connection }) => [rule, connection]));
}

function isMoving(action: EdgeChange['action']): boolean {
  return action === 'attach' || action === 'detach';
}

/** Returns whether all differences are drift. */
function isDrift({ fields }: AssessedChange, edges: readonly EdgeChange[]): boolean {
  return fields.length + edges.length > 0 && [...fields, ...edges].every(({ origin }) => origin === 'drift');
}

/** Returns a list below the changes: objects that a plan skips, or side effects; long entries are sentences. */
function sideList(title: string, entries: readonly string[]): ListBlock {
  return { type: 'list', title, entries, hasSentences: entries.some(({ length }) => length > longestName), rank: rankOf('list') };
}

const longestName = 100;

const edgeTitles: Readonly<Record<Exclude<EdgeAction, 'held'>, (edges: string) => string>> = {
  attach: (edges) => `${edges} to attach`,
  detach: (edges) => `${edges} to detach`,
  blocked: (edges) => `${edges} blocked: one end is managed`,
  foreign: (edges) => `${edges} unmanaged: in no manifest, kept by Ostiary`,
};

/** Returns the lists below the changes: attachments that no change writes, unmanaged and unwatched objects, and secrets that are not written or not compared. */
export function sideLists(plan: Plan, others: readonly EdgeChange[]): readonly ListBlock[] {
  const actions = ['attach', 'detach', 'blocked', 'foreign'] as const;
  const left = new Set(remainingOrphans(plan).map(({ id }) => id));
  const isLeft = ({ rule, connection, action }: EdgeChange): boolean => action === 'foreign' && (left.has(rule) || left.has(connection));
  const edges = actions.map((action) => {
    const entries = others.filter((edge) => edge.action === action && !isLeft(edge)).map(edgeText);
    return sideList(edgeTitles[action](plural(entries.length, 'attachment')), entries);
  });
  const ofOrphans = others.filter(isLeft).map(edgeText);
  const stated = new Set(plan.protection.headlines.flatMap(({ causes }) => causes.map(({ by, path = '' }) => `${by}${path}`)));
  const lists = [
    ...edges,
    sideList(
      `${plural(ofOrphans.length, 'attachment')} of objects that were removed from the manifests: kept while those are live`,
      ofOrphans,
    ),
    unmanagedList(plan),
    unwatchedList({ unwatched: plan.unwatched.filter(({ id, path }) => !stated.has(`${id}${path}`)) }),
    unwrittenSecretList(plan),
    notComparedList(plan),
  ];
  const open = plan.refusals.some(({ code }) => code === 'plan/window') ? [] : plan.singleWrites.flatMap(({ windows }) => windows);
  const windows = sideList(
    `${plural(open.length, 'exposure window')}: during apply, less protection than before and after`,
    open.map((window) => escapeTerminal(exposureWindowText(window, plan.changes))),
  );
  const references = sideList(
    `${plural(plan.references.length, 'reference')} outside the manifests: to the replaced object, not to its successor`,
    plan.references.map(referenceText),
  );
  const unwritten = plan.unwritten.flatMap(unwrittenTexts);
  const unwrittenList = sideList(unwrittenText(plan.unwritten.length), unwritten);
  const waived = waivedTexts(plan);
  const passed = sideList(`${waived.length} waived: violations accepted for a limited time`, waived);
  return [windows, references, unwrittenList, passed, ...lists].filter((list) => list.entries.length > 0);
}

/** Returns the list of live connections without a manifest; empty unless the target reports them. */
export function unmanagedList({ unmanagedAccess = [] }: Pick<Plan, 'unmanagedAccess'>): ListBlock {
  const entries = unmanagedAccess.map(({ id, accessible, managedBy }) => {
    const by = managedBy === undefined ? '' : `, managed by ${managedBy}`;
    return escapeTerminal(`${id} (${accessible ? 'accessible' : 'closed'}${by})`);
  });
  return sideList(`${plural(entries.length, 'unmanaged connection')}: in no manifest, not written, but affected by shared rules`, entries);
}

/** Returns the list of live protection that no manifest declares. */
export function unwatchedList({ unwatched }: Pick<Plan, 'unwatched'>): ListBlock {
  return sideList(
    `${unwatched.length} unwatched: protection on the gateway that no manifest declares`,
    unwatched.map(({ id, path }) => `${escapeTerminal(id)} ${pathText(path)}`),
  );
}

/** Returns the list of secrets that were not compared, by object. */
export function notComparedList({ notCompared }: Pick<Plan, 'notCompared'>): ListBlock {
  const byObject = new Map<ResourceId, string[]>();
  for (const { id, path } of notCompared) addToGroup(byObject, id, pathText(path));
  return sideList(
    notComparedText(notCompared),
    [...byObject].map(([id, paths]) => `${escapeTerminal(id)} ${paths.join(' ')}`),
  );
}

/**
 * Returns a line for each risk of a manifest that changed without a write: `Connection/db /reviewers: weakens (ignore-added)  a.yaml:5`;
 * fields with the same risk at one place share it.
 */
function unwrittenTexts({ id, risks }: UnwrittenRisks): readonly string[] {
  if (risks.length === 0) return [escapeTerminal(id)];
  const paths = new Map<string, string[]>();
  for (const risk of risks) {
    const text = risksText([risk]);
    const at = risk.place === undefined ? undefined : parsePosition(risk.place);
    if (text !== '') addToGroup(paths, `${text}${at === undefined ? '' : `  ${shortPosition(at)}`}`, risk.path ?? '');
  }
  return [...paths].map(([text, all]) => escapeTerminal(`${id} ${all.join(', ')}`.trim() + `: ${text}`));
}

/** Returns the list of secrets that changed in the manifests, and that no write changes. */
function unwrittenSecretList({ unwrittenSecrets }: Pick<Plan, 'unwrittenSecrets'>): ListBlock {
  return sideList(
    unwrittenSecretsText(unwrittenSecrets.length),
    unwrittenSecrets.map(
      ({ id, path, before, after }) => `${escapeTerminal(id)} ${pathText(path)} (${secretSideText(before)} → ${secretSideText(after)})`,
    ),
  );
}

function referenceText({ replaces, sort, name, how }: OutsideReference): string {
  const subject = name === undefined ? `perhaps ${pluralOf(sort)}` : `${sort} "${name}"`;
  return escapeTerminal(`${subject} on ${nameOf(replaces)}${how === '' ? '' : ` (${how})`}`);
}

const mostOrphans = 20;

/** Returns the notice about each orphan that stays live, for the top of a report. */
export function orphanNotices(plan: Pick<Plan, 'orphans' | 'changes'>): readonly string[] {
  return shortList(remainingOrphans(plan).map(orphanText), mostOrphans);
}

/** Returns a line for each object that cannot be planned, with the reason; escaped. */
export function blockedNotices(plan: Pick<Plan, 'changes'>): readonly string[] {
  return shortList(
    unplannedChanges(plan).map((change) =>
      isDeletedOutside(change) ? blockedReason(change) : `${escapeTerminal(change.id)} is blocked: ${blockedReason(change)}`,
    ),
    mostOrphans,
  );
}

/** Returns whether people can use an object that is still live, for the end of a clause. */
export function accessText({ accessible }: Orphan): string {
  return accessible === undefined ? '' : accessible ? ' and accessible' : ', closed';
}

/** Returns `Connection/a was removed from the manifests but is still live and accessible`, and what to do; escaped. */
export function orphanText(orphan: Orphan): string {
  const { id, kept } = orphan;
  const removal = removalText(orphan);
  const advice =
    kept === undefined
      ? 'delete it with --prune, or keep it with released: in the config'
      : `--prune does not delete it: ${escapeTerminal(kept)}`;
  return `${escapeTerminal(id)} was removed from the manifests but is still live${accessText(orphan)}${removal === '' ? '' : ` (${removal})`}; ${advice}`;
}

/** Returns the findings that waivers suppress, escaped: about what the plan changes, or all of them if it changes a check. */
function waivedTexts({ policies, changes, edges, protection, checks = [] }: Plan): readonly string[] {
  const changed = new Set([
    ...changes.map(({ id }) => id),
    ...edges.map(({ connection }) => connection),
    ...protection.headlines.flatMap(({ connections }) => connections),
  ]);
  const shown = (policies?.waived ?? []).filter(({ connection }) => checks.length > 0 || changed.has(connection));
  return shown.map(({ policy, connection, until, reason }) => escapeTerminal(`${connection}: ${policy}, until ${until} (${reason})`));
}
