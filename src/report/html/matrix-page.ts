import type { JsonObject } from '../../model/json.ts';
import type { Permission, PermissionPart } from '../../model/protection/permission.ts';
import { nameOf } from '../../model/resource.ts';
import { deciderText, foldGroups, type PermissionRow, type PlaceOf } from '../subjects/permissions.ts';
import { everybodyElse } from '../wording/people.ts';
import { needsText } from '../wording/permissions.ts';
import { joinPlaces } from '../wording/value.ts';
import { plural, shortList } from '../wording/summary.ts';
import { accessPage, type AccessRow, labeledCell, sourceText, keyValues } from './access-page.ts';
import { element, type Html } from './markup.ts';
import { allVerbs } from './permissions.ts';

/** What every group can do on every connection of a target. */
export type AccessMatrix = {
  readonly target: string;
  readonly source: string;
  readonly connections: readonly {
    readonly tags: JsonObject;
    /** By verb: of people in no group that decides anything, then of each group. */
    readonly people: readonly (readonly Permission[])[];
  }[];
  readonly placeOf: PlaceOf;
};

const mostNames = 3;
const mostPlaces = 3;

/** Renders groups × connections as a page: for each verb the approval that people need, and the lines that decide. */
export function renderMatrixPage({ target, source, connections, placeOf }: AccessMatrix): string {
  const groups = new Set(connections.flatMap(({ people }) => people.flatMap(([first]) => first?.groups ?? []))).size;
  return accessPage({
    title: `What ${plural(groups, 'group')} can do on ${plural(connections.length, 'connection')} of ${target}`,
    lead: element(
      'p',
      {},
      `From ${sourceText({ source })}. Below each answer are the lines that decide it. Groups without a row of a connection can do nothing there.`,
    ),
    columns: ['groups', ...allVerbs],
    verbs: allVerbs,
    rows: connections.flatMap(({ tags, people }) => {
      const rows = foldGroups(people, answerWords);
      // Where everybody else can do something, a row is the only sign of a group that cannot.
      const isOpen = rows.some((row) => rankOf(row) === 1 && canDoSomething(row));
      return rows
        .filter((row) => isOpen || canDoSomething(row))
        .toSorted((left, right) => rankOf(left) - rankOf(right))
        .map((row) => matrixRow(row, { tags: keyValues(tags), rows, placeOf }));
    }),
  });
}

type RowContext = { readonly tags: readonly string[]; readonly rows: readonly PermissionRow[]; readonly placeOf: PlaceOf };

function matrixRow(row: PermissionRow, { tags, rows, placeOf }: RowContext): AccessRow {
  const { permissions, groups } = row;
  const [first] = permissions;
  const others = rows.flatMap((one) => (one === row ? [] : one.groups));
  const isRest = groups.includes(everybodyElse);
  const verbs = permissions.filter(({ answer }) => answer !== 'no').map(({ verb }) => verb);
  return {
    connection: first === undefined ? '' : nameOf(first.connection),
    tags,
    notes:
      first === undefined || verbs.length === 0
        ? []
        : [tags.join(', '), listedText('blocks', first.blocked), listedText('masks', first.masked), listedText('tools', first.tools)],
    ...(isRest ? { except: others } : { groups }),
    verbs,
    cells: [
      labeledCell('groups', isRest ? (others.length === 0 ? 'everybody' : 'everybody else') : groups.join(', ')),
      ...verbCells(row, placeOf),
    ],
  };
}

function canDoSomething({ permissions }: PermissionRow): boolean {
  return permissions.some(({ answer }) => answer !== 'no');
}

/** Sorts everybody else last. */
function rankOf({ groups }: PermissionRow): number {
  return groups.includes(everybodyElse) ? 1 : 0;
}

function listedText(verb: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${verb} ${shortList(names, mostNames).join(', ')}`;
}

/** The facts whose lines a cell names, the most important first. */
const namedParts: readonly PermissionPart[] = ['approval', 'sees it', 'runbooks', 'longest', 'open'];

/** Returns a cell for each verb. */
function verbCells({ permissions, all }: PermissionRow, placeOf: PlaceOf): readonly Html[] {
  const cells = permissions.map((permission, index) => {
    const { answer } = permission;
    const facts = all.flatMap((one) => one[index]?.facts ?? []).filter((fact) => answer === 'yes' || fact.answer === answer);
    const deciders = namedParts.flatMap((part) => facts.filter((fact) => fact.part === part).flatMap(({ by }) => by));
    return { permission, places: deciders.map((by) => deciderText(by, placeOf)) };
  });
  return cells.map(verbCell);
}

type VerbCell = { readonly permission: Permission; readonly places: readonly string[] };

function verbCell({ permission, places }: VerbCell): Html {
  const { answer, approval, verb } = permission;
  const look = answer === 'no' ? 'quiet' : answer === 'yes' && approval === undefined ? 'free' : undefined;
  const shown = answer === 'no' ? [] : [placesHtml(places)];
  return labeledCell(verb, [element('div', {}, answerWords(permission)), ...shown], { class: look });
}

function answerWords(permission: Permission): string {
  const { answer } = permission;
  return answer === 'yes' ? needsText(permission) : answer === 'no' ? 'no' : 'cannot be known';
}

function placesHtml(places: readonly string[]): Html {
  const all = joinPlaces(places);
  const shown = shortList(all, mostPlaces).map((place) => place.replace(/^.*\/(?=[^/]+\.ya?ml:)/, '…/'));
  return element('span', { class: 'mono quiet', title: all.join(', ') }, shown.join(', '));
}
