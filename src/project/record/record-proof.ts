import { createHash } from 'node:crypto';
import { readCache, writeCache } from '../../disk/cache.ts';
import { catchOriginError } from '../../git/applied-refs.ts';
import { hasOrigin } from '../../git/origin.ts';
import { reviewedBranchOf } from '../../git/reviewed-branch.ts';
import { AppError } from '../../model/errors.ts';
import { defined } from '../../model/json.ts';
import type { Target } from '../../model/config.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import type { ReadRecord } from './applied-record.ts';
import { readCommittedConfig } from '../committed-manifests.ts';
import { cacheFolderOf, type CommittedProject } from '../project.ts';
import {
  isSignatureValid,
  parseSignedHash,
  readRecordSigner,
  recordHash,
  type RecordSubject,
  type SignedHash,
} from './record-signature.ts';

/** How far record keys prove a record. */
export type RecordProof = {
  /** The public halves that count. Without any, no record needs a signature. */
  readonly keys: readonly string[];
  /** The key that signed the record; undefined if the signature is missing or wrong. */
  readonly signedBy?: string;
  /** The highest counter that a signature proves; 0 if none does. */
  readonly counter: number;
  /** There is no record, although it needs a signature. */
  readonly isMissing?: true;
  readonly refusals: readonly Refusal[];
};

type ProofOptions = {
  /** Whether origin may be asked. */
  readonly origin: boolean;
  /** The folder of caches. */
  readonly cache?: string | undefined;
  readonly applies: boolean;
};

/**
 * Checks the signature of a record: that a key which counts made it for this target, URL, content and counter, and that no later record was seen
 * in this clone. The last one seen is kept with its signature in the folder of caches, so that a fresh clone with a restored cache
 * knows it too; where nothing is kept, an earlier record that was signed for this target is accepted.
 */
export async function proveRecord(
  site: CommittedProject,
  read: ReadRecord,
  { origin, cache, applies }: ProofOptions,
): Promise<RecordProof> {
  const subject = { name: read.name, url: site.target.url };
  const { record, signature } = read;
  const signed = signature === undefined ? undefined : { ...signature, content: recordHash(record) };
  const isRight = signed !== undefined && isSignatureValid(subject, signed);
  const known = await findRecordKeys(site, origin, applies);
  const isKnown = signed !== undefined && known.includes(signed.key);
  // A clone may not have the last keys.
  const keys = known.length === 0 || isKnown || !origin ? known : await findRecordKeys(site, origin, true);
  const signer = readRecordSigner(site.context);
  const counted = new Set([...keys, ...(typeof signer === 'object' ? [signer.key] : [])]);
  const folder = cacheFolderOf(site, cache);
  const seen = readLastSeen(folder, subject, counted);
  const proven = isRight && counted.has(signed.key) ? signed : undefined;
  if (proven !== undefined && proven.counter > (seen?.counter ?? 0)) rememberSigned(folder, subject, proven);
  const counter = Math.max(seen?.counter ?? 0, proven?.counter ?? 0);
  const signedBy = defined({ signedBy: proven?.key });
  if (keys.length === 0) return { keys, ...signedBy, counter, refusals: [] };
  if (read.at === undefined) return { keys, counter, isMissing: true, refusals: [] };
  const reason = reasonNotProven(signed, keys, isRight);
  if (reason !== undefined) return { keys, counter, refusals: [unsignedRecord(reason, site.target)] };
  if (proven !== undefined && proven.counter < counter) return { keys, counter, refusals: [earlierRecord(site.target)] };
  return { keys, ...signedBy, counter, refusals: [] };
}

function reasonNotProven(signed: SignedHash | undefined, keys: readonly string[], isRight: boolean): string | undefined {
  if (signed === undefined) return 'has no signature, but the config lists record keys';
  if (!keys.includes(signed.key)) return `is signed with ${signed.key}, which the config does not list`;
  return isRight ? undefined : 'has a signature that does not match its target, URL, counter and content';
}

/**
 * Returns the record keys that count: those of the default branch of origin, so that no proposal can add its own, nor an earlier commit
 * bring back removed ones; those of the commit that the config was read from; without an origin, those of the config file.
 */
async function findRecordKeys(site: CommittedProject, origin: boolean, isLatest: boolean): Promise<readonly string[]> {
  const { repository, config, selection } = site;
  const { recordKeys = [] } = config;
  if (!hasOrigin(repository) || (selection.configRef !== undefined && !isLatest)) return recordKeys;
  const branch = reviewedBranchOf(repository, { branch: undefined, origin });
  const tip = await catchOriginError(isLatest ? branch.latest : branch.tip);
  if (tip === undefined || tip instanceof AppError || tip === repository.head) return recordKeys;
  const { value } = await readCommittedConfig(site, tip);
  return value === undefined ? recordKeys : (value.recordKeys ?? []);
}

/** Refuses an apply that cannot sign its record although the config lists record keys, and one with a broken key. */
export async function findSignerRefusals(
  site: CommittedProject,
  origin: boolean,
  proof: RecordProof | undefined,
): Promise<readonly Refusal[]> {
  const keys = proof?.keys ?? (await findRecordKeys(site, origin, true));
  const signer = readRecordSigner(site.context);
  if (signer === 'invalid') return [noRecordKey('OSTIARY_RECORD_KEY is not a key that ostiary record key makes')];
  if (keys.length === 0) return [];
  if (signer === undefined) return [noRecordKey('the config lists record keys, but OSTIARY_RECORD_KEY is not set')];
  if (keys.includes(signer.key)) return [];
  return [noRecordKey(`OSTIARY_RECORD_KEY belongs to ${signer.key}, which the config of the default branch does not list`)];
}

function noRecordKey(message: string): Refusal {
  return { code: 'git/no-record-key', message, hint: 'give the job that applies the private half of a listed key', allowable: true };
}

function unsignedRecord(reason: string, { name }: Target): Refusal {
  return {
    code: 'git/unsigned-record',
    message: `the record of "${name}" ${reason}`,
    hint: 'find out who wrote the ref: whoever can push can; if the keys, the URL or the name of the target changed, override once: apply signs again',
    allowable: true,
  };
}

function earlierRecord({ name }: Target): Refusal {
  return {
    code: 'git/earlier-record',
    message: `the record of "${name}" is an earlier one: a later one was seen in this clone or its cache`,
    hint: 'find out who moved the ref back; then override to record the next apply, or name the base with --base REF',
    allowable: true,
  };
}

/** Keeps the signature of the last record that was seen. Failures are ignored: no command needs a cache. */
export function rememberSigned(folder: string, subject: RecordSubject, signed: SignedHash): void {
  writeCache(folder, seenName(subject), JSON.stringify(signed));
}

function readLastSeen(folder: string, subject: RecordSubject, keys: ReadonlySet<string>): SignedHash | undefined {
  if (keys.size === 0) return undefined;
  const signed = parseSignedHash(readCache(folder, seenName(subject)) ?? '');
  return signed !== undefined && keys.has(signed.key) && isSignatureValid(subject, signed) ? signed : undefined;
}

function seenName({ name, url }: RecordSubject): string {
  return `record-${createHash('sha256')
    .update(JSON.stringify([name, url]))
    .digest('hex')
    .slice(0, 16)}`;
}
