import { type AssessedChange, fieldPosition, highestRisk, isWritten } from '../../model/plan/plan.ts';
import type { Diagnostic, Position } from '../../model/diagnostic.ts';
import { isPointerWithin } from '../../model/pointer.ts';
import type { Entry, EntryLine, FieldRow, RowsBlock } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { risksText } from '../wording/summary.ts';
import { shortList } from '../wording/phrases.ts';
import { pathText, sampleChangeText, sampleSign } from '../wording/value.ts';
import { actionSymbols, changeRows, edgeChangeRows, edgeText } from './change-rows.ts';
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

/** Returns a group of changes as rows, with the attachments that no change writes; `warnings` are about the manifests of changed objects. */
export function groupRows(group: ChangeGroup, warnings: ReadonlyMap<string, readonly Diagnostic[]>): RowsBlock {
  const { name, title, edges } = group;
  const held = edges.map((edge): Entry => ({
    name: edgeText(edge),
    sign: '=',
    note: title === '' ? 'held: attached outside Ostiary' : '',
    effect: 'strengthens',
    risk: '',
    fields: [],
    lines: [],
    warnings: [],
  }));
  const changes = group.changes.map((one) => changeEntry(one, group, warnings.get(one.change.id)));
  return { type: 'rows', title, entries: [...changes, ...held], isShort: name === 'elsewhere', rank: ranks[name] };
}

/** Returns a change as an entry. */
export function changeEntry(
  { change, edges, note, changedSamples }: GroupedChange,
  { name, title }: Pick<ChangeGroup, 'name' | 'title'>,
  warnings: readonly Diagnostic[] = [],
): Entry {
  const { id, action, risks } = change;
  const isTitleEnough = (name === 'undone' || name === 'elsewhere') && title !== '';
  const isWhole = action === 'create' || action === 'delete';
  return {
    name: id,
    sign: actionSymbols[action],
    note: name === 'held' && title !== '' ? '' : note,
    at: changedPlace(change),
    effect: highestRisk(risks) ?? 'neutral',
    risk: escapeTerminal(risksText(risks)),
    fields: changeRows(change, isTitleEnough).map((row) => (isWhole && isMinor(row) ? { ...row, isMinor: true } : row)),
    lines: [
      ...edgeChangeRows(change, edges, isTitleEnough),
      ...changedSamples.map((one) => ({ sign: sampleSign(one), text: sampleChangeText(one) })),
      ...carriedLines(change),
    ],
    warnings,
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

/** Returns the live values that a write carries although the manifest does not state them. A change that is not written carries nothing. */
function carriedLines(change: AssessedChange): readonly EntryLine[] {
  if (change.carried.length === 0 || !isWritten(change)) return [];
  return [{ sign: ' ', text: `keeps the live value of ${shortList(change.carried.map(pathText), 6).join(', ')}` }];
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
