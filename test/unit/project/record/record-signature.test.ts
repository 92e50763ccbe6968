import { expect, test } from 'vitest';
import type { AppliedRecord } from '../../../../src/model/applied-record.ts';
import {
  isSignatureValid,
  newRecordKey,
  readRecordSigner,
  recordHash,
  type RecordSigner,
  signRecord,
} from '../../../../src/project/record/record-signature.ts';

const [ours, other] = [newRecordKey(), newRecordKey()];

function signerOf({ secret }: typeof ours): RecordSigner {
  const signer = readRecordSigner({ env: { OSTIARY_RECORD_KEY: secret } });
  if (typeof signer !== 'object') throw new Error('the key is broken');
  return signer;
}

const subject = { name: 'production', url: 'http://gateway.test' };
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
const orphan = { id: 'Connection/b', uid: 'x' } as const;
const record: AppliedRecord = { commit: second, orphans: [], pending: [] };
const signed = signRecord(signerOf(ours), subject, { counter: 1, content: recordHash(record) });

/** Returns a text with another first character. */
function flip(text: string): string {
  return `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
}

// security: record-key
test('a signature holds for the record that it was made for', () => {
  expect(isSignatureValid(subject, { ...signed, content: recordHash({ ...record }) })).toBe(true);
});

// security: record-key
test.each<readonly [string, AppliedRecord]>([
  ['the commit', { ...record, commit: first }],
  ['no commit', { orphans: [], pending: [] }],
  ['the unmerged commit', { ...record, unmerged: first }],
  ['the orphans', { ...record, orphans: [{ ...orphan, commit: first }] }],
  ['the pending writes', { ...record, pending: [{ commit: first, objects: [{ id: orphan.id, ours: true }], edges: [] }] }],
  ['the overrides', { ...record, overrides: [{ code: 'git/unmerged-commit', reason: 'x' }] }],
  ['the applies', { ...record, applies: [{ principal: 'ada', after: '' }] }],
  ['the versions of secrets', { ...record, secrets: 'A'.repeat(16) }],
  ['the lease', { ...record, lease: { run: 'x', until: new Date(0).toISOString() } }],
])('a signature is wrong for a record of which one part was forged: %s', (_, forged) => {
  expect(isSignatureValid(subject, { ...signed, content: recordHash(forged) })).toBe(false);
});

// security: record-key
test.each([
  ['the target', { ...subject, name: 'staging' }, signed],
  ['the folder of the config', { ...subject, name: 'teams%2Fproduction' }, signed],
  ['the URL', { ...subject, url: 'http://127.0.0.1:9' }, signed],
  ['the counter', subject, { ...signed, counter: 2 }],
  ['the value', subject, { ...signed, value: flip(signed.value) }],
  ['the name of the key', subject, { ...signed, key: other.key }],
  ['the signer', subject, { ...signRecord(signerOf(other), subject, signed), key: ours.key }],
])('a signature is wrong for another subject, counter, value or key: %s', (_, about, given) => {
  expect(isSignatureValid(about, given)).toBe(false);
});
