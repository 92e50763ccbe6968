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

/** Lists what no session used, and what is not known. */
export function unusedListing(unused: Unused): TableListing {
  return { headers: ['what', 'is', 'name', 'connection', 'verb', 'why', 'declared'], rows: rowsOf(unused) };
}

/** Returns the list as CSV. */
export function unusedCsv(unused: Unused): string {
  const { headers, rows } = unusedListing(unused);
  return csvText([headers, ...rows]);
}

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
  { isUsed, why = '', at }: Pick<UnusedGrant, 'isUsed' | 'why' | 'at'>,
  { connection, verb }: { readonly connection: string; readonly verb: string } = { connection: '', verb: '' },
): readonly string[] {
  return [what, isUsed === 'no' ? 'unused' : 'not known', name, connection, verb, why, at === undefined ? '' : formatPosition(at)];
}
