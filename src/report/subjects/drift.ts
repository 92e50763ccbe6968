import { addToGroup } from '../../model/collections.ts';
import type { JsonObject } from '../../model/json.ts';
import { documentJson } from '../document-json.ts';
import type { Adoption, AuditedWrite, Drift, UnmergedApply } from '../../model/result/drift.ts';
import {
  type Action,
  type Change,
  type EdgeChange,
  type FieldChange,
  fieldPosition,
  liveKeyOf,
  type Plan,
  type Value,
} from '../../model/plan/plan.ts';
import { accessControlId, decidingLists, watchedLists } from '../../model/protection/access-objects.ts';
import { combineVerdicts, effectsByPart } from '../../model/protection/part-effect.ts';
import { type ControlColumn, type Headline, sortHeadlines } from '../../model/protection/protection.ts';
import { changeRows, edgeChangeRows, groupEdges, reachRows } from '../rows/change-rows.ts';
import type { Position } from '../../model/diagnostic.ts';
import type { Entry } from '../blocks.ts';
import type { ReportDocument, ReportSection } from '../document.ts';
import { outsideBlocks, planObject } from './plan.ts';
import { diagnosticLine, headlinesBlock, noticesBlock, warningsBlock } from '../rows/lines.ts';
import { mark } from '../marks.ts';
import { outsideNotices } from '../rows/outside-rows.ts';
import { notComparedList, orphanNotices, rankOf, unmanagedList, unwatchedList } from '../rows/groups.ts';
import { notComparedCount, notComparedText } from '../../model/plan/not-compared.ts';
import { expiredAccess, expiryOf } from '../../model/plan/expired-access.ts';
import { isOneHeadline, postureFolds } from './protection-tables.ts';
import { driftChoices } from '../rows/drift-choices.ts';
import { type Verdict, plural, shortList } from '../wording/phrases.ts';
import { isVerdict, namedChanges, withEffect, worstEffectText } from './verdict.ts';
import { escapeTerminal } from '../escape.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { timeText } from '../../model/time.ts';

/** Returns the document of drifts. Only pages show the columns of protection; `config` names the config in force. */
export function driftDocument(drifts: readonly Drift[], columns: readonly ControlColumn[] = [], config?: string): ReportDocument {
  return {
    json: () => ({ version: 1, drifts: drifts.map(driftObject) }),
    sections: () => drifts.map((drift) => driftSection(drift, columns, config)),
    completeIn: 'The JSON of the drift and its text with --full have everything.',
  };
}

function driftSection(drift: Drift, columns: readonly ControlColumn[], config: string | undefined): ReportSection {
  const { plan, protection } = drift;
  const rows = driftedObjects(drift);
  const isInVerdict = isVerdict(headlinesOf(drift));
  const adopted = adoptionSummary(drift);
  const choices = { type: 'choices', choices: drift.adoption === undefined ? driftChoices(drift, rows) : [] } as const;
  const weakens =
    protection.connections.some(({ direction }) => direction === 'weakens' || direction === 'both') ||
    protection.headlines.some(({ direction }) => direction === 'reroutes');
  return {
    verdict: driftVerdict(drift, rows),
    place: { where: plan.target.url, config },
    ...(adopted === undefined ? {} : { summary: { type: 'sentence', sentence: adopted } }),
    blocks: [
      noticesBlock([...expiredNotices(plan), ...orphanNotices(plan), ...outsideNotices(plan)]),
      headlinesBlock(protection.headlines, { orphans: new Map(), isInVerdict }),
      {
        type: 'rows',
        title: '',
        entries: rows.map(({ entry }) => entry),
        rank: { row: rankOf('held row'), detail: rankOf('detail') },
      },
      ...outsideBlocks(plan, isInVerdict),
      ...[unwatchedList(plan), unmanagedList(plan), notComparedList(plan)].filter(({ entries }) => entries.length > 0),
      ...(weakens ? [choices] : []),
    ],
    pageBlocks: () => [
      ...(weakens ? [] : [choices]),
      ...(isOneHeadline(protection, rows.length)
        ? []
        : [
            postureFolds('Protection by the manifests and on the gateway', protection.connections, {
              columns,
              sides: ['manifests', 'gateway'],
            }),
          ]),
    ],
  };
}

