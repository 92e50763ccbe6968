import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { AppError } from '../../model/errors.ts';

/** Seals texts for rest; a sealed text opens only at the place (table/id/column) it was sealed for. */
export type Cipher = {
  /** The key that it seals with. */
  readonly keyId: string;
  /** All keys that it opens with. */
  readonly keyIds: readonly string[];
  readonly seal: (text: string, place: string) => string;
  readonly open: (sealed: string, place: string) => string;
};

const nonceLength = 12;
const tagLength = 16;

/** AES-256-GCM: seals with the one key, and opens what any of the earlier keys sealed; a sealed text starts with its key's id. */
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

/** Tells keys apart without telling anything of them. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('ostiary key id\0').update(key).digest('hex').slice(0, 16);
}

const keyLength = 32;

/** Reads a key that the operator gave: 32 bytes, as they are or as base64 or hex. */
export function parseEncryptionKey(given: Buffer | string): Buffer {
  const key = typeof given === 'string' ? decodeKey(given.trim()) : given;
  if (key.length === keyLength) return key;
  throw new AppError('serve/encryption-key', 3, `the encryption key has ${key.length} bytes, not ${keyLength}`, {
    hint: 'make one with: openssl rand -base64 32',
  });
}

/** Reads the key file of a database folder, and makes it where there is none; only one process may do so at a time. */
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

/** Reads the keys that secrets may still be sealed with: several are separated by commas. */
export function parsePreviousKeys(given: string): readonly Buffer[] {
  return given.split(',').flatMap((key) => (key.trim() === '' ? [] : [parseEncryptionKey(key)]));
}

function decodeKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
