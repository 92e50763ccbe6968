import type { AccessMode, AccessObjects } from '../../../src/model/protection/access-objects.ts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { access } from '../../../src/gateway/dialects/hoop/access.ts';
import { newAccessPhrase } from '../../../src/protection/new-access.ts';
import { postureIn } from '../../../src/protection/posture/posture.ts';
import { liveSnapshot } from '../../../src/protection/posture/protection-snapshot.ts';
import { registry } from '../../../src/kinds/index.ts';
import { type AccessLists, withAccess, runbookRule } from '../../support/access-objects.ts';
import { stateOf } from '../../support/resources.ts';
import { connection, guardrail, masking, types } from './protection-fixtures.ts';
import type { LiveResource } from '../../../src/model/live.ts';

/** An access-request rule as the public gateway sends it: two groups of which one must approve, for all access. */
type ListedRule = AccessObjects['access-request-rules'];

function rule(more: JsonObject = {}): ListedRule {
  const row = { name: 'asks', access_type: 'jit_command', connection_names: ['a'], reviewers_groups: ['sec', 'dba'], min_approvals: 1 };
  return access['access-request-rules'].read({ ...row, ...more });
}

/** Returns the phrase of the headline; without rules, the gateway does not show them. */
function phraseOf(
  spec: JsonObject,
  rules: readonly ListedRule[] | 'unreadable' = 'unreadable',
  others: readonly LiveResource[] = [],
  more: AccessLists = {},
): string | undefined {
  const state = withAccess(stateOf(connection('a', spec), ...others), { 'access-request-rules': rules, ...more });
  const posture = postureIn(liveSnapshot(state, registry, 'hoop'), 'Connection/a');
  return posture && newAccessPhrase(posture);
}

const modes: readonly AccessMode[] = ['connect', 'exec', 'runbooks'];

/** A connection with these modes open and the others closed. */
function open(...names: readonly AccessMode[]): JsonObject {
  return Object.fromEntries(modes.map((mode) => [`access_mode_${mode}`, names.includes(mode) ? 'enabled' : 'disabled']));
}

const without = 'becomes accessible without reviewers, guardrails or masking';

