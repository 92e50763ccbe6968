import type { JsonObject } from '../../../../src/model/json.ts';
import { connectionManifest as connection } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

/** Manifests of one side. */
export type Side = readonly Manifest[];

/**
 * Manifests on two sides, the risks of going from the first to the second, and of going back: where a row does not state them, what weakens
 * on one way strengthens on the other one.
 */
export type Row = readonly [name: string, first: Side, second: Side, there: string, back?: string | typeof oneWay];

/** A row that is not reversed: one side has a connection that the other lacks, or keeps what a manifest leaves out. */
export const oneWay: unique symbol = Symbol('one way');

export const secret: JsonObject = { 'envvar:HOST': { value: 'one' }, 'envvar:PASS': { value: 'secret' } };

function own(spec: JsonObject): Side {
  return [connection('orders', spec)];
}

/** A connection with review and a credential from a store, on a host. */
function reaching(name: string, host: string, key = 'envvar:PASS'): Manifest {
  return connection(name, { reviewers: ['dba'], secret: { 'envvar:HOST': { value: host }, [key]: '_cloudsecrets:orders/db:pass' } });
}

function onHost(name: string, host: string): Manifest {
  return connection(name, { reviewers: ['dba'], secret: { 'envvar:HOST': { value: host } } });
}

/** A repository of runbooks with a password from the environment, or the one that is live. */
function repository(name: string, url: string, password: JsonObject | null = { valueFrom: { env: 'OSTIARY_SECRET_GIT' } }): Manifest {
  return { kind: 'RunbookConfiguration', metadata: { name }, spec: { git_url: url, git_password: password } };
}

/** A connection on which runbooks can be run. */
const runs = connection('ops', { reviewers: ['dba'], access_mode_runbooks: 'enabled' });

function inResource(name: string, resource: string): Manifest {
  return connection(name, { reviewers: ['dba'], resource_name: resource });
}

function books(url: string): Side {
  return [repository('books', url)];
}

const home = books('https://git.example.com/team/books');

/** A connection with a credential, and what replaces it. */
const former = [connection('db', { reviewers: ['dba'], secret })];

function successor(spec: JsonObject): Side {
  return [connection('db2', { reviewers: ['dba'], ...spec }, { replaces: 'db' })];
}

