import type { OutsideChange, Plan } from '../../model/plan/plan.ts';
import { accessControlId } from '../../model/protection/access-objects.ts';
import type { Headline } from '../../model/protection/protection.ts';
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

function objectOf({ id, happened, managedBy, fields }: OutsideChange): OutsideObject {
  const subject = id === accessControlId ? 'access control' : id;
  const who = managedBy === undefined ? '' : `, managed by ${managedBy}`;
  const action = happened === 'created' ? 'create' : 'update';
  const rows = happened === 'deleted' ? [] : changeRows({ action, fields });
  return { sign: signs[happened], text: escapeTerminal(`${subject}${who}: ${happened}`), rows };
}

/** Returns a notice for the kinds that the token cannot read, and one for those that the last apply did not record. */
export function outsideNotices({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  if (outside === undefined) return [];
  const { unreadable, unrecorded, role } = outside;
  const reader = role === undefined ? 'The token' : `The role ${role}`;
  return [
    ...(unreadable.length === 0
      ? []
      : [
          role === 'admin'
            ? `The gateway did not show all of ${unreadable.join(', ')}: changes of these are not reported`
            : `${reader} cannot read ${unreadable.join(', ')}, only admin can: changes of these are not reported`,
        ]),
    ...(unrecorded.length === 0
      ? []
      : [`The last apply did not record ${unrecorded.join(', ')}: changes of these are reported after the next one`]),
  ];
}
