import { expect, test } from 'vitest';
import { readCapabilities } from '../../../src/gateway/dialects/hoop/handshake.ts';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { AccessLimits, AccessRule } from '../../../src/model/live.ts';
import { createDriftCheck } from '../../../src/protection/stricter-drift.ts';
import { liveSnapshot } from '../../../src/protection/posture/protection-snapshot.ts';
import { protectionOf } from '../../../src/protection/protection.ts';
import { stateOf } from '../../support/resources.ts';
import { changeOf, connection, fieldOf } from './protection-fixtures.ts';

const everyone: AccessRule = { name: 'r', connections: ['db'], attributes: [], text: '', modes: ['connect'], reviewsAll: true };
const some: AccessRule = { ...everyone, name: 's', reviewsAll: false };
const commands: AccessRule = { ...everyone, name: 'c', modes: ['exec', 'runbooks'] };
const byAttribute: AccessRule = { ...everyone, name: 'a', connections: [], attributes: ['pii'] };
const reviewed = { reviewers: ['dba'] };

type Gateway = { readonly limits?: AccessLimits; readonly rules?: readonly AccessRule[] };
type Row = readonly [string, JsonObject, Gateway, readonly string[]];

test.each<Row>([
  ['reviewers approve', reviewed, {}, ['strengthens']],
  ['no reviewers approve', {}, {}, []],
  ['the free license', reviewed, { limits: 'none' }, []],
  ['a rule for everybody', reviewed, { rules: [everyone] }, []],
  ['a rule for some groups', reviewed, { rules: [some] }, ['strengthens']],
  ['a rule for commands', reviewed, { rules: [commands] }, ['strengthens']],
  ['a rule by attribute before one by name', { ...reviewed, attributes: ['pii'] }, { rules: [some, byAttribute] }, []],
  ['two rules, of which either may govern', reviewed, { rules: [everyone, some] }, ['unknown']],
])('a limit of 600 seconds in place of none, on the public gateway: %s', (_, spec, { limits = 'reviewed', rules = [] }, ways) => {
  const live = {
    ...stateOf(connection('db', { ...spec, access_max_duration: null })),
    accessRules: rules,
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
  expect((protection.impact ?? []).map(({ direction }) => direction)).toEqual(
    ways.length === 0 ? [] : ways[0] === 'unknown' ? ['strengthens'] : ways,
  );
});

test.each([
  ['it is stricter where reviewers approve', reviewed, 'stricter'],
  ['it has no effect without reviewers', {}, 'other'],
])('a limit that was set outside Ostiary: %s', (_, spec, verdict) => {
  const live = { ...stateOf(connection('db', spec)), accessRules: [], longestAccess: 172_800, accessLimits: 'reviewed' as const };
  const check = createDriftCheck(liveSnapshot(live, registry, 'hoop'));
  const open = { access_mode_connect: 'enabled', ...spec };
  expect(check('Connection/db', { ...open, access_max_duration: 600 }, { ...open, access_max_duration: null })).toBe(verdict);
});

test.each([
  [{ license_info: { type: 'oss' } }, 'none'],
  [{ license_info: { type: 'enterprise' } }, 'reviewed'],
  [{}, 'reviewed'],
])('the public gateway limits access to 48 hours: %j', (body, accessLimits) => {
  const found = readCapabilities({ serverInfo: { status: 200, body, server: '' }, caller: {} });
  expect(found).toMatchObject({ longestAccess: 172_800, accessLimits });
});
