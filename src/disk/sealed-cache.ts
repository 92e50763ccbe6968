import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { readCache, writeCache } from './cache.ts';

/** A cache that can be read and made only with its key: one file of a folder. */
export type SealedCache = { readonly key: Buffer; readonly folder: string };

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** Returns the text of a sealed cache; undefined if there is none, it was sealed with another key, or a single byte was changed. */
export function readSealed({ key, folder }: SealedCache): string | undefined {
  const text = readCache(folder, fileName(key));
  return text === undefined ? undefined : decryptBytes(text, key)?.toString('utf8');
}

/** Seals and writes a text. Returns the reason if it cannot be written. */
export function writeSealed({ key, folder }: SealedCache, text: string): string | undefined {
  return writeCache(folder, fileName(key), encryptBytes(Buffer.from(text), key));
}

/** Encrypts bytes as base64. The nonce follows from the bytes, so equal bytes have equal forms. */
export function encryptBytes(bytes: Buffer, key: Buffer): string {
  const nonce = derive(key, 'nonce\n', bytes).subarray(0, nonceLength);
  const cipher = createCipheriv(algorithm, derive(key, 'encryption'), nonce);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** The file of each key has a name of its own. */
function fileName(key: Buffer): string {
  return `verified-${derive(key, 'name').toString('hex').slice(0, 16)}`;
}

/** Decrypts base64; undefined if it was encrypted with another key, or a single byte was changed. */
export function decryptBytes(encrypted: string, key: Buffer): Buffer | undefined {
  const sealed = Buffer.from(encrypted, 'base64');
  if (sealed.length < nonceLength + tagLength) return undefined;
  const decipher = createDecipheriv(algorithm, derive(key, 'encryption'), sealed.subarray(0, nonceLength), { authTagLength: tagLength });
  decipher.setAuthTag(sealed.subarray(-tagLength));
  const body = decipher.update(sealed.subarray(nonceLength, -tagLength));
  try {
    decipher.final();
    return body;
  } catch {
    return undefined;
  }
}

function derive(key: Buffer, text: string, bytes: Buffer = Buffer.alloc(0)): Buffer {
  return createHmac('sha256', key).update(text).update(bytes).digest();
}
