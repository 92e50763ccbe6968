import { addToGroup } from '../../model/collections.ts';
import { defined, equal, isObject, parseJson } from '../../model/json.ts';
import {
  type AppliedIds,
  findLastApplied,
  isRecordCommit,
  parseAppliedRefName,
  type RecordCommit,
  type RenamedTargets,
} from '../../git/applied-refs.ts';
import { record as isRecord } from '../../manifest/validate/validators.ts';
import {
  emptyRecord,
  type AppliedRecord,
  type PendingObject,
  type PendingWrites,
  recordedKeyOf,
  type RecordedOrphan,
  type RecordSignature,
} from '../../model/applied-record.ts';
import type { Target } from '../../model/config.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, InputError } from '../../model/errors.ts';
import type { AuditMark } from '../../model/gateway.ts';
import type { Allowance } from '../../model/plan/plan.ts';
import type { EdgeEnds, ResourceId } from '../../model/resource.ts';
import { configNames } from '../../disk/find-config.ts';
import { findTargetThen, readCommittedConfig } from '../committed-manifests.ts';
import { type CommittedProject, pathsInRepository } from '../project.ts';

/** A record as it was read, and the ref that the next apply moves. */
export type ReadRecord = AppliedIds & {
  /** The name of the ref that it was read from, which may be an earlier one of the target. */
  readonly name: string;
  /** When it was written; undefined if no apply was ever recorded. */
  readonly at: Date | undefined;
  readonly record: AppliedRecord;
  /** As it was read, whether it is valid or not. */
  readonly signature?: RecordSignature | undefined;
  /** The record is not the one behind the ref: what reviewed commits do not prove is left out. */
  readonly isRepaired?: true;
};

/** Returns how a target that was renamed in the config is recognized by its records. */
function renamesOf(site: CommittedProject): RenamedTargets {
  const { config, target } = site;
  const current = new Set(config.targets.map(({ name }) => name));
  const placed = (paths: readonly string[]): readonly string[] =>
    pathsInRepository(paths, config.root, site.repository.prefix).map((path) => `/${path}`);
  return {
    url: target.url,
    isCurrent: (name) => current.has(name),
    async ownerOf(name, record) {
      const parsed = parseRecord(record);
      if (parsed instanceof InputError && name === target.name) return 'unknown';
      // That of another target has to be readable for that one only.
      const [commit] = parsed instanceof InputError ? record.parents : commitsOf(parsed.record);
      const { value: then } = commit === undefined ? {} : await readCommittedConfig(site, commit);
      if (then === undefined) return 'unknown';
      const isOf = (one: Target): boolean => {
        const same = findTargetThen(then.targets, { config, target: one });
        return same?.name === name && same.url === one.url;
      };
      if (isOf(target)) return 'this';
      if (config.targets.some(isOf)) return 'another';
      // A new target that reads other folders is not a former one with another name and URL.
      const former = name === target.name ? undefined : then.targets.find((one) => one.name === name);
      return former === undefined || equal([former.manifests, former.overlays], [placed(target.manifests), placed(target.overlays)])
        ? 'none'
        : 'unknown';
    },
    writtenAt(record) {
      const parsed = parseRecord(record);
      return (parsed instanceof InputError ? undefined : parsed.signature?.counter) ?? record.at.getTime();
    },
  };
}

type FoundRecord = { readonly read: ReadRecord; readonly diagnostics: readonly Diagnostic[] };

/** Reads the record of a target, which may have another name of it, from origin if `origin` is set. Throws InputError for an invalid record. */
export async function readAppliedRecord(site: CommittedProject, origin: boolean): Promise<FoundRecord> {
  const { unreadable: error, ...found } = await findAppliedRecord(site, origin);
  if (error !== undefined) throw error;
  return found;
}

/** Reads the record of a target like `readAppliedRecord`; an invalid record counts as empty, and `unreadable` is its error. */
export async function findAppliedRecord(
  site: CommittedProject,
  origin: boolean,
): Promise<FoundRecord & { readonly unreadable?: InputError }> {
  const target = site.target.name;
  const query = { target, origin, renames: renamesOf(site), configs: configNames };
  const { name, commit, ownName, localId, originId, left, ...found } = await findLastApplied(site.repository, query);
  const former = parseAppliedRefName(name)?.target;
  const diagnostics = [
    ...found.diagnostics,
    ...(former === undefined || former === target ? [] : [earlierName(former, target)]),
    ...left.map((one) => leftRecord(one, target)),
  ];
  const place = { name, at: commit?.at, ownName, localId, originId };
  if (commit === undefined) return { read: { ...place, record: emptyRecord }, diagnostics };
  const parsed = parseRecord(commit);
  if (!(parsed instanceof InputError)) return { read: { ...place, ...parsed }, diagnostics };
  return { read: { ...place, record: emptyRecord, isRepaired: true }, diagnostics, unreadable: parsed };
}

function earlierName(former: string, target: string): Diagnostic {
  const message = `"${target}" is recorded as "${former}", the name that the config had for the same gateway`;
  return { code: 'git/earlier-target', severity: 'notice', message, hint: `the next complete apply records it as "${target}"` };
}

