import { createHash } from 'node:crypto';

// RFC 9562, the namespace of URLs.
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** The id of a runbook configuration: the UUIDv5 of its address exactly as written; the gateway never tells it. */
export function repositoryId(gitUrl: string): string {
  const bytes = createHash('sha1').update(namespace).update(gitUrl, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) % 16) + 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) % 64) + 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
