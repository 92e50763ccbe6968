import { groupBy } from '../../model/collections.ts';
import type { Position } from '../../model/diagnostic.ts';
import { definedFields, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import type { Answer, Decider, Permission } from '../../model/protection/permission.ts';
import { termText } from '../../model/protection/timed-grants.ts';
import { nameOf } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import { escapeTerminal } from '../escape.ts';
import type { TableListing } from '../blocks.ts';
import { everybodyElse, joinQuoted, peopleText } from '../wording/people.ts';
import { approversText, filesText } from '../wording/permissions.ts';

/** Returns where the manifests state what decides a fact; undefined where none does. */
export type PlaceOf = (decider: Decider) => Position | undefined;

/** Returns the facts of a permission as a table: what, its value, and the line or the object that decides it. */
export function permissionListing({ facts }: Permission, placeOf: PlaceOf): TableListing {
  return {
    headers: ['', '', 'decided by'],
    rows: facts.map(({ part, text, by }) => [part, text, [...new Set(by.map((one) => deciderText(one, placeOf)))].join(', ')]),
  };
}

/** Returns `file:line` of what decides a fact, or the object. */
export function deciderText(decider: Decider, placeOf: PlaceOf): string {
  const at = placeOf(decider);
  return at === undefined ? decider.id : `${at.file}:${at.line}`;
}

/** Returns the answer as a sentence: `No: contractors cannot use exec on orders-db.` */
export function answerText({ answer, groups, verb, connection, approval, ...term }: Permission): string {
  const who = groups.length === 0 ? 'people in no group' : groups.join(', ');
  const what = `use ${verb} on ${nameOf(connection)}`;
  if (answer === 'unknown') return `Cannot be known: whether ${who} can ${what}.`;
  if (answer === 'no') return `No: ${who} cannot ${what}.`;
  const how = approval === undefined ? ' without approval' : approval === 'unknown' ? '; the approval is not known' : ' after an approval';
  return `Yes: ${who} can ${what}${how}${termText(term)}.`;
}

/** Returns a permission as a JSON object. */
export function permissionObject(permission: Permission, placeOf: PlaceOf): JsonObject {
  const { connection, groups, verb, blocked, masked, tools, facts } = permission;
  return definedFields({
    connection: nameOf(connection),
    groups,
    verb,
    ...answerObject(permission),
    blocked,
    masked,
    tools: tools.length === 0 ? undefined : tools,
    facts: facts.map(({ by, ...fact }) => ({
      ...fact,
      by: by.map((one) => definedFields({ id: one.id, path: one.path === '' ? undefined : one.path, at: placeOf(one) })),
    })),
  });
}

/** Returns the answer of a permission, and its terms unless it is no, as a JSON object. */
export function answerObject({ answer, approval, ...terms }: Permission): JsonObject {
  const { longest, runbooks, until, reason } = answer === 'no' ? {} : terms;
  return definedFields({
    answer,
    approval: approval === undefined || typeof approval === 'string' ? approval : { ...approval },
    longest,
    runbooks: runbooks?.map((one) => ({ ...one })),
    until,
    reason,
  });
}

/** The permissions of the same people on one connection, by verb, and their groups. */
type PermissionRow = { readonly permissions: readonly Permission[]; readonly groups: readonly string[] };

/** Leaves out people who can do nothing on a connection. Where everybody else can do something, a row is the only sign of those who cannot. */
export function shownPeople(all: readonly (readonly Permission[])[]): readonly (readonly Permission[])[] {
  return all.some((permissions) => permissions[0]?.groups.length === 0 && isAble(permissions)) ? all : all.filter(isAble);
}

function isAble(permissions: readonly Permission[]): boolean {
  return permissions.some(({ answer }) => answer !== 'no');
}

/** Folds permissions of one connection: groups that need the same for each verb are one row. */
export function foldPermissions(all: readonly (readonly Permission[])[]): readonly PermissionRow[] {
  const rows = groupBy(shownPeople(all), (permissions) => permissions.map(cellText).join('\n'));
  return [...rows.values()].map((same) => ({ permissions: same[0], groups: same.map(([first]) => peopleText(first?.groups ?? [])) }));
}

/** Returns who can use connections: a row for each connection and each set of groups that need the same. */
export function whoListing(rows: readonly PermissionRow[], verbs: readonly AccessMode[]): TableListing {
  return {
    wraps: true,
    headers: ['connection', 'groups', ...verbs],
    rows: rows.map(({ permissions, groups }) => [
      permissions[0] === undefined ? '' : nameOf(permissions[0].connection),
      groups.includes(everybodyElse) ? everybodyElse : joinQuoted(groups, ', '),
      ...permissions.map(cellText),
    ]),
  };
}

const answerWords: Readonly<Record<Answer, string>> = { yes: 'yes', no: 'no', unknown: '?' };

/** Returns a permission in a few words: `yes`, `after 2 of dba, security, 1 h`. */
export function cellText({ answer, approval, longest, runbooks, ...term }: Permission): string {
  if (answer !== 'yes') return answerWords[answer];
  const only = runbooks === undefined ? '' : `, ${filesText({ runbooks })}`;
  const limit = `${longest === undefined ? '' : `, ${durationText(longest)}`}${only}${termText(term)}`;
  if (approval === undefined) return `yes${limit}`;
  if (approval === 'unknown') return `yes, approval unknown${limit}`;
  return `after ${approval === 'refused' ? 'nothing' : approversText(approval)}${limit}`;
}

/** Returns permissions as comma-separated values (RFC 4180), one line each. */
export function permissionsCsv(all: readonly Permission[], placeOf: PlaceOf): string {
  const header = [
    'connection',
    'group',
    'verb',
    'answer',
    'approval',
    'needed',
    'force',
    'longest_seconds',
    'blocked',
    'masked',
    'decided_by',
    'until',
    'reason',
    'runbooks',
    'tools',
  ];
  const lines = all.map((one) => {
    const {
      connection,
      groups,
      verb,
      answer,
      approval,
      longest,
      runbooks = [],
      until = '',
      reason = '',
      blocked,
      masked,
      tools,
      facts,
    } = one;
    const asked = approval === undefined || typeof approval === 'string' ? undefined : approval;
    const by = new Set(facts.flatMap((fact) => fact.by.map((decider) => deciderText(decider, placeOf))));
    const files = runbooks.map(({ repository = '', name }) => `${repository}:${name}`);
    return [
      nameOf(connection),
      peopleText(groups),
      verb,
      answer,
      asked === undefined ? (typeof approval === 'string' ? approval : '') : joinQuoted(asked.groups, '; '),
      asked === undefined ? '' : String(asked.needed),
      asked === undefined ? '' : joinQuoted(asked.force, '; '),
      longest === undefined ? '' : String(longest),
      joinQuoted(blocked, '; '),
      joinQuoted(masked, '; '),
      joinQuoted([...by], '; '),
      until,
      reason,
      joinQuoted(files, '; '),
      joinQuoted(tools, '; '),
    ];
  });
  return csvText([header, ...lines]);
}

/** Returns rows as comma-separated values (RFC 4180). */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Escapes and quotes a cell; a text that a spreadsheet would take for a formula begins with a quotation mark. */
function csvCell(text: string): string {
  const safe = escapeTerminal(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
