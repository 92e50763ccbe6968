import { expect, test } from 'vitest';
import {
  findBlockedDeletes,
  findEarlierNames,
  findReplacedReferences,
  findStaleNames,
  type ReferringObjects,
} from '../../../src/gateway/dialects/hoop/references.ts';
import type { ResourceId } from '../../../src/model/resource.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest as connection, liveAs } from '../../support/risks.ts';
import { analyzerRule, attributeObject, requestRule, runbookRule } from '../../support/access-objects.ts';

const none: ReferringObjects = {
  'access-control': [],
  attributes: [],
  'access-request-rules': [],
  'runbook-rules': [],
  rulepacks: [],
  'analyzer-rules': [],
  'machine-identities': [],
  plugins: [],
  'event-subscriptions': [],
};

const jit = requestRule('prod-jit', {
  access_type: 'jit',
  connections: ['orders-db'],
  reviewers_groups: ['dba'],
  access_max_duration: 3600,
});
const nightly = runbookRule('nightly', { runbooks: [{ repository: 'r', name: 'ops/' }], connections: ['orders-db'], groups: ['sre'] });
const identity = { id: '3', name: 'ci', connections: ['orders-db'], attributes: [] };
const pci = attributeObject('pci', { connections: ['orders-db'], groups: ['sre'] });
const grant = (name: string, groups: readonly string[]) => ({ id: name, name, groups });
const subscription = { name: 'on-leak', connections: ['orders-db'], runbook: 'r:lock' };

const [predecessor] = liveAs(desiredState([connection('orders-db')])).resources;
if (predecessor === undefined) throw new Error('there is no predecessor');
const shop = { id: 'Connection/shop-db' as const, predecessor, attributes: ['pci'], isGranted: false };

function replacedIn(objects: ReferringObjects, deleted: readonly ResourceId[] = []): readonly string[] {
  return findReplacedReferences({ ...none, ...objects }, [shop], deleted).map(
    ({ sort, name, how }) => `${sort}${name === undefined ? '' : ` ${name}`}: ${how}`,
  );
}

const noGroup = 'no group can use shop-db, only admins and auditors';

test.each<readonly [string, ReferringObjects, readonly string[]]>([
  ['nothing', {}, []],
  ['an access-request rule', { 'access-request-rules': [jit] }, ['access-request rule prod-jit: 1 of dba for jit; at most 1 h']],
  ['a runbook rule', { 'runbook-rules': [nightly] }, ['runbook rule nightly: r:ops/ for sre']],
  ['a runbook rule of everything', { 'runbook-rules': [{ ...nightly, connections: [] }] }, []],
  [
    'a runbook rule for all',
    { 'runbook-rules': [{ ...nightly, runbooks: [], groups: [] }] },
    ['runbook rule nightly: all runbooks for everybody'],
  ],
  ['a rule that names both', { 'runbook-rules': [{ ...nightly, connections: ['shop-db', 'orders-db'] }] }, []],
  [
    'a machine identity',
    { 'machine-identities': [identity] },
    ['machine identity ci: it has a credential for each connection that it names'],
  ],
  ['an event subscription', { 'event-subscriptions': [subscription] }, ['event subscription on-leak: it runs r:lock at events']],
  ['event subscriptions that cannot be read', { 'event-subscriptions': undefined }, []],
  ['a row', { 'access-control': [grant('orders-db', ['sre', 'dba'])] }, [`plugin access_control: granted to dba, sre; ${noGroup}`]],
  ['an empty row', { 'access-control': [grant('orders-db', [])] }, []],
  ['rows on both', { 'access-control': [grant('orders-db', ['sre']), grant('shop-db', ['sre', 'dba'])] }, []],
  [
    'a row with more groups',
    { 'access-control': [grant('orders-db', ['sre', 'dba']), grant('shop-db', ['sre'])] },
    ['plugin access_control: granted to dba, sre; shop-db is granted to sre'],
  ],
  ['a row whose groups an inherited attribute has', { 'access-control': [grant('orders-db', ['sre'])], attributes: [pci] }, []],
  [
    'a row whose groups another attribute has',
    { 'access-control': [grant('orders-db', ['sre'])], attributes: [{ ...pci, name: 'sox' }] },
    [`plugin access_control: granted to sre; ${noGroup}`],
  ],
  ['rows that cannot be read', { 'access-control': undefined }, ['plugin: the token cannot see them']],
  ['no plugins that can be read', { 'access-control': undefined, plugins: undefined }, ['plugin: the token cannot see them']],
  ['rulepacks that cannot be read', { rulepacks: undefined }, ['rulepack: the token cannot see them; admins may']],
])('what a replacement does not move: %s', (_, objects, expected) => {
  expect(replacedIn(objects)).toEqual(expected);
});

test('an event subscription of a deleted predecessor is only a reason not to delete it', () => {
  const objects = { ...none, 'event-subscriptions': [subscription, { ...subscription, name: 'other', connections: ['other-db'] }] };
  expect(replacedIn(objects, [predecessor.id])).toEqual([]);
  expect(findBlockedDeletes(objects, [predecessor.id])).toEqual([
    expect.objectContaining({ code: 'hoop/event-subscription', allowable: false, resource: 'Connection/orders-db' }),
  ]);
  expect(findBlockedDeletes({}, [predecessor.id])).toEqual([]);
});

const noneDeclared: ReadonlySet<ResourceId> = new Set();

function staleIn(
  objects: ReferringObjects,
  deleted: readonly ResourceId[] = ['Connection/orders-db'],
  declared = noneDeclared,
): readonly string[] {
  return findStaleNames({ ...none, ...objects }, deleted, declared).map(({ message, hint = '' }) => `${message} | ${hint}`);
}

