import { pushAppliedRef, setAppliedRef, writeRecordCommit } from '../../git/applied-refs.ts';
import { hasOrigin } from '../../git/origin.ts';
import type { AppliedRecord } from '../../model/applied-record.ts';
import type { AppError } from '../../model/errors.ts';
import { cacheFolderOf, type CommittedProject } from '../project.ts';
import { checkRecordLength, commitsOf, recordMessage } from './applied-record.ts';
import { type RecordProof, rememberSigned } from './record-proof.ts';
import { readRecordSigner, recordHash, signRecord, type SignedHash } from './record-signature.ts';

/** What writing records needs besides the project. */
export type RecordWriterInput = {
  readonly options: { readonly origin: boolean; readonly cache?: string | undefined };
  /** How far record keys prove the record that the plan was made with. */
  readonly proof?: RecordProof | undefined;
  readonly now: () => Date;
};

/** When a record was written, and the counter of its signature if another run wrote it. */
export type WrittenRecord = { readonly at: Date | undefined; readonly counter?: number | undefined };

/** Writes the records of one run, each signed if there is a key, and moves the refs to them. */
export type RecordWriter = {
  /** The name of the ref. */
  readonly name: string;
  /** Whether records are pushed to origin. */
  readonly pushes: boolean;
  /** Whether the record that the plan was made with has the signature that this writer would give it. */
  readonly isSigned: boolean;
  /** Writes a record as an object of git, which no ref has yet; returns its id. It counts as later than the given one, whatever the clocks show. */
  readonly write: (record: AppliedRecord, last: WrittenRecord) => Promise<string>;
  /** Moves the ref of this clone; an empty id deletes it. Throws AppError with the code git/locked if another run moved it. */
  readonly setHere: (id: string, expected: string) => Promise<void>;
  /** Moves the ref of origin, if there is one; returns the error if that fails. */
  readonly push: (id: string, expected: string) => Promise<AppError | undefined>;
  /** Keeps that the last record was written where others read it. */
  readonly remember: () => void;
};

/** Creates the writer of the records of a target, under the name of a ref. */
export function createRecordWriter(project: CommittedProject, input: RecordWriterInput, name: string): RecordWriter {
  const { repository, target } = project;
  const { options, proof } = input;
  const pushes = options.origin && hasOrigin(repository);
  const signer = readRecordSigner(project.context);
  const subject = { name, url: target.url };
  let last: SignedHash | undefined;
  return {
    name,
    pushes,
    isSigned: typeof signer !== 'object' || proof?.signedBy === signer.key,
    async write(record, { at: lastAt, counter: above = 0 }) {
      const now = input.now();
      // Commits have times of whole seconds.
      const at = lastAt === undefined ? now : new Date(Math.max(now.getTime(), lastAt.getTime() + 1000));
      if (typeof signer === 'object') {
        const counter = Math.max(1 + (last?.counter ?? proof?.counter ?? 0), 1 + above, at.getTime());
        last = signRecord(signer, subject, { counter, content: recordHash(record) });
      }
      const message = recordMessage(name, record, last);
      checkRecordLength(message);
      const commit = { message, parents: commitsOf(record), at };
      return (await writeRecordCommit(repository, commit)).id;
    },
    setHere: (id, expected) => setAppliedRef(repository, name, id, expected),
    push: async (id, expected) => (pushes ? pushAppliedRef(repository, name, { id, expected }) : undefined),
    remember() {
      if (last !== undefined) rememberSigned(cacheFolderOf(project, options.cache), subject, last);
    },
  };
}
