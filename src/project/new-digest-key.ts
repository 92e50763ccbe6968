import { randomBytes } from 'node:crypto';

/** Returns a random `digest_key` for a new config file. */
export function newDigestKey(): string {
  return randomBytes(24).toString('base64url');
}
