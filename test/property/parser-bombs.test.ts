import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../src/manifest/yaml/parse-documents.ts';
import { load } from '../unit/manifest/manifest-fixtures.ts';
import { cpuTime } from '../support/cpu-time.ts';

describe('the parser', () => {
  const laughs = Array.from(
    { length: 30 },
    (_, level) =>
      `l${level}: &l${level} [${Array(9)
        .fill(level === 0 ? 'ha' : `*l${level - 1}`)
        .join(', ')}]`,
  );
  const stairs = Array.from({ length: 700 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
  it.each([
    ['brackets', '['.repeat(20_000)],
    ['closed brackets', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['flow maps', '{a: '.repeat(20_000)],
    ['mixed flow', '[{a: '.repeat(20_000)],
    ['list marks', '- '.repeat(20_000)],
    ['key marks', '? '.repeat(20_000)],
    ['colons', 'a: '.repeat(20_000)],
    ['lines of colons', 'a: b: c: d:\n'.repeat(5_000)],
    ['quotes', '"'.repeat(100_000)],
    ['open quotes', `a: "${'\\"'.repeat(100_000)}`],
    ['stairs', stairs],
    ['laughs', laughs.join('\n')],
    ['aliases', `a: &a 1\nb: [${'*a, '.repeat(50_000)}]`],
    ['an anchor in itself', 'a: &a [*a, *a]'],
    ['a long line', `a: ${'x'.repeat(900_000)}: y`],
    ['a long key', `${'x'.repeat(900_000)}: y`],
    ['white space', `a: x${' '.repeat(500_000)}\n${' '.repeat(500_000)}y`],
    ['blank lines and comments', `- |\n  x\n${'\n'.repeat(100_000)}${' #\n'.repeat(100_000)}`],
    ['many keys', Array.from({ length: 60_000 }, (_, index) => `k${index}: 1\n`).join('')],
    ['many odd keys', `? x\n: y\n${Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join('')}`],
    ['documents', '---\n'.repeat(100_000)],
    ['tabs', '\t'.repeat(500_000)],
    ['carriage returns', '\r'.repeat(500_000)],
    ['flow without end', `a: &x 1\nb: [${'{ k: [1, 2] }, '.repeat(65_000)}*x]\n`],
    ['too much', 'a'.repeat(1_100_000)],
  ])('ends in time: %s', (_, text) => {
    const begun = cpuTime();
    const { value, diagnostics } = parseDocuments({ path: 'bomb.yaml', text });
    expect(value === undefined).toBe(diagnostics.length > 0);
    expect(diagnostics.length).toBeLessThanOrEqual(20);
    expect(cpuTime() - begun).toBeLessThan(3000);
  });
});

describe('the loader', () => {
  it.each([
    ['a key that is too long to be one', `apiVersion: ostiary/v1\nkind: Connection\nspec:\n  ${'a'.repeat(900_000)}!: x\n`],
    ['a key of many signs', `apiVersion: ostiary/v1\nkind: Connection\nspec:\n  ${'a.'.repeat(400_000)}!: x\n`],
  ])('ends in time, and shows no possible secret: %s', (_, text) => {
    const begun = cpuTime();
    expect(load({ 'bomb.yaml': text }).diagnostics).not.toEqual([]);
    expect(cpuTime() - begun).toBeLessThan(3000);
  });
});
