import { array, assert, constantFrom, dictionary, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { commentsOf } from '../../../../src/manifest/yaml/comments.ts';

test('a comment is about its line, or about the next one if it stands alone', () => {
  expect(
    commentsOf('a: 1 # one\n# two\nb:\n  - c\n    # three\n  - "d # no" # four\n---\ne: |\n  # no\n  x # no\n# five\n# six\nf: g#no\n'),
  ).toEqual([
    { line: 1, text: 'one' },
    { line: 3, text: 'two' },
    { line: 6, text: 'three' },
    { line: 6, text: 'four' },
    { line: 13, text: 'five' },
    { line: 13, text: 'six' },
  ]);
});

test('no text of a scalar is a comment', () => {
  const scalar = string({ unit: constantFrom('#', ' ', 'a', '\n', '"', "'", ':', '-', '|') });
  assert(
    property(dictionary(constantFrom('a', 'b', '# c', 'd'), oneof(scalar, array(scalar))), (value) => {
      const text = stringify(value);
      expect(parseAllDocuments(text)).toHaveLength(1);
      expect(commentsOf(text)).toEqual([]);
    }),
  );
});
