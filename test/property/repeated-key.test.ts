import { array, assert, boolean, constantFrom, json, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedKey } from '../../src/reconcile/saved-plan/saved-plan.ts';

const written = json({ maxDepth: 6 });
const key = oneof(string(), constantFrom('__proto__', '"', '\\', '\\"', ':', '{', 'a'));

test('no text written from a value has a repeated key', () => {
  assert(
    property(written, constantFrom(0, 2), (text, indent) => {
      expect(repeatedKey(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined();
    }),
  );
});

test('a repeated key of one object is found at any depth and in any spelling', () => {
  assert(
    property(key, array(written, { maxLength: 3 }), written, boolean(), (name, around, value, escape) => {
      const plain = JSON.stringify(name);
      const spelled = escape ? plain.replaceAll('a', String.raw`\u0061`) : plain;
      const twice = `{${plain} : ${value},"${'other'.repeat(40)}":[{}],${spelled}:1}`;
      expect(repeatedKey(`[${[...around, twice, ...around].join(' , ')}]`)).toBe(name);
    }),
    { examples: [['a', [], 'null', true]] },
  );
});
