import { findLastApplied } from '../git/applied-refs.ts';
import { isRecordCommit, type RecordCommit } from '../git/record-commit.ts';
import type { Repository } from '../git/repository.ts';
import { record as isRecord } from '../manifest/validate/validators.js';
import { emptyRecord, type AppliedRecord } from '../model/applied-record.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import { configNames } from './committed-manifests.ts';

/** A record as it was read: its ref, and the ids that the ref has here and on origin; empty ids where it does not exist. */
export type ReadRecord = {
  readonly name: string;
  readonly record: AppliedRecord;
  readonly localId: string;
  readonly originId: string;
};

/** Reads the record of a target, from origin if `origin` is set. Throws InputError for an invalid record. */
export async function readAppliedRecord(
  repository: Repository,
  { target, origin }: { readonly target: string; readonly origin: boolean },
): Promise<{ readonly read: ReadRecord; readonly diagnostics: readonly Diagnostic[] }> {
  const { name, commit, originId, diagnostics } = await findLastApplied(repository, { target, configs: configNames, origin });
  const record = commit === undefined ? emptyRecord : parseRecord(commit);
  return { read: { name, record, localId: commit?.id ?? '', originId }, diagnostics };
}

/** The longest record, in characters. */
const longestRecord = 16 * 1024 * 1024;

/** Returns the record of a commit. A commit with files is the last completely applied one, and all that is known. */
export function parseRecord(commit: RecordCommit): AppliedRecord {
  if (!isRecordCommit(commit)) return { ...emptyRecord, commit: commit.id };
  const { message, parents } = commit;
  if (message.length > longestRecord) throw unreadable(commit, `it has more than ${longestRecord} characters`);
  const value = parseJson(message.slice(message.indexOf('\n\n') + 2));
  if (!isRecord(value)) {
    const [error] = isRecord.errors ?? [];
    throw unreadable(commit, `it does not match its schema at ${error?.instancePath || 'the top'} (${error?.keyword ?? 'form'})`);
  }
  const { version: _, pending, ...rest } = value;
  const record = {
    ...rest,
    pending: pending.map((one) => ({ ...one, edges: one.edges.map(([rule, connection]) => ({ rule, connection })) })),
  };
  const missing = commitsOf(record).find((id) => !parents.includes(id));
  if (missing !== undefined) throw unreadable(commit, `${missing.slice(0, 10)} is not one of its parents`);
  return record;
}

/** Returns the record as the message of a commit, in ASCII so that no setting changes its bytes. */
export function recordMessage(name: string, record: AppliedRecord): string {
  const { pending, ...rest } = record;
  const encoded = {
    version: 1,
    ...rest,
    pending: pending.map((one) => ({ ...one, edges: one.edges.map(({ rule, connection }) => [rule, connection]) })),
  };
  const text = JSON.stringify(encoded).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `Record of the applies to ${name}\n\n${text}\n`;
}

/** Returns the commits that a record names, the last completely applied one first. */
export function commitsOf({ commit, orphans, pending }: AppliedRecord): readonly string[] {
  const named = [...orphans, ...pending].flatMap((one) => one.commit ?? []);
  return [...new Set([...(commit === undefined ? [] : [commit]), ...named])];
}

/** Returns whether a record says nothing but the last completely applied commit. */
export function isPlainRecord({ commit, applies = [], secrets, orphans, pending, lease }: AppliedRecord): boolean {
  return (
    commit !== undefined &&
    applies.length === 0 &&
    secrets === undefined &&
    orphans.length === 0 &&
    pending.length === 0 &&
    lease === undefined
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable({ id }: RecordCommit, reason: string): InputError {
  return new InputError([
    {
      code: 'git/record-unreadable',
      severity: 'error',
      message: `the record of the applies (${id.slice(0, 10)}) cannot be read: ${reason}`,
      hint: 'use the version of Ostiary that wrote it, or pass the last applied commit with --base REF',
    },
  ]);
}
