import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LiveState } from '../../../../src/model/live.ts';
import { withReliableVersion, withSecrets } from '../../../../src/commands/planning/read-secrets.ts';
import { verificationKey } from '../../../../src/reconcile/prepare/verified-secrets.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const desired = desiredState([
  connectionManifest('db', { secret: { 'envvar:PASS': { value: 'x' } } }),
  connectionManifest('plain', {}),
  connectionManifest('other', { secret: { 'envvar:PASS': { value: 'y' } } }),
]);
const full = liveAs(desired);
/** The lists of the public gateway: objects without their secrets. */
const listed: LiveState = {
  ...full,
  resources: full.resources.map((one) => ({ ...one, secrets: {}, leftOut: ['/secret'], secretsVersion: '1' })),
};

/** Reads the secrets of a state, and returns the names of the objects that were read one by one. */
async function readNames(state: LiveState, token: string): Promise<readonly string[]> {
  const read: string[] = [];
  await withSecrets(state, desired, {
    gateway: {
      readOne({ id }) {
        read.push(id);
        const found = full.resources.find((one) => one.id === id);
        return Promise.resolve(found && { ...found, secretsVersion: '1' });
      },
    },
    concurrency: 2,
    track: (_, work) => work(() => undefined),
    key: verificationKey(token, 'http://gateway.test', undefined),
    folder,
  });
  return read.toSorted();
}

test('secrets that a list omits are read once, and again with another token or version', async () => {
  expect(await readNames(listed, 'a')).toEqual(['Connection/db', 'Connection/other']);
  expect(await readNames(listed, 'a')).toEqual([]);
  expect(await readNames(listed, 'b')).toEqual(['Connection/db', 'Connection/other']);
  const changed = {
    ...listed,
    resources: listed.resources.map((one) => (one.id === 'Connection/db' ? { ...one, secretsVersion: '2' } : one)),
  };
  expect(await readNames(changed, 'a')).toEqual(['Connection/db']);
  expect(await readNames(full, 'c')).toEqual([]);
});

test('a version that lists do not have is not remembered', () => {
  const [one] = full.resources;
  if (one === undefined) throw new Error('no object');
  const read = { ...one, secretsVersion: '7' };
  expect(withReliableVersion(read, one)).not.toHaveProperty('secretsVersion');
  expect(withReliableVersion(read, { ...one, secretsVersion: '7' })).toBe(read);
  expect(withReliableVersion(undefined, one)).toBeUndefined();
});