describe('a new connection', () => {
  test.each(modes)('with the mode %s alone and no review is accessible', (mode) => {
    expect(phraseOf(open(mode), [])).toBe(without);
    expect(phraseOf({ ...open(mode), reviewers: ['dba'] }, [])).toBeUndefined();
  });

  test('without an open mode is not accessible', () => {
    expect(phraseOf(open(), [])).toBeUndefined();
  });

  test.each([
    ['a blank group', { reviewers: ['', ' '] }],
    ['no needed approval', { reviewers: ['dba'], min_review_approvals: 0 }],
  ])('with %s as review is accessible', (_, spec) => {
    expect(phraseOf({ ...open('exec'), ...spec }, [])).toBe(without);
  });

  test('that no group sees is accessible to a machine identity, which needs an approval as an admin does', () => {
    const machine = { id: 'm', name: 'deployer', connections: ['a'], attributes: [] };
    const seen = { 'access-control': [], 'machine-identities': [machine] };
    const to = 'becomes accessible to machine identity deployer by native access without review';
    expect(phraseOf(open(...modes), [], [], seen)).toBe(to.replace('review', 'reviewers, guardrails or masking'));
    expect(phraseOf(open(...modes), [rule({ approval_required_groups: ['dev'] })], [], seen)).toBe(
      `${to}, mitigated by access-request rule asks`,
    );
    expect(phraseOf(open(...modes), [rule()], [], seen)).toBeUndefined();
    expect(phraseOf(open('exec'), [], [], seen)).toBeUndefined();
  });

  test('is accessible where the groups that see it cannot be read', () => {
    expect(phraseOf(open('exec'), [], [], { 'access-control': [] })).toBeUndefined();
    expect(phraseOf(open('exec'), [], [], { 'access-control': [], attributes: 'unreadable' })).toBe(
      'becomes accessible without guardrails or masking',
    );
  });

  test('is accessible to members of two groups, of which one sees it and the other runs its runbooks', () => {
    const seen = { 'access-control': [{ id: 'a', name: 'a', groups: ['dba'] }] };
    const runs = runbookRule('nightly', { groups: ['oncall'], connections: ['a'] });
    expect(phraseOf(open('runbooks'), [], [], { ...seen, 'runbook-rules': [runs] })).toContain('becomes accessible to dba');
    expect(phraseOf(open('runbooks'), [], [], { ...seen, 'runbook-rules': [{ ...runs, connections: ['b'] }] })).toBeUndefined();
  });

  test('names the groups that use it without review, not those that need one', () => {
    const seen = { 'access-control': [{ id: 'a', name: 'a', groups: ['dba', 'sre'] }] };
    expect(phraseOf(open('exec'), [rule({ access_type: 'command', skip_review_groups: ['sre'] })], [], seen)).toContain(
      'accessible to sre without',
    );
    expect(phraseOf(open('exec'), [rule({ access_type: 'command', approval_required_groups: ['sre'] })], [], seen)).toContain(
      'accessible to dba without',
    );
  });

  test('names what mitigates beside review', () => {
    const mask = masking('dec-mask', { supported_entity_types: types('IN_VOTER'), score_threshold: 1 }, ['a']);
    const rules = ['g1', 'g2', 'g3', 'g4'].map((name) => guardrail(name, ['zzzzzz'], ['a']));
    expect(phraseOf(open('exec'), [], rules.slice(0, 1))).toBe('becomes accessible without review, mitigated by guardrail g1');
    expect(phraseOf({ ...open('exec'), redact_types: ['IN_VOTER'] }, [], [...rules, mask])).toBe(
      'becomes accessible without review, mitigated by guardrails g1, g2, g3 and 1 more, masking dec-mask, redaction',
    );
  });

  test.each<[what: string, rules: readonly JsonObject[], spec: JsonObject, phrase: string | undefined]>([
    ['a rule for all access', [{}], open(...modes), undefined],
    ['a rule for native access', [{ access_type: 'jit' }], open('connect'), undefined],
    ['a rule for commands', [{ access_type: 'command' }], open('exec', 'runbooks'), undefined],
    ['two rules that share the access', [{ access_type: 'jit' }, { name: 'b', access_type: 'command' }], open(...modes), undefined],
    [
      'a rule for native access alone',
      [{ access_type: 'jit' }],
      open(...modes),
      'becomes accessible by exec and runbooks without review, mitigated by access-request rule asks',
    ],
    [
      'a rule for commands alone',
      [{ access_type: 'command' }],
      open('connect', 'exec'),
      'becomes accessible by native access without review, mitigated by access-request rule asks',
    ],
    ...(
      [
        ['asks only some groups', { approval_required_groups: ['dev'] }],
        ['some groups skip', { skip_review_groups: ['dev'] }],
        ['has no reviewers', { reviewers_groups: [] }],
        ['has blank reviewers', { reviewers_groups: [''] }],
        ['needs no approval', { min_approvals: 0 }],
      ] satisfies readonly [string, JsonObject][]
    ).map(([what, more]): [string, readonly JsonObject[], JsonObject, string] => [
      `a rule that ${what}`,
      [more],
      open('exec'),
      'becomes accessible without review, mitigated by access-request rule asks',
    ]),
    [
      'a rule by attribute that asks some groups, before one by name',
      [{}, { name: 'weak', connection_names: [], attributes: ['pii'], approval_required_groups: ['dev'] }],
      { ...open('exec'), attributes: ['pii'] },
      'becomes accessible without review, mitigated by access-request rule weak',
    ],
    [
      'a rule by attribute that asks all, before one by name',
      [{ approval_required_groups: ['dev'] }, { name: 'strict', connection_names: [], attributes: ['pii'] }],
      { ...open('exec'), attributes: ['pii'] },
      undefined,
    ],
    ['a rule for an unknown access', [{ access_type: 'future' }], open('exec'), without],
    ['a rule on another connection', [{ connection_names: ['b'] }], open('exec'), without],
    [
      'reviewers beside a rule that asks some groups',
      [{ approval_required_groups: ['dev'] }],
      { ...open('exec'), reviewers: ['dba'] },
      undefined,
    ],
  ])('with %s', (_, rows, spec, phrase) => {
    expect(phraseOf(spec, rows.map(rule))).toBe(phrase);
  });

  test('says that access-request rules cannot be read', () => {
    expect(phraseOf(open('exec'))).toBe('becomes accessible without guardrails or masking');
    expect(phraseOf(open('exec'), 'unreadable', [guardrail('g', ['x'], ['a'])])).toBe(
      'becomes accessible without reviewers, with access-request rules that cannot be read, mitigated by guardrail g',
    );
  });
});
