import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { planRisks } from '../../../../src/model/plan/plan.ts';
import { connectionManifest, maskingManifest, planWithRisks, registered } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

type Where = Readonly<Record<string, string>>;

const fromLedger = { valueFrom: { env: 'OSTIARY_SECRET_LEDGER' } };

/** A connection that leads to a server as a user, with the credential of the ledger or its own. */
function leading(name: string, where: Where, spec: JsonObject = {}, pass: JsonObject | string = name, metadata: JsonObject = {}): Manifest {
  const settings = Object.entries(where).map(([key, value]) => [`envvar:${key}`, { value }]);
  const secret = { ...Object.fromEntries(settings), 'envvar:PASS': typeof pass === 'string' ? { value: pass } : pass };
  return connectionManifest(name, { access_groups: ['payments'], secret, ...spec }, metadata);
}

function shell(name: string, spec: JsonObject): Manifest {
  return connectionManifest(name, { type: 'custom', command: ['bash'], ...spec });
}

const sandboxPlace = { HOST: 'sandbox.internal', PORT: '5432', USER: 'app', DB: 'main' };
const ledgerPlace = { HOST: 'ledger.internal', PORT: '5432', USER: 'app', DB: 'main' };
const open = { access_groups: ['contractors'] };
const guarded = { reviewers: ['dba', 'security'] };
const ledger = leading('ledger', ledgerPlace, guarded, fromLedger);

function sandbox(where: Where, pass: JsonObject | string = 'sandbox', spec: JsonObject = open): Manifest {
  return leading('sandbox', where, spec, pass);
}

const before = [sandbox(sandboxPlace), ledger];

function alarmsOf(first: readonly Manifest[], second: readonly Manifest[]): readonly string[] {
  const risks = planRisks(planWithRisks(first, second));
  return risks.filter(({ risk }) => risk.code.startsWith('risk/destination-')).map(({ id, risk }) => `${id} ${risk.code}`);
}

describe('people reach a destination more easily where', () => {
  const opened = 'risk/destination-opened';
  test.each<[what: string, after: readonly Manifest[], by?: string]>([
    ['an open connection gets the server and the credential', [sandbox(ledgerPlace, fromLedger), ledger]],
    ['it gets the server with the same user and another credential', [sandbox(ledgerPlace), ledger]],
    ['it gets the server with another user and the same credential', [sandbox({ ...ledgerPlace, USER: 'root' }, fromLedger), ledger]],
    ['the server is spelled otherwise', [sandbox({ HOST: 'LEDGER.internal.', USER: 'app', DB: 'main' }), ledger]],
    ['the server is in a URL', [sandbox({ CONNECTION_STRING: 'postgres://app:x@ledger.internal/main?sslmode=disable' }, 'own'), ledger]],
    [
      'a URL beside its server names the place',
      [sandbox({ ...sandboxPlace, CONNECTION_STRING: 'postgres://app:x@ledger.internal/main' }, 'own'), ledger],
    ],
    ['it names no database', [sandbox({ HOST: 'ledger.internal', USER: 'app' }), ledger]],
    [
      'a new connection is reviewed by those who use it',
      [...before, leading('play', ledgerPlace, { ...open, reviewers: ['contractors'] }, fromLedger)],
      'play',
    ],
    [
      'a successor leads elsewhere than its predecessor',
      [ledger, leading('next', ledgerPlace, open, fromLedger, { replaces: 'sandbox' })],
      'next',
    ],
    ['fewer must approve', [sandbox(ledgerPlace, fromLedger, { reviewers: ['dba'], min_review_approvals: 1 }), ledger]],
  ])('%s', (_, after, by = 'sandbox') => {
    expect(alarmsOf(before, after)).toEqual([`Connection/${by} ${opened}`]);
  });

  test.each(['[2001:db8::7]', '2001:DB8:0:0::7', '[2001:db8::7]:5432'])('the server is the same IPv6 address: %s', (host) => {
    const six = leading('ledger', { ...ledgerPlace, HOST: '2001:db8::7' }, guarded, fromLedger);
    const after = [sandbox({ HOST: host, USER: 'app', DB: 'main' }), six];
    expect(alarmsOf([sandbox(sandboxPlace), six], after)).toEqual([`Connection/sandbox ${opened}`]);
    const other = [sandbox({ HOST: '2001:db8::8', USER: 'app', DB: 'main' }), six];
    expect(alarmsOf([sandbox(sandboxPlace), six], other)).toEqual([]);
  });

  test.each([
    ['10.0.0.5', '::ffff:10.0.0.5'],
    ['fe80::1%eth0', '[FE80::1%eth0]'],
  ])('%s is the server %s', (one, host) => {
    const former = leading('ledger', { ...ledgerPlace, HOST: one }, guarded, fromLedger);
    const after = [sandbox({ HOST: host, USER: 'app', DB: 'main' }), former];
    expect(alarmsOf([sandbox(sandboxPlace), former], after)).toEqual([`Connection/sandbox ${opened}`]);
  });

  test('two connections swap their places: both lead where other people could go', () => {
    const after = [sandbox(ledgerPlace, fromLedger), leading('ledger', sandboxPlace, guarded, 'sandbox')];
    expect(alarmsOf(before, after)).toEqual([`Connection/ledger ${opened}`, `Connection/sandbox ${opened}`]);
  });

  test('what is masked there is not masked by the new way', () => {
    const masks = maskingManifest('people', { ...registered('PERSON'), connection_ids: ['ledger'] });
    const second = leading('second', ledgerPlace, guarded, fromLedger);
    expect(alarmsOf([ledger, masks], [ledger, second, masks])).toEqual([`Connection/second ${opened}`]);
    const both = maskingManifest('people', { ...registered('PERSON'), connection_ids: ['ledger', 'second'] });
    expect(alarmsOf([ledger, masks], [ledger, second, both])).toEqual([]);
  });

  test('a shell runs on the agent of a guarded one', () => {
    const prod = shell('prod', { agent_id: 'other', reviewers: ['dba'] });
    expect(alarmsOf([shell('dev', {}), prod], [shell('dev', { agent_id: 'other' }), prod])).toEqual([`Connection/dev ${opened}`]);
  });
});

test('the headline names who reaches what, after whose approval, and by which connection', () => {
  const { headlines } = planWithRisks(before, [sandbox(ledgerPlace, fromLedger), ledger]).protection;
  expect(headlines[0]).toMatchObject({
    direction: 'weakens',
    text: 'contractors can reach what ledger leads to, without approval, through sandbox',
    connections: ['Connection/sandbox'],
  });
});

test('a credential never appears in the plan of a connection that leads elsewhere', () => {
  const plan = planWithRisks(before, [sandbox({ CONNECTION_STRING: 'postgres://app:canary@ledger.internal/main' }, 'canary'), ledger]);
  expect(JSON.stringify(plan)).not.toContain('canary');
});

test('the headline names a review by those who ask as none', () => {
  const after = [sandbox(ledgerPlace, fromLedger, { ...open, reviewers: ['contractors'] }), ledger];
  expect(planWithRisks(before, after).protection.headlines[0]?.text).toBe(
    'contractors can reach what ledger leads to, without approval, through sandbox',
  );
});