/** Returns `contractors on orders-db: expired on 2026-12-31` for each access that has ended and is still live; escaped. */
function expiredNotices(plan: Plan): readonly string[] {
  return expiredAccess(plan).map(({ id, group, until }) => escapeTerminal(`${group} on ${nameOf(id)}: expired on ${timeText(until)}`));
}

/** A drifted object, and its entry from the manifests to the live state: the manual change, not its revert. */
type DriftedObject = {
  readonly change: Change;
  readonly edges: readonly EdgeChange[];
  readonly entry: Entry;
  /** The last writers, a line each; escaped. */
  readonly writers: readonly string[];
};

const shownWriters = 3;

/** Returns all drifted objects. */
export function driftedObjects({ plan, writes, protection: { parts = [] } }: Drift): readonly DriftedObject[] {
  const context = { writes, effectOf: effectsByPart(parts) };
  const { written, others } = groupEdges(plan);
  const held = others.filter(({ action }) => action === 'held' || action === 'blocked');
  const heldBy = new Map<ResourceId, EdgeChange[]>();
  for (const edge of held) addToGroup(heldBy, edge.rule, edge);
  const own = (change: Change): readonly EdgeChange[] => [...(written.get(change.id) ?? []), ...(heldBy.get(liveKeyOf(change)) ?? [])];
  const listed = plan.changes.map((change) => driftedObject(change, own(change), context));
  const changedKeys = new Set(plan.changes.map(liveKeyOf));
  const alone = [...heldBy].filter(([rule]) => !changedKeys.has(rule));
  return [
    ...listed,
    ...alone.map(([rule, edges]) => {
      const action = edges.some((edge) => edge.action === 'held') ? 'held' : 'blocked';
      return driftedObject({ id: rule, action, fields: [], needs: [], carried: [] }, edges, context);
    }),
  ];
}

type DriftContext = { readonly writes: Drift['writes']; readonly effectOf: ReturnType<typeof effectsByPart> };

function driftedObject(change: Change, edges: readonly EdgeChange[], { writes, effectOf }: DriftContext): DriftedObject {
  const action = undone[change.action];
  const key = liveKeyOf(change);
  const { reach: _, ...beside } = change;
  const direction = combineVerdicts([effectOf({ id: key }), ...edges.filter(({ rule }) => rule !== key).map(effectOf)]);
  const writers = writersOf(change, edges, writes);
  const ends = edges.length === 0 ? [] : [...edgeChangeRows(beside, edges.map(inverseEdge)), ...reachRows(change, true)];
  return {
    change,
    edges,
    writers,
    entry: {
      name: change.id,
      sign: change.action === 'blocked' ? '!' : action === 'delete' ? '-' : '~',
      note: noteOf(change),
      at: driftedPlace(change),
      effect: change.action === 'create' && direction === 'neutral' ? 'availability' : direction,
      risk: '',
      fields: action === 'delete' ? [] : changeRows({ action, fields: change.fields.map(inverse) }),
      lines: [...ends, ...writers.map((text) => ({ sign: ' ', text }) as const)],
      warnings: [],
    },
  };
}

/** Returns the line of the first field that drifted; for a whole object its first line. */
function driftedPlace(change: Change): Position | undefined {
  const [field] = change.action === 'update' || change.action === 'held' ? change.fields : [];
  return (field === undefined ? undefined : fieldPosition(change, field)) ?? change.at;
}

function managerOf({ managedBy = 'another manager' }: Change): string {
  return escapeTerminal(managedBy);
}

/** The manual action for each action that reverts it. */
const undone: Readonly<Record<Action, Action>> = {
  create: 'delete',
  update: 'update',
  held: 'update',
  blocked: 'update',
  delete: 'create',
  rename: 'update',
};

function noteOf(change: Change): string {
  const { id, action, key, fields } = change;
  const undo = `apply --revert ${escapeTerminal(id)} undoes it`;
  if (action === 'held') return `held: left in place because it is stricter; ${undo}`;
  if (action === 'create')
    return fields.some(({ origin }) => origin !== undefined) ? 'deleted outside Ostiary' : 'deleted outside Ostiary, or never created';
  if (action === 'rename' && key !== undefined) return `renamed from ${escapeTerminal(nameOf(key))}`;
  if (action === 'update' && fields.some(({ cause }) => cause === 'gateway'))
    return `secrets of ${escapeTerminal(nameOf(id))} changed on the gateway`;
  if (action === 'update' && fields.some(({ held }) => held === true)) return `held in part because it is stricter; ${undo}`;
  return action === 'blocked' ? `managed by ${managerOf(change)}, not reverted` : '';
}

