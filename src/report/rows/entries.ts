import { type AssessedChange, fieldPosition, highestRisk, isWritten, riskClasses } from '../../model/plan/plan.ts';
import type { Diagnostic, Position } from '../../model/diagnostic.ts';
import { protectionVerdicts } from '../../model/protection/protection.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import { kindOf } from '../../model/resource.ts';
import type { EndRow, Entry, FieldRow, RowsBlock, Sign } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { risksText } from '../wording/summary.ts';
import { shortList } from '../wording/phrases.ts';
import { pathText, sampleChangeText, sampleSign } from '../wording/value.ts';
import { actionSymbols, changeNote, changeRows, type DriftedObject, edgeChangeRows, edgeText } from './change-rows.ts';
import { type ChangeGroup, type GroupedChange, type GroupName, rankOf } from './groups.ts';

const ranks: Readonly<Record<GroupName, RowsBlock['rank']>> = {
  held: { row: rankOf('held row'), detail: rankOf('held detail') },
  accepted: { row: rankOf('own row'), detail: rankOf('own detail') },
  changed: { row: rankOf('own row'), detail: rankOf('detail') },
  own: { row: rankOf('own row'), detail: rankOf('own detail') },
  also: { row: rankOf('also row'), detail: rankOf('detail') },
  undone: { row: rankOf('undone row'), detail: rankOf('detail') },
  elsewhere: { row: rankOf('elsewhere'), detail: rankOf('elsewhere') },
};

/** The order in which changes are left out for length. */
const order: Readonly<Record<AssessedChange['action'], number>> = { held: 0, delete: 0, blocked: 1, rename: 2, update: 3, create: 4 };

const none = {
  verb: '',
  note: '',
  briefNote: '',
  effect: 'neutral',
  risk: '',
  severity: -1,
  order: 0,
  fields: [],
  ends: [],
  endCount: 0,
  samples: [],
  quiet: [],
  warnings: [],
} as const;

/** Returns a group of changes as rows, with the attachments that no change writes; `warnings` are about the manifests of changed objects. */
export function groupRows(group: ChangeGroup, warnings: ReadonlyMap<string, readonly Diagnostic[]> = new Map()): RowsBlock {
  const { name, title, edges } = group;
  const held = edges.map((edge): Entry => {
    const text = edgeText(edge);
    const note = title === '' ? 'held: attached outside Ostiary' : '';
    return {
      ...none,
      name: text,
      sign: '=',
      verb: 'attachment',
      note,
      briefNote: note,
      effect: 'strengthens',
      content: text,
      likeness: text,
    };
  });
  const changes = group.changes.map((one) => changeEntry(one, group, warnings.get(one.change.id)));
  return { type: 'rows', title, entries: [...changes, ...held], form: name === 'elsewhere' ? 'short' : 'table', rank: ranks[name] };
}

/** Returns a change as an entry. */
export function changeEntry(
  { change, edges, note: whole, changedSamples }: GroupedChange,
  { name, title }: Pick<ChangeGroup, 'name' | 'title'>,
  warnings: readonly Diagnostic[] = [],
): Entry {
  const { id, action, risks, carried } = change;
  const isTitleEnough = (name === 'undone' || name === 'elsewhere') && title !== '';
  const note = name === 'held' && title !== '' ? '' : whole;
  const highest = highestRisk(risks);
  const risk = risksText(risks);
  const isWhole = action === 'create' || action === 'delete';
  const fields = changeRows(change, isTitleEnough).map((row) => (isWhole && isMinor(row) ? { ...row, isMinor: true } : row));
  const ends = edgeChangeRows(change, edges, isTitleEnough);
  const samples = changedSamples.map((one) => ({ sign: sampleSign(one), text: sampleChangeText(one) }));
  const isHarmless = highest === undefined || highest === 'neutral' || highest === 'strengthens';
  const isShape = samples.length === 0 && (isHarmless || isWhole);
  const codes = risks.map(({ code, class: one }) => [code, one]);
  return {
    name: id,
    sign: actionSymbols[action],
    verb: action,
    note,
    briefNote: action === 'delete' && name !== 'accepted' ? changeNote(change) : note,
    at: change.at,
    changedAt: changedPlace(change),
    effect: highest ?? 'neutral',
    risk: escapeTerminal(risk),
    severity: highest === undefined ? -1 : riskClasses.indexOf(highest),
    order: order[action],
    fields,
    ends,
    endCount: edges.length,
    samples,
    quiet: carriedText(change),
    warnings,
    content: JSON.stringify([kindOf(id), action, change.adoption, fields, ends, note, samples, risk, carried]),
    likeness: JSON.stringify([
      action,
      kindOf(id),
      note,
      codes,
      carried,
      fieldsOf(fields, isShape),
      endsOf(ends, isShape),
      isShape ? [] : samples,
    ]),
  };
}

