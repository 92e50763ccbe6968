import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { guardrailSpec, sampleResults } from '../rule-fixtures.ts';

type Row = readonly [what: string, spec: JsonObject, sample: JsonObject, outcome: string, found: string];

function expectTrial(kind: string, [, spec, sample, outcome, found]: Row): void {
  expect(sampleResults(kind, spec, [sample]).trials).toMatchObject([{ outcome, found: expect.stringMatching(new RegExp(`^${found}`)) }]);
}

const broken = 'unknown';

describe('guardrails', () => {
  const words = guardrailSpec(['DROP TABLE', 'TRUNCATE']);
  const both = guardrailSpec(['DROP'], ['(?i)delete\\s+from', '^x']);

  test.each<Row>([
    ['a word in the text', words, { input: 'x; DROP TABLE y', expect: 'blocked' }, 'passed', 'blocked by words'],
    ['other letters', words, { input: 'drop table y', expect: 'allowed' }, 'passed', 'allowed'],
    ['other letters, expected to be blocked', words, { input: 'drop table y', expect: 'blocked' }, 'failed', 'allowed'],
    ['a part of a word', words, { input: 'NOTRUNCATED', expect: 'blocked' }, 'passed', 'blocked by words'],
    ['the other side', words, { output: 'DROP TABLE y', expect: 'allowed' }, 'passed', 'allowed'],
    ['the other side, blocked', guardrailSpec(['KEY'], [], 'output'), { output: 'KEY', expect: 'blocked' }, 'passed', 'blocked by words'],
    ['a pattern anywhere', both, { input: 'a; DELETE  FROM b', expect: 'blocked', by: 'pattern-0' }, 'passed', 'blocked by pattern-0'],
    ['an anchored pattern', both, { input: 'ax', expect: 'allowed' }, 'passed', 'allowed'],
    ['by the second that blocks', both, { input: 'xDROP', expect: 'blocked', by: 'pattern-1' }, 'passed', 'blocked by pattern-1'],
    ['by another entry', both, { input: 'DROP', expect: 'blocked', by: 'pattern-1' }, 'failed', 'blocked by words'],
    ['an empty text', both, { input: '', expect: 'allowed' }, 'passed', 'allowed'],
    ['a pattern that RE2 refuses', guardrailSpec([], ['a(?=b)']), { input: 'ab', expect: 'allowed' }, 'failed', broken],
    [
      'such a pattern beside a word that blocks',
      guardrailSpec(['a'], ['a(?=b)']),
      { input: 'ab', expect: 'blocked' },
      'passed',
      'blocked by words',
    ],
    ['an unknown type', { input: { rules: [{ type: 'mine' }] } }, { input: 'a', expect: 'allowed' }, 'not-simulated', broken],
    ['no entries', { input: { rules: [] } }, { input: 'a', expect: 'blocked' }, 'failed', 'allowed'],
    ['nothing at all', {}, { input: 'a', expect: 'allowed' }, 'passed', 'allowed'],
    ['null', { input: null }, { input: 'a', expect: 'allowed' }, 'passed', 'allowed'],
  ])('%s', (...row) => {
    expectTrial('GuardrailRule', row);
  });

  test('a similar entry is suggested for an unknown one', () => {
    const [trial] = sampleResults('GuardrailRule', words, [{ input: 'DROP TABLE', expect: 'blocked', by: 'wrods' }]).trials;
    expect(trial).toMatchObject({ outcome: 'failed', hint: 'did you mean "words"?' });
  });

  test('entries without a name are named by their index', () => {
    const spec = {
      input: {
        rules: [
          { type: 'deny_words_list', words: ['zz'] },
          { type: 'deny_words_list', words: ['aa'] },
        ],
      },
    };
    const { trials } = sampleResults('GuardrailRule', spec, [{ input: 'zz', expect: 'blocked' }]);
    expect(trials).toMatchObject([{ found: 'blocked by input.rules[0] (the word "zz")' }]);
  });
});

function one(regex: string, score: number, threshold: number | null): JsonObject {
  return { score_threshold: threshold, custom_entity_types: [{ name: 'A', score, regex }] };
}

describe('masking', () => {
  const spec = {
    score_threshold: 0.5,
    supported_entity_types: [{ name: 'G', entity_types: ['PERSON'] }],
    custom_entity_types: [
      { name: 'EMP_ID', score: 0.5, regex: 'EMP-[0-9]{3}' },
      { name: 'PROJECT', score: 1, deny_list: ['Bluebird', 'Copper Kettle'] },
      { name: 'LOW', score: 0.4, regex: 'low' },
    ],
  };

  test.each<Row>([
    ['a pattern', spec, { text: 'see EMP-123', finds: ['EMP_ID'] }, 'passed', 'EMP_ID'],
    ['a word', spec, { text: 'the Copper Kettle.', finds: ['PROJECT'] }, 'passed', 'PROJECT'],
    ['a part of a word', spec, { text: 'Bluebirds', finds: [] }, 'passed', 'nothing'],
    ['other letters', spec, { text: 'bluebird', finds: ['PROJECT'] }, 'failed', 'nothing'],
    ['a score below the threshold', spec, { text: 'low', finds: ['LOW'] }, 'failed', 'nothing'],
    ['a score at the threshold', one('a', 0.5, 0.5), { text: 'a', finds: ['A'] }, 'passed', 'A'],
    ['no threshold', one('a', 0.1, null), { text: 'a', finds: ['A'] }, 'passed', 'A'],
    ['a registered type', spec, { text: 'Ada EMP-123', finds: ['PERSON', 'EMP_ID'] }, 'not-simulated', 'EMP_ID'],
    ['a registered type, and a custom one that is not found', spec, { text: 'Ada', finds: ['PERSON', 'EMP_ID'] }, 'failed', 'nothing'],
    ['more than expected', spec, { text: 'EMP-123 Bluebird', finds: ['EMP_ID'] }, 'failed', 'EMP_ID, PROJECT'],
    ['a type that the rule has not', spec, { text: 'x', finds: ['IBAN_CODE'] }, 'failed', 'nothing'],
    ['nothing', spec, { text: 'x', finds: [] }, 'passed', 'nothing'],
    ['a pattern of another engine', one('(?<=x)a', 1, 0.5), { text: 'xa', finds: ['A'] }, 'not-simulated', 'nothing'],
    ['the same of a text without it', one('(?<=x)a', 1, 0.5), { text: 'b', finds: [] }, 'not-simulated', 'nothing'],
  ])('%s', (...row) => {
    expectTrial('DataMaskingRule', row);
  });

  test('registered types are listed', () => {
    expect(sampleResults('DataMaskingRule', spec, [{ text: 'EMP-123', finds: ['EMP_ID'] }])).toMatchObject({
      notSimulated: ['PERSON'],
    });
  });
});