function inverse({ before, after, ...field }: FieldChange): FieldChange {
  const { origin, ...rest } = field;
  return { ...rest, ...(origin === 'both' ? { origin } : {}), before: after, after: asAfter(before) };
}

/** Returns the live side of a secret: one that no manifest declares was set. */
function asAfter(value: Value): Value {
  if (!('secret' in value) || value.state === 'unknown') return value;
  return { ...value, state: value.state === 'removed' ? 'set' : 'differs' };
}

function inverseEdge({ origin, ...edge }: EdgeChange): EdgeChange {
  const both = origin === 'both' ? { origin } : {};
  if (edge.action === 'attach') return { ...edge, ...both, action: 'detach' };
  return { ...edge, ...both, action: edge.action === 'detach' || edge.action === 'held' ? 'attach' : edge.action };
}

function writersOf(change: Change, edges: readonly EdgeChange[], writes: Drift['writes']): readonly string[] {
  if (writes === undefined) return [];
  const isGone = change.action === 'create';
  const ids = new Set([liveKeyOf(change), ...(isGone ? [] : edges.flatMap(({ rule, connection }) => [rule, connection]))]);
  // A POST does not delete, and neither does a write to the other end of an attachment.
  const all = [...new Set([...ids].flatMap((id) => writes.get(id) ?? []))].filter(({ method }) => !isGone || method !== 'POST');
  // Writes of Ostiary's own applies are listed only if there are no others.
  const others = all.filter(({ own }) => !own);
  const newest = (others.length === 0 ? all : others).toSorted((left, right) => (left.at < right.at ? 1 : -1)).map(writeText);
  return shortList([...new Set(newest)], shownWriters);
}

/** Returns `by ada, 2026-11-20 03:12 UTC, from 10.0.0.3 (PUT /connections/orders-db)`; escaped. */
function writeText({ at, by, from, method, path }: AuditedWrite): string {
  const parts = [`by ${by === '' ? 'an unknown user' : by}`, timeText(at), ...(from === '' ? [] : [`from ${from}`])];
  return escapeTerminal(`${parts.join(', ')} (${method} ${path})`);
}

/** Counts the drifted objects by state. */
export function driftCounts(drift: Drift, rows: readonly DriftedObject[] = driftedObjects(drift)): DriftCounts {
  const count = (action: Action): number => rows.filter(({ change }) => change.action === action).length;
  const blocked = count('blocked');
  return {
    changed: rows.length - blocked,
    held: count('held'),
    deleted: count('create'),
    blocked,
    pending: drift.pending,
    unfinished: drift.unfinished,
    unwatched: drift.plan.unwatched.length,
    orphaned: drift.plan.orphans.length,
    unmanaged: drift.plan.unmanagedAccess?.length ?? 0,
    outside: drift.plan.outside?.changes.length ?? 0,
  };
}

/** `changed` counts all objects that apply may revert, held and deleted ones among them. */
type DriftCounts = Readonly<
  Record<'changed' | 'held' | 'deleted' | 'blocked' | 'pending' | 'unfinished' | 'unwatched' | 'orphaned' | 'unmanaged' | 'outside', number>
>;

/** Returns whether apply reverts one part of an object, and keeps another. */
function isPartlyHeld({ change: { action, fields } }: DriftedObject): boolean {
  return action !== 'held' && action !== 'blocked' && fields.some(({ held }) => held === true);
}

/** Returns whether access that has ended is all the drift of an object. */
function isExpiry({ change: { action, fields }, edges }: DriftedObject): boolean {
  return action !== 'blocked' && fields.length > 0 && edges.length === 0 && fields.every((field) => expiryOf(field) !== undefined);
}

