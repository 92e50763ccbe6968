import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { AppliedRecord, RecordSignature } from '../../model/applied-record.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { recordText } from './applied-record.ts';
import type { ProjectContext } from '../resolved-config.ts';

const publicPrefix = 'ed25519:';

/** Returns a new record key: the private half for the variable of apply jobs, and the public half for the config. */
export function newRecordKey(): { readonly secret: string; readonly key: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { secret: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'), key: publicHalfOf(privateKey) };
}

function publicHalfOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return `${publicPrefix}${Buffer.from(x, 'base64url').toString('base64')}`;
}

/** Signs records. */
export type RecordSigner = {
  /** The public half of its key, as the config lists it. */
  readonly key: string;
  readonly sign: (text: string) => string;
};

/** Returns the signer of the environment; `invalid` if the variable holds anything but a private half, undefined if it is not set. */
export function readRecordSigner({ env, onEvent }: Pick<ProjectContext, 'env' | 'onEvent'>): RecordSigner | 'invalid' | undefined {
  const secret = (env['OSTIARY_RECORD_KEY'] ?? '').trim();
  if (secret === '') return undefined;
  onEvent?.({ secret });
  const privateKey = parsePrivateHalf(secret);
  if (privateKey?.asymmetricKeyType !== 'ed25519') return 'invalid';
  return { key: publicHalfOf(privateKey), sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64') };
}

function parsePrivateHalf(secret: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
  } catch {
    return undefined;
  }
}

/** What a record is about, besides its content: the name of its ref, which contains the target, and the URL of the gateway. */
export type RecordSubject = { readonly name: string; readonly url: string };

/** A signature, and the hash of the content that it signs: proves without the record that one with this counter was signed. */
export type SignedHash = RecordSignature & { readonly content: string };

const keyPattern = /^ed25519:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Reads the JSON of a signed hash; undefined for any other text. */
export function parseSignedHash(text: string): SignedHash | undefined {
  const read = parseJson(text);
  if (!isObject(read)) return undefined;
  const { key, counter, content, value } = read;
  if (typeof key !== 'string' || !keyPattern.test(key) || typeof counter !== 'number' || !Number.isSafeInteger(counter)) return undefined;
  return typeof content === 'string' && typeof value === 'string' ? { key, counter, content, value } : undefined;
}

/** Returns the hash of all that a record says. */
export function recordHash(record: AppliedRecord): string {
  return createHash('sha256').update(recordText(record)).digest('hex');
}

/** Signs the target, the URL, the counter and the content of a record. */
export function signRecord(
  { key, sign: make }: RecordSigner,
  subject: RecordSubject,
  signed: Pick<SignedHash, 'counter' | 'content'>,
): SignedHash {
  return { key, ...signed, value: make(signedText(subject, signed)) };
}

/** Returns whether the key that the signature names made it, for this subject, counter and content. */
export function isSignatureValid(subject: RecordSubject, { key, value, ...signed }: SignedHash): boolean {
  const x = Buffer.from(key.slice(publicPrefix.length), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(signedText(subject, signed)), publicKey, Buffer.from(value, 'base64'));
}

function signedText({ name, url }: RecordSubject, { counter, content }: Pick<SignedHash, 'counter' | 'content'>): string {
  return JSON.stringify(['ostiary record v1', name, url, counter, content]);
}
