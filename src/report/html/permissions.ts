import { addToGroup } from '../../model/collections.ts';
import { type Cause, type PermissionChange, type PermissionDelta, permissionEffects } from '../../model/protection/protection.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { compareText } from '../../model/json.ts';
import { parsePosition, type Position } from '../../model/diagnostic.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { LinkOf } from '../links.ts';
import { effectOfPermission, permissionTexts, permissionsTitle } from '../wording/permissions.ts';
import { plural } from '../wording/summary.ts';
import { element, empty, type Html, joinHtml, positionHtml, verdictBadge } from './markup.ts';

/** All verbs, in the order of their columns. */
export const allVerbs: readonly AccessMode[] = ['connect', 'exec', 'runbooks'];
const peopleInNone = 'people in no group';
const mostRows = 500;
const mostPlaces = 3;

/** What changes for the same people on one connection, by verb. */
type Row = { readonly id: ResourceId; readonly change: PermissionChange; readonly byVerb: Map<AccessMode, PermissionChange> };

/** Returns what people can do before and after as a table, with a choice of group, connection and verb. */
export function permissionSection({ changes, changed, same }: PermissionDelta, linkOf: LinkOf | undefined): readonly Html[] {
  const rows = rowsOf(changes);
  const verbs = allVerbs.filter((verb) => changes.some((change) => change.verbs.includes(verb)));
  const shown = rows.slice(0, mostRows);
  const causesOn = causeLookup(changes);
  const groups = [...new Set(changes.flatMap((change) => [...(change.groups ?? []), ...(change.except ?? [])]))].toSorted(compareText);
  const names = [...new Set(shown.map(({ id }) => nameOf(id)))].toSorted(compareText);
  const more = rows.length - shown.length;
  const caption = `${plural(changed, 'permission')} of a group on a connection ${changed === 1 ? 'changes' : 'change'}, ${same} stay the same.`;
  const head = ['who', 'connection', ...verbs, 'decided by'].map((heading) => element('th', { scope: 'col' }, heading));
  return [
    element('h2', {}, permissionsTitle),
    permissionFilters(permissionsTitle, { groups, connections: names, verbs }),
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': permissionsTitle }, [
      element('table', { class: 'permissions stack' }, [
        element('caption', {}, caption),
        element('thead', {}, [element('tr', {}, head)]),
        element(
          'tbody',
          {},
          shown.map((row) => rowHtml(row, { verbs, causesOn, linkOf })),
        ),
      ]),
    ]),
    ...(more > 0 ? [element('p', { class: 'quiet' }, `and ${plural(more, 'more row')}; the JSON of the plan has them`)] : []),
  ];
}

type Choices = { readonly groups: readonly string[]; readonly connections: readonly string[]; readonly verbs: readonly AccessMode[] };

/** Returns a choice of a group, a connection and a verb, which reduces the rows that have the attributes of `rowAttributes`. */
export function permissionFilters(label: string, { groups, connections, verbs }: Choices): Html {
  return element('div', { class: 'filters', role: 'group', 'aria-label': label }, [
    choice('group', [...groups, peopleInNone]),
    choice('connection', connections),
    choice('verb', verbs),
  ]);
}

/** People in some groups, or everybody but those in others; and for which verbs a row is about them. */
type RowSubject = {
  readonly connection: string;
  readonly verbs: readonly string[];
  readonly groups?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** What a search finds the row by, beside its connection and groups. */
  readonly tags?: readonly string[];
};

/** Returns the attributes by which a search and the choices of `permissionFilters` find a row. */
export function rowAttributes({
  connection,
  verbs,
  groups,
  except = [],
  tags = [],
}: RowSubject): Readonly<Record<string, string | undefined>> {
  return {
    'data-name': [connection, ...tags, ...(groups ?? ['everybody'])].join(' ').toLowerCase(),
    'data-connection': connection,
    'data-verbs': JSON.stringify(verbs),
    'data-groups': groups === undefined ? undefined : JSON.stringify(groups),
    'data-except': groups === undefined ? JSON.stringify(except) : undefined,
  };
}

function choice(name: string, values: readonly string[]): Html {
  const options = values.map((value) => element('option', { value }, value));
  return element('label', {}, [
    `${name} `,
    element('select', { 'data-choice': name }, [element('option', { value: '' }, 'all'), ...options]),
  ]);
}

