import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  analyzerTerms,
  mayAsk,
  mayRunFile,
  reaches,
  termsOf,
  type AccessConnection,
  type AccessState,
  type RequestRule,
  type Subject,
  type NeededApproval,
  type Terms,
} from './access-model.ts';

test('the model of access imports nothing that it judges', () => {
  const imports = [...readFileSync('test/model/access-model.ts', 'utf8').matchAll(/from '([^']*)'/g)].map((match) => match[1]);
  expect(imports).toEqual([]);
});

const plain: AccessConnection = {
  open: ['connect', 'exec', 'runbooks'],
  attributes: [],
  reviewers: [],
  minApprovals: null,
  forcing: [],
  longest: null,
};
const rule: RequestRule = {
  id: '5',
  name: 'asks',
  type: 'jit_command',
  connections: ['db'],
  attributes: [],
  required: [],
  skipped: [],
  reviewers: ['sec', 'sre'],
  forcing: [],
  mustAllApprove: false,
  minApprovals: 1,
  longest: 900,
};

function stateOf(own: Partial<AccessConnection>, rest: Partial<AccessState> = {}): AccessState {
  const nothing = { rows: undefined, granted: {}, rules: [], runbookRules: [], analyzers: [], machines: [] };
  return { license: 'enterprise', ...nothing, connections: { db: { ...plain, ...own } }, ...rest };
}

const dev: Subject = { groups: ['dev'] };
const admin: Subject = { groups: ['admin'] };
const robot: Subject = { groups: [], machine: { name: 'robot', connections: ['db'], attributes: [] } };
const byRule = (needed: number, reviewers = rule.reviewers, forcing: readonly string[] = []): NeededApproval => ({
  reviewers,
  needed,
  forcing,
});

const reachRows: readonly (readonly [string, AccessState, Subject, boolean])[] = [
  ['without access control', stateOf({}), { groups: [] }, true],
  ['with a row', stateOf({}, { rows: { db: ['dev'] } }), dev, true],
  ['with an empty row', stateOf({}, { rows: { db: [] } }), dev, false],
  ['without a row', stateOf({}, { rows: {} }), dev, false],
  ['of an auditor without a row', stateOf({}, { rows: {} }), { groups: ['auditor'] }, true],
  ['by an attribute', stateOf({ attributes: ['pii'] }, { rows: {}, granted: { pii: ['dev'] } }), dev, true],
  ['by another case', stateOf({}, { rows: { db: ['Dev'] } }), dev, false],
  [
    'of a machine identity that names it',
    stateOf({}, { rows: {}, machines: [{ name: 'robot', connections: ['db'], attributes: [] }] }),
    robot,
    true,
  ],
  ['of a machine identity that is gone', stateOf({}, { rows: {} }), robot, false],
  [
    'of a machine identity that does not name it',
    stateOf({}, { machines: [{ name: 'robot', connections: [], attributes: ['pii'] }] }),
    robot,
    false,
  ],
];

test.each(reachRows)('the model of access: reach %s', (_, state, subject, expected) => {
  expect(reaches(state, subject, 'db')).toBe(expected);
});

const legacy = { reviewers: ['lead', 'sec'], forcing: ['boss'], longest: 3600 };

