import { array, assert, boolean, constantFrom, json, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { duplicateKey } from '../../src/model/spec/duplicate-key.ts';
import { pointer } from '../../src/model/pointer.ts';

const written = json({ maxDepth: 6 });
const key = oneof(string(), constantFrom('__proto__', '"', '\\', '\\"', ':', '{', 'a'));

test('no text written from a value has a duplicate key', () => {
  assert(
    property(written, constantFrom(0, 2), (text, indent) => {
      expect(duplicateKey(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined();
    }),
  );
});

test('a duplicate key of one object is found at any depth and in any spelling', () => {
  assert(
    property(key, array(written, { maxLength: 3 }), written, boolean(), (name, around, value, escape) => {
      const plain = JSON.stringify(name);
      const spelled = escape ? plain.replaceAll('a', String.raw`\u0061`) : plain;
      const twice = `{${plain} : ${value},"${'other'.repeat(40)}":[{}],${spelled}:1}`;
      expect(duplicateKey(`[${[...around, twice, ...around].join(' , ')}]`)).toBe(pointer(String(around.length), name));
    }),
    { examples: [['a', [], 'null', true]] },
  );
});