/** Returns a row for the same people on each connection, those with the largest effect first. */
function rowsOf(changes: readonly PermissionChange[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const change of changes.toSorted((left, right) => rankOf(left) - rankOf(right)))
    for (const id of change.connections) {
      const key = JSON.stringify([id, change.groups, change.together, change.oneOfEach, change.except]);
      const row = rows.get(key) ?? { id, change, byVerb: new Map() };
      for (const verb of change.verbs) row.byVerb.set(verb, change);
      rows.set(key, row);
    }
  return [...rows.values()];
}

function rankOf({ effect }: PermissionChange): number {
  return permissionEffects.indexOf(effect);
}

type RowContext = { readonly verbs: readonly AccessMode[]; readonly causesOn: CausesOn; readonly linkOf: LinkOf | undefined };

function rowHtml({ id, change, byVerb }: Row, { verbs, causesOn, linkOf }: RowContext): Html {
  const { groups, except = [] } = change;
  const { who } = permissionTexts({ ...change, verbs: [...byVerb.keys()] }, String);
  const name = nameOf(id);
  const all = [...new Set(byVerb.values())];
  return element(
    'tr',
    {
      ...rowAttributes({ connection: name, verbs: [...byVerb.keys()], groups, except }),
      'data-direction': effectOfPermission[change.effect],
    },
    [
      element('th', { scope: 'row' }, who),
      element('td', { class: 'mono', 'data-label': 'connection' }, name),
      ...verbs.map((verb) => verbCell(verb, byVerb.get(verb))),
      element(
        'td',
        { 'data-label': 'decided by' },
        placesHtml(
          all.flatMap((one) => causesOn(one, id)),
          linkOf,
        ),
      ),
    ],
  );
}

function verbCell(verb: AccessMode, change: PermissionChange | undefined): Html {
  if (change === undefined) return element('td', { class: 'quiet', 'data-label': verb }, 'same');
  const verdict = effectOfPermission[change.effect];
  const badge = change.effect === 'granted' ? [] : [verdictBadge(verdict), ' '];
  return element('td', { class: verdict, 'data-label': verb }, [...badge, permissionTexts(change, String).turn]);
}

/** Finds what decides a change on one connection: of other connections, what only they have is left out. */
type CausesOn = (change: PermissionChange, id: ResourceId) => readonly Cause[];

/** Returns a lookup that sorts the causes of each change once: both they and its connections may be thousands. */
function causeLookup(changes: readonly PermissionChange[]): CausesOn {
  const sorted = new Map(
    changes.map((change) => {
      const connections = new Set(change.connections);
      const own = new Map<ResourceId, Cause[]>();
      const shared: Cause[] = [];
      for (const cause of change.causes)
        if (connections.has(cause.by)) addToGroup(own, cause.by, cause);
        else shared.push(cause);
      return [change, { own, shared }] as const;
    }),
  );
  return (change, id) => {
    const { own, shared } = sorted.get(change) ?? { own: new Map<ResourceId, Cause[]>(), shared: [] };
    return [...(own.get(id) ?? []), ...shared];
  };
}

/** Returns where a change is decided, each file once with all of its lines. */
function placesHtml(causes: readonly Cause[], linkOf: LinkOf | undefined): readonly Html[] {
  const places = [...new Set(causes.map(({ by, place }) => place ?? by))].slice(0, mostPlaces);
  const lines = new Map<string, Position[]>();
  for (const at of places.flatMap((place) => parsePosition(place) ?? [])) addToGroup(lines, at.file, at);
  const objects = places.filter((place) => parsePosition(place) === undefined);
  return [
    ...[...lines.values()].map((same) => linesOfFile(same, linkOf)),
    ...objects.map((id) => element('span', { class: 'mono' }, id)),
  ].flatMap((one) => [one, empty('br', {})]);
}

function linesOfFile(same: readonly Position[], linkOf: LinkOf | undefined): Html {
  const [first, ...others] = same.toSorted((left, right) => left.line - right.line);
  return joinHtml([
    ...(first === undefined ? [] : [positionHtml(first, linkOf)]),
    ...others.flatMap((at) => [',', positionHtml(at, linkOf, String(at.line))]),
  ]);
}
