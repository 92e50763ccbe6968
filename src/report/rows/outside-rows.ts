import type { WatchedChange, Plan } from '../../model/plan/plan.ts';
import { accessControlId, bearsRoles, isAuthSetting } from '../../model/protection/access-objects.ts';
import type { Entry, RowsBlock } from '../blocks.ts';
import { plural } from '../wording/phrases.ts';
import { changeRows } from './change-rows.ts';
import { rankOf } from './groups.ts';
import { headlinesBlock } from './lines.ts';

const signs = { created: '+', changed: '~', deleted: '-', 'switched on': '~', 'switched off': '~' } as const;

/** Returns the rows about changes outside Ostiary and outside the manifests; undefined if there are none. */
export function outsideRows({ outside }: Pick<Plan, 'outside'>, isInVerdict: boolean): RowsBlock | undefined {
  if (outside === undefined || outside.changes.length === 0) return undefined;
  const count = plural(outside.changes.length, 'change');
  return {
    type: 'rows',
    title: `Changed outside Ostiary, in no manifest: ${count}. Ostiary never writes these; a complete apply records them`,
    headlines: headlinesBlock(outside.headlines, { orphans: new Map(), isInVerdict }),
    entries: outside.changes.map(outsideEntry),
    rank: { row: rankOf('held row'), detail: rankOf('detail') },
  };
}

function outsideEntry({ id, happened, managedBy, fields }: WatchedChange): Entry {
  const action = happened === 'created' ? 'create' : 'update';
  const who = managedBy === undefined ? '' : `, managed by ${managedBy}`;
  return {
    name: `${id === accessControlId ? 'access control' : id}${who}: ${happened}`,
    sign: signs[happened],
    note: '',
    effect: 'neutral',
    risk: '',
    fields: happened === 'deleted' ? [] : changeRows({ action, fields }),
    lines: [],
    warnings: [],
  };
}

const hiddenSettings =
  'The gateway does not show its sign-in settings: multi-tenant gateways show them to no one, and those before 1.38.3 have none to show. The names of the groups of admins and auditors are not known, and changes of their members are not reported. Check on the gateway who is an admin';

const isSettings = (kind: string): boolean => isAuthSetting(`${kind}/`);

/** Returns a notice for the kinds that the token cannot read, and one for those that the last apply did not record. */
export function outsideNotices({ outside }: Pick<Plan, 'outside'>): readonly string[] {
  if (outside === undefined) return [];
  const { unreadable, unrecorded, role } = outside;
  const reader = role === undefined ? 'The token' : `The role ${role}`;
  const hidesRoles = unreadable.some(isSettings);
  const others = hidesRoles ? unreadable.filter((kind) => !isSettings(kind) && !bearsRoles(kind)) : unreadable;
  return [
    ...(hidesRoles ? [hiddenSettings] : []),
    ...(others.length === 0
      ? []
      : [
          role === 'admin'
            ? `The gateway did not show all of ${others.join(', ')}: changes of these are not reported`
            : `${reader} cannot read ${others.join(', ')}, only admin can: changes of these are not reported`,
        ]),
    ...(unrecorded.length === 0
      ? []
      : [`The last apply did not record ${unrecorded.join(', ')}: changes of these are reported after the next one`]),
  ];
}