/** Returns whether a field of a whole object protects nothing: of a created or deleted object, what protects it is what matters. */
function isMinor({ label, parts }: FieldRow): boolean {
  const [part] = parts;
  const isDisabled = part !== undefined && part.sign !== '~' && part.text === 'disabled';
  return isDisabled || minorFields.has(label.replace(/[. [].*$/s, ''));
}

const minorFields: ReadonlySet<string> = new Set([
  'type',
  'subtype',
  'agent_id',
  'access_schema',
  'command',
  'connection_tags',
  'resource_name',
  'description',
  'secret',
]);

function fieldsOf(rows: readonly FieldRow[], isShape: boolean): readonly unknown[] {
  return isShape ? rows.map(({ label, parts, note }) => [label, parts.map(({ sign }) => sign), note]) : rows;
}

function endsOf(rows: readonly EndRow[], isShape: boolean): readonly unknown[] {
  return isShape ? rows.map(({ sign }) => sign) : rows;
}

/** Returns the live values that a write carries although the manifest does not state them. A change that is not written carries nothing. */
function carriedText(change: AssessedChange): readonly string[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  return [`keeps the live value of ${shortList(change.carried.map(pathText), 6).join(', ')}`];
}

/** Returns the line of the field that a change changes, that with the highest risk first; for a whole object its first line. */
function changedPlace(change: AssessedChange): Position | undefined {
  const { action, fields, risks, at } = change;
  if (action === 'create' || action === 'delete') return at;
  const highest = highestRisk(risks);
  const { path } = risks.find((one) => one.class === highest && one.path !== undefined) ?? {};
  const field = fields.find((one) => path !== undefined && isPointerWithin(one.path, path)) ?? fields[0];
  return (field === undefined ? undefined : fieldPosition(change, field)) ?? at;
}

/** Returns the line of the first field that drifted; for a whole object its first line. */
function driftedPlace(change: DriftedObject['change']): Position | undefined {
  const [field] = change.action === 'update' || change.action === 'held' ? change.fields : [];
  return (field === undefined ? undefined : fieldPosition(change, field)) ?? change.at;
}

/** Returns drifted objects as rows, from the manifests to the live state. */
export function driftRows(objects: readonly DriftedObject[]): RowsBlock {
  const entries = objects.map(({ change, sign, direction, note, rows, edges, writers }): Entry => {
    const isShape = sign === '-';
    const likeness = JSON.stringify([sign, kindOf(change.id), note, fieldsOf(rows, isShape), endsOf(edges, isShape)]);
    return {
      ...none,
      name: change.id,
      sign,
      note,
      briefNote: note,
      at: change.at,
      changedAt: driftedPlace(change),
      effect: change.action === 'create' && direction === 'neutral' ? 'availability' : direction,
      severity: -protectionVerdicts.indexOf(direction),
      fields: rows,
      ends: edges,
      endCount: edges.length,
      quiet: writers,
      content: JSON.stringify([likeness, rows, edges, writers]),
      likeness,
    };
  });
  return { type: 'rows', title: '', entries, form: 'list', rank: { row: rankOf('held row'), detail: rankOf('detail') } };
}

/** Returns an object that no manifest declares as an entry; `said` follows its name. */
export function outsideEntry(
  name: string,
  said: string,
  { sign, fields }: { readonly sign: Sign; readonly fields: readonly FieldRow[] },
): Entry {
  const likeness = JSON.stringify([sign, fields]);
  return { ...none, name, said: escapeTerminal(said), sign, fields, content: `${name} ${likeness}`, likeness };
}
