import type { AccessMode, AccessState } from '../../../../src/model/protection/access-objects.ts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { accessLookup } from '../../../../src/protection/access/access-index.ts';
import {
  accessOf,
  canUse,
  type ConnectionAccess,
  memberSorts,
  type NeededReview,
  reviewFor,
  seesConnection,
} from '../../../../src/protection/access/effective-access.ts';
import { ownApproval } from '../../../../src/protection/controls/connection-rows.ts';
import { accessState, requestRule, runbookRule } from '../../../support/access-objects.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
const day = 86_400;

function accessTo(state: Partial<AccessState>, spec: JsonObject = {}, license: 'none' | 'reviewed' = 'reviewed'): ConnectionAccess {
  const whole = { ...open, ...spec };
  return accessOf({
    spec: whole,
    own: ownApproval(whole),
    facts: accessLookup(accessState(state))('db', whole),
    license,
    longest: 2 * day,
  });
}

const row = (...groups: readonly string[]): Partial<AccessState> => ({ 'access-control': [{ id: 'uid', name: 'db', groups }] });
const attribute = { id: 'a', connections: [], access_request_rules: [], guardrail_rules: [], masking_rules: [], managed_by: '' };

describe('who sees a connection', () => {
  test.each<readonly [string, Partial<AccessState>, JsonObject, readonly string[], boolean]>([
    ['access control is off', {}, {}, [], true],
    ['a row without groups', row(), {}, ['dev'], false],
    ['no row', { 'access-control': [] }, {}, ['dev'], false],
    ['a row with the group', row('dev'), {}, ['dev'], true],
    ['a row with another case of the group', row('Dev'), {}, ['dev'], false],
    ['one of several groups', row('dev'), {}, ['ops', 'dev'], true],
    ['an admin', row(), {}, ['admin'], true],
    ['an auditor', row(), {}, ['auditor'], true],
    [
      'an attribute that grants',
      { ...row(), attributes: [{ ...attribute, name: 'pii', groups: ['dev'] }] },
      { attributes: ['pii'] },
      ['dev'],
      true,
    ],
    ['an attribute of other connections', { ...row(), attributes: [{ ...attribute, name: 'pii', groups: ['dev'] }] }, {}, ['dev'], false],
    [
      'an attribute that the gateway manages',
      { ...row(), attributes: [{ ...attribute, name: 'profile', groups: ['dev'], connections: ['db'], managed_by: 'hoop' }] },
      {},
      ['dev'],
      true,
    ],
  ])('%s', (_, state, spec, member, sees) => {
    expect(seesConnection(accessTo(state, spec), member)).toBe(sees);
  });
});

describe('who can use a mode', () => {
  const ops = { 'runbook-rules': [runbookRule('r', { groups: ['ops'], connections: ['db'] })] };
  test.each<readonly [string, Partial<AccessState>, JsonObject, readonly string[], AccessMode, boolean]>([
    ['an open mode', {}, {}, [], 'exec', true],
    ['a closed mode', {}, { access_mode_exec: 'disabled' }, [], 'exec', false],
    ['a closed mode, an admin', {}, { access_mode_exec: 'disabled' }, ['admin'], 'exec', false],
    ['an auditor', {}, {}, ['auditor'], 'exec', false],
    ['an auditor who is an admin', {}, {}, ['auditor', 'admin'], 'exec', true],
    ['no runbook rule', {}, {}, [], 'runbooks', true],
    ['a runbook rule of another group', ops, {}, ['dev'], 'runbooks', false],
    ['a runbook rule of the group', ops, {}, ['ops'], 'runbooks', true],
    ['a runbook rule of another group, an admin', ops, {}, ['admin'], 'runbooks', true],
    [
      'a runbook rule of another connection',
      { 'runbook-rules': [runbookRule('r', { connections: ['other'] })] },
      {},
      ['ops'],
      'runbooks',
      false,
    ],
    ['a runbook rule of everything', { 'runbook-rules': [runbookRule('r')] }, {}, [], 'runbooks', true],
    ['a runbook rule says nothing about commands', ops, {}, ['dev'], 'exec', true],
  ])('%s', (_, state, spec, member, mode, can) => {
    expect(canUse(accessTo(state, spec), member, mode)).toBe(can);
  });
});

function requestRules(...all: readonly ReturnType<typeof requestRule>[]): Partial<AccessState> {
  return { 'access-request-rules': all };
}

