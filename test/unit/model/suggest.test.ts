import { describe, expect, it } from 'vitest';
import { suggest } from '../../../src/model/diagnostic.ts';

describe('suggest', () => {
  it.each<[string, string, readonly string[], string | undefined]>([
    ['a letter less', 'no-drp', ['no-drop', 'no-grant'], 'no-drop'],
    ['a letter more', 'no-dropp', ['no-drop'], 'no-drop'],
    ['another letter', 'no-drup', ['no-drop'], 'no-drop'],
    ['two letters swapped', 'no-dorp', ['no-drop'], 'no-drop'],
    ['another case', 'Orders-DB', ['orders-db'], 'orders-db'],
    ['the nearer one', 'orders-db1', ['orders-db22', 'orders-db'], 'orders-db'],
    ['the first of two as near', 'db-1', ['db-3', 'db-2'], 'db-2'],
    ['one letter of a short text', 'ab', ['ax'], 'ax'],
    ['nothing near', 'orders', ['ledger'], undefined],
    ['nothing at all', 'orders', [], undefined],
    ['an empty text', '', ['a'], 'a'],
  ])('finds %s', (_, text, candidates, expected) => {
    expect(suggest(text, candidates)).toBe(expected);
  });
});
