import { expect, test } from 'vitest';
import { readCapabilities } from '../../../src/gateway/dialects/hoop/handshake.ts';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { AccessLimits } from '../../../src/model/live.ts';
import type { AccessObjects } from '../../../src/model/protection/access-objects.ts';
import { withAccess, requestRule } from '../../support/access-objects.ts';
import { createDriftCheck } from '../../../src/protection/stricter-drift.ts';
import { liveSnapshot } from '../../../src/protection/posture/protection-snapshot.ts';
import { protectionOf } from '../../../src/protection/protection.ts';
import { stateOf } from '../../support/resources.ts';
import { changeOf, connection, fieldOf } from './protection-fixtures.ts';

const everyone = requestRule('r', { access_type: 'jit', connections: ['db'] });
const some = requestRule('s', { access_type: 'jit', connections: ['db'], approval_required_groups: ['dev'] });
const commands = requestRule('c', { access_type: 'command', connections: ['db'] });
const byAttribute = requestRule('a', { access_type: 'jit', attributes: ['pii'] });
const reviewed = { reviewers: ['dba'] };

type Gateway = { readonly limits?: AccessLimits; readonly rules?: readonly AccessObjects['access-request-rules'][] };
type Row = readonly [string, JsonObject, Gateway, readonly string[]];

test.each<Row>([
  ['reviewers approve', reviewed, {}, ['strengthens']],
  ['no reviewers approve', {}, {}, []],
  ['the free license', reviewed, { limits: 'none' }, []],
  ['a rule for everybody', reviewed, { rules: [everyone] }, []],
  ['a rule for some groups', reviewed, { rules: [some] }, ['strengthens']],
  ['a rule for commands', reviewed, { rules: [commands] }, ['strengthens']],
  ['a rule by attribute before one by name', { ...reviewed, attributes: ['pii'] }, { rules: [some, byAttribute] }, []],
  ['two rules, of which the one with the lowest id governs', reviewed, { rules: [some, everyone] }, []],
])('a limit of 600 seconds in place of none, on the public gateway: %s', (_, spec, { limits = 'reviewed', rules = [] }, ways) => {
  const live = {
    ...withAccess(stateOf(connection('db', { ...spec, access_max_duration: null })), { 'access-request-rules': rules }),
    longestAccess: 172_800,
    accessLimits: limits,
  };
  const change = changeOf('Connection/db', [fieldOf('/access_max_duration', null, 600)]);
  const protection = protectionOf(
    { target: { name: 't', url: 'http://t', dialect: 'hoop' }, changes: [change], edges: [] },
    live,
    registry,
  );
  expect(protection.headlines.map(({ direction }) => direction)).toEqual(ways);
});

const allModes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };

test.each<Row>([
  ['they approve native access', { ...allModes, ...reviewed }, { limits: 'none' }, ['weakens', 'strengthens']],
  [
    'a rule replaces them for native access, and commands are refused',
    { ...allModes, ...reviewed },
    { limits: 'none', rules: [everyone] },
    [],
  ],
  [
    'a rule replaces them for native access, and they approve commands',
    { ...allModes, ...reviewed },
    { rules: [everyone] },
    ['weakens', 'strengthens'],
  ],
])('other reviewers on the public gateway: %s', (_, spec, { limits = 'reviewed', rules = [] }, ways) => {
  const state = stateOf(connection('db', spec));
  const live = { ...withAccess(state, { 'access-request-rules': rules }), longestAccess: 172_800, accessLimits: limits };
  const change = changeOf('Connection/db', [fieldOf('/reviewers', ['dba'], ['sec'])]);
  const target = { name: 't', url: 'http://t', dialect: 'hoop' };
  const protection = protectionOf({ target, changes: [change], edges: [] }, live, registry);
  expect(protection.headlines.map(({ direction }) => direction)).toEqual(ways);
});

test.each([
  ['it is stricter where reviewers approve', reviewed, 'weakens'],
  ['it has no effect without reviewers', {}, 'none'],
])('the revert of a limit that was set outside Ostiary: %s', (_, spec, effect) => {
  const live = { ...withAccess(stateOf(connection('db', spec))), longestAccess: 172_800, accessLimits: 'reviewed' as const };
  const check = createDriftCheck(liveSnapshot(live, registry, 'hoop'));
  const open = { access_mode_connect: 'enabled', ...spec };
  expect(check('Connection/db', { ...open, access_max_duration: 600 }, { ...open, access_max_duration: null })).toBe(effect);
});

test.each([
  [{ license_info: { type: 'oss' } }, 'none'],
  [{ license_info: { type: 'enterprise' } }, 'reviewed'],
  [{}, 'reviewed'],
])('the public gateway limits access to 48 hours: %j', (body, accessLimits) => {
  const found = readCapabilities({ serverInfo: { status: 200, body, server: '' }, caller: {} });
  expect(found).toMatchObject({ longestAccess: 172_800, accessLimits });
});
