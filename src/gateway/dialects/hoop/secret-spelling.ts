import { Buffer } from 'node:buffer';

/** References in our words → the gateway's; on the wire they are base64, as every value is. */
const prefixes: readonly (readonly [string, string])[] = [
  ['_cloudsecrets:', '_aws:'],
  ['_envjson:', '_envjson:'],
  ['_vaultkv1:', '_vaultkv1:'],
  ['_vaultkv2:', '_vaultkv2:'],
  ['_aws_iam_rds:', '_aws_iam_rds:'],
];

/** Prefixes of references in our words. */
export const referencePrefixes: readonly string[] = prefixes.map(([ours]) => ours);

/** A stored value in our words: a reference in clear, anything else as it is. */
export function fromWire(value: string): string {
  // The base64 of a text that begins with `_` begins with X.
  if (!value.startsWith('X')) return value;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const prefix = prefixes.find(([, theirs]) => text.startsWith(theirs));
  if (prefix === undefined || encode(text) !== value) return value;
  return `${prefix[0]}${text.slice(prefix[1].length)}`;
}

/** A value of ours as the gateway stores it. */
export function toWire(value: string): string {
  const prefix = prefixes.find(([ours]) => value.startsWith(ours));
  return prefix === undefined ? value : encode(`${prefix[1]}${value.slice(prefix[0].length)}`);
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
