import { createHash } from 'node:crypto';
import { asObject, asText, canonical, compareText, definedFields, type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import type { Position } from '../../model/diagnostic.ts';
import type { Decider, Permission } from '../../model/protection/permission.ts';
import { pointer } from '../../model/pointer.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { addToGroup } from '../../model/collections.ts';
import { cellText, csvText, everybodyElse } from './permissions.ts';

/** What groups can do on one connection: a list of permissions by verb for each of some people. */
export type ReportedConnection = {
  readonly id: ResourceId;
  readonly tags: JsonObject;
  readonly people: readonly (readonly Permission[])[];
};

/** The commit that decides a line since a time, and its author. */
export type LineOrigin = { readonly commit: string; readonly time: string; readonly author: string };

/** The data of a report on access. */
export type AccessReportInput = {
  readonly target: string;
  readonly source: string;
  /** The commit that is checked out. */
  readonly commit: string | undefined;
  readonly connections: readonly ReportedConnection[];
  readonly placeOf: (decider: Decider) => Position | undefined;
  readonly originOf: (at: Position) => LineOrigin | undefined;
};

/** Returns a report on access: a row for each connection and each set of groups that need the same, signed by its digest. */
export function accessReport({ target, source, commit, connections, placeOf, originOf }: AccessReportInput): JsonObject {
  const rows = connections.flatMap(({ id, tags, people }) => {
    const alike = new Map<string, (readonly Permission[])[]>();
    for (const permissions of people)
      if (permissions.some(({ answer }) => answer !== 'no')) addToGroup(alike, permissions.map(cellText).join('\n'), permissions);
    return [...alike.values()].map((all) => rowOf({ id, tags }, all, { placeOf, originOf }));
  });
  const report = definedFields({ version: 1, report: 'access', target, source, commit, rows });
  return { ...report, digest: accessDigest(report) };
}

/** Returns the SHA-256 of a report's canonical JSON, without its digest. */
export function accessDigest(report: JsonObject): string {
  return createHash('sha256')
    .update(canonical(definedFields({ ...report, digest: undefined })))
    .digest('hex');
}

/** Returns a report as comma-separated values, one line for each row; the digest is that of the JSON. */
export function accessReportCsv(report: JsonObject): string {
  const header = ['connection', 'groups', 'connect', 'exec', 'runbooks', 'decided_by', 'since', 'author', 'commit'];
  const lines = objectsIn(report['rows']).map((row) => {
    const { commit, time, author } = asObject(row['since']);
    const verbs = ['connect', 'exec', 'runbooks'].map((verb) => asText(asObject(row[verb])['text']));
    return [
      asText(row['connection']),
      textsIn(row['groups']).join(' '),
      ...verbs,
      textsIn(row['decidedBy']).join(' '),
      asText(time),
      asText(author),
      asText(commit),
    ];
  });
  return csvText([header, ...lines]);
}

type Reading = Pick<AccessReportInput, 'placeOf' | 'originOf'>;

function rowOf(
  { id, tags }: Pick<ReportedConnection, 'id' | 'tags'>,
  all: readonly (readonly Permission[])[],
  { placeOf, originOf }: Reading,
): JsonObject {
  const [permissions = []] = all;
  const deciders = all.flatMap((one) =>
    one.flatMap(({ answer, facts }) =>
      answer === 'no' ? [] : facts.flatMap(({ by }) => by.flatMap((decider) => withCounts(decider, placeOf))),
    ),
  );
  const found = new Map(
    deciders.map((decider) => {
      const at = placeOf(decider);
      return [at === undefined ? decider.id : `${at.file}:${at.line}`, at] as const;
    }),
  );
  const origins = [...found.values()].flatMap((at) => (at === undefined ? [] : (originOf(at) ?? [])));
  const [latest] = origins.toSorted((left, right) => compareText(right.time, left.time));
  return definedFields({
    connection: nameOf(id),
    tags,
    groups: all.map(([first]) => (first === undefined || first.groups.length === 0 ? everybodyElse : first.groups.join('+'))),
    ...Object.fromEntries(permissions.map((one) => [one.verb, verbObject(one)])),
    decidedBy: [...found.keys()].toSorted(compareText),
    since: latest === undefined ? undefined : { ...latest },
  });
}

/** The fields that decide an approval beside the groups that give it. */
const besideReviewers: Readonly<Record<string, readonly string[]>> = {
  '/reviewers': ['min_review_approvals', 'force_approve_groups'],
  '/reviewers_groups': ['min_approvals', 'all_groups_must_approve', 'force_approval_groups'],
};

/** Returns what decides an approval, with how many must approve, and who can force it, where a manifest states it. */
function withCounts(decider: Decider, placeOf: Reading['placeOf']): readonly Decider[] {
  const { id, path } = decider;
  const whole = placeOf({ id, path: pointer('metadata', 'absent') });
  const beside = (besideReviewers[path] ?? []).map((field): Decider => ({ id, path: pointer(field) }));
  return [decider, ...beside.filter((one) => placeOf(one)?.line !== whole?.line)];
}

function verbObject(permission: Permission): JsonObject {
  const { answer, approval, longest } = permission;
  return definedFields({
    text: cellText(permission),
    answer,
    approval: approval === undefined || typeof approval === 'string' ? approval : { ...approval },
    longest: answer === 'no' ? undefined : longest,
  });
}
