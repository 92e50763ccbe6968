import type { JsonObject } from '../../../../src/model/json.ts';
import { connectionManifest as connection } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

/** Manifests of one side. */
export type Side = readonly Manifest[];

/** Manifests on two sides, the risks of going from the first to the second, and of going back. */
export type Row = readonly [name: string, first: Side, second: Side, there: readonly string[], back: readonly string[]];

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

/** Credentials that a change sends elsewhere, or not. */
export const credentialRows: readonly Row[] = [
  [
    'a credential under another key',
    own({ secret: { 'envvar:PASS': '_cloudsecrets:orders/db:pass' } }),
    own({ secret: { 'envvar:TOKEN': '_cloudsecrets:orders/db:pass' } }),
    ['reroutes secret-reused'],
    ['reroutes secret-reused'],
  ],
  [
    'a credential on a new connection with another host',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'two')],
    ['reroutes secret-reused'],
    [],
  ],
  [
    'a credential on a new connection with the same host',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'one')],
    ['neutral created'],
    [],
  ],
  [
    'a credential on a new connection with the same host, under another key',
    [reaching('a', 'one')],
    [reaching('a', 'one'), reaching('b', 'one', 'envvar:TOKEN')],
    ['reroutes secret-reused'],
    [],
  ],
  [
    'a credential of another connection with another host',
    [reaching('a', 'one'), onHost('b', 'two')],
    [reaching('a', 'one'), reaching('b', 'two')],
    ['reroutes secret-reused'],
    ['neutral neutral'],
  ],
  [
    'a credential of another connection with the same host',
    [reaching('a', 'one'), onHost('b', 'one')],
    [reaching('a', 'one'), reaching('b', 'one')],
    ['neutral neutral'],
    ['neutral neutral'],
  ],
  [
    'a successor that repeats the credential and leaves the subtype out',
    [connection('db', { reviewers: ['dba'], secret })],
    [connection('db2', { reviewers: ['dba'], secret, type: 'custom', subtype: '' }, { replaces: 'db' })],
    ['neutral replacement-differs', 'reroutes command-rerouted', 'strengthens access-closed'],
    [],
  ],
  [
    'a successor that repeats the credential and leaves the host out',
    [connection('db', { reviewers: ['dba'], secret })],
    [connection('db2', { reviewers: ['dba'], secret: { 'envvar:PASS': { value: 'secret' } } }, { replaces: 'db' })],
    ['neutral replacement-differs', 'reroutes endpoint-rerouted', 'strengthens access-closed'],
    [],
  ],
  [
    'a successor that repeats the credential and leads to the same place',
    [connection('db', { reviewers: ['dba'], secret })],
    [connection('db2', { reviewers: ['dba'], secret }, { replaces: 'db' })],
    ['neutral replacement-differs', 'strengthens access-closed'],
    [],
  ],
  [
    'a successor that repeats the credential and uses it under another key, too',
    [connection('db', { reviewers: ['dba'], secret })],
    [connection('db2', { reviewers: ['dba'], secret: { ...secret, 'envvar:TOKEN': { value: 'secret' } } }, { replaces: 'db' })],
    ['neutral replacement-differs', 'reroutes secret-reused', 'strengthens access-closed'],
    [],
  ],
];

/** The rows that are not reversed: one side has a connection that the other lacks. */
export const credentialsOneWay: readonly string[] = [
  ...['leaves the subtype out', 'leaves the host out', 'leads to the same place', 'uses it under another key, too'].map(
    (how) => `a successor that repeats the credential and ${how}`,
  ),
  'a credential on a new connection with the same host, under another key',
  ...['another', 'the same'].map((which) => `a credential on a new connection with ${which} host`),
];
