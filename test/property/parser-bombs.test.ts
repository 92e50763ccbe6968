import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import { bombs } from '../support/bombs.ts';
import { load } from '../unit/manifest/manifest-fixtures.ts';

describe('the parser', () => {
  it.each(Object.entries(bombs))('reads a text of %s, or reports at most 20 mistakes', (_, textOf) => {
    const { value, diagnostics } = parseDocuments({ path: 'bomb.yaml', text: textOf(20_000) });
    expect(value === undefined).toBe(diagnostics.length > 0);
    expect(diagnostics.length).toBeLessThanOrEqual(20);
  });
});

describe('the loader', () => {
  it.each([
    ['a key that is too long to be one', `apiVersion: ostiary/v1\nkind: Connection\nspec:\n  ${'a'.repeat(900_000)}!: x\n`],
    ['a key of many signs', `apiVersion: ostiary/v1\nkind: Connection\nspec:\n  ${'a.'.repeat(400_000)}!: x\n`],
  ])('reports %s, and shows no possible secret', (_, text) => {
    expect(load({ 'bomb.yaml': text }).diagnostics).not.toEqual([]);
  });
});
