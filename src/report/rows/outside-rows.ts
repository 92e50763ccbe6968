import { canonical, type Json } from '../../model/json.ts';
import type { FieldChange, Plan, Value } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import type { OutsideChange, OutsideField, WatchedList } from '../../model/protection/outside-access.ts';
import type { Headline } from '../../model/protection/protection.ts';
import { elementToken } from '../../model/spec/edit.ts';
import { escapeTerminal } from '../escape.ts';
import { plural } from '../wording/summary.ts';
import { type ChangeRow, changeRows } from './change-rows.ts';

/** A changed object that no manifest declares: its sign, what happened to it, and its fields; escaped. */
export type OutsideObject = { readonly sign: '+' | '~' | '-'; readonly text: string; readonly rows: readonly ChangeRow[] };

/** The part of a report about objects that decide access and that no manifest declares. */
export type OutsideSection = {
  readonly title: string;
  readonly headlines: readonly Headline[];
  readonly objects: readonly OutsideObject[];
};

/** What an object of each list is called. */
const listNouns: Readonly<Record<WatchedList, readonly [one: string, many: string]>> = {
  'access-control': ['access control', 'access control'],
  attributes: ['attribute', 'attributes'],
  'access-request-rules': ['access-request rule', 'access-request rules'],
  'runbook-rules': ['runbook rule', 'runbook rules'],
  rulepacks: ['rulepack', 'rulepacks'],
  'analyzer-rules': ['analyzer rule', 'analyzer rules'],
  'machine-identities': ['machine identity', 'machine identities'],
};

const signs = { created: '+', changed: '~', deleted: '-', 'switched on': '~', 'switched off': '~' } as const;

/** Returns the section of a report about changes outside Ostiary and outside the manifests; undefined if there are none. */
export function outsideSection({ outside }: Pick<Plan, 'outside'>): OutsideSection | undefined {
  if (outside === undefined || outside.changes.length === 0) return undefined;
  const count = plural(outside.changes.length, 'change');
  return {
    title: `Changed outside Ostiary, in no manifest: ${count}. Ostiary never writes these objects; a complete apply records them`,
    headlines: outside.headlines,
    objects: outside.changes.map(objectOf),
  };
}

function objectOf(change: OutsideChange): OutsideObject {
  const { list, name, happened, managedBy = '', fields } = change;
  const [noun] = listNouns[list];
  const who = name === '' ? '' : managedBy === '' ? ', not managed' : `, managed by ${managedBy}`;
  const subject = name === '' ? noun : `${noun} ${list === 'access-control' ? 'of ' : ''}${name}`;
  const action = happened === 'created' ? 'create' : 'update';
  const rows = happened === 'deleted' ? [] : changeRows({ action, fields: fields.flatMap((field) => fieldChanges(field, action)) });
  return { sign: signs[happened], text: escapeTerminal(`${subject}${who}: ${happened}`), rows };
}

/** Returns the differences of a field; those of a set are its elements. */
function fieldChanges({ name, before, after }: OutsideField, action: 'create' | 'update'): readonly FieldChange[] {
  const sets = [before, after].map((value) => (Array.isArray(value) ? value : value === undefined ? [] : undefined));
  const [from, to] = sets;
  if (action === 'create' || from === undefined || to === undefined || !sets.some((set) => set !== undefined && set.length > 0))
    return [{ path: pointer(name), before: sideOf(before), after: sideOf(after) }];
  const pathOf = (value: Json): string => pointer(name, elementToken(value));
  return [
    ...without(from, to).map((value) => ({ path: pathOf(value), before: { value }, after: { absent: true } as const })),
    ...without(to, from).map((value) => ({ path: pathOf(value), before: { absent: true } as const, after: { value } })),
  ];
}

function without(all: readonly Json[], others: readonly Json[]): readonly Json[] {
  const known = new Set(others.map(canonical));
  return all.filter((value) => !known.has(canonical(value)));
}

function sideOf(value: Json | undefined): Value {
  return value === undefined ? { absent: true } : { value };
}

function namesOfLists(lists: readonly WatchedList[]): string {
  return lists.map((list) => listNouns[list][1]).join(', ');
}

/** Returns a notice for the lists that the token cannot read, and one for those that the last apply did not record. */
export function outsideNotices({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  if (outside === undefined) return [];
  const { unreadable, unrecorded, role } = outside;
  const reader = role === undefined ? 'The token' : `The role ${role}`;
  return [
    ...(unreadable.length === 0
      ? []
      : [
          role === 'admin'
            ? `The gateway did not show all of ${namesOfLists(unreadable)}: changes of these are not reported`
            : `${reader} cannot read ${namesOfLists(unreadable)}, only admin can: changes of these are not reported`,
        ]),
    ...(unrecorded.length === 0
      ? []
      : [`The last apply did not record ${namesOfLists(unrecorded)}: changes of these are reported after the next one`]),
  ];
}
