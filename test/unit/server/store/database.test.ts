import { expect, test } from 'vitest';
import { startError } from '../../../../src/server/store/database.ts';

const database = { url: 'postgres://127.0.0.1/ostiary' };

test.each(['53300', '53100', '53200'])('SQLSTATE %s at a start is an exhausted database, and no bug', (code) => {
  const error = startError(Object.assign(new Error('sorry, too many clients already'), { code }), { database });
  expect(error).toMatchObject({
    code: 'serve/database',
    exitCode: 3,
    message: 'the database cannot be opened: sorry, too many clients already',
    hint: expect.stringContaining('free its disk, its memory or its connections'),
  });
});

test('any other refusal says what to check', () => {
  const refused = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  expect(startError(refused, { database }).hint).toContain('this user has access');
  expect(startError(refused, { database: { folder: 'gateway' } }).hint).toContain('--database');
});
