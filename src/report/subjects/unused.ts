import { groupBy } from '../../model/collections.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import type { Unused, UnusedGrant } from '../../model/result/replay.ts';
import type { TableListing } from '../blocks.ts';
import { plural } from '../wording/phrases.ts';
import { csvText } from './permissions.ts';

/** Returns `Of 812 sessions since 2026-09-01: 12 grants, 2 rules and 1 group unused; 3 not known.` */
export function unusedSentence({ since, sessions, isWhole, ...found }: Unused): string {
  const rows = rowsOf({ since, sessions, isWhole, ...found });
  const unused = (kind: string): number => rows.filter((row) => row[0] === kind && row[1] === 'unused').length;
  const counts = [plural(unused('grant'), 'grant'), plural(unused('rule'), 'rule'), plural(unused('group'), 'group')].join(', ');
  const which = isWhole ? plural(sessions, 'session') : `the newest ${plural(sessions, 'session')}, all`;
  const unknown = rows.filter((row) => row[1] === 'not known').length;
  return `Of ${which} since ${since}: ${counts} unused, ${unknown} not known.`;
}

/** Lists what no session used, and what is not known: the verbs of a grant in one row. */
export function unusedListing({ grants, rules, groups }: Unused): TableListing {
  const byGrant = groupBy(grants, ({ group, connection, why = '' }) => JSON.stringify([group, connection, why]));
  const found: readonly (readonly [string, Finding])[] = [
    ...[...byGrant.values()].map(
      (all) => [`${all[0].group} on ${all[0].connection}: ${all.map(({ verb }) => verb).join(', ')}`, all[0]] as const,
    ),
    ...rules.map((one) => [one.name, one] as const),
    ...groups.map((one) => [`group ${one.name}`, one] as const),
  ];
  return {
    headers: ['name', 'is', 'declared'],
    rows: found.map(([name, { isUsed, at }]) => [name, stateText(isUsed), at === undefined ? '' : `${at.file}:${at.line}`]),
    details: found.map(([, { why }]) => (why === undefined ? [] : [why])),
  };
}

function stateText(isUsed: Finding['isUsed']): string {
  return isUsed === 'no' ? 'unused' : 'not known';
}

/** Returns the list as CSV, one row for each verb. */
export function unusedCsv(unused: Unused): string {
  return csvText([['what', 'is', 'name', 'connection', 'verb', 'why', 'declared'], ...rowsOf(unused)]);
}

type Finding = Pick<UnusedGrant, 'isUsed' | 'why' | 'at'>;

function rowsOf({ grants, rules, groups }: Unused): readonly (readonly string[])[] {
  return [
    ...grants.map((one) => unusedRow('grant', one.group, one, one)),
    ...rules.map((one) => unusedRow('rule', one.name, one)),
    ...groups.map((one) => unusedRow('group', one.name, one)),
  ];
}

function unusedRow(
  what: string,
  name: string,
  { isUsed, why = '', at }: Finding,
  { connection, verb }: { readonly connection: string; readonly verb: string } = { connection: '', verb: '' },
): readonly string[] {
  return [what, stateText(isUsed), name, connection, verb, why, at === undefined ? '' : formatPosition(at)];
}
