import { describe, expect, it } from 'vitest';
import type { DocumentEdit } from '../../../../src/manifest/edit/apply-edit.ts';
import { editFile } from '../../../../src/manifest/edit/edit-file.ts';
import type { Json } from '../../../../src/model/json.ts';

const set = (path: string, value: Json): DocumentEdit => ({ edit: 'set', path, value });
const add = (path: string, value: string): DocumentEdit => ({ edit: 'add', path, value });
const drop = (path: string, value: string): DocumentEdit => ({ edit: 'drop', path, value });
const remove = (path: string): DocumentEdit => ({ edit: 'remove', path });

/** The reason for a refusal because of an alias. */
const aliasIn = (line: number): string => `the alias *x on line ${line} may use it; write the value in place of the alias`;

/** The text of a file, the edit, and the text after it. */
const cases: readonly (readonly [string, string, DocumentEdit, string])[] = [
  ['a plain scalar, its comment kept', 'a: 1   # why\nb: 2\n', set('/a', 3), 'a: 3   # why\nb: 2\n'],
  ['a quoted scalar in its quotes', 'a: \'x\'\nb: "y"\n', set('/b', 'it "is"'), 'a: \'x\'\nb: "it \\"is\\""\n'],
  ['quotes only where they are needed', 'a: x\n', set('/a', 'yes'), "a: 'yes'\n"],
  ['what cannot be seen, escaped', 'a: x\n', set('/a', '\u001b[0m\u202e'), 'a: "\\u001b[0m\\u202e"\n'],
  ['a key without a value', 'a:   # why\nb: 2\n', set('/a', 'x'), 'a: x   # why\nb: 2\n'],
  ['a text in lines', 'a: |  # why\n    x\n    y\n\nb: 1\n', set('/a', 'z\n'), 'a: |  # why\n    z\n\nb: 1\n'],
  ['a text that lost its line break', 'a: |\n  x\nb: 1\n', set('/a', 'z'), 'a: |-\n  z\nb: 1\n'],
  ['a text with another word for its type', 'a: !!str 5\n', set('/a', 6), 'a: 6\n'],
  ['an entry more, like the others', "a:\n-   'x' # 1\n# end\n", add('/a', 'y'), "a:\n-   'x' # 1\n-   'y'\n# end\n"],
  ['an entry more in brackets', '{"a":["x","y"]}\n', add('/a', 'z'), '{"a":["x","y","z"]}\n'],
  ['an entry more behind a comma', 'a: [x, y,]\n', add('/a', 'z'), 'a: [x, y, z,]\n'],
  ['an entry more on a line of its own', 'a: [\n  x # 1\n]\n', add('/a', 'w'), 'a: [\n  x, # 1\n  w\n]\n'],
  ['rows without a comma at their end', '{\n  "a": [\n    "x",\n    "y"\n  ]\n}\n', drop('/a', 'y'), '{\n  "a": [\n    "x"\n  ]\n}\n'],
  ['a row with the comment on it, others beside it', 'a: { k: 1,\n  l: 2, # why\n  m: 3 }\n', remove('/a/l'), 'a: { k: 1,\n  m: 3 }\n'],
  ['the only value in brackets, and keeps the blanks', 'b: {k: 1}\na: [ x ]\n', set('/a', ['w']), 'b: {k: 1}\na: [ w ]\n'],
  ['all rows, comments between kept', 'a: [\n  # x\n  x # 1\n]\n', set('/a', ['w', 'z']), 'a: [\n  # x\n  w,\n  z\n]\n'],
  ['an entry fewer, comments between kept', 'a:\n  # x\n  - x # 1\n  # y\n  - y\n', drop('/a', 'x'), 'a:\n  # x\n  # y\n  - y\n'],
  ['the last entry', 'a: # why\n  - x\nb: 1\n', drop('/a', 'x'), 'a: [] # why\nb: 1\n'],
  ['the last line of a file without an end', 'a: 1\nb: 2', remove('/b'), 'a: 1'],
  ['the first key of an entry', 'a:\n  - k: 1\n    l: 2\n', remove('/a/0/k'), 'a:\n  - l: 2\n'],
  [
    'a new key above the comments of the first',
    'a:\n  # about y\n  y: 1\n',
    { edit: 'set', path: '/a/x', value: '1', order: ['x', 'y'] },
    "a:\n  x: '1'\n  # about y\n  y: 1\n",
  ],
  ['a new list as the others are', 'a:\n- x\n', set('/b', ['w', 'z']), 'a:\n- x\nb:\n- w\n- z\n'],
  ['a new list where none is', 'a: x\n', set('/b', ['w', 'z']), 'a: x\nb: [w, z]\n'],
  ['Windows line ends', 'a:\r\n- x\r\n', add('/a', 'w'), 'a:\r\n- x\r\n- w\r\n'],
  ['what stood below a key', 'a: # why\r\n  - x\r\nb: 1\r\n', set('/a', 5), 'a: 5 # why\r\nb: 1\r\n'],
  ['one line of a text', 'a: |\r\n  x\r\n  y\r\n  z\r\nb: 1', set('/a', 'x\nw\nz\n'), 'a: |\r\n  x\r\n  w\r\n  z\r\nb: 1'],
  ['a last line without an end', 'a: 1\r\nb: 2\r\nc: 3', set('/d', 4), 'a: 1\r\nb: 2\r\nc: 3\r\nd: 4'],
  [
    'a byte order mark above a line that is new',
    '\ufeffa: 1\r\nb: 2\r\n',
    { edit: 'set', path: '/0', value: 0, order: ['0', 'a'] },
    "\ufeff'0': 0\r\na: 1\r\nb: 2\r\n",
  ],
  ['a first line, and not the mark', '\ufeffa: 1\n\nb: 2\n', remove('/a'), '\ufeff\nb: 2\n'],
  ['an entry that moved to the front', 'a:\n- x # 1\n- y # 2\n- z # 3\n', set('/a', ['z', 'x', 'y']), 'a:\n- z\n- x # 1\n- y # 2\n'],
  ['an entry that moved to the end', 'a:\n- x # 1\n- y # 2\n- z # 3\n', set('/a', ['y', 'z', 'x']), 'a:\n- y # 2\n- z # 3\n- x\n'],
  ['entries between others', 'a:\n- x # 1\n- y # 2\n- z # 3\n', set('/a', ['x', 'w', 'z', 'v']), 'a:\n- x # 1\n- w # 2\n- z # 3\n- v\n'],
  [
    'entries with names',
    'a:\n- name: x # 1\n  k: 1\n- name: y # 2\n  k: 2 # two\n',
    set('/a', [
      { name: 'w', k: 0 },
      { name: 'y', k: 3 },
    ]),
    'a:\n- name: w\n  k: 0\n- name: y # 2\n  k: 3 # two\n',
  ],
  ['a byte order mark', '\ufeffa: 1\n', set('/a', 2), '\ufeffa: 2\n'],
  ['the user of an anchor', 'a: &x [1, 2]\nb: *x\n', set('/b', ['w']), 'a: &x [1, 2]\nb: [w]\n'],
  ['an anchored value that no alias uses', 'a: &x [1, 2] # why\n', add('/a', 'w'), 'a: &x [1, 2, w] # why\n'],
  ['an explicit key', '? a\n: b # why\n', set('/a', 'c'), '? a\n: c # why\n'],
];

