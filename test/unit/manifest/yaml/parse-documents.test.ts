import { describe, expect, it } from 'vitest';
import { type ManifestDocument, parseDocuments } from '../../../../src/manifest/yaml/parse-documents.ts';

function values(text: string): readonly unknown[] | undefined {
  return parseDocuments({ path: 'a.yaml', text }).value?.map(({ value }) => value);
}

function problems(text: string): readonly string[] {
  return parseDocuments({ path: 'a.yaml', text }).diagnostics.map(({ code, at }) => `${at?.line}:${at?.column} ${code}`);
}

function only(text: string): ManifestDocument {
  const { value, diagnostics } = parseDocuments({ path: 'a.yaml', text });
  expect(diagnostics).toStrictEqual([]);
  const [document] = value ?? [];
  if (document === undefined) throw new Error('no document');
  return document;
}

describe('documents', () => {
  it.each([
    ['nothing', '', []],
    ['empty documents between others', '# a\n---\na: 1\n---\n# b\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    [
      'the 1.2 core schema',
      'a: yes\nb: on\nc: 0777\nd: 0o17\ne: 1e3\nf: ~\ng: 2024-01-01\n',
      [{ a: 'yes', b: 'on', c: 777, d: 15, e: 1000, f: null, g: '2024-01-01' }],
    ],
    ['aliases', 'a: &x [1, 2]\nb: *x\nc: { d: *x }\n', [{ a: [1, 2], b: [1, 2], c: { d: [1, 2] } }]],
    ['an anchor given twice', 'a: &x 1\nb: *x\nc: &x 2\nd: *x\n', [{ a: 1, b: 1, c: 2, d: 2 }]],
    ['<< as a key like others', 'a: &x { b: 1 }\n<<: *x\n', [{ a: { b: 1 }, '<<': { b: 1 } }]],
    ['keys of every object', 'constructor: 1\ntoString: 2\n', [{ constructor: 1, toString: 2 }]],
    ['a byte order mark', '\ufeffa: 1\n', [{ a: 1 }]],
    ['Windows line ends', 'a: 1\r\nb:\r\n  - x\r\n', [{ a: 1, b: ['x'] }]],
    ['no zero below zero', 'a: -0\n', [{ a: 0 }]],
    ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}\n`, [JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`)]],
  ])('reads %s', (_, text, expected) => {
    expect(values(text)).toStrictEqual(expected);
  });

  it('counts all documents of the file', () => {
    const { value } = parseDocuments({ path: 'a.yaml', text: '---\n---\na: 1\n---\nb: &x 1\n' });
    expect(value?.map(({ index }) => index)).toStrictEqual([1, 2]);
  });
});