/** Returns the effect of the drift and its objects, and in another sentence what is not part of it. */
function driftVerdict(drift: Drift, rows: readonly DriftedObject[]): Verdict {
  const { changed: ours, held, blocked, orphaned, outside } = driftCounts(drift, rows);
  const partly = rows.filter(isPartlyHeld).length;
  const parts = [...(held === 0 ? [] : [`${held} of them held`]), ...(partly === 0 ? [] : [`${partly} held in part`])];
  const drifted = ours + outside;
  const expired = expiredAccess(drift.plan).length;
  const others = ours - rows.filter(isExpiry).length;
  const changed = [...(others === 0 ? [] : [plural(others, 'object')]), ...outsideCounts(drift.plan)].join(' and ');
  const expiry = expired === 0 ? [] : [`${plural(expired, 'group')} still ${expired === 1 ? 'has' : 'have'} expired access`];
  // Without a base, the difference may come from an apply.
  const isKnown = drift.plan.base !== undefined || outside > 0;
  const what = differenceText(others, isKnown);
  const first = [...(changed === '' ? [] : [`${changed} ${what}`, ...parts]), ...expiry].join(', ');
  const isListed = others === rows.length && outside + parts.length + expiry.length === 0;
  const named = isListed
    ? namedChanges({ changes: rows.map(({ change }) => ({ ...change, fields: change.fields.map(inverse) })), protection: drift.protection })
    : '';
  const { notCompared } = drift.plan;
  const uncompared = notComparedText(notCompared);
  const record = [
    ...(drift.unmerged === undefined ? [] : [unmergedText(drift.unmerged)]),
    ...(drift.unproven === undefined ? [] : [escapeTerminal(drift.unproven)]),
  ];
  const rest = [
    ...(orphaned === 0 ? [] : [`${plural(orphaned, 'orphan')}: removed from the manifests, still live`]),
    ...(blocked === 0 ? [] : [`${blocked} managed by others`]),
    ...(drift.pending === 0 ? [] : [`${drift.pending} pending: changed in the manifests, not applied yet`]),
    ...(drift.unfinished === 0 ? [] : [`${drift.unfinished} unfinished: created by an interrupted apply`]),
    ...(notCompared.length === 0 || drifted === 0 ? [] : [notComparedCount(notCompared)]),
  ];
  const more = rest.length === 0 ? '' : ` ${rest.join('; ')}.`;
  const source = record.map((text) => ` ${text}.`).join('');
  const { name } = drift.plan.target;
  if (drifted === 0 && record.length > 0)
    return { before: 'Drift on ', name, after: `:${source}${uncompared === '' ? '' : ` ${uncompared}.`}${more}` };
  if (drifted === 0 && uncompared !== '') return { before: 'On ', name, after: `: No drift seen; ${uncompared}.${more}` };
  if (drifted === 0) return { before: 'No drift on ', name, after: `.${more}` };
  return { before: 'Drift on ', name, after: `: ${withEffect(`${first}${named}.`, headlinesOf(drift)).join(' ')}${source}${more}` };
}