describe('an edit changes', () => {
  for (const [what, text, edit, wished] of cases) {
    it(`${what}, and nothing else`, () => {
      expect(editFile({ path: 'a.yaml', text }, [{ index: 0, edit }])).toEqual({ value: { text: wished, refused: [] }, diagnostics: [] });
    });
  }

  it('the document with the given index', () => {
    const text = '# one\na: 1\n---\n# two\na: 1\n...\n---\n# three\na: 1\n';
    const edits = [0, 2].map((index) => ({ index, edit: set('/a', index + 5) }));
    const wished = text.replace('one\na: 1', 'one\na: 5').replace('three\na: 1', 'three\na: 7');
    expect(editFile({ path: 'a.yaml', text }, edits).value?.text).toBe(wished);
  });
});

describe('an edit is refused', () => {
  const refused: readonly (readonly [string, string, DocumentEdit, string])[] = [
    ['below a scalar', 'b: 1\na: x\n', set('/a/b', 1), 'a.yaml:2:1 the value before "b" is neither a map nor a list'],
    ['at an entry that is not there', 'a: [x]\n', set('/a/3/b', 1), 'a.yaml:1:1 the list has no entry "3"'],
    ['at a list that is none', 'a: x\n', add('/a', 'y'), 'a.yaml:1:1 the value there is no list'],
    [
      'where a comment would go along',
      'a: [x, # 1\n  y]\n',
      drop('/a', 'x'),
      'a.yaml:1:1 a comment between the removed lines would be lost',
    ],
    ['where the form is unusual', '? a\n', set('/a', 1), 'a.yaml:1:3 the text around it has a form that is not edited'],
    ['where the result could not be read', 'a: 1\n', set('/__proto__', 1), 'a.yaml:1:1 the text around it has a form that is not edited'],
    ['of an anchored value', 'a: &x [1, 2] # why\nb: *x\nc: *x\n', add('/a', 'w'), `a.yaml:1:1 ${aliasIn(2)}`],
    ['inside an anchored value', 'a: &x\n  k: 1\n  l: 2\nb: *x\n', set('/a/k', 3), `a.yaml:2:3 ${aliasIn(4)}`],
    ['of an anchored value that would be removed', 'b: 1\na: &x 1\nc: *x\n', remove('/a'), `a.yaml:2:1 ${aliasIn(3)}`],
    ['below a merge', 'a: &x { k: 1 }\nb:\n  <<: *x\n', set('/a/k', 2), `a.yaml:1:9 ${aliasIn(3)}`],
    [
      'where lines end in two ways',
      'a: 1\r\nb: 2\n',
      set('/b', 3),
      'a.yaml:2:1 the file has both CRLF and LF line ends; give all lines the same end',
    ],
    ['in an empty document', '# nothing\n', set('/a', 1), 'a.yaml:1:1 the file has no document 1'],
  ];
  for (const [where, text, edit, why] of refused) {
    it(`${where}, and the others are made`, () => {
      const { value, diagnostics } = editFile({ path: 'a.yaml', text }, [{ index: 0, edit }]);
      expect(value?.text).toBe(text);
      expect(
        diagnostics.map(({ code, at, message }) => [code, `${at?.file}:${at?.line}:${at?.column} ${message.replace(/^.*?edited: /, '')}`]),
      ).toEqual([['edit/unsafe', why]]);
    });
  }

  it('alone, and the other edits are made', () => {
    const edits = [set('/a/b', 1), set('/c', 2)].map((edit) => ({ index: 0, edit }));
    const { value } = editFile({ path: 'a.yaml', text: 'a: x\nc: 1\n' }, edits);
    expect([value?.text, value?.refused.map(({ edit }) => edit)]).toEqual(['a: x\nc: 2\n', edits.slice(0, 1)]);
  });

  it('in a text that cannot be parsed', () => {
    const { value, diagnostics } = editFile({ path: 'a.yaml', text: 'a: *x\n' }, []);
    expect([value, diagnostics.map(({ code }) => code)]).toEqual([undefined, ['manifest/yaml']]);
  });
});
