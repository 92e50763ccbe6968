import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import { type Plan, planRisks } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { allFields, connectionManifest, liveAs, maskingManifest, planWithRisks, registered } from '../../../support/risks.ts';
import { noLimits, runReconcile } from '../../../support/run-pipeline.ts';
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

/** A connection to a server that asks for no user and no credential. */
function anonymous(name: string, host: string, spec: JsonObject): Manifest {
  return connectionManifest(name, { secret: { 'envvar:REMOTE_URL': { value: `http://${host}` } }, ...spec });
}

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

  test.each<[server: string, same: string]>([
    ['2001:db8::7', '[2001:db8::7]'],
    ['2001:db8::7', '2001:DB8:0:0::7'],
    ['2001:db8::7', '[2001:db8::7]:5432'],
    ['10.0.0.5', '::ffff:10.0.0.5'],
    ['10.0.0.5', '10.5'],
    ['10.0.0.5', '0x0a000005:'],
    ['fe80::1%eth0', '[FE80::1%eth0]'],
    ['localhost', '127.0.0.1'],
    ['localhost', '::1'],
    ['ledger.internal', ' ledger.internal\n'],
    ['ledger.internal', 'ledger。internal'],
    ['ledger.internal', 'tcp://ledger.internal:5432'],
    ['ledger.internal', 'sandbox.internal,ledger.internal'],
    ['ledger.internal', 'ledger.internal,5432'],
  ])('%s is the server %s', (one, host) => {
    const former = leading('ledger', { ...ledgerPlace, HOST: one }, guarded, fromLedger);
    const after = [sandbox({ HOST: host, USER: 'app', DB: 'main' }), former];
    expect(alarmsOf([sandbox(sandboxPlace), former], after)).toEqual([`Connection/sandbox ${opened}`]);
    const other = leading('ledger', { ...ledgerPlace, HOST: '2001:db8::8' }, guarded, fromLedger);
    expect(alarmsOf([sandbox(sandboxPlace), other], [after[0] ?? former, other])).toEqual([]);
  });

  test.each<[what: string, where: Where]>([
    ['a port by the name of its service', { ...ledgerPlace, PORT: 'postgresql' }],
    ['a port with zeros', { ...ledgerPlace, PORT: '05432 ' }],
    ['no port', { ...ledgerPlace, PORT: '' }],
    ['no database', { ...ledgerPlace, DB: '' }],
    ['variables of a program', { PGHOST: 'ledger.internal', PGUSER: 'app', PGDATABASE: 'main' }],
    ['another program', { DBHOST: 'ledger.internal', DBUSER: 'app', DBNAME: 'main' }],
    ['a URL with escapes', { DATABASE_URL: 'postgres://%61pp:p@x@%6cedger.internal:/%6dain' }],
    ['a URL with settings', { DATABASE_URL: 'postgres:///?host=ledger.internal&port=5432&user=app&dbname=main' }],
    ['JDBC', { DATABASE_URL: 'jdbc:postgresql://ledger.internal/main?user=app' }],
    ['words', { DSN: "host=ledger.internal port=5432 user='app' dbname=main" }],
    ['an address in brackets', { DSN: 'app:x@tcp(ledger.internal:5432)/main' }],
    ['settings', { CONNECTION_STRING: 'Server=ledger.internal,5432;Initial Catalog=main;User Id=app' }],
  ])('settings are spelled otherwise: %s', (_, where) => {
    expect(alarmsOf(before, [sandbox(where, 'own'), ledger])).toEqual([`Connection/sandbox ${opened}`]);
  });

  test('a server that asks for no user, or whose database or port is read elsewhere', () => {
    const admin = anonymous('admin', 'admin.internal', guarded);
    const after = [anonymous('sandbox', 'admin.internal', open), admin];
    expect(alarmsOf([anonymous('sandbox', 'sandbox.internal', open), admin], after)).toEqual([`Connection/sandbox ${opened}`]);
    const elsewhere = { 'envvar:DB': '_cloudsecrets:ledger:db', 'envvar:PORT': '_cloudsecrets:ledger:port', 'envvar:PASS': fromLedger };
    const hidden = connectionManifest('sandbox', { ...open, secret: { 'envvar:HOST': { value: 'ledger.internal' }, ...elsewhere } });
    expect(alarmsOf(before, [hidden, ledger])).toEqual([`Connection/sandbox ${opened}`]);
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

function named(command: readonly string[], pass: JsonObject | string = fromLedger): Manifest {
  return sandbox(sandboxPlace, pass, { ...open, type: 'custom', command: [...command] });
}

describe('a command names the server, whatever the settings are:', () => {
  test.each<[command: readonly string[]]>([
    [['psql', '-h', 'ledger.internal', '-p', '5432']],
    [['psql', '--host=LEDGER.internal']],
    [['psql', 'postgres://app@ledger.internal/main']],
    [['psql', "host=ledger.internal dbname=main user='app'"]],
    [['bash', '-c', 'exec psql --host "ledger.internal" -U app main']],
    [['sqlcmd', '-S', 'ledger.internal,5432']],
  ])('%s', (command) => {
    expect(alarmsOf(before, [named(command), ledger])).toEqual(['Connection/sandbox risk/destination-opened']);
  });

  test.each<[command: readonly string[]]>([
    [['psql', '-h', '$HOST']],
    [['psql', '-h', '-p', '5432']],
    [['psql', '--host', 'other.internal']],
    [['curl', 'https://ledger.internal:8443/health']],
  ])('%s is another one', (command) => {
    expect(alarmsOf(before, [named(command, 'sandbox'), ledger])).toEqual([]);
  });
});

function eks(name: string, cluster: string, spec: JsonObject): Manifest {
  const secret = { 'envvar:EKS_CLUSTER': { value: cluster }, 'envvar:AWS_SECRET_ACCESS_KEY': fromLedger };
  return connectionManifest(name, { ...spec, type: 'custom', subtype: 'kubernetes-eks', secret });
}

test('a cluster stands for a server that no setting names', () => {
  const prod = eks('prod', 'prod', guarded);
  const opened = ['Connection/sandbox risk/destination-opened'];
  expect(alarmsOf([eks('sandbox', 'dev', open), prod], [eks('sandbox', 'prod', open), prod])).toEqual(opened);
  expect(alarmsOf([prod], [eks('sandbox', 'dev', open), prod])).toEqual([]);
});

test.each<[what: string, spec: JsonObject]>([
  ['a server that is read elsewhere', { secret: { 'envvar:HOST': '_cloudsecrets:ledger:host', 'envvar:PASS': fromLedger } }],
  ['a server that only the program knows', { type: 'custom', command: ['ledger-shell'], secret: { 'envvar:PASS': fromLedger } }],
  [
    'a server beside that of a URL in the command',
    { type: 'custom', command: ['sh', '-c', 'curl https://motd.internal; ledger-shell'], secret: { 'envvar:PASS': fromLedger } },
  ],
])('a credential of a guarded place that goes to %s may lead there', (_, spec) => {
  const after = (who: JsonObject): readonly Manifest[] => [connectionManifest('sandbox', { ...who, ...spec }), ledger];
  expect(alarmsOf(before, after(open))).toEqual(['Connection/sandbox risk/destination-unknown']);
  expect(alarmsOf(before, after({ access_groups: ['payments'], ...guarded }))).toEqual([]);
  expect(alarmsOf(after(open), [...after(open), connectionManifest('other', {})])).toEqual([]);
});

/** Plans on a gateway whose lists show this token nothing of secrets, their keys, or what it can read of each alone. */
function planUnseen(after: readonly Manifest[], seen: 'nothing' | 'keys' | 'each alone', first = before): Plan | undefined {
  const known = desiredState(first.filter(({ metadata }) => metadata.name !== 'ledger'));
  const { resources, ...live } = liveAs(desiredState(first));
  const limited = resources.map((one): LiveResource => {
    if (seen === 'each alone') return { ...one, secrets: {}, leftOut: ['/secret'] };
    if (seen === 'nothing') return { ...one, secrets: {}, unknown: ['/secret'] };
    const paths = Object.keys(one.secrets);
    const secrets = Object.fromEntries(paths.map((path) => [path, { state: 'hidden', source: 'live' } as const]));
    return { ...one, secrets, unknown: paths };
  });
  const base = { commit: 'a'.repeat(40), desired: known, removedIn: new Map() };
  const limits = { ...noLimits, newAccess: 'refuse' } as const;
  return runReconcile({ registry: allFields, desired: desiredState(after), live: { ...live, resources: limited }, base, limits }).value;
}

test.each<[what: string, after: Manifest]>([
  ['is led elsewhere', sandbox({ ...sandboxPlace, HOST: 'other.internal' })],
  ['becomes another user', sandbox({ ...sandboxPlace, USER: 'root' }, 'of root')],
  ['is new', leading('play', { ...sandboxPlace, HOST: 'play.internal' }, open)],
])('a connection that %s may lead to the place of one that no manifest declares and the token cannot see', (what, after) => {
  const manifests = what === 'is new' ? [sandbox(sandboxPlace), after] : [after];
  const text = '1 connection may lead to the place of another one: where one of them leads cannot be read';
  for (const seen of ['nothing', 'keys'] as const) {
    const plan = planUnseen(manifests, seen);
    expect(plan?.protection.headlines).toContainEqual(expect.objectContaining({ direction: 'unknown', text }));
    expect(plan?.refusals).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('it may lead to the place of another one that cannot be read') }),
    );
  }
  // Where it matters, a token that sees each alone has read it.
  const read = planUnseen(manifests, 'each alone');
  expect(read?.protection.headlines.map(({ direction }) => direction)).not.toContain('unknown');
});

test('what keeps its place, or needs as much as the unseen one, is not said to lead there', () => {
  const rotated = planUnseen([sandbox(sandboxPlace, 'rotated')], 'nothing');
  const guardedAlike = planUnseen([sandbox(sandboxPlace), leading('play', { HOST: 'play.internal' }, guarded)], 'nothing');
  for (const plan of [rotated, guardedAlike])
    expect(plan?.changes.flatMap(({ risks }) => risks.map((risk) => risk.class))).toEqual(['neutral']);
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
