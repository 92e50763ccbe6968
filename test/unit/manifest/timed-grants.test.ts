import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { loadManifests, type LoadInput } from '../../../src/manifest/load-manifests.ts';
import type { DesiredState } from '../../../src/model/desired.ts';
import { type Checked, formatPosition } from '../../../src/model/diagnostic.ts';
import { sources } from './manifest-fixtures.ts';

const head = `apiVersion: ostiary/v1
kind: Connection
metadata: { name: orders }
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: enabled
  access_schema: enabled
`;

const contractors = '{ group: contractors, until: 2026-12-31, reason: migration }';

function load(
  files: Readonly<Record<string, string>>,
  ends?: LoadInput['ends'],
  overlays: LoadInput['overlays'] = [],
): Checked<DesiredState> {
  const given = { target: 'test', targets: ['test'], secretPrefixes: [], referencePrefixes: [], registry };
  return loadManifests({ files: sources(files), overlays, ...given, ...(ends === undefined ? {} : { ends }) });
}

/** Returns the code and the position of each diagnostic of one connection with these groups. */
function problems(groups: string, ends?: LoadInput['ends']): readonly string[] {
  return load({ 'a.yaml': `${head}  access_groups: ${groups}\n` }, ends).diagnostics.map(
    ({ severity, code, at }) => `${severity} ${code} ${at === undefined ? '' : formatPosition(at)}`,
  );
}

test('groups with and without an end are compared by their names', () => {
  const resource = load({ 'a.yaml': `${head}  access_groups: [sre, ${contractors}]\n` }).value?.resources[0];
  expect(resource?.spec['access_groups']).toEqual(['contractors', 'sre']);
  expect(resource?.grants).toEqual([
    { path: '/access_groups/contractors', group: 'contractors', until: '2026-12-31', reason: 'migration' },
  ]);
  expect(resource?.locate('/access_groups/contractors')).toEqual({ file: 'a.yaml', line: 12, column: 24 });
});

test('ends come from defaults and overlays, too', () => {
  const defaults = `apiVersion: ostiary/v1\nkind: Defaults\nspec: { Connection: { access_groups: [${contractors}] } }\n`;
  const overlay = `apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: orders }\nspec: { access_groups: [sre, ${contractors.replace('2026', '2027')}] }\n`;
  const files = { '_defaults.yaml': defaults, 'a.yaml': head };
  expect(load(files).value?.resources[0]?.grants?.map(({ until }) => until)).toEqual(['2026-12-31']);
  const merged = load(files, undefined, [sources({ 'over.yaml': overlay })]).value?.resources[0];
  expect([merged?.spec['access_groups'], merged?.grants?.map(({ until }) => until)]).toEqual([['contractors', 'sre'], ['2027-12-31']]);
});

test.each([
  ['[{ group: a, until: 2026-02-30 }]', ['error manifest/no-such-day a.yaml:12:38']],
  ['[{ group: a, until: 2026-12-31T25:00:00Z }]', ['error manifest/no-such-day a.yaml:12:38']],
  ['[{ group: a, until: 31.12.2026 }]', ['error manifest/pattern a.yaml:12:38']],
  ['[{ group: a }]', ['error manifest/missing-field a.yaml:12:19']],
  ['[{ group: a, until: 2026-12-31, untill: x }]', ['error manifest/unknown-field a.yaml:12:50']],
  ['[a, { group: a, until: 2026-12-31 }]', ['error manifest/duplicate-entry a.yaml:12:22']],
  ['[{ group: admin, until: 2026-12-31 }]', ['error manifest/not-allowed-value a.yaml:12:19']],
  ['[5]', ['error manifest/wrong-type a.yaml:12:19']],
])('%s is an error where it is', (groups, expected) => {
  expect(problems(groups)).toEqual(expected);
});

test('an end that does not exist is no end that is near', () => {
  expect(problems('[{ group: a, until: 2026-02-30 }]', { now: '2026-12-31', ended: 'error' })).toEqual([
    'error manifest/no-such-day a.yaml:12:38',
  ]);
});

test.each([
  ['2026-12-16', []],
  ['2026-12-17', ['warning manifest/grant-ending a.yaml:12:48']],
  ['2026-12-31T23:59:59Z', ['warning manifest/grant-ending a.yaml:12:48']],
  ['2027-01-01T00:00:00Z', ['error manifest/grant-ended a.yaml:12:48']],
])('access until a day holds through that day: %s', (now, expected) => {
  expect(problems(`[${contractors}]`, { now, ended: 'error' })).toEqual(expected);
});

test.each([
  ['2026-12-31T16:59:59Z', ['warning manifest/grant-ending a.yaml:12:42']],
  ['2026-12-31T17:00:00Z', ['warning manifest/grant-ended a.yaml:12:42']],
])('access until a time ends then: %s', (now, expected) => {
  expect(problems('[{ group: night, until: 2026-12-31T18:00:00+01:00 }]', { now, ended: 'warning' })).toEqual(expected);
});