function leftRecord(name: string, target: string): Diagnostic {
  const former = parseAppliedRefName(name)?.target ?? name;
  const message = `the record of "${former}" is of a gateway that no target has now`;
  const hint = `if "${target}" is that gateway at another URL, give it the name "${former}" again until an apply is complete`;
  return { code: 'git/other-gateway', severity: 'warning', message, hint };
}

/** The longest record, in characters. */
const longestRecord = 16 * 1024 * 1024;

/** Returns the record of a commit; the error if it is none, or of another version. */
function parseRecord(commit: RecordCommit): Pick<ReadRecord, 'record' | 'signature'> | InputError {
  if (!isRecordCommit(commit)) return unreadable(commit, 'it is a commit with files');
  const { message, parents } = commit;
  if (message.length > longestRecord) return unreadable(commit, `it has more than ${longestRecord} characters`);
  const value = parseJson(message.slice(message.indexOf('\n\n') + 2));
  if (isObject(value) && 'version' in value && value['version'] !== 1)
    return unreadable(commit, `it has version ${JSON.stringify(value['version'])}, but this Ostiary reads version 1`, otherVersion);
  if (!isRecord(value)) {
    const [error] = isRecord.errors ?? [];
    return unreadable(
      commit,
      `it does not match its schema at ${error?.instancePath || 'the top'} (${error?.keyword ?? 'form'})`,
      otherVersion,
    );
  }
  const { version: _, pending, signature, ...rest } = value;
  const record = {
    ...rest,
    pending: pending.map((one) => ({
      ...one,
      edges: one.edges.flatMap(([rule, ...ends]) => ends.map((connection) => ({ rule, connection }))),
    })),
  };
  const missing = commitsOf(record).find((id) => !parents.includes(id));
  if (missing !== undefined) return unreadable(commit, `${missing.slice(0, 10)} is not one of its parents`);
  return { record, ...defined({ signature }) };
}

/** Returns the record as the message of a commit. */
export function recordMessage(name: string, record: AppliedRecord, signature?: RecordSignature): string {
  return `Record of the applies to ${name}\n\n${recordText(record, signature)}\n`;
}

/** Returns the record as JSON, in ASCII so that no setting changes its bytes. The connections of a rule are listed together. */
export function recordText(record: AppliedRecord, signature?: RecordSignature): string {
  const { pending, ...rest } = record;
  const signed = signature === undefined ? {} : { signature: { key: signature.key, counter: signature.counter, value: signature.value } };
  const encoded = { version: 1, ...rest, pending: pending.map((one) => ({ ...one, edges: groupByRule(one.edges) })), ...signed };
  return JSON.stringify(encoded).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns a list for each rule: the rule, and the connections to which it is attached. */
function groupByRule(edges: readonly EdgeEnds[]): readonly (readonly ResourceId[])[] {
  const byRule = new Map<ResourceId, ResourceId[]>();
  for (const { rule, connection } of edges) addToGroup(byRule, rule, connection);
  return [...byRule].map(([rule, connections]) => [rule, ...connections]);
}

/** Throws AppError when a record is too long to be read again. */
export function checkRecordLength(message: string): void {
  if (message.length <= longestRecord) return;
  throw new AppError('git/not-recorded', 6, `it has ${message.length} characters, and a record has at most ${longestRecord}`, {
    hint: 'apply fewer objects at once with --only',
  });
}

/** Returns the commits that a record names, the last completely applied one first. */
export function commitsOf({ commit, unmerged, orphans, pending }: AppliedRecord): readonly string[] {
  const named = [...(unmerged === undefined ? [] : [unmerged]), ...[...orphans, ...pending].flatMap((one) => one.commit ?? [])];
  return [...new Set([...(commit === undefined ? [] : [commit]), ...named])];
}

const otherVersion = 'use the version of Ostiary that wrote it, or ';

function unreadable({ id }: RecordCommit, reason: string, first = ''): InputError {
  return new InputError([
    {
      code: 'git/record-unreadable',
      severity: 'error',
      message: `the record of the applies (${id.slice(0, 10)}) cannot be read: ${reason}`,
      hint: `${first}pass the last applied commit with --base REF`,
    },
  ]);
}

/** The end of an apply. */
export type RecordedEnd = {
  /** Everything in the manifests is applied. */
  readonly complete: boolean;
  /** The digest that approved the plan. */
  readonly digest?: string | undefined;
  /** The versions of secrets, and which were equal to those of the manifests. */
  readonly secrets?: Pick<AppliedRecord, 'secrets' | 'verified'>;
  /** What a complete apply has read of objects that decide access and that no manifest declares. */
  readonly access?: AppliedRecord['access'];
  /** The fields that manifests stated once and leave to the gateway now. */
  readonly left?: AppliedRecord['left'];
  /** The names that objects had before. */
  readonly names?: AppliedRecord['names'];
  /** What a complete apply leaves live although it was removed from the manifests. */
  readonly orphans: readonly RecordedOrphan[];
  /** The refusals that the user overrode. */
  readonly overrides?: readonly Allowance[];
  /** What the apply wrote, or may have written. */
  readonly writes: PendingWrites;
  readonly deleted: ReadonlySet<ResourceId>;
};

/** Adds the writes to those of earlier applies of the same commit. */
export function withPending(record: AppliedRecord, writes: PendingWrites): AppliedRecord {
  if (writes.objects.length + writes.edges.length === 0) return record;
  const same = record.pending.find(({ commit }) => commit === writes.commit);
  const others = record.pending.filter((one) => one !== same);
  const ids = new Set(writes.objects.map(({ id }) => id));
  // What an earlier apply created stays ours.
  const wasOurs = new Map(same?.objects.filter(({ ours }) => ours).map((one) => [one.id, one]));
  const objects = [
    ...(same?.objects ?? []).filter(({ id }) => !ids.has(id)),
    ...writes.objects.map((one) => (one.ours ? one : (wasOurs.get(one.id) ?? one))),
  ];
  const edges = new Map([...(same?.edges ?? []), ...writes.edges].map((ends) => [`${ends.rule} ${ends.connection}`, ends]));
  return { ...record, pending: [...others, { ...writes, objects, edges: [...edges.values()] }] };
}

/** Returns the record after an apply that was complete. */
export function completeRecord(
  { applies }: AppliedRecord,
  { orphans, secrets, access, left, names, digest, overrides }: RecordedEnd,
  commit: string,
): AppliedRecord {
  const known = { overrides: orNone(overrides), applies, ...secrets, access, left: orNone(left), names: orNone(names), digest };
  return { commit, ...defined(known), orphans, pending: [] };
}

function orNone<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}