describe('errors', () => {
  it.each([
    ['a duplicate key', 'a: 1\nb: 2\na: 3\n', ['3:1 manifest/duplicate-key']],
    ['a duplicate key in a flow map', 'a: { b: 1, b: 2 }\n', ['1:12 manifest/duplicate-key']],
    [
      'several errors',
      'a: 1\na: 2\nb: .nan\n1: x\n',
      ['2:1 manifest/duplicate-key', '3:4 manifest/not-json', '4:1 manifest/non-string-key'],
    ],
    ['a list as key', '? [a]\n: x\n', ['1:3 manifest/non-string-key']],
    ['__proto__', 'a:\n  __proto__: { b: 1 }\n', ['2:3 manifest/unsafe-key']],
    ['infinity', 'a: .inf\n', ['1:4 manifest/not-json']],
    ['an integer that JSON cannot hold', 'a: 9007199254740993\n', ['1:4 manifest/not-json']],
    ['a date tag', 'a: !!timestamp 2024-01-01\n', ['1:4 manifest/not-json']],
    ['an unknown tag', 'a: !ref b\n', ['1:4 manifest/not-json']],
    ['YAML 1.1', '%YAML 1.1\n---\na: yes\n', ['2:1 manifest/yaml']],
    ['an alias without anchor', 'a: *b\n', ['1:4 manifest/yaml']],
    ['an alias within its anchor', 'a: &a [*a]\n', ['1:8 manifest/alias-bomb']],
    ['65 levels of flow', `${'['.repeat(65)}${']'.repeat(65)}\n`, ['1:65 manifest/too-deep']],
    [
      '65 levels of blocks',
      `${Array.from({ length: 65 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')} 1\n`,
      ['65:65 manifest/too-deep'],
    ],
    [
      '65 levels through an alias',
      `a: &a ${'['.repeat(40)}${']'.repeat(40)}\nb: ${'['.repeat(30)}*a${']'.repeat(30)}\n`,
      ['2:34 manifest/too-deep'],
    ],
    ['a key after the value of an entry', "a:\n- 'b' c: d\n", ['2:7 manifest/yaml']],
    ['a tab as indentation', 'a:\n\tb: 1\n', ['2:1 manifest/yaml']],
    ['a missing colon', 'a: 1\nb\nc: 3\n', ['2:1 manifest/yaml']],
    ['an open bracket', 'a: [b, c\nd: 1\n', ['2:1 manifest/yaml']],
    ['a wrong indentation', 'a:\n    b: 1\n  c: 2\n', ['3:1 manifest/yaml']],
    ['a mistake in the second document', 'a: 1\n---\nb: 1\nb: 2\n', ['4:1 manifest/duplicate-key']],
    ['too large a text', 'a'.repeat(1_048_577), ['1:1 manifest/too-large']],
  ])('reports %s', (_, text, expected) => {
    expect(problems(text)).toStrictEqual(expected);
    expect(values(text)).toBeUndefined();
  });

  it('shows the line, marks the word and adds a hint', () => {
    const [found] = parseDocuments({ path: 'a.yaml', text: 'a: 1\nspec:\n  name: x\n  name: y\n' }).diagnostics;
    expect(found).toStrictEqual({
      code: 'manifest/duplicate-key',
      severity: 'error',
      message: 'duplicate key "name"',
      unnamed: 'duplicate key',
      hint: 'keep one of the two',
      at: { file: 'a.yaml', line: 4, column: 3 },
      frame: { line: 3, lines: ['  name: x', '  name: y'], caret: { column: 3, length: 4 } },
    });
  });

  it('repeat neither text that may be a secret nor control characters', () => {
    const { diagnostics } = parseDocuments({ path: 'a.yaml', text: '"\\e[31m": 1\n"\\e[31m": 2\nx: "hunter2" hunter3\n' });
    const messages = diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n');
    expect(messages).not.toContain('hunter');
    expect(parseDocuments({ path: 'a.yaml', text: '"\\e[31m": 1\n"\\e[31m": 2\n' }).diagnostics[0]?.message).toBe(
      'duplicate key "\ufffd[31m"',
    );
  });
});

describe('positions', () => {
  const text = `# first
apiVersion: ostiary/v1
metadata: { name: orders }
spec:
  reviewers:
    - dba
    - sre
  input:
    - name: one
      words: [a, b]
    - name: two
      words: &w
        - c
  empty:
  a/b: x
  other: *w
`;
  it.each([
    ['', 'value', '2:1'],
    ['/apiVersion', 'value', '2:13'],
    ['/apiVersion', 'key', '2:1'],
    ['/metadata/name', 'value', '3:19'],
    ['/spec/reviewers', 'key', '5:3'],
    ['/spec/reviewers/sre', 'value', '7:7'],
    ['/spec/input/1/words/0', 'value', '13:11'],
    ['/spec/input/two/words/c', 'value', '13:11'],
    ['/spec/input/three/words', 'value', '9:5'],
    ['/spec/empty', 'value', '14:3'],
    ['/spec/other/0', 'value', '16:10'],
    ['/spec/missing', 'value', '5:3'],
  ] as const)('finds %s (%s) at %s', (path, part, place) => {
    const { file, line, column } = only(text).locate(path, part);
    expect({ file, place: `${line}:${column}` }).toStrictEqual({ file: 'a.yaml', place });
  });

  it('are found in the right document by both readers', () => {
    for (const mark of ['', '&a ']) {
      const { value } = parseDocuments({
        path: 'a.yaml',
        text: `---\n# none\n---\nx: ${mark}1\n---\n\nx: 2\r\ny: 3\n`.replaceAll('\r', ''),
      });
      expect(value?.map((document) => document.locate('').line)).toStrictEqual([4, 7]);
      expect(value?.map((document) => document.locate('/x', 'key').line)).toStrictEqual([4, 7]);
      expect(value?.map((document) => document.locate('/y').line)).toStrictEqual([4, 8]);
    }
  });

  it('count lines and columns of texts with CRLF', () => {
    const document = only('# a\r\nb: 1\r\nc:\r\n  d: 2\r\n');
    expect(document.locate('')).toMatchObject({ line: 2, column: 1 });
    expect(document.locate('/c/d')).toMatchObject({ line: 4, column: 6 });
  });
});
