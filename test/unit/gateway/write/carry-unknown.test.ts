import { describe, expect, it } from 'vitest';
import { carryUnknown } from '../../../../src/gateway/write/write.ts';
import { registry } from '../../../../src/kinds/index.ts';
import type { Json } from '../../../../src/model/json.ts';

function carry(value: Json, stored: Json | undefined): Json {
  const rule = registry.get('GuardrailRule')?.fields.find(({ name }) => name === 'input');
  if (rule === undefined) throw new Error('no such field');
  return carryUnknown(rule, value, stored);
}

const words = { type: 'deny_words_list', words: ['DROP'], pattern_regex: '' };

describe('carryUnknown', () => {
  it.each<[string, Json, Json | undefined, Json]>([
    ['of an object', { rules: [] }, { rules: [], vendor: 1 }, { rules: [], vendor: 1 }],
    [
      'of an entry of the same name',
      { rules: [{ ...words, name: 'a' }] },
      { rules: [{ name: 'a', severity: 'high' }] },
      { rules: [{ ...words, name: 'a', severity: 'high' }] },
    ],
    [
      'of an entry of the same content',
      { rules: [{ ...words, name: '' }] },
      { rules: [{ type: 'other' }, { ...words, severity: 'high' }] },
      { rules: [{ ...words, severity: 'high' }] },
    ],
    [
      'of no entry that is another',
      { rules: [{ ...words, name: 'a' }] },
      { rules: [{ name: 'b', severity: 'high' }] },
      { rules: [{ ...words, name: 'a' }] },
    ],
    [
      'of no entry where two are the same',
      { rules: [words] },
      {
        rules: [
          { ...words, severity: 'x' },
          { ...words, severity: 'y' },
        ],
      },
      { rules: [words] },
    ],
    ['of nothing', { rules: [{ ...words, name: '' }] }, undefined, { rules: [words] }],
    [
      'unless the value has them itself',
      { rules: [{ ...words, name: 'a', severity: 'yes' }] },
      { rules: [{ name: 'a', severity: 'high' }] },
      { rules: [{ ...words, name: 'a', severity: 'yes' }] },
    ],
  ])('carries keys %s', (_, value, stored, expected) => {
    expect(carry(value, stored)).toEqual(expected);
  });
});
