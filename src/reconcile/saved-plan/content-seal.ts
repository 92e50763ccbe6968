import { createHmac, scrypt, scryptSync } from 'node:crypto';
import type { DesiredResource, DesiredState, DigestSecret } from '../../model/desired.ts';
import { canonical, compareText, sortedKeys } from '../../model/json.ts';
import type { DesiredSecret } from '../../model/secret.ts';

/** A state whose contents can be sealed. */
type Sealable = Pick<DesiredState, 'digestSecret' | 'resources'>;

const salt = 'ostiary/digest/v1';
const cost = { N: 16_384, r: 8, p: 1 };

const keys = new WeakMap<DesiredState['digestSecret'], Buffer>();

/** Returns the key that seals the contents of a state. It is made once: making it from manifests takes as long as testing one guess of them. */
function sealingKey({ digestSecret }: Sealable): Buffer {
  const key = keys.get(digestSecret) ?? makeKey(digestSecret());
  keys.set(digestSecret, key);
  return key;
}

/** Makes the key. What is not random can be guessed, so each guess must be slow. */
function makeKey({ text, random }: DigestSecret): Buffer {
  return random ? Buffer.from(text) : scryptSync(text, salt, 32, cost);
}

/** Makes a slow key in another thread, while the gateway answers. */
export async function prepareSealing({ digestSecret }: Sealable): Promise<void> {
  const { text, random } = digestSecret();
  if (random) return;
  const making = new Promise<Buffer>((resolve, reject) => {
    scrypt(text, salt, 32, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
  keys.set(digestSecret, await making);
}

/** Returns the keyed hash of a text, in hexadecimal. Without the key of the state, guesses of the text cannot be tested. */
export function sealText(state: Sealable, text: string): string {
  return createHmac('sha256', sealingKey(state)).update(text).digest('hex');
}

/** Returns the keyed hash of the manifests, in hexadecimal. */
export function sealedTree(state: Sealable & Pick<DesiredState, 'tree'>): string {
  return sealText(state, `tree\n${state.tree}`);
}

/**
 * Returns a keyed hash of everything that manifests state beside the values of a plan, and of how the state differs from the base in
 * its secrets. It covers which fields are stated, ignored, selected and protected, when access ends, and of secrets inline values, sources, and hashes of committed files.
 */
export function sealContents(state: Sealable, base: Pick<DesiredState, 'resources'> | undefined): string {
  const hash = createHmac('sha256', sealingKey(state));
  const then = new Map(base?.resources.map((resource) => [resource.id, resource]));
  const statedTexts = new Map<string, string>();
  for (const resource of state.resources.toSorted((left, right) => compareText(left.id, right.id))) {
    // Most objects of a kind state the same fields.
    const names = [...resource.stated];
    const key = names.join(' ');
    const stated = statedTexts.get(key) ?? ['stated', ...names.toSorted(compareText)].map((name) => lengthened(name)).join('');
    statedTexts.set(key, stated);
    hash.update(`${lengthened('resource', resource.id)}${factsOf(resource, stated, then.get(resource.id))}`);
  }
  return hash.digest('hex');
}

/** Returns the facts about a resource as one text, in an order that is always the same. */
function factsOf(resource: DesiredResource, stated: string, base: DesiredResource | undefined): string {
  const { secrets, wholeSecrets, ignore, selector, protect, grants = [] } = resource;
  let facts = '';
  for (const path of sortedKeys(secrets)) facts += `${lengthened('secret', path)}${secretFact(secrets[path])}`;
  for (const path of wholeSecrets.toSorted(compareText)) facts += lengthened('whole', path);
  facts += stated;
  for (const path of ignore.toSorted(compareText)) facts += lengthened('ignored', path);
  if (selector !== undefined) facts += lengthened('selector', canonical(selector.value));
  if (protect) facts += lengthened('protected');
  // A day passes without another digest, unless it ends an access.
  for (const { path, until, ended } of grants) facts += lengthened(ended === true ? 'ended' : 'until', path, until);
  if (base === undefined || base === resource) return facts;
  for (const path of sortedKeys({ ...base.secrets, ...secrets })) {
    const before = secretFact(base.secrets[path]);
    if (before !== secretFact(secrets[path])) facts += `${lengthened('base', path)}${before}`;
  }
  for (const path of base.wholeSecrets.toSorted(compareText)) if (!wholeSecrets.includes(path)) facts += lengthened('base whole', path);
  for (const path of wholeSecrets.toSorted(compareText)) if (!base.wholeSecrets.includes(path)) facts += lengthened('base parts', path);
  return facts;
}

/** Returns source and content of a secret; the value only if the repository contains it. */
function secretFact(secret: DesiredSecret | undefined): string {
  if (secret === undefined) return lengthened('absent', '');
  const { source, content = '' } = secret;
  return lengthened(source, secret.state === 'value' && source === 'inline' ? secret.reveal() : content);
}

/** Joins texts with their lengths, so that no two lists have the same text. */
function lengthened(...texts: readonly string[]): string {
  let joined = '';
  for (const text of texts) joined += `${text.length}:${text}`;
  return joined;
}
