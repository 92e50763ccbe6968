import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../../../src/protection/pattern/compile.ts';

/**
 * Patterns and texts with what Go's regexp package makes of them, the engine of the public gateway: recorded once with
 * Go 1.26 by compiling each pattern and calling MatchString with each text. The first file was written by hand, the
 * second put together from parts of patterns at random, the third names Unicode classes and groups.
 */
type Recorded = { readonly pattern: string } & (
  | { readonly texts: readonly string[]; readonly finds: readonly boolean[] }
  | { readonly refused: string }
);

function recorded(name: string): readonly Recorded[] {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8'));
}

describe.each(['re2-corpus', 're2-random', 're2-classes'])('%s', (name) => {
  const all = recorded(name);

  test('accepts and rejects the same patterns as Go', () => {
    const taken = all.filter(({ pattern }) => 'pattern' in compilePattern(pattern)).map(({ pattern }) => pattern);
    expect(taken).toEqual(all.filter((one) => 'finds' in one).map(({ pattern }) => pattern));
  });

  test('matches the same texts as Go', () => {
    const found = all.flatMap((one) => {
      const compiled = compilePattern(one.pattern);
      return 'finds' in one && 'pattern' in compiled ? [one.texts.map((text) => compiled.pattern.finds(text))] : [];
    });
    expect(found).toEqual(all.flatMap((one) => ('finds' in one ? [one.finds] : [])));
  });
});