type TermsRow = readonly [string, AccessState, Subject, 'connect' | 'exec' | 'credential', Terms];
const termsRows: readonly TermsRow[] = [
  ['nothing is asked', stateOf({}), dev, 'exec', { refused: false, longest: Infinity }],
  ['reviewers', stateOf(legacy), dev, 'connect', { refused: false, approval: byRule(2, ['lead', 'sec'], ['boss']), longest: 3600 }],
  [
    'reviewers of whom one is enough',
    stateOf({ ...legacy, minApprovals: 1 }),
    admin,
    'exec',
    { refused: false, approval: byRule(1, ['lead', 'sec'], ['boss']), longest: Infinity },
  ],
  [
    'reviewers without an own limit',
    stateOf({ ...legacy, longest: null }),
    dev,
    'connect',
    { refused: false, approval: byRule(2, ['lead', 'sec'], ['boss']), longest: 172_800 },
  ],
  ['reviewers on the free license, exec', stateOf(legacy, { license: 'free' }), dev, 'exec', { refused: true, longest: 0 }],
  [
    'reviewers on the free license, connect',
    stateOf(legacy, { license: 'free' }),
    dev,
    'connect',
    { refused: false, approval: byRule(2, ['lead', 'sec'], ['boss']), longest: 172_800 },
  ],
  [
    'a rule instead of reviewers',
    stateOf(legacy, { rules: [rule] }),
    admin,
    'connect',
    { refused: false, approval: byRule(1), longest: 900 },
  ],
  [
    'a rule on the free license',
    stateOf(legacy, { license: 'free', rules: [rule] }),
    dev,
    'exec',
    { refused: false, approval: byRule(1), longest: Infinity },
  ],
  [
    'a rule for other groups',
    stateOf(legacy, { rules: [{ ...rule, required: ['ops'] }] }),
    dev,
    'connect',
    { refused: false, approval: byRule(2, ['lead', 'sec'], ['boss']), longest: 3600 },
  ],
  [
    'a rule for an own group',
    stateOf(legacy, { rules: [{ ...rule, required: ['dev'] }] }),
    dev,
    'exec',
    { refused: false, approval: byRule(1), longest: Infinity },
  ],
  [
    'a rule that is skipped, and reviewers',
    stateOf(legacy, { rules: [{ ...rule, skipped: ['dev'] }] }),
    dev,
    'connect',
    { refused: false, approval: byRule(2, ['lead', 'sec'], ['boss']), longest: 900 },
  ],
  ['a rule that is skipped', stateOf({}, { rules: [{ ...rule, skipped: ['dev'] }] }), dev, 'connect', { refused: false, longest: 900 }],
  ['a rule of the other step', stateOf({}, { rules: [{ ...rule, type: 'jit' }] }), dev, 'exec', { refused: false, longest: Infinity }],
  [
    'all groups of a rule',
    stateOf({}, { rules: [{ ...rule, mustAllApprove: true }] }),
    dev,
    'exec',
    { refused: false, approval: byRule(2), longest: Infinity },
  ],
  [
    'more approvals than groups',
    stateOf({}, { rules: [{ ...rule, minApprovals: 9 }] }),
    dev,
    'exec',
    { refused: false, approval: byRule(2), longest: Infinity },
  ],
  [
    'a rule by attribute before one by name',
    stateOf(
      { attributes: ['pii'] },
      {
        rules: [
          { ...rule, id: '1' },
          { ...rule, connections: [], attributes: ['pii'], reviewers: ['dpo'] },
        ],
      },
    ),
    dev,
    'exec',
    { refused: false, approval: byRule(1, ['dpo']), longest: Infinity },
  ],
  [
    'the rule with the lowest id',
    stateOf({}, { rules: [rule, { ...rule, id: '4', reviewers: ['dpo'] }] }),
    dev,
    'exec',
    { refused: false, approval: byRule(1, ['dpo']), longest: Infinity },
  ],
  ['a machine identity', stateOf({}, { rules: [{ ...rule, required: ['dev'] }] }), robot, 'connect', { refused: false, longest: Infinity }],
  [
    'a machine identity and a rule for all',
    stateOf({}, { rules: [rule] }),
    robot,
    'connect',
    { refused: false, approval: byRule(1), longest: 900 },
  ],
  ['a credential with reviewers', stateOf(legacy, { rules: [rule] }), dev, 'credential', { refused: true, longest: 0 }],
  ['a credential for ever', stateOf({}), dev, 'credential', { refused: false, longest: Infinity }],
  [
    'a credential by a rule for other groups',
    stateOf({}, { rules: [{ ...rule, required: ['ops'] }] }),
    dev,
    'credential',
    { refused: false, approval: byRule(1), longest: 900 },
  ],
  [
    'a credential of skipped groups',
    stateOf({}, { rules: [{ ...rule, skipped: ['dev'], longest: null }] }),
    dev,
    'credential',
    { refused: false, longest: 172_800 },
  ],
  [
    'a credential by a number although all must approve',
    stateOf({}, { rules: [{ ...rule, mustAllApprove: true }] }),
    dev,
    'credential',
    { refused: false, approval: byRule(1), longest: 900 },
  ],
];

test.each(termsRows)('the model of access: %s', (_, state, subject, request, expected) => {
  expect(termsOf(state, subject, 'db', request)).toEqual(expected);
});

test('the model of access: who may ask at all, and which files', () => {
  const auditor = { groups: ['auditor'] };
  expect((['connect', 'exec', 'runbooks', 'credential'] as const).map((one) => mayAsk(stateOf({}), auditor, 'db', one))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(mayAsk(stateOf({ open: ['exec'] }), dev, 'db', 'credential')).toBe(false);
  const file = { repository: 'r', name: 'OPS_report.py' };
  const allowed = { groups: ['dev'], connections: ['db'], files: [{ repository: 'r', name: 'ops' }] };
  const may = (one: Partial<typeof allowed>, subject = dev): boolean =>
    mayRunFile(stateOf({}, { runbookRules: [{ ...allowed, ...one }] }), subject, 'db', file);
  expect(may({})).toBe(true);
  expect(may({ files: [{ repository: 'r', name: '%s_rep' }] })).toBe(true);
  expect(may({ files: [{ repository: 'other', name: 'ops' }] })).toBe(false);
  expect(may({ groups: ['dba'] })).toBe(false);
  expect(may({ groups: ['dba'] }, admin)).toBe(true);
  expect(may({ connections: ['other'] })).toBe(false);
  expect(may({ groups: [], connections: [], files: [] })).toBe(true);
  expect(mayRunFile(stateOf({}), dev, 'db', file)).toBe(true);
});

test('the model of access: what the analyzer adds', () => {
  const tier = { action: 'allow_execution', rule: null };
  const risk = { low: tier, medium: { action: 'block_execution', rule: null }, high: { action: 'require_access_request', rule: 'asks' } };
  const named = { id: '2', connections: ['db'], attributes: [], risk };
  const attached = { id: '1', connections: [], attributes: ['pii'], risk: { low: tier, medium: tier, high: tier } };
  const state = stateOf({ attributes: ['pii'] }, { rules: [{ ...rule, connections: [] }], analyzers: [attached, named] });
  expect(analyzerTerms(state, 'db', 'low')).toEqual({ refused: false, longest: Infinity });
  expect(analyzerTerms(state, 'db', 'medium')).toMatchObject({ refused: true });
  expect(analyzerTerms(state, 'db', 'high')).toMatchObject({ refused: false, approval: byRule(1) });
  expect(analyzerTerms({ ...state, rules: [] }, 'db', 'high')).toMatchObject({ refused: true });
  expect(analyzerTerms({ ...state, analyzers: [attached] }, 'db', 'medium')).toMatchObject({ refused: false });
});
