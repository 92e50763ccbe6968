import { createHash } from 'node:crypto';
import {
  asObject,
  asText,
  canonical,
  compareText,
  definedFields,
  type Json,
  type JsonObject,
  objectsIn,
  textsIn,
} from '../../model/json.ts';
import type { Position } from '../../model/diagnostic.ts';
import { type AnswerOrigin, latestOrigin } from '../../model/result/answer-origin.ts';
import type { Decider, Permission, PermissionFact, PermissionPart } from '../../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { addToGroup } from '../../model/collections.ts';
import { answerObject, cellText, csvText, deciderText, shownPeople } from './permissions.ts';
import { everybodyElse, joinQuoted, peopleText } from '../wording/people.ts';
import { accessModes } from '../../model/protection/access-objects.ts';
import type { TableListing } from '../blocks.ts';

/** What groups can do on one connection: a list of permissions by verb for each of some people. */
export type ReportedConnection = {
  readonly id: ResourceId;
  readonly tags: JsonObject;
  /** `database/postgres`. */
  readonly type?: string;
  readonly people: readonly (readonly Permission[])[];
};

/** The data of a report on access. */
export type AccessReportInput = {
  readonly target: string;
  readonly source: string;
  /** The commit that is checked out. */
  readonly commit: string | undefined;
  /** The last recorded apply, or why none is known. */
  readonly applied?: JsonObject | undefined;
  /** Returns whether that apply left people the same; undefined if none is known. */
  readonly isApplied?: ((permissions: readonly Permission[]) => boolean | undefined) | undefined;
  readonly connections: readonly ReportedConnection[];
  readonly placeOf: (decider: Decider) => Position | undefined;
  readonly originOf: (permissions: readonly Permission[]) => AnswerOrigin | undefined;
  /** What the rows are restricted to, as flags; none shows everything. */
  readonly filters?: readonly string[];
};

/** Returns a report on access: a row for each connection and each set of groups that need the same, signed by its digest. */
export function accessReport({
  target,
  source,
  commit,
  applied: lastApplied,
  connections,
  isApplied,
  filters = [],
  ...reading
}: AccessReportInput): JsonObject {
  const rows = connections.flatMap(({ people, ...about }) => {
    const alike = new Map<string, (readonly Permission[])[]>();
    const shown = new Set(shownPeople(people));
    for (const permissions of people) {
      const applied = isApplied?.(permissions);
      // People whose access is only removed from the manifests still have it.
      if (shown.has(permissions) || applied === false)
        addToGroup(alike, [...permissions.map(cellText), String(applied)].join('\n'), permissions);
    }
    return [...alike.values()].map((all) => ({
      ...rowOf(about, all, reading),
      ...definedFields({ isApplied: isApplied?.(all[0] ?? []) }),
    }));
  });
  const report = definedFields({
    version: 1,
    report: 'access',
    target,
    source,
    commit,
    applied: lastApplied,
    filters: filters.length === 0 ? undefined : [...filters],
    rows,
  });
  return { ...report, digest: accessDigest(report) };
}

/** Returns the SHA-256 of a report's canonical JSON, without its digest. */
export function accessDigest(report: JsonObject): string {
  return createHash('sha256')
    .update(canonical(definedFields({ ...report, digest: undefined })))
    .digest('hex');
}

/** The columns of a report: the texts of a row. */
const columns: Readonly<Record<string, (row: JsonObject) => string>> = {
  connection: (row) => asText(row['connection']),
  groups: (row) => joinQuoted(textsIn(row['groups']), '; '),
  ...Object.fromEntries(accessModes.map((verb) => [verb, (row: JsonObject) => asText(asObject(row[verb])['text'])])),
  decided_by: (row) => joinQuoted(textsIn(row['decidedBy']), '; '),
  since: sinceText,
  author: (row) => asText(asObject(row['since'])['author']),
  commit: (row) => asText(asObject(row['since'])['commit']),
  applied: rowStateText,
  type: (row) => asText(row['type']),
  tags: (row) => joinQuoted(keyValues(row['tags']), '; '),
};

/** Returns tags as `key=value`. */
export function keyValues(tags: Json | undefined): readonly string[] {
  return Object.entries(asObject(tags)).map(([key, value]) => `${key}=${asText(value)}`);
}