const later = 'after the apply, remove the name from it on the gateway';
const next = 'keeps naming Connection/orders-db after the deletion, and it applies to the next connection of that name';
const emptied = 'after the apply, delete it on the gateway: with an empty list it would apply to every connection';
const opened = 'let it name another connection: without a runbook rule, everybody may run every runbook';

test.each<readonly [string, ReferringObjects, readonly string[]]>([
  ['nothing', {}, []],
  [
    'the only target of a rule',
    { 'access-request-rules': [jit] },
    [`access-request rule "prod-jit" ${next} | after the apply, delete it on the gateway`],
  ],
  [
    'one of two connections of a rule',
    { 'access-request-rules': [{ ...jit, connections: ['orders-db', 'other-db'] }] },
    [`access-request rule "prod-jit" ${next} | ${later}`],
  ],
  [
    'the only connection of a rule with an attribute',
    { 'access-request-rules': [{ ...jit, attributes: ['pci'] }] },
    [`access-request rule "prod-jit" ${next} | ${later}`],
  ],
  [
    'the only connection of one runbook rule',
    { 'runbook-rules': [nightly, { ...nightly, name: 'all', connections: [] }] },
    [`runbook rule "nightly" ${next} | ${emptied}`],
  ],
  ['the only connection of the only runbook rule', { 'runbook-rules': [nightly] }, [`runbook rule "nightly" ${next} | ${opened}`]],
  [
    'the only connection of all runbook rules',
    { 'runbook-rules': [nightly, { ...nightly, name: 'daily' }] },
    [`runbook rule "nightly" ${next} | ${opened}`, `runbook rule "daily" ${next} | ${opened}`],
  ],
  ['a connection of an analyzer rule', { 'analyzer-rules': [analyzerRule()] }, [`session analyzer rule "risky" ${next} | ${later}`]],
  [
    'machine identities that cannot be read',
    { 'machine-identities': undefined },
    ['the token cannot see which machine identities keep naming Connection/orders-db after the deletion | all roles may read them'],
  ],
  [
    'analyzer rules that cannot be read',
    { 'analyzer-rules': undefined },
    [
      'the token cannot see which session analyzer rules keep naming Connection/orders-db after the deletion | admins and auditors may read them',
    ],
  ],
])('what keeps the name of a deleted connection: %s', (_, objects, expected) => {
  expect(staleIn(objects)).toEqual(expected);
});

test('a rule with a manifest that names only a deleted connection is removed from the manifests', () => {
  const rules = { 'access-request-rules': [jit], 'runbook-rules': [nightly, { ...nightly, name: 'all', connections: [] }] };
  const declared = new Set<ResourceId>(['AccessRequestRule/prod-jit', 'RunbookRule/nightly']);
  const remove = 'remove its manifest, or let it name another connection';
  expect(staleIn(rules, undefined, declared)).toEqual([
    `access-request rule "prod-jit" ${next} | ${remove}`,
    `runbook rule "nightly" ${next} | ${remove}: with an empty list it would apply to every connection`,
  ]);
});

test('a machine identity of several deleted connections is one warning, with at most five names', () => {
  const ids = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map((name): ResourceId => `Connection/${name}`);
  const connections = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'zz'];
  expect(staleIn({ 'machine-identities': [{ ...identity, connections }] }, ids)).toEqual([
    'machine identity "ci" keeps naming Connection/a1, Connection/a2, Connection/a3, Connection/a4, Connection/a5, 1 more after the deletion, and its credential opens the next connections of these names | before the apply, remove the name from it on the gateway, which revokes the credential',
  ]);
  expect(staleIn({ 'machine-identities': undefined }, [])).toEqual([]);
});

test.each<readonly [string, ReferringObjects, readonly (readonly [string, string])[]]>([
  ['nothing', none, []],
  ['lists that cannot be read', {}, []],
  [
    'a session analyzer rule',
    { 'analyzer-rules': [analyzerRule()] },
    [
      [
        'notice',
        'session analyzer rule "risky" names the new Connection/orders-db already: it blocks sessions, or asks for a review of them, by their risk',
      ],
    ],
  ],
  [
    'a machine identity',
    { 'machine-identities': [identity] },
    [
      [
        'warning',
        'machine identity "ci" names the new Connection/orders-db already: its credential for a deleted connection of that name opens the new one',
      ],
    ],
  ],
  [
    'a runbook rule',
    { 'runbook-rules': [nightly] },
    [['notice', 'runbook rule "nightly" names the new Connection/orders-db already: sre may run r:ops/ there']],
  ],
  [
    'an access-request rule, with and without reviewers in the manifests',
    { 'access-request-rules': [{ ...jit, connections: ['orders-db', 'shop-db'] }] },
    [
      [
        'notice',
        'access-request rule "prod-jit" names the new Connection/orders-db, Connection/shop-db already: it decides about approval (1 of dba for jit; at most 1 h), whatever reviewers the manifest states',
      ],
    ],
  ],
  ['a runbook rule that names the predecessor too', { 'runbook-rules': [{ ...nightly, connections: ['shop-db', 'former'] }] }, []],
])('what names a new connection already: %s', (_, objects, expected) => {
  const created = desiredState([connection('orders-db'), connection('shop-db', { reviewers: ['sre'] }, { replaces: 'former' })]).resources;
  const found = findEarlierNames(objects, created);
  expect(found.map(({ severity, message }) => [severity, message])).toEqual(expected);
  expect(found.every(({ at }) => at !== undefined)).toBe(true);
});
