import { addToGroup } from '../../model/collections.ts';
import { parsePosition } from '../../model/diagnostic.ts';
import { asObject, asText, type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import { type AccessMode, accessModes } from '../../model/protection/access-objects.ts';
import { type Cause, type PermissionChange, permissionEffects, type Protection } from '../../model/protection/protection.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { TableCell, RowPeople, TableBlock, TablePage, TableRow } from '../blocks.ts';
import { escapeTerminal } from '../escape.ts';
import { mark, markPlace } from '../marks.ts';
import { everybodyElse } from '../wording/people.ts';
import { effectOfPermission, permissionsTitle, permissionTexts, unstatedPermissions } from '../wording/permissions.ts';
import { plural, shortList } from '../wording/phrases.ts';
import { joinPlaces } from '../wording/value.ts';
import { keyValues, rowStateText, sinceText } from './access-report.ts';

const mostRows = 500;
const mostPlaces = 3;
const mostNames = 3;

/**
 * Returns what people can do before and after a plan as a table, a row for the same people on each connection, the largest effect first;
 * what headlines state is only counted.
 */
export function permissionsTable(protection: Protection): TableBlock {
  const { changes: all, changed, same } = protection.permissions ?? { changes: [], changed: 0, same: 0 };
  const changes = unstatedPermissions(protection);
  const rows = new Map<
    string,
    { readonly id: ResourceId; readonly change: PermissionChange; readonly byVerb: Map<AccessMode, PermissionChange> }
  >();
  for (const change of changes.toSorted((left, right) => effectRank(left) - effectRank(right)))
    for (const id of change.connections) {
      const key = JSON.stringify([id, change.groups, change.together, change.oneOfEach, change.except]);
      const row = rows.get(key) ?? { id, change, byVerb: new Map() };
      for (const verb of change.verbs) row.byVerb.set(verb, change);
      rows.set(key, row);
    }
  const verbs = accessModes.filter((verb) => changes.some((change) => change.verbs.includes(verb)));
  const causesOn = causeLookup(changes);
  const more = rows.size - mostRows;
  return {
    type: 'table',
    look: 'permissions',
    title: permissionsTitle,
    caption: `${plural(changed, 'permission')} of a group on a connection ${changed === 1 ? 'changes' : 'change'}, ${same} stay the same.${changes.length === all.length ? '' : ' Headlines state the others.'}`,
    headers: ['who', 'connection', ...verbs, 'decided by'],
    verbs,
    rows: [...rows.values()].slice(0, mostRows).map(({ id, change, byVerb }) => {
      const own = [...byVerb.keys()];
      const name = nameOf(id);
      return {
        cells: [
          escapeTerminal(permissionTexts({ ...change, verbs: own }, String).who),
          mark('name', name),
          ...verbs.map((verb) => changeCell(byVerb.get(verb))),
          placesCell([...new Set(byVerb.values())].flatMap((one) => causesOn(one, id))),
        ],
        people: { connection: name, verbs: own, groups: change.groups, except: change.except },
        direction: effectOfPermission[change.effect],
      };
    }),
    ...(more > 0 ? { more: `and ${plural(more, 'more row')}; the JSON of the plan has them` } : {}),
  };
}

function effectRank({ effect }: PermissionChange): number {
  return permissionEffects.indexOf(effect);
}

function changeCell(change: PermissionChange | undefined): TableCell {
  if (change === undefined) return { lines: ['same'], look: 'quiet' };
  const look = effectOfPermission[change.effect];
  const badge = change.effect === 'granted' ? '' : `${mark('badge', look)} `;
  return { lines: [`${badge}${escapeTerminal(permissionTexts(change, String).turn)}`], look };
}

/** Finds what decides a change on one connection: of other connections, what only they have is left out. */
type CausesOn = (change: PermissionChange, id: ResourceId) => readonly Cause[];

/** Returns a lookup that sorts the causes of each change once: both they and its connections may be thousands. */
function causeLookup(changes: readonly PermissionChange[]): CausesOn {
  const sorted = new Map(
    changes.map((change) => {
      const connections = new Set(change.connections);
      const byConnection = new Map<ResourceId | undefined, Cause[]>();
      for (const cause of change.causes) addToGroup(byConnection, connections.has(cause.by) ? cause.by : undefined, cause);
      return [change, byConnection] as const;
    }),
  );
  return (change, id) => [id, undefined].flatMap((by) => sorted.get(change)?.get(by) ?? []);
}

/** Returns where a change is decided, each file once with all of its lines. */
function placesCell(causes: readonly Cause[]): TableCell {
  // Fields of one line are one place.
  const byLine = new Map(causes.map(({ by, place }) => [place?.replace(/:\d+$/, '') ?? by, place ?? by]));
  const places = [...byLine.values()].slice(0, mostPlaces);
  const lines = new Map<string, string[]>();
  for (const place of places) {
    const at = parsePosition(place);
    const file = at?.file ?? place;
    addToGroup(lines, file, at === undefined ? mark('name', place) : markPlace(at, lines.has(file) ? 'line' : 'place'));
  }
  return { lines: [...lines.values()].map((same) => same.join(',')) };
}

/** Returns a report on access as a page: a row for each connection and each set of people that need the same. */
export function accessReportPage(report: JsonObject): TablePage {
  const rows = objectsIn(report['rows']);
  const byConnection = new Map<string, JsonObject[]>();
  for (const row of rows) addToGroup(byConnection, asText(row['connection']), row);
  const verbs = accessModes.filter((verb) => rows.length === 0 || rows.some((row) => row[verb] !== undefined));
  const flags = textsIn(report['filters']);
  const hasTimes = rows.some((row) => row['since'] !== undefined || row['isApplied'] === false);
  const headers = ['connection', 'groups', ...verbs, 'decided by', ...(hasTimes ? ['since'] : [])];
  return {
    title: `Who can reach ${plural(byConnection.size, 'connection')} of ${asText(report['target'])}`,
    lead: `${escapeTerminal(`From ${sourceText(report)}${flags.length === 0 ? '' : `, only ${flags.join(' ')}`}. ${recordText(report)}`)}SHA-256 ${mark('code', asText(report['digest']))}.`,
    table: {
      type: 'table',
      look: 'access',
      headers,
      verbs,
      rows: [...byConnection.values()]
        .flatMap((same) => same.map((row) => reportedRow(row, same, verbs)))
        .map((row) => ({ ...row, cells: row.cells.slice(0, headers.length) })),
    },
    data: report,
  };
}

const sources: Readonly<Record<string, string>> = {
  manifests: 'the manifests alone',
  live: 'the gateway as it is',
  plan: 'the gateway as the plan would leave it',
};

/** Returns where a page about access has its answers from: `the manifests alone, at commit …`. */
function sourceText({ source, commit }: JsonObject): string {
  const from = sources[asText(source)] ?? '';
  return commit === undefined ? from : `${from}, at commit ${asText(commit).slice(0, 12)}`;
}

/** Returns what is known of the last apply, as sentences that end with a space. */
function recordText({ applied }: JsonObject): string {
  if (applied === undefined) return '';
  const { commit, time, unmerged, isIncomplete, removed, unknown } = asObject(applied);
  if (unknown !== undefined) return `${noRecordTexts[asText(unknown)] ?? ''}, so it is not known what is live. `;
  const gone = textsIn(removed);
  return [
    `Last applied: commit ${asText(commit).slice(0, 12)}${time === undefined ? '' : `, at ${asText(time).slice(0, 16).replace('T', ' ')} UTC`}. `,
    unmerged === undefined ? '' : `Since then the commit ${asText(unmerged).slice(0, 12)}, which is not reviewed, was applied. `,
    isIncomplete === true ? 'A later apply was not complete. ' : '',
    gone.length === 0 ? '' : `Removed from the manifests, not applied yet: ${gone.join(', ')}. `,
  ].join('');
}

const noRecordTexts: Readonly<Record<string, string>> = {
  none: 'No apply is recorded',
  unreadable: 'The record of applies cannot be read',
  'not proven': 'The record of applies is not proven',
};

/** Returns a row of a report, with the other rows of its connection: everybody is everybody else. */
function reportedRow(row: JsonObject, same: readonly JsonObject[], verbs: readonly AccessMode[]): TableRow {
  const groups = textsIn(row['groups']);
  const { commit, author } = asObject(row['since']);
  const since = commit === undefined ? sinceText(row) : `${sinceText(row).slice(0, 10)} ${asText(author)} (${asText(commit).slice(0, 12)})`;
  const pending = row['isApplied'] === false ? [rowStateText(row)] : [];
  const notes = [keyValues(row['tags']).join(', '), ...guardTexts(row)].filter((text) => text !== '');
  const places = joinPlaces(textsIn(row['decidedBy']));
  const others = same.flatMap((one) => (one === row ? [] : textsIn(one['groups'])));
  return {
    cells: [
      { lines: [escapeTerminal(asText(row['connection'])), ...notes.map((text) => mark('quiet', text))] },
      ...[groups.join(', '), ...verbs.map((verb) => asText(asObject(row[verb])['text']))].map(escapeTerminal),
      { lines: shortList(places, mostPlaces).map((place) => mark('name', place)), title: places.join(', ') },
      escapeTerminal([since, ...pending].filter((text) => text !== '').join(', ')),
    ],
    search: keyValues(row['tags']).join(' '),
    people: {
      connection: asText(row['connection']),
      verbs: verbs.filter((verb) => asObject(row[verb])['answer'] !== 'no'),
      ...peopleOf(groups, others),
    },
  };
}

/** Returns what a connection blocks and masks for the people of a row, and the tools that it denies them. */
function guardTexts(row: JsonObject): readonly string[] {
  return ['blocked', 'masked', 'tools'].flatMap((what) => {
    const names = shortList(textsIn(row[what]), mostNames).join(', ');
    return names === '' ? [] : [`${what} ${names}`];
  });
}

/** Returns people in groups; everybody else is not in those of other rows. */
function peopleOf(groups: readonly string[], others: readonly string[]): Pick<RowPeople, 'groups' | 'except'> {
  return groups.includes(everybodyElse) ? { except: others } : { groups };
}