/** Returns a report as comma-separated values, one line for each row; the digest is that of the JSON. */
export function accessReportCsv(report: JsonObject): string {
  const texts = Object.values(columns);
  return csvText([Object.keys(columns), ...objectsIn(report['rows']).map((row) => texts.map((textOf) => textOf(row)))]);
}

/** Returns a report as a table for a terminal: a row for each connection and each set of groups that need the same. */
export function accessReportListing(report: JsonObject): TableListing {
  const shown = objectsIn(report['rows']);
  const verbs = accessModes.filter((verb) => shown.some((row) => asObject(row[verb])['answer'] !== 'no' && row[verb] !== undefined));
  const headers = ['connection', 'groups', ...verbs, 'since', 'by', 'commit'];
  const short: Readonly<Record<string, (row: JsonObject) => string>> = {
    ...columns,
    groups: (row) => joinQuoted(textsIn(row['groups']), ', '),
    since: (row) => sinceText(row).replace(/(?<=\d{4}-\d\d-\d\d)T.*$/, ''),
    by: (row) => asText(asObject(row['since'])['author']),
    commit: (row) => asText(asObject(row['since'])['commit']).slice(0, 10),
  };
  return { wraps: true, headers, rows: shown.map((row) => headers.map((name) => short[name]?.(row) ?? '')) };
}

/** Returns since when a row is as it is: a time, or why none is known; empty without a repository. */
export function sinceText({ since }: JsonObject): string {
  const { time, unknown } = asObject(since);
  if (unknown === 'older') return `before ${asText(time)}`;
  return unknown === undefined ? asText(time) : (unknownTexts[asText(unknown)] ?? '');
}

/** Returns whether a row is applied: `yes`, `not applied yet`, or nothing if no apply is known. */
export function rowStateText({ isApplied }: JsonObject): string {
  return isApplied === undefined ? '' : isApplied === true ? 'yes' : 'not applied yet';
}

const unknownTexts: Readonly<Record<string, string>> = { uncommitted: 'not committed', shallow: 'unknown (shallow clone)' };

function sinceObject(origin: AnswerOrigin): JsonObject {
  if (origin.state === 'uncommitted') return { unknown: 'uncommitted' };
  // The oldest commit of a shallow clone has all lines that are older, too.
  if (origin.state === 'before') return { unknown: 'shallow' };
  const { commit, time, author } = origin;
  if (origin.state === 'older') return { unknown: 'older', time };
  return { commit, time, author };
}

const guardParts: ReadonlySet<PermissionPart> = new Set(['analyzer', 'blocked', 'masked', 'tools']);

type Reading = Pick<AccessReportInput, 'placeOf' | 'originOf'>;

function rowOf(
  { id, tags, type }: Omit<ReportedConnection, 'people'>,
  all: readonly (readonly Permission[])[],
  { placeOf, originOf }: Reading,
): JsonObject {
  const [permissions = []] = all;
  // Most groups of a connection have the same deciders.
  const decisive = new Set(all.flat().flatMap(({ answer, facts }) => (answer === 'no' ? [] : facts)));
  const placesOf = (facts: readonly PermissionFact[]): readonly string[] => {
    const deciders = new Map(facts.flatMap(({ by }) => by.map((one) => [`${one.id} ${one.path}`, one] as const)));
    return [...deciders.values()].map((one) => deciderText(one, placeOf)).toSorted(compareText);
  };
  const who = placesOf([...decisive].filter(({ part }) => !guardParts.has(part)));
  const guards = placesOf([...decisive].filter(({ part }) => guardParts.has(part)));
  const groups = all.map(([first]) => peopleText(first?.groups ?? []));
  const able = permissions.find(({ answer }) => answer !== 'no');
  const origin = latestOrigin(all.flatMap((people) => originOf(people) ?? []));
  return definedFields({
    connection: nameOf(id),
    type,
    tags,
    groups: groups.includes(everybodyElse) ? [everybodyElse] : groups,
    ...Object.fromEntries(permissions.map((one) => [one.verb, { text: cellText(one), ...answerObject(one) }])),
    blocked: unlessEmpty(able?.blocked),
    masked: unlessEmpty(able?.masked),
    tools: unlessEmpty(able?.tools),
    // What decides who can reach it comes first.
    decidedBy: [...new Set([...who, ...guards])],
    since: origin && sinceObject(origin),
  });
}

/** Returns names; undefined if there are none. */
function unlessEmpty(names: readonly string[] = []): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}
