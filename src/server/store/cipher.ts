import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { AppError } from '../../model/errors.ts';

/** Encrypts texts for storage. A sealed text opens only with the path (`table/id/column`) that it was sealed for. */
export type Cipher = {
  /** The id of the key that `seal` uses. */
  readonly keyId: string;
  /** The ids of all keys that `open` accepts. */
  readonly keyIds: readonly string[];
  readonly seal: (text: string, place: string) => string;
  readonly open: (sealed: string, place: string) => string;
};

const nonceLength = 12;
const tagLength = 16;

/** Creates an AES-256-GCM cipher that seals with the first key and also opens texts of earlier keys. A sealed text starts with the id of its key. */
export function createCipher(key: Buffer, earlier: readonly Buffer[] = []): Cipher {
  const keys = new Map([key, ...earlier].map((one) => [keyIdOf(one), one]));
  const keyId = keyIdOf(key);
  return {
    keyId,
    keyIds: [...keys.keys()],
    seal(text, place) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${keyId}:${body.toString('base64')}`;
    },
    open(sealed, place) {
      const sealedBy = sealed.slice(0, sealed.indexOf(':'));
      const opening = keys.get(sealedBy);
      if (opening === undefined) throw new Error(`${place} is sealed with another encryption key: ${sealedBy}`);
      const body = Buffer.from(sealed.slice(sealedBy.length + 1), 'base64');
      const decipher = createDecipheriv('aes-256-gcm', opening, body.subarray(0, nonceLength), { authTagLength: tagLength });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(body.subarray(body.length - tagLength));
      return decipher.update(body.subarray(nonceLength, body.length - tagLength), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

/** Returns the id of a key, a hash that reveals nothing of the key. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('ostiary key id\0').update(key).digest('hex').slice(0, 16);
}

const keyLength = 32;

/** Returns a key of the operator as bytes: 32 bytes, or their base64 or hex. Throws `AppError` for another length. */
export function parseEncryptionKey(given: Buffer | string): Buffer {
  const key = typeof given === 'string' ? decodeKey(given.trim()) : given;
  if (key.length === keyLength) return key;
  throw new AppError('serve/encryption-key', 3, `the encryption key has ${key.length} bytes, not ${keyLength}`, {
    hint: 'make one with: openssl rand -base64 32',
  });
}

/** Reads the key file of a database folder; creates it if it does not exist. The caller must hold the folder lock. */
export async function readOrCreateKeyFile(path: string): Promise<Buffer> {
  try {
    return parseEncryptionKey(await readFile(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const key = randomBytes(keyLength);
  await writeFile(`${path}.new`, `${key.toString('base64')}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return key;
}

/** Returns the earlier keys of a list that commas separate. */
export function parsePreviousKeys(given: string): readonly Buffer[] {
  return given.split(',').flatMap((key) => (key.trim() === '' ? [] : [parseEncryptionKey(key)]));
}

function decodeKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
