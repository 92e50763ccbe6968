import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { AppError } from '../model/errors.ts';

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
