import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Seals texts for rest; a sealed text opens only at the place (table/id/column) it was sealed for. */
export type Cipher = {
  readonly keyId: string;
  readonly seal: (text: string, place: string) => string;
  readonly open: (sealed: string, place: string) => string;
};

const nonceLength = 12;
const tagLength = 16;

/** AES-256-GCM under one key; a sealed text starts with the key's id, so that a later version can hold several keys. */
export function createCipher(key: Buffer): Cipher {
  const keyId = createHash('sha256').update('ostiary key id\0').update(key).digest('hex').slice(0, 16);
  return {
    keyId,
    seal(text, place) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${keyId}:${body.toString('base64')}`;
    },
    open(sealed, place) {
      if (!sealed.startsWith(`${keyId}:`)) throw new Error(`${place} is sealed with another encryption key`);
      const body = Buffer.from(sealed.slice(keyId.length + 1), 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, nonceLength), { authTagLength: tagLength });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(body.subarray(body.length - tagLength));
      return decipher.update(body.subarray(nonceLength, body.length - tagLength), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
