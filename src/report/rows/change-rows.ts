import { addToGroup } from '../../model/collections.ts';
import { elementToken } from '../../model/spec/edit.ts';
import {
  acceptedCause,
  type AcceptedDrift,
  type Action,
  type Change,
  type EdgeChange,
  type FieldChange,
  isDeletedOutside,
  isRestored,
  type Orphan,
  type Plan,
  type SecretCause,
  type Value,
} from '../../model/plan/plan.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { tokensOf } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { endText } from '../../model/protection/timed-grants.ts';
import { timeText } from '../../model/time.ts';
import type { Json } from '../../model/json.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { isEmpty, pathText, removalText, valueText, valueTexts, withUnits } from '../wording/value.ts';
import type { EntryLine, FieldRow, RowPart } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { withEditedEntries } from './edited-entries.ts';
import { clip } from '../wrap.ts';

const longestHint = 200;

export const actionSymbols: Readonly<Record<Action, '+' | '~' | '-' | '!' | '='>> = {
  create: '+',
  update: '~',
  rename: '~',
  delete: '-',
  blocked: '!',
  held: '=',
};

/**
 * Returns the rows of a change: elements of one list share a row, and a created or deleted object shows only the fields it has.
 * If `said` is true, the context already names the drift, and rows do not repeat it.
 */
export function changeRows(change: Pick<Change, 'action' | 'fields'>, said = false): readonly FieldRow[] {
  const rows: { readonly label: string; readonly parts: RowPart[]; readonly merges: boolean; readonly note: string }[] = [];
  for (const written of isWhole(change) ? change.fields : withEditedEntries(change.fields)) {
    const [before, after] = [written.before, written.after].map((value) => withEnds(written, withUnits(written.path, value)));
    const field = { ...written, before: before ?? written.before, after: after ?? written.after };
    const row = rowOf(change.action, field, isElement(written));
    if (row === undefined) continue;
    const last = rows.at(-1);
    const note = rowNote(change, field, said);
    if (last?.merges === true && row.merges && last.label === row.label && last.note === note) last.parts.push(row.part);
    else rows.push({ label: row.label, parts: [row.part], merges: row.merges, note });
  }
  return rows.map(({ parts, ...row }) => ({ ...row, parts: shownParts(parts) }));
}

/** Returns whether a change shows a whole object. */
function isWhole({ action }: Pick<Change, 'action'>): boolean {
  return action === 'create' || action === 'delete' || action === 'held';
}

/** Returns the first parts of a row, and the number of the others. */
function shownParts(parts: readonly RowPart[]): readonly RowPart[] {
  if (parts.length <= mostParts) return parts;
  return [...parts.slice(0, mostParts), { sign: '', text: `and ${parts.length - mostParts} more` }];
}

const mostParts = 500;

/** Returns the note of a row. A restored object has one note for all its fields. */
function rowNote({ action }: Pick<Change, 'action'>, field: FieldChange, said: boolean): string {
  if (action === 'held') return heldText(field);
  const expiry = expiryOf(field);
  if (expiry !== undefined) return `expired on ${timeText(expiry.until)}`;
  return said || (action === 'create' && field.origin === 'drift') ? '' : originNote(field);
}

