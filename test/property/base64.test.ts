import { assert, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { seal } from '../../src/model/secret.ts';

const text = oneof(string(), string({ unit: 'binary' }), string({ unit: 'binary-ascii' }));

test('a secret in base64 is equal to exactly the text that it is sent as', () => {
  assert(
    property(text, text, (value, other) => {
      const encoded = Buffer.from(value, 'utf8').toString('base64');
      const secret = seal('inline', value, 'base64');
      expect(secret.equals(seal('live', encoded))).toBe(true);
      expect(seal('live', encoded).equals(secret)).toBe(true);
      for (const wrong of [other, encoded.slice(0, -1), `${encoded}=`, `${encoded}A`, encoded.replace('=', 'A'), encoded.toLowerCase()])
        expect(secret.equals(seal('live', wrong))).toBe(wrong === encoded);
    }),
  );
});
