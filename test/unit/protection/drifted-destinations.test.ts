import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { LiveState } from '../../../src/model/live.ts';
import { protectionOfDrift } from '../../../src/protection/protection.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';

type Where = Readonly<Record<string, string>>;

/** A connection that leads to a server as a user, with a credential. */
function leading(name: string, where: Where, spec: JsonObject): Manifest {
  const settings = Object.entries(where).map(([key, value]) => [`envvar:${key}`, { value }]);
  return connectionManifest(name, { secret: Object.fromEntries(settings), ...spec });
}

const place = { HOST: 'sandbox.internal', PORT: '5432', USER: 'app', DB: 'main', PASS: 'own' };
const guardedPlace = { ...place, HOST: 'ledger.internal', PASS: 'guarded' };
const open = { access_groups: ['contractors'] };
const ledger = leading('ledger', guardedPlace, { access_groups: ['payments'], reviewers: ['dba', 'security'] });

function sandbox(where: Where, more: JsonObject = {}): Manifest {
  return leading('sandbox', where, { ...open, ...more });
}

type Drift = { readonly applied?: readonly Manifest[]; readonly desired?: readonly Manifest[]; readonly live: LiveState };

/** Returns the alarms of what was changed by hand. */
function alarmsOf({ applied = [sandbox(place), ledger], desired = applied, live }: Drift): readonly string[] {
  const [base, state] = [desiredState(applied), desiredState(desired)];
  const { value: plan } = runReconcile({ desired: state, live, base: { commit: 'a'.repeat(40), desired: base, removedIn: new Map() } });
  if (plan === undefined) throw new Error('no plan');
  const { headlines } = protectionOfDrift(plan, live, registry, { desired: state, base });
  return headlines.flatMap(({ text }) => (text.includes('can reach what') ? [text] : []));
}

function changedTo(...manifests: readonly Manifest[]): LiveState {
  return liveAs(desiredState(manifests));
}

const alarm = 'contractors can reach what ledger leads to, without approval, through sandbox';

test.each<[string, readonly Manifest[], readonly Manifest[]]>([
  ['the host', [sandbox(place), ledger], [sandbox({ ...place, HOST: 'ledger.internal' }), ledger]],
  ['the host, spelled otherwise', [sandbox(place), ledger], [sandbox({ ...place, HOST: 'LEDGER.internal.' }), ledger]],
  ['the port', [sandbox({ ...guardedPlace, PORT: '5433' }), ledger], [sandbox(guardedPlace), ledger]],
  ['the database', [sandbox({ ...guardedPlace, DB: 'test' }), ledger], [sandbox(guardedPlace), ledger]],
  [
    'the user, with a password of its own',
    [sandbox({ ...guardedPlace, USER: 'reader', PASS: 'reads' }), ledger],
    [sandbox({ ...guardedPlace, PASS: 'own' }), ledger],
  ],
  [
    'the credential, with a user of its own',
    [sandbox({ ...guardedPlace, USER: 'reader', PASS: 'reads' }), ledger],
    [sandbox({ ...guardedPlace, USER: 'writer' }), ledger],
  ],
])('drift says that people reach a guarded destination by a connection of which somebody changed %s', (_, applied, found) => {
  expect(alarmsOf({ applied, live: changedTo(...found) })).toEqual([alarm]);
});

test('it counts what led there before, also a connection that was deleted or led elsewhere by hand', () => {
  const moved = sandbox(guardedPlace);
  expect(alarmsOf({ live: changedTo(moved) })).toEqual([alarm]);
  expect(alarmsOf({ live: changedTo(moved, leading('ledger', place, { access_groups: ['payments'] })) })).toContain(alarm);
});

test('what the manifests change since is no drift', () => {
  const pending = [sandbox(guardedPlace), ledger];
  expect(alarmsOf({ desired: pending, live: changedTo(sandbox(place, { reviewers: ['dba'] }), ledger) })).toEqual([]);
});

test.each<[string, readonly Manifest[]]>([
  ['groups', [sandbox(place, { access_groups: ['contractors', 'temps'] }), ledger]],
  ['reviewers', [sandbox(place), leading('ledger', guardedPlace, { access_groups: ['payments'] })]],
  ['a rotated credential', [sandbox({ ...place, PASS: 'rotated' }), ledger]],
  ['another database of a server that is not guarded', [sandbox({ ...place, DB: 'other' }), ledger]],
  ['another server', [sandbox({ ...place, HOST: 'new.internal' }), ledger]],
  ['the same server in another spelling', [sandbox(place), leading('ledger', { ...guardedPlace, HOST: 'Ledger.internal' }, {})]],
  ['another agent', [sandbox(place, { agent_id: 'other' }), ledger]],
  ['a connection that is gone', [sandbox(place)]],
])('ordinary drift has no alarm: %s', (_, found) => {
  expect(alarmsOf({ live: changedTo(...found) })).toEqual([]);
});

test('a value that the token may not read is no alarm', () => {
  const live = changedTo(sandbox(guardedPlace), ledger);
  const hidden = live.resources.map((one) => ({ ...one, secrets: {}, unknown: ['/secret'] }));
  expect(alarmsOf({ live: { ...live, resources: hidden } })).toEqual([]);
});
