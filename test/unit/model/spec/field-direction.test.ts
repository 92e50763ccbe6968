import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { directionOf, combineDirections, specDirection, verdictOf, type Direction } from '../../../../src/model/spec/direction.ts';
import type { FieldRule } from '../../../../src/model/kind.ts';
import type { Json } from '../../../../src/model/json.ts';
import { normalizeObject } from '../../../../src/model/spec/normalize.ts';
import type { Value } from '../../../../src/model/plan/plan.ts';
import type { ProtectionVerdict } from '../../../../src/model/protection/protection.ts';
import { kindOf } from '../../../../src/model/resource.ts';
import { compareSpecs } from '../../../../src/reconcile/diff/compare-specs.ts';
import { runCount } from '../../../support/property-runs.ts';
import { scenario } from '../../../support/scenario.ts';

function fieldsOf(name: string): readonly FieldRule[] {
  const kind = registry.get(name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind.fields;
}

function sideOf(value: Json | undefined): Value {
  return value === undefined ? { absent: true } : { value };
}

const nothing = undefined;
const reversed: Readonly<Record<ProtectionVerdict, ProtectionVerdict>> = {
  weakens: 'strengthens',
  strengthens: 'weakens',
  both: 'both',
  neutral: 'neutral',
  unknown: 'unknown',
};
const word = { name: 'a', type: 'deny_words_list', words: ['DROP'], pattern_regex: '' };
const custom = { name: 'EMP', score: 0.5, deny_list: [], regex: 'E[0-9]+' };

describe('directionOf', () => {
  it.each<[string, string, Json | undefined, Json | undefined, ProtectionVerdict]>([
    ['Connection', '/reviewers/dba', nothing, 'dba', 'strengthens'],
    ['Connection', '/reviewers', ['a'], ['a', 'b'], 'strengthens'],
    ['Connection', '/reviewers', ['a'], ['b'], 'both'],
    ['Connection', '/force_approve_groups/sre', nothing, 'sre', 'weakens'],
    ['Connection', '/min_review_approvals', 1, 2, 'strengthens'],
    ['Connection', '/min_review_approvals', 1, null, 'strengthens'],
    ['Connection', '/redact_types/PERSON', nothing, 'PERSON', 'strengthens'],
    ['Connection', '/redact_enabled', false, true, 'strengthens'],
    ['Connection', '/access_mode_connect', 'enabled', 'disabled', 'strengthens'],
    ['Connection', '/access_mode_exec', 'enabled', 'disabled', 'strengthens'],
    ['Connection', '/access_mode_runbooks', 'enabled', 'disabled', 'strengthens'],
    ['Connection', '/access_schema', 'enabled', 'disabled', 'strengthens'],
    ['Connection', '/access_max_duration', 3600, 60, 'strengthens'],
    ['Connection', '/access_max_duration', null, 60, 'strengthens'],
    ['Connection', '/mandatory_metadata_fields/ticket', nothing, 'ticket', 'strengthens'],
    ['Connection', '/attributes/pci', nothing, 'pci', 'strengthens'],
    ['Connection', '/connection_tags/env', 'dev', 'prod', 'neutral'],
    ['Connection', '/connection_tags/env', nothing, 'prod', 'neutral'],
    ['Connection', '/command', ['bash'], ['sh'], 'neutral'],
    ['Connection', '/agent_id', 'default', 'other', 'neutral'],
    ['Connection', '/subtype', 'mysql', 'postgres', 'neutral'],
    ['Connection', '/something_new', 1, 2, 'unknown'],
    ['GuardrailRule', '/input/rules/a', nothing, word, 'strengthens'],
    ['GuardrailRule', '/output/rules/a~1b', nothing, word, 'strengthens'],
    ['GuardrailRule', '/input/rules/a', word, 'odd', 'unknown'],
    ['GuardrailRule', '/input/rules/a/words/DROP', nothing, 'DROP', 'strengthens'],
    ['GuardrailRule', '/input/rules/a/pattern_regex', 'a+', 'a*', 'unknown'],
    ['GuardrailRule', '/input/rules/a/type', 'deny_words_list', 'pattern_match', 'unknown'],
    ['GuardrailRule', '/input/rules/a/later', nothing, 'x', 'unknown'],
    ['GuardrailRule', '/input', { rules: [] }, { rules: [word] }, 'strengthens'],
    ['GuardrailRule', '/input/rules', [], [word], 'strengthens'],
    ['GuardrailRule', '/description', 'x', 'y', 'neutral'],
    ['DataMaskingRule', '/score_threshold', 0.8, 0.5, 'strengthens'],
    ['DataMaskingRule', '/score_threshold', null, 0.5, 'unknown'],
    ['DataMaskingRule', '/supported_entity_types/CONTACT', nothing, { name: 'CONTACT', entity_types: ['URL'] }, 'strengthens'],
    ['DataMaskingRule', '/supported_entity_types/CONTACT/entity_types/URL', nothing, 'URL', 'strengthens'],
    ['DataMaskingRule', '/custom_entity_types/EMP', nothing, custom, 'strengthens'],
    ['DataMaskingRule', '/custom_entity_types/EMP/deny_list/x', nothing, 'x', 'strengthens'],
    ['DataMaskingRule', '/custom_entity_types/EMP/score', 0.3, 0.5, 'strengthens'],
    ['DataMaskingRule', '/custom_entity_types/EMP/regex', 'a', 'b', 'unknown'],
    ['RunbookConfiguration', '/git_hook_ttl', 0, 60, 'neutral'],
  ])('%s %s: %j → %j %s', (kind, path, before, after, expected) => {
    const fields = fieldsOf(kind);
    const there = { path, before: sideOf(before), after: sideOf(after) };
    const back = { path, before: sideOf(after), after: sideOf(before) };
    expect([verdictOf(directionOf(fields, there)), verdictOf(directionOf(fields, back))]).toEqual([expected, reversed[expected]]);
  });

  const hidden: Value = { unknown: 'not shown' };
  it.each<[string, string, Value, Value, ProtectionVerdict]>([
    ['Connection', '/reviewers/dba', hidden, { value: 'dba' }, 'unknown'],
    ['Connection', '/reviewers', hidden, { value: ['dba'] }, 'unknown'],
    ['Connection', '/access_max_duration', { value: 60 }, hidden, 'unknown'],
    ['Connection', '/command', hidden, { value: ['sh'] }, 'neutral'],
    ['Connection', '/connection_tags/env', hidden, { value: 'prod' }, 'neutral'],
    ['GuardrailRule', '/input', hidden, { value: { rules: [] } }, 'unknown'],
    ['GuardrailRule', '/input/rules/a/type', hidden, { value: 'pattern_match' }, 'unknown'],
    ['Connection', '/secret/envvar:PASS', { secret: 'live', state: 'differs' }, { secret: 'inline', state: 'set' }, 'neutral'],
    ['Connection', '/secret/envvar:PASS', { absent: true }, { secret: 'env:PASS', state: 'set' }, 'neutral'],
    ['Connection', '/reviewers/dba', { absent: true }, { absent: true }, 'neutral'],
  ])('%s %s: %j → %j %s', (kind, path, before, after, expected) => {
    expect(verdictOf(directionOf(fieldsOf(kind), { path, before, after }))).toBe(expected);
  });
});

describe('reviewers with a required number', () => {
  const fields = fieldsOf('Connection');
  const more = { path: '/reviewers/sre', before: { absent: true }, after: { value: 'sre' } } as const;

  it.each<[Json, Direction]>([
    [null, { strengthens: true, weakens: false }],
    [1, { strengthens: true, weakens: true, incomparable: true }],
  ])('with min_review_approvals %j', (enough, expected) => {
    const live = { reviewers: ['dba'], min_review_approvals: enough };
    expect(directionOf(fields, more, live)).toEqual(expected);
    expect(specDirection(fields, live, { ...live, reviewers: ['dba', 'sre'] })).toEqual(expected);
    expect(specDirection(fields, live, live)).toEqual({ strengthens: false, weakens: false });
  });
});

function reverse({ strengthens, weakens, ...rest }: Direction): Direction {
  return { strengthens: weakens, weakens: strengthens, ...rest };
}

test('a change and its inverse swap gains and losses, and the fields add up to the spec', () => {
  fc.assert(
    fc.property(scenario, ({ live }) => {
      for (const one of live) {
        for (const other of live) {
          if (kindOf(one.id) !== kindOf(other.id)) continue;
          const fields = fieldsOf(kindOf(one.id));
          const [before, after] = [normalizeObject(fields, one.spec ?? {}), normalizeObject(fields, other.spec ?? {})];
          const compared = fields.filter((field) => field.secret === undefined && field.edge === undefined);
          const changes = compareSpecs(compared, after, before, []);
          const directions = changes.map((change) => directionOf(fields, change));
          const inverses = changes.map((change) => directionOf(fields, { ...change, before: change.after, after: change.before }));
          expect(inverses).toEqual(directions.map(reverse));
          expect(combineDirections(directions)).toEqual(specDirection(fields, before, after));
        }
      }
    }),
    { numRuns: runCount(100) },
  );
});
