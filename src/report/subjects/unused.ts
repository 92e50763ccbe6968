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
  const rows = [
    ...[...byGrant.values()].map((all) =>
      findingRow(`${all[0].group} on ${all[0].connection}: ${all.map(({ verb }) => verb).join(', ')}`, all[0]),
    ),
    ...rules.map((one) => findingRow(one.name, one)),
    ...groups.map((one) => findingRow(`group ${one.name}`, one)),
  ];
  return { headers: ['name', 'unused', 'declared'], rows, wraps: true };
}

function findingRow(name: string, { isUsed, why = '', at }: Finding): readonly string[] {
  return [name, isUsed === 'no' ? 'yes' : `not known: ${why}`, at === undefined ? '' : `${at.file}:${at.line}`];
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
  return [what, isUsed === 'no' ? 'unused' : 'not known', name, connection, verb, why, at === undefined ? '' : formatPosition(at)];
}