/** Returns `held`, `drift` or `conflict`; empty text if only the manifests changed, or the origin is unknown. */
function originNote({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): string {
  if (held === true) return 'held';
  return origin === 'both' ? 'conflict' : origin === 'drift' ? 'drift' : '';
}

/** Returns a side with the ends of its groups: `contractors until 2026-12-31 (migration)`. */
function withEnds({ ends = [] }: FieldChange, side: Value): Value {
  if (ends.length === 0 || !('value' in side)) return side;
  const named = (element: Json): Json => {
    const end = ends.find(({ group, ended }) => group === element && ended !== true);
    return end === undefined ? element : `${end.group}${endText(end)}`;
  };
  const { value } = side;
  return { value: Array.isArray(value) ? value.map(named) : named(value) };
}

type PartRow = { readonly label: string; readonly part: RowPart; readonly merges: boolean };

function rowOf(action: Action, field: FieldChange, element: boolean): PartRow | undefined {
  const { before, after } = field;
  if ('secret' in before || 'secret' in after) return secretRow(action, field);
  const whole = action === 'create' ? after : action === 'delete' ? before : undefined;
  const label = pathText(element ? field.path.slice(0, field.path.lastIndexOf('/')) : field.path);
  if (action === 'held') return { label, part: { sign: '', text: stayingText(field) }, merges: element };
  if (whole !== undefined) {
    if ('absent' in whole || ('value' in whole && isEmpty(whole.value))) return undefined;
    return { label, part: { sign: '', text: valueText(whole) }, merges: element };
  }
  return { label, part: partOf(before, after), merges: element };
}

function stayingText({ before, after }: FieldChange): string {
  return 'absent' in before ? `without ${valueText(after)}` : valueText(before);
}

function heldText({ before, after }: FieldChange): string {
  if ('absent' in after) return 'not in the manifest';
  if ('value' in after && after.value === null) return 'not set in the manifest';
  return 'absent' in before ? 'in the manifest' : `manifest: ${clip(valueText(after), longestHint)}`;
}

function partOf(before: Value, after: Value): RowPart {
  if ('absent' in before && !('absent' in after)) return { sign: '+', text: valueText(after) };
  if ('absent' in after && !('absent' in before)) return { sign: '-', text: valueText(before) };
  if (isRestored({ before, after })) return { sign: '', text: `${valueText(after)} again at the end` };
  const [was, is] = valueTexts(before, after);
  return { sign: '~', before: was, after: is };
}

/** Returns whether a field is an element of a set, or an unkeyed entry of a list: its value replaces its token in the report. */
function isElement({ path, before, after }: FieldChange): boolean {
  const tokens = tokensOf(path);
  const token = tokens.at(-1);
  if (token === undefined || tokens.length < 2) return false;
  const only = 'absent' in before ? after : 'absent' in after ? before : undefined;
  if (only === undefined || !('value' in only)) return false;
  return token.startsWith('{') || elementToken(only.value) === token;
}

const differing = 'differs from the gateway';

const states = {
  set: 'added',
  differs: differing,
  unknown: 'value not read',
  kept: 'kept',
  removed: 'removed',
} as const;

function secretRow(action: Action, { path, before, after, cause }: FieldChange): PartRow {
  const label = `secret ${escapeTerminal(tokensOf(path).at(-1) ?? '')}`;
  if (isWholeMap(before) && 'absent' in after)
    return { label, part: { sign: '', text: 'keys that the manifest omits: removed' }, merges: false };
  const shown = 'secret' in after ? after : before;
  if (!('secret' in shown) || !('secret' in after)) return { label, part: { sign: '', text: 'removed' }, merges: false };
  if (cause !== undefined) return { label, part: { sign: '', text: causeText(cause, [after, before]) }, merges: false };
  const moved = shown.state === 'unknown' && 'secret' in before && before.secret !== 'live' ? `${sourceText(before.secret)} → ` : '';
  const source = `(${moved}${sourceText(shown.secret)})`;
  const isLive = moved === '' && shown.secret === 'live';
  const state = isLive
    ? `${shown.state === 'differs' ? 'changed' : states[shown.state]} on the gateway`
    : `${source} ${states[shown.state]}`;
  const text = action === 'create' && shown.state === 'set' ? source : state;
  return { label, part: { sign: '', text }, merges: false };
}

/** Returns whether a value is that of all keys of a map that were not read. */
function isWholeMap(value: Value): boolean {
  return 'secret' in value && value.secret === 'live' && value.state === 'unknown';
}

/** Returns one side of a secret: its source, or that the manifest omits it; escaped. */
export function secretSideText(value: Value): string {
  return 'secret' in value ? sourceText(value.secret) : 'omitted';
}

/** Returns where a secret comes from, in words where the name of the source is not enough; escaped. */
function sourceText(source: string): string {
  if (source === 'inline') return 'inline in the manifest';
  return escapeTerminal(source.replace(/^live:(.*)$/, 'copied from $1 of the gateway'));
}

/** Returns why a secret with an unchanged source differs, with the source. */
function causeText(cause: SecretCause, sides: readonly Value[]): string {
  const sources = sides.flatMap((side) => ('secret' in side && side.secret !== 'live' ? [side.secret] : []));
  const source = sourceText(sources[0] ?? '');
  if (cause === 'file' || cause === 'inline') return `changes (${source.replace(/^file:/, '')})`;
  if (cause === 'gateway') return `(${source}) not compared: secrets changed on the gateway`;
  return cause === 'source' ? `rotated at its source (${source})` : `(${source}) ${differing}: changed at its source or outside Ostiary`;
}

/** Returns the attachments that a change writes by their other ends; many of one sort are one row. */
export function edgeChangeRows(change: Change, edges: readonly EdgeChange[], said = false): readonly EntryLine[] {
  const sorts = new Map<string, EdgeEnd[]>();
  for (const edge of edges) {
    const note = [edge.bySelector === true ? 'by selector' : '', said ? '' : originNote(edge)].filter((text) => text !== '').join('; ');
    const end = edge.rule === change.id || edge.rule === change.key ? edge.connection : edge.rule;
    const sign = edge.action === 'detach' ? '-' : '+';
    addToGroup(sorts, JSON.stringify([kindOf(end), sign, note]), { end, sign, note });
  }
  const named = [...sorts.values()].flatMap((same): readonly EntryLine[] => {
    const [first] = same;
    if (first === undefined || same.length <= mostEnds)
      return same.map(({ end, sign, note }) => ({ sign, text: `${escapeTerminal(end)}${noted(note)}` }));
    const names = shortList(
      same.map(({ end }) => escapeTerminal(nameOf(end))),
      mostParts,
    ).join(', ');
    return [{ sign: first.sign, text: `${plural(same.length, kindOf(first.end))}${noted(first.note)}: ${names}` }];
  });
  return change.action === 'create' || edges.length > 0 ? [...named, ...reachRows(change)] : named;
}

/** Returns the row of a rule that includes every connection on one side of a change; `undone` swaps the sides. */
export function reachRows({ action, reach }: Pick<Change, 'action' | 'reach'>, undone = false): readonly EntryLine[] {
  if (action === 'held' || reach === undefined) return [];
  return [(reach === 'every') === undone ? { sign: '-', text: 'every other connection' } : { sign: '+', text: 'every connection' }];
}

type EdgeEnd = { readonly end: ResourceId; readonly sign: EntryLine['sign']; readonly note: string };

const mostEnds = 3;

function noted(note: string): string {
  return note === '' ? '' : ` (${note})`;
}

/** A plan's attachments by the change that writes them, and those that no change writes. */
type EdgeGroups = { readonly written: ReadonlyMap<string, readonly EdgeChange[]>; readonly others: readonly EdgeChange[] };

/** Groups attachments by the change that writes them, in one pass. */
export function groupEdges(plan: Plan): EdgeGroups {
  const written = new Map<string, EdgeChange[]>(plan.changes.map((change) => [change.id, []]));
  const byKey = new Map(plan.changes.flatMap((change) => (change.key === undefined ? [] : [[change.key, change.id] as const])));
  const others: EdgeChange[] = [];
  for (const edge of plan.edges) {
    const moves = edge.action === 'attach' || edge.action === 'detach';
    const by = moves && edge.by !== undefined ? (written.get(edge.by) ?? written.get(byKey.get(edge.by) ?? '')) : undefined;
    (by ?? others).push(edge);
  }
  return { written, others };
}

/** Returns `rule ↔ connection`, escaped. */
export function edgeText(edge: EdgeChange): string {
  return `${escapeTerminal(edge.rule)} ↔ ${escapeTerminal(edge.connection)}`;
}

/** Returns the note of a change's headline: its manager, its former name, the commit that removed its manifest. */
export function changeNote(change: Change, orphan?: Orphan): string {
  if (isDeletedOutside(change)) return 'deleted outside Ostiary, not recreated';
  if (change.error !== undefined) return `not written: ${escapeTerminal(change.error.code)}`;
  if (change.action === 'blocked') return `managed by ${escapeTerminal(change.managedBy ?? 'another manager')}, not written`;
  if (change.action === 'delete') return deletionNote(change, orphan);
  if (change.replacedBy !== undefined) return replacedText(change.replacedBy);
  if (change.closed === 'between' && change.action !== 'create') return 'closed while its rules change';
  if (change.adoption === true) return importNote(change);
  if (change.action === 'held') return 'held: made stricter outside Ostiary';
  if (change.action === 'rename' && change.key !== undefined) return `renamed from ${escapeTerminal(nameOf(change.key))}`;
  if (change.unfinished === true) return 'unfinished: created closed by an interrupted apply';
  if (change.action === 'create' && isLost(change)) return 'deleted outside Ostiary, will be recreated';
  return '';
}

function importNote({ action, key }: Change): string {
  if (action === 'rename' && key !== undefined) return `import: renamed from ${escapeTerminal(nameOf(key))}`;
  return action === 'create' ? 'import: it replaces an object that was never applied' : 'import: it exists already';
}

/** Returns who changed the gateway before the manifests accepted it, and when; escaped. */
export function acceptedNote(drift: AcceptedDrift, { request = 'pull request' }: Pick<Plan, 'request'>): string {
  const { own } = drift;
  const whose = own === undefined ? '' : own ? `accepted by this ${request}; ` : 'accepted by an earlier merge; ';
  return escapeTerminal(`${whose}${acceptedCause(drift)}`);
}

/** Returns why an object cannot be planned, and what to do; escaped. */
export function blockedReason({ error, at }: Pick<Change, 'error' | 'at'>): string {
  const { code = '', message = '', hint } = error ?? {};
  const place = at === undefined ? '' : ` (${at.file}:${at.line})`;
  return escapeTerminal(`${message}${place}; ${hint === undefined ? '' : `${hint}; `}${code}`);
}

/** Returns `replaced by NAME`, escaped. */
function replacedText(successor: ResourceId): string {
  return `replaced by ${escapeTerminal(nameOf(successor))}`;
}

/** Returns why an object is deleted, and whether it is closed before that. */
function deletionNote({ replacedBy, closed }: Change, orphan: Orphan | undefined): string {
  const why = replacedBy !== undefined ? replacedText(replacedBy) : orphan === undefined ? '' : removalText(orphan);
  const how = closed === 'first' ? 'closed first, then deleted' : '';
  return [why, how].filter((text) => text !== '').join('; ');
}

/** Returns whether an applied object is missing on the gateway. */
function isLost({ fields }: Change): boolean {
  return fields.some(({ origin }) => origin === 'drift' || origin === 'both');
}