/** Returns `2 objects that no manifest declares`, and `1 connection in fields that no manifest states`, where there are some. */
function outsideCounts({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  const ids = (outside?.changes ?? []).map(({ id }) => id);
  const objects = ids.filter(
    (id) => id === accessControlId || (decidingLists[kindOf(id)] ?? watchedLists[kindOf(id)]) !== undefined,
  ).length;
  const connections = ids.length - objects;
  return [
    ...(objects === 0 ? [] : [`${plural(objects, 'object')} that no manifest declares`]),
    ...(connections === 0 ? [] : [`${plural(connections, 'connection')} in fields that no manifest states`]),
  ];
}

/** Returns what happened to objects; without a base, an apply may have changed them. */
function differenceText(count: number, isKnown: boolean): string {
  if (isKnown) return 'changed outside Ostiary';
  return count === 1 ? 'differs from its manifest' : 'differ from their manifests';
}

/** Returns the count and the worst effect for a title: `: 2 objects, weakens protection of 1 connection`; empty text without drifted objects. */
export function driftTitleEnd(drift: Drift): string {
  const { changed, outside } = driftCounts(drift);
  const effect = worstEffectText(headlinesOf(drift));
  return changed + outside === 0 ? '' : `: ${plural(changed + outside, 'object')}${effect === '' ? '' : `, ${effect}`}`;
}

/** Returns `by ada, 2026-11-20 03:12 UTC` of the last write to each object outside Ostiary; escaped. */
export function lastWriters(drift: Drift): ReadonlyMap<ResourceId, string> {
  const found = driftedObjects(drift).flatMap(({ change: { id }, writers: [last] }) => (last === undefined ? [] : [[id, last] as const]));
  return new Map(found.map(([id, last]) => [id, last.replace(/(, from [^ ]*)? \(.*\)$/, '')]));
}

/** Returns the headlines of a drift and of what changed in no manifest, the worst first. */
function headlinesOf({ plan, protection }: Drift): readonly Headline[] {
  return sortHeadlines([...protection.headlines, ...(plan.outside?.headlines ?? [])]);
}

function unmergedText({ commit, branch, reason }: UnmergedApply): string {
  const why = reason === undefined ? '' : ` (allowed: ${escapeTerminal(reason)})`;
  return `applied from ${commit.slice(0, 7)}, which ${escapeTerminal(branch)} does not contain${why}`;
}

/** Returns the document of what a pull request accepts into the manifests of a target. */
export function adoptionDocument({ accepted, created = [], left }: Adoption, target: string): ReportDocument {
  const rows = accepted === undefined ? [] : driftedObjects(accepted);
  const parts = left.filter(({ severity }) => severity !== 'notice').length;
  const counts = [
    ...(rows.length === 0 ? [] : [`${plural(rows.length, 'object')} ${differenceText(rows.length, accepted?.plan.base !== undefined)}`]),
    ...(created.length === 0 ? [] : [plural(created.length, 'new manifest')]),
    ...(parts === 0 ? [] : [`${plural(parts, 'part')} not accepted`]),
  ];
  const texts = withEffect(`${counts.join(', ')}.`, accepted?.protection.headlines ?? []);
  const verdict = { before: 'Accepts drift on ', name: target, after: `: ${texts.join(' ')}` };
  const section = accepted === undefined ? { blocks: [] } : driftSection(accepted, [], undefined);
  // New manifests are on the branch alone, so nothing links to them.
  const manifests = created.map(({ id, file }) => ({ text: `${mark('name', id)} in ${mark('name', file)}` }));
  const blocks = [
    ...section.blocks,
    warningsBlock(plural(created.length, 'new manifest'), manifests),
    warningsBlock(parts === 0 ? 'Notes' : `${plural(parts, 'part')} not accepted`, left.map(diagnosticLine)),
  ];
  const drifts = accepted === undefined ? [] : [driftObject(accepted)];
  return { json: () => ({ version: 1, drifts }), sections: () => [{ ...section, verdict, blocks }] };
}

/** Returns the result of adopting the drift in one sentence; undefined if it was not requested. */
function adoptionSummary({ adoption }: Drift): string | undefined {
  if (adoption === undefined) return undefined;
  const { accepted, created = [], files, left, branch } = adoption;
  const isNothing = accepted === undefined && created.length === 0;
  if (isNothing && left.length === 0) return undefined;
  if (isNothing) return `Nothing was accepted: ${plural(left.length, 'part')} cannot be accepted.`;
  const { changed, blocked } = accepted === undefined ? { changed: 0, blocked: 0 } : driftCounts(accepted);
  const edited = changed + blocked === 0 ? [] : [plural(changed + blocked, 'object')];
  const made = created.length === 0 ? [] : [plural(created.length, 'new manifest')];
  const what = `Accepted: ${[...edited, ...made].join(' and ')}, in ${plural(files.length, 'file')}`;
  if (branch === undefined) return `${what} here.`;
  const { name, commit, unchanged, pushed } = branch;
  const state = unchanged ? 'unchanged' : pushed ? 'pushed to origin' : 'not pushed';
  return `${what} of the branch ${escapeTerminal(name)} (${commit.slice(0, 10)}, ${state}).`;
}

function driftObject({ plan, protection, writes, adoption, ...drift }: Drift): JsonObject {
  const writers = writes && [...writes].map(([id, all]) => ({ id, writes: all }));
  const accepted = adoption?.accepted === undefined ? [] : driftedObjects(adoption.accepted).map(({ change }) => change.id);
  return {
    plan: planObject({ ...plan, protection }),
    ...documentJson({ ...drift, writers, adoption: adoption && { ...adoption, accepted: [...new Set(accepted)] } }, 'drift#/$defs/drift'),
  };
}
