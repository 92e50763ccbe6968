import { describe, expect, test } from 'vitest';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { PendingWrites } from '../../../../src/model/applied-record.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import type { Change } from '../../../../src/model/plan/plan.ts';
import type { ApplyResult, OutcomeStatus, WrittenSecrets } from '../../../../src/model/result/outcome.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { seal } from '../../../../src/model/secret.ts';
import {
  provenSecrets,
  secretProofsAfter,
  secretVersionsAfter,
  withChangedSecrets,
} from '../../../../src/reconcile/record-content/secret-versions.ts';
import { desiredOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';

const path = '/secret/envvar:PASS';
const id: ResourceId = 'Connection/a';
const source = 'env:OSTIARY_SECRET_PASS';
const desired = wantedOf([desiredOf(id, { secrets: { [path]: seal(source, 'canary') } })]);
const liveAt = (secretsVersion: string): LiveResource => liveOf(id, { secretsVersion, secrets: { [path]: seal('live', 'canary') } });
const differs = { path, before: { secret: 'live', state: 'differs' }, after: { secret: source, state: 'differs' } } as const;
const update: Change = { id, action: 'update', uid: 'uid-a', fields: [differs], needs: [], carried: [] };
const none: ApplyResult = { outcomes: [], interrupted: false };

/** Returns the record of an apply without changes. */
function recordOf(live: LiveResource, given = desired, before?: string): string | undefined {
  return secretVersionsAfter({ plan: { changes: [] }, desired: given, live: stateOf(live) }, none, { before, complete: true });
}

/** Returns the record of an apply that found equal secrets at the version. */
function equalAt(version: string, before?: string): string | undefined {
  return recordOf(liveAt(version), desired, before);
}

/** Returns the record of an apply that wrote the secret, from version 1 to version 2. */
function writtenAs(status: OutcomeStatus, version: string | undefined): string | undefined {
  const result = {
    ...none,
    outcomes: [{ id, action: 'update', status }],
    secretVersions: new Map<ResourceId, WrittenSecrets>([[id, { uid: 'uid-a', version }]]),
  } as const;
  return secretVersionsAfter({ plan: { changes: [update] }, desired, live: stateOf(liveAt('v1')) }, result, {
    before: equalAt('v1'),
    complete: status !== 'failed',
  });
}

function sideOf(secrets: string | undefined, version: string, pending: readonly PendingWrites[] = []): unknown {
  const record = { ...(secrets === undefined ? {} : { secrets }), pending };
  return withChangedSecrets(stateOf(liveAt(version)), desired, record).resources[0]?.changedSecrets;
}

test.each<[string, string | undefined, string, unknown]>([
  ['equal at the last apply, the same version', equalAt('v1'), 'v1', 'source'],
  ['equal at the last apply, another version', equalAt('v1'), 'v2', 'gateway'],
  ['written, the version of the write', writtenAs('done', 'v2'), 'v2', 'source'],
  ['written, the version before', writtenAs('done', 'v2'), 'v1', 'gateway'],
  ['written, and changed since', writtenAs('done', 'v2'), 'v3', 'gateway'],
  ['written where the gateway reports no version', writtenAs('done', undefined), 'v3', undefined],
  ['the write failed, perhaps after it was done', writtenAs('failed', 'v2'), 'v2', undefined],
  ['the object is managed: its write is blocked', writtenAs('blocked', undefined), 'v1', 'source'],
  ['no record', undefined, 'v1', undefined],
])('%s', (_, secrets, version, side) => {
  expect(sideOf(secrets, version)).toBe(side);
});

test('what an interrupted apply may have written is not proven to have changed on the gateway', () => {
  const pending = [{ objects: [{ id, ours: false }], edges: [] }] as const;
  expect([sideOf(equalAt('v1'), 'v1', pending), sideOf(equalAt('v1'), 'v2', pending)]).toEqual(['source', undefined]);
});

test('secrets that were not read, or are not set by the manifest, prove nothing and are not recorded', () => {
  const hidden = liveOf(id, { secretsVersion: 'v1', secrets: { [path]: { state: 'hidden', source: 'live' } } });
  expect(recordOf(hidden)).toBeUndefined();
  expect(recordOf(liveAt('v1'), wantedOf([desiredOf(id, { secrets: { [path]: { state: 'keep', source: 'keep' } } })]))).toBeUndefined();
  expect(
    recordOf(liveAt('v1'), wantedOf([desiredOf(id, { secrets: { [path]: seal(source, 'canary') }, ignore: [path] })])),
  ).toBeUndefined();
});

test('the record of 10,000 objects has 16 characters for each, forgets removed ones, and is the same for the same state', () => {
  const ids = Array.from({ length: 10_000 }, (_, index): ResourceId => `Connection/c-${index}`);
  const all = wantedOf(ids.map((one) => desiredOf(one, { secrets: { [path]: seal(source, one) } })));
  const live = stateOf(...ids.map((one, index) => liveOf(one, { secretsVersion: `v${index}`, secrets: { [path]: seal('live', one) } })));
  const sides = { plan: { changes: [] }, desired: all, live };
  const first = secretVersionsAfter(sides, none, { before: equalAt('v1'), complete: true });
  expect(first).toHaveLength(16 * ids.length);
  expect(secretVersionsAfter(sides, none, { before: first, complete: true })).toBe(first);
  expect(
    withChangedSecrets(live, all, { secrets: first ?? '', pending: [] }).resources.every((one) => one.changedSecrets === 'source'),
  ).toBe(true);
  expect(equalAt('v1', first)).toHaveLength(16);
});

const listed = (secretsVersion: string, more: Partial<LiveResource> = {}): LiveResource =>
  liveOf(id, { secretsVersion, secrets: {}, leftOut: ['/secret'], unknown: ['/secret'], ...more });
const wanted = (value: string, more: Partial<DesiredResource> = {}): DesiredResource =>
  desiredOf(id, { secrets: { [path]: seal(source, value) }, wholeSecrets: ['/secret'], ...more });

describe('a proof of equal secrets', () => {
  const key = Buffer.alloc(32, 1);
  const proofOf = (one: DesiredResource, read = liveAt('v1')): string | undefined =>
    secretProofsAfter(wantedOf([one]), [read], { complete: true, key });

  test('is recorded only for secrets that are equal, and forgotten with the object', () => {
    const proof = proofOf(wanted('canary'));
    expect(proof).toMatch(/^[\w-]{20}$/);
    expect(proofOf(wanted('rotated'))).toBeUndefined();
    expect(proofOf(wanted('canary', { wholeSecrets: [] }))).toBeUndefined();
    expect(proofOf(wanted('canary', { ignore: [path] }))).toBeUndefined();
    expect(proofOf(wanted('canary'), liveOf(id, { secrets: liveAt('v1').secrets }))).toBeUndefined();
    expect(secretProofsAfter(wantedOf([]), [], { before: proof, complete: true, key })).toBeUndefined();
    expect(secretProofsAfter(wantedOf([]), [], { before: proof, complete: false, key })).toBe(proof);
    // An apply that fails keeps the earlier proof, which holds for the earlier version alone.
    expect(secretProofsAfter(wantedOf([wanted('rotated')]), [liveAt('v1')], { before: proof, complete: false, key })).toBe(proof);
  });

  test('holds for the same object, version, values and token alone', () => {
    const prove = provenSecrets(proofOf(wanted('canary')), key);
    expect(prove(wanted('canary'), listed('v1'))?.secrets[path]?.state).toBe('value');
    expect(prove(wanted('canary'), listed('v2'))).toBeUndefined();
    expect(prove(wanted('rotated'), listed('v1'))).toBeUndefined();
    expect(prove(wanted('canary', { secrets: {} }), listed('v1'))).toBeUndefined();
    expect(prove(wanted('canary'), listed('v1', { uid: 'another' }))).toBeUndefined();
    expect(prove(wanted('canary'), listed('v1', { leftOut: ['/secret', '/other'] }))).toBeUndefined();
    const [own = '', other = ''] = [liveAt('v1'), { ...liveAt('v1'), uid: 'another' }].map((read) => proofOf(wanted('canary'), read));
    const moved = `${other.slice(0, 8)}${own.slice(8)}`;
    expect(provenSecrets(other, key)(wanted('canary'), listed('v1', { uid: 'another' }))).toBeDefined();
    expect(provenSecrets(moved, key)(wanted('canary'), listed('v1', { uid: 'another' }))).toBeUndefined();
    expect(provenSecrets(proofOf(wanted('canary')), Buffer.alloc(32, 2))(wanted('canary'), listed('v1'))).toBeUndefined();
  });
});
