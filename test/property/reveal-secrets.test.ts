import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { containsSecret, isOpaque } from '../../src/gateway/http/reveal-secrets.ts';
import { makePrintable } from '../../src/gateway/http/failure.ts';
import { runCount } from '../support/property-runs.ts';
import { opaqueSpellings, spellings } from '../support/spellings.ts';

const secrets = fc.oneof(
  fc
    .string({ unit: fc.constantFrom(...Array.from('abcXYZ0189-_.+/=&<>"\'\\%$ :@')), minLength: 10, maxLength: 24 })
    .filter((text) => /\w{6}/.test(text)),
  fc.uuid(),
  fc.constantFrom('pässwörd-zürich', 'пароль-секрет', 'postgres://u:p%40ss@host/db', 'correct horse battery staple'),
);
const sides = fc.constantFrom('', ' ', ': ', '"', 'invalid value ', '/', '\n', '{"error":"');

test.each(Object.entries(spellings))('finds a secret in %s', (_, encode) => {
  fc.assert(
    fc.property(secrets, sides, sides, (secret, before, after) => {
      expect(containsSecret(`${before}${encode(secret)}${after}`, [secret])).toBe(true);
      expect(containsSecret(`${before}${encode(secret)}${after}`, [Buffer.from(secret).toString('base64')])).toBe(true);
    }),
    { numRuns: runCount(4) },
  );
});

// These two make six characters fewer, and punctuation between others.
const parts = Object.entries(spellings).filter(([name]) => !['cut at both ends', 'spaced'].includes(name));

// security: gateway
test.each(parts)('finds any six characters in %s', (_, encode) => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(30), (secret, start) => {
      expect(containsSecret(`near ${encode(secret.slice(start, start + 6))}?`, [secret])).toBe(true);
    }),
  );
});

test.each(Object.entries(opaqueSpellings))('does not show a message with a whole secret in %s', (_, encode) => {
  fc.assert(
    fc.property(secrets, (secret) => {
      expect(isOpaque(`cannot store ${encode(secret)}`)).toBe(true);
    }),
    { numRuns: runCount(4) },
  );
});

const messages = [
  'name: it must contain between 3 and 254 alphanumeric characters, it may include (-), (_) or (.) characters',
  'json: cannot unmarshal string into Go struct field Connection.command of type []string',
  "Key: 'Connection.Name' Error:Field validation for 'Name' failed on the 'required' tag",
  'ERROR: invalid input syntax for type uuid: "foo" (SQLSTATE 22P02)',
  'connection 11111111-1111-4111-8111-111111111111 exists; see https://docs.example.com/a%20b?x=1&y=2 &amp; [1 2 3 4 5 6 7]',
  'SHA-256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 does not match aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=',
];

test.each(messages)('shows a text without a secret: %s', (message) => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[g-z]{3}[0-9]{3}[G-Z!]{6}$/), { maxLength: 3 }), (values) => {
      expect(makePrintable(message, values)).toBe(message);
      expect(isOpaque(message)).toBe(message.startsWith('SHA-256'));
    }),
    { numRuns: runCount(4) },
  );
});