/** Credentials that a change sends elsewhere, or not. */
export const credentialRows: readonly Row[] = [
  [
    'a credential that a changed and a new connection use at one new endpoint',
    [reaching('orders', 'one'), onHost('web', 'two')],
    [reaching('orders', 'one'), reaching('web', 'two'), reaching('shop', 'two')],
    'reroutes secret-reused, reroutes secret-reused',
    'neutral neutral',
  ],
  [
    'a credential under another key',
    own({ secret: { 'envvar:PASS': '_cloudsecrets:orders/db:pass' } }),
    own({ secret: { 'envvar:TOKEN': '_cloudsecrets:orders/db:pass' } }),
    'reroutes secret-reused',
  ],
  [
    'a credential on a new connection with another host',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'two')],
    'reroutes secret-reused',
    oneWay,
  ],
  [
    'a credential on a new connection with the same host',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'one')],
    'neutral created',
    oneWay,
  ],
  [
    'a credential on a new connection with the same host, under another key',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'one', 'envvar:TOKEN')],
    'reroutes secret-reused',
    oneWay,
  ],
  [
    'a credential of another connection with another host',
    [reaching('a', 'one'), onHost('b', 'two')],
    [reaching('a', 'one'), reaching('b', 'two')],
    'reroutes secret-reused',
    'neutral neutral',
  ],
  [
    'a credential of another connection with the same host',
    [reaching('a', 'one'), onHost('b', 'one')],
    [reaching('a', 'one'), reaching('b', 'one')],
    'neutral neutral',
  ],
  [
    'a successor that repeats the credential and leaves the subtype out',
    former,
    successor({ secret, type: 'custom', subtype: '' }),
    'reroutes command-rerouted, strengthens access',
    oneWay,
  ],
  [
    'a successor that repeats the credential and leaves the host out',
    former,
    successor({ secret: { 'envvar:PASS': { value: 'secret' } } }),
    'reroutes endpoint-rerouted, strengthens access',
    oneWay,
  ],
  [
    'a successor that repeats the credential and leads to the same place',
    former,
    successor({ secret }),
    'neutral created, strengthens access',
    oneWay,
  ],
  [
    'a successor that repeats the credential and uses it under another key, too',
    former,
    successor({ secret: { ...secret, 'envvar:TOKEN': { value: 'secret' } } }),
    'reroutes secret-reused, strengthens access',
    oneWay,
  ],
  [
    'a new connection in the resource of another one',
    [inResource('a', 'shared')],
    [inResource('a', 'shared'), inResource('b', 'shared')],
    'reroutes resource-rerouted',
    oneWay,
  ],
  ['a new connection in its own resource', [inResource('a', 'a')], [inResource('a', 'a'), inResource('b', 'b')], 'neutral created', oneWay],
  [
    'a new connection in a new resource, with another one',
    [inResource('c', 'c')],
    [inResource('a', 'shared'), inResource('b', 'shared'), inResource('c', 'c')],
    'neutral created, neutral created',
    oneWay,
  ],
  [
    'a successor in the resource of a third connection',
    [inResource('a', 'a'), inResource('c', 'c')],
    [inResource('c', 'c'), connection('b', { reviewers: ['dba'], resource_name: 'c' }, { replaces: 'a' })],
    'reroutes resource-rerouted, strengthens access',
    oneWay,
  ],
  ['runbooks from another server with the same password', home, books('https://git.example.org/team/books'), 'reroutes secret-reused'],
  ['runbooks from another repository of the same server', home, books('https://git.example.com/team/more'), 'neutral created'],
  [
    'runbooks from another repository of the same server, where runbooks can be run',
    [runs, ...home],
    [runs, repository('books', 'https://git.example.com/team/more')],
    'reroutes runbooks-rerouted',
  ],
  [
    'runbooks that come in clear, and no password',
    [runs, repository('books', 'https://git.example.com/team/books', null)],
    [runs, repository('books', 'http://git.example.com/team/books', null)],
    'reroutes runbooks-rerouted',
  ],
  [
    'more runbooks, with a new connection on which they can be run',
    [connection('db')],
    [connection('db'), runs, ...home],
    'neutral created, neutral created',
    '',
  ],
  [
    'another user of a repository',
    [runs, ...home],
    [runs, repository('books', 'ssh://ops@git.example.com/team/books.git')],
    'neutral neutral',
  ],
  [
    'more runbooks from another server with the same password',
    home,
    [...home, repository('more', 'https://git.example.org/team/more')],
    'reroutes secret-reused',
    oneWay,
  ],
  ['a kept password that is sent in clear', home, books('http://git.example.com/team/books'), 'reroutes endpoint-rerouted'],
  [
    'a kept password that is sent to another port',
    home,
    [repository('books', 'https://git.example.com:8443/team/books', { keep: true })],
    'reroutes endpoint-rerouted',
    oneWay,
  ],
  ...['#', '?'].map((sign): Row => [
    `a kept password that is sent to the server in front of ${sign}`,
    books('ssh://git.example.com/team/books'),
    books(`ssh://git.example.org${sign}@git.example.com/team/books`),
    'reroutes endpoint-rerouted',
  ]),
  ['the same server, spelled otherwise', home, books('git@git.example.com:team/books.git'), 'neutral neutral'],
  [
    'a password of runbooks on a new connection',
    home,
    [...home, connection('b', { reviewers: ['dba'], secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_GIT' } } } })],
    'reroutes secret-reused',
    oneWay,
  ],
];
