import type { FieldRule } from '../model/kind.ts';
import { asText, equal, isObject, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { type FieldProblem, InvalidBody } from './rejection.ts';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { AppError } from '../model/errors.ts';

/** Secret values by field: one text, or a map of texts. */
export type Secrets = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Secrets as a caller sends them; null keeps the stored value. */
export type GivenSecrets = Readonly<Record<string, string | null | Readonly<Record<string, string | null>>>>;

/** Returns the secrets of a valid body; an omitted secret is empty. */
export function readSecrets(fields: readonly FieldRule[], body: JsonObject): GivenSecrets {
  const given: Record<string, string | null | Record<string, string | null>> = {};
  for (const { name, secret } of fields) {
    const value = body[name];
    if (secret === 'plain') given[name] = value === undefined ? '' : textOrNull(value);
    if (secret === 'base64') {
      const entries = isObject(value) ? Object.entries(value) : [];
      given[name] = Object.fromEntries(entries.map(([key, entry]) => [key, textOrNull(entry)]));
    }
  }
  return given;
}

/** The secrets of an object or a resource, which cannot be decrypted. The message names it; the cause says why. */
export class Undecryptable extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: its secrets cannot be decrypted; replace it with all of its secrets, or delete it`, { cause });
    this.name = 'Undecryptable';
  }
}

/** Replaces null by the stored value and drops empty secrets. Throws `InvalidBody` when a null has no stored value. */
export function resolveSecrets(given: GivenSecrets, before: Secrets | Undecryptable): Secrets {
  const isLost = before instanceof Undecryptable;
  const stored = isLost ? {} : before;
  const missing = `is null, which keeps the stored value, but ${isLost ? 'that cannot be decrypted' : 'none is stored'}`;
  const problems: FieldProblem[] = [];
  const secrets: Record<string, string | Record<string, string>> = {};
  for (const [field, values] of Object.entries(given)) {
    const kept = stored[field];
    if (typeof values !== 'object' || values === null) {
      if (values === null && isLost) problems.push({ field: pointer(field), reason: missing });
      const text = values ?? asText(kept);
      if (text !== '') secrets[field] = text;
      continue;
    }
    const map: Record<string, string> = {};
    for (const [key, value] of Object.entries(values)) {
      const resolved = value ?? (typeof kept === 'object' ? kept[key] : undefined);
      if (resolved === undefined) problems.push({ field: pointer(field, key), reason: missing });
      else map[key] = resolved;
    }
    if (Object.keys(map).length > 0) secrets[field] = map;
  }
  if (problems.length > 0) throw new InvalidBody(problems);
  return secrets;
}

/** Seals all secrets of an object as one text; null when it has none. */
export function sealSecrets(cipher: Cipher, secrets: Secrets, place: string): string | null {
  return Object.keys(secrets).length > 0 ? cipher.seal(JSON.stringify(secrets), place) : null;
}

/** Opens a text that `sealSecrets` sealed for `what`; one that cannot be opened is an error of its row alone. */
export function openSecrets(
  cipher: Cipher,
  sealed: string | null,
  { place, what }: { readonly place: string; readonly what: string },
): Secrets | Undecryptable {
  if (sealed === null) return {};
  try {
    return JSON.parse(cipher.open(sealed, place));
  } catch (error) {
    return new Undecryptable(what, error);
  }
}

/** Returns whether a write changes the secrets; those that cannot be decrypted always change. */
export function changesSecrets(before: Secrets | Undecryptable, after: Secrets): boolean {
  return before instanceof Undecryptable || !equal(before, after);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

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
      const text = decipher.update(body.subarray(nonceLength, body.length - tagLength));
      decipher.final();
      return text.toString();
    },
  };
}

/** Returns the id of a key, a hash that reveals nothing of the key. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('ostiary key id\0').update(key).digest('hex').slice(0, 16);
}

/** The length of an encryption key in bytes. */
export const keyLength = 32;

/** Returns a key of the operator as bytes: 32 bytes, or their base64 or hex. Throws `AppError` for another length. */
export function parseEncryptionKey(given: Buffer | string): Buffer {
  const key = typeof given === 'string' ? decodeKey(given.trim()) : given;
  if (key.length === keyLength) return key;
  throw new AppError('serve/encryption-key', 3, `the encryption key has ${key.length} bytes, not ${keyLength}`, {
    hint: 'make one with: openssl rand -base64 32',
  });
}

/** Returns the earlier keys of a list that commas separate. */
export function parsePreviousKeys(given: string): readonly Buffer[] {
  return given.split(',').flatMap((key) => (key.trim() === '' ? [] : [parseEncryptionKey(key)]));
}

function decodeKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}