describe('what a person needs', () => {
  const named = { connections: ['db'] };
  const dba = { groups: ['dba'], needed: 1, force: [] };
  const byRule = { groups: ['sec', 'dba'], needed: 1, force: [] };
  const free: NeededReview = { by: undefined, rule: undefined, longest: Number.POSITIVE_INFINITY };
  test.each<readonly [string, Partial<AccessState>, JsonObject, readonly string[], 'jit' | 'command', NeededReview]>([
    ['nothing', {}, {}, [], 'jit', free],
    ['reviewers', {}, { reviewers: ['dba'] }, [], 'jit', { by: dba, rule: undefined, longest: 2 * day }],
    ['reviewers and a limit', {}, { reviewers: ['dba'], access_max_duration: 60 }, [], 'jit', { by: dba, rule: undefined, longest: 60 }],
    ['blank reviewers', {}, { reviewers: [' '] }, [], 'jit', free],
    [
      'a rule instead of reviewers',
      requestRules(requestRule('r', named)),
      { reviewers: ['dba'] },
      [],
      'jit',
      { by: byRule, rule: 'r', longest: 2 * day },
    ],
    ['a rule of another step', requestRules(requestRule('r', { ...named, access_type: 'jit' })), {}, [], 'command', free],
    ['a rule of another connection', requestRules(requestRule('r', { connections: ['other'] })), {}, [], 'jit', free],
    [
      'a rule that asks the group',
      requestRules(requestRule('r', { ...named, approval_required_groups: ['dev'] })),
      {},
      ['dev'],
      'jit',
      { by: byRule, rule: 'r', longest: 2 * day },
    ],
    [
      'a rule that asks another group, with reviewers',
      requestRules(requestRule('r', { ...named, approval_required_groups: ['dev'] })),
      { reviewers: ['dba'] },
      ['ops'],
      'jit',
      { by: dba, rule: undefined, longest: 2 * day },
    ],
    [
      'a rule that the group skips',
      requestRules(requestRule('r', { ...named, skip_review_groups: ['ops'] })),
      {},
      ['ops'],
      'jit',
      { ...free, longest: 2 * day },
    ],
    [
      'a rule that the group skips, with reviewers and a limit of the rule',
      requestRules(requestRule('r', { ...named, skip_review_groups: ['ops'], access_max_duration: 60 })),
      { reviewers: ['dba'] },
      ['ops'],
      'jit',
      { by: dba, rule: undefined, longest: 60 },
    ],
    [
      'a rule by attribute before one by name',
      requestRules(requestRule('a', named), requestRule('z', { attributes: ['pii'], access_max_duration: 60 })),
      { attributes: ['pii'] },
      [],
      'jit',
      { by: byRule, rule: 'z', longest: 60 },
    ],
    [
      'the lowest id of two by name',
      requestRules(requestRule('b', { ...named, id: '2' }), requestRule('c', { ...named, id: '1' })),
      {},
      [],
      'jit',
      { by: byRule, rule: 'c', longest: 2 * day },
    ],
    [
      'a rule without reviewers',
      requestRules(requestRule('r', { ...named, reviewers_groups: [], approvals: 0 })),
      {},
      [],
      'jit',
      { by: undefined, rule: 'r', longest: 2 * day },
    ],
  ])('%s', (_, state, spec, member, step, needed) => {
    expect(reviewFor(accessTo(state, spec), member, step)).toEqual(needed);
  });

  test.each<readonly [string, Partial<AccessState>, JsonObject, 'jit' | 'command', NeededReview]>([
    ['reviewers, a command', {}, { reviewers: ['dba'] }, 'command', { by: 'refused', rule: undefined, longest: 2 * day }],
    [
      'reviewers and a limit, native access',
      {},
      { reviewers: ['dba'], access_max_duration: 60 },
      'jit',
      { by: dba, rule: undefined, longest: 2 * day },
    ],
    ['a rule, a command', requestRules(requestRule('r', named)), {}, 'command', { by: byRule, rule: 'r', longest: 2 * day }],
  ])('on the free license: %s', (_, state, spec, step, needed) => {
    expect(reviewFor(accessTo(state, spec, 'none'), [], step)).toEqual(needed);
  });
});

test('people differ by all groups that decide, also together', () => {
  const rule = requestRule('r', { connections: ['db'], approval_required_groups: ['dev', 'data'], skip_review_groups: ['ops'] });
  expect(memberSorts(accessTo({ 'access-request-rules': [rule] }))).toEqual([
    { member: [], groups: [], places: [] },
    { member: ['dev'], groups: ['dev', 'data'], places: [['dev', 'data']] },
    { member: ['ops'], groups: ['ops'], places: [['ops']] },
    { member: ['dev', 'ops'], groups: [], places: [['dev', 'data'], ['ops']] },
    { member: ['admin'], groups: ['admin'], places: [['admin']] },
  ]);
});