/**
 * Returns the record after a complete apply of a commit that is not reviewed. The base of the next plan is the last reviewed commit that it
 * contains, so that the next apply of the reviewed branch reverts the rest.
 */
export function unmergedRecord(
  before: AppliedRecord,
  end: RecordedEnd,
  { commit: unmerged, reviewed }: { readonly commit: string; readonly reviewed: string | undefined },
): AppliedRecord {
  const { commit: _, digest: __, ...complete } = completeRecord(before, end, unmerged);
  const { pending } = incompleteRecord(before, end, unmerged);
  return { ...defined({ commit: reviewed }), unmerged, ...complete, pending };
}

/** Adds the writes of an apply that was not complete. */
export function incompleteRecord(
  before: AppliedRecord,
  { writes, deleted, secrets }: RecordedEnd,
  commit: string | undefined,
): AppliedRecord {
  const { lease: _, secrets: __, verified: ___, digest: ____, ...record } = before;
  const isLive = (one: RecordedOrphan | PendingObject): boolean => !deleted.has(recordedKeyOf(one));
  const { pending, orphans, ...rest } = withPending(record, { ...defined({ commit }), ...writes });
  const isLeft = (one: PendingObject): boolean => !one.ours || isLive(one);
  const left = pending.map((one) => beyondBase({ ...one, objects: one.objects.filter(isLeft) }, record.commit));
  return {
    ...rest,
    ...secrets,
    orphans: orphans.filter(isLive),
    pending: left.filter(({ objects, edges }) => objects.length + edges.length > 0),
  };
}

/** Leaves out what the base declares of the writes of its own commit: all but the objects that are not complete. */
function beyondBase(writes: PendingWrites, base: string | undefined): PendingWrites {
  const isOfBase = writes.commit !== undefined && writes.commit === base;
  return isOfBase ? { ...writes, objects: writes.objects.filter(({ uid }) => uid === undefined), edges: [] } : writes;
}

/** Adds the writes that another apply recorded after it lost its lease, and that this one did not know. */
export function withLate(record: AppliedRecord, late: readonly PendingWrites[]): AppliedRecord {
  return late.map((one) => beyondBase(one, record.commit)).reduce(withPending, record);
}

/** Returns the writes of a record that an earlier state of it does not have. */
export function lateWrites({ pending }: AppliedRecord, before: AppliedRecord): readonly PendingWrites[] {
  const known = new Set(before.pending.map(pendingText));
  return pending.filter((one) => !known.has(pendingText(one)));
}

function pendingText(one: PendingWrites): string {
  return JSON.stringify({ ...one, edges: groupByRule(one.edges) });
}

/** Older applies are forgotten: their writes are listed like those of any other caller. */
const maxApplies = 50;

/**
 * Adds an apply to a record: it writes after the newest entry of the audit log when it begins, and until the newest entry when it ends.
 * An earlier apply that did not end wrote nothing after that.
 */
export function withApply(record: AppliedRecord, begun: AuditMark | undefined, ended?: AuditMark): AppliedRecord {
  if (begun === undefined) return record;
  const { principal, at: after } = begun;
  const earlier = (record.applies ?? []).map((one) => ({ ...one, until: one.until ?? after }));
  const added = { principal, after, ...defined({ until: ended?.at }) };
  return { ...record, applies: [...earlier, added].slice(-maxApplies) };
}
