import { expect, test } from 'vitest';
import { headlineConnections } from '../../../../src/report/wording/impact.ts';

test('a headline without connections names the objects that cause it, each once', () => {
  const causes = [
    { by: 'RunbookConfiguration/books', path: '/git_url' },
    { by: 'RunbookConfiguration/books', path: '/git_password' },
    { by: 'RunbookConfiguration/more', path: '/git_url' },
  ] as const;
  const text = '2 runbook configurations send a kept credential to another endpoint';
  expect(headlineConnections({ direction: 'reroutes', text, connections: [], tags: {}, causes }, (name) => name)).toBe('books, more');
});
