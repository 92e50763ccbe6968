import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findReplaced, proseOfSource } from './support/prose.ts';

/** Phrases of earlier texts, each in a sentence as it was printed; the word list must recognize every one. */
const formerPhrases = [
  'keeps a gateway equal to a directory|clicked together by hand|nobody can say what|from a gateway that is there|plays the main job',
  'an id, a name may stand|does it, after asking|its lists not whole|as in the manifests|comes open|deleted by hand',
  'its place is taken|changed by hand|edges not ours|what each cause reaches|which way|closes connect|allowed all the same',
  'may force|must state|cannot be told|here nobody can answer|nobody said yes|which target?|lacks the field|stands twice in',
  'the least is 1|check the url for a slip|is no http(s) address without credentials|cannot be answered|does not do as it asks',
  'wrong in its types|engines that go back|nothing to get called|it changes something|it is what old-db was, under another name',
  'as the manifests want it|print the result alone|none for none|any class unless told|how the gateway speaks|to ask who it was',
  'as a group that may|the nearest one upward|from so many objects on|a plan that nobody saw|is wanted empty|doubled keys',
  'aliases without measure|keeps its word|where there is a drift|do as they ask|is told|wholly applied|breakers do not bind',
  'whatever permission lacks|is not bothered again|that is for a try|a good pace|not to be had|doubles|objects to undo',
  'tightened by hand|come into being|of which the gateway makes the id|takes a place|closed as the former one was|only reads plans',
  'policies bear on|comes into being|takes the place of|both moved|left so|take back|take over|left behind|doomed|not ours|strangers',
  'tied|edge|footing|who may|somebody|tells|hears|stands|but for|in any case|goes no further|cancelled|colour|behaviour',
].flatMap((line) => line.split('|'));

test.each(formerPhrases)('the word list recognizes "%s"', (phrase) => {
  expect(findReplaced(`The plan: ${phrase}.`)).toEqual(expect.any(String));
});

test('a replaced phrase in a literal, a template or a docstring is found, and in code or a code span it is not', () => {
  const source = [
    "const message = 'the plan changed by hand';",
    // oxlint-disable-next-line no-template-curly-in-string -- the text of a program
    'const hint = `run ${name} as the manifests want it`;',
    '/** Lists limits; breakers do not bind. */',
    "const edge = 'edges'; const query = sql`select edge from edges`;",
    "const field = 'the field `edge` exists';",
  ].join('\n');
  const found = proseOfSource(source, 'planted.ts').flatMap(({ line, text }) => (findReplaced(text) === undefined ? [] : [line]));
  expect(found).toEqual([1, 2, 3]);
});

test('the messages of src use the vocabulary', () => {
  // The texts of workflows are those of the examples, with the words of GitHub's expressions.
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.endsWith('workflow-texts.ts'),
  );
  const texts = paths.flatMap((path) =>
    proseOfSource(readFileSync(join('src', path), 'utf8'), path).map((one) => ({ ...one, path, found: findReplaced(one.text) })),
  );
  expect(texts.length).toBeGreaterThan(3000);
  expect(texts.flatMap(({ path, line, text, found }) => (found === undefined ? [] : [`src/${path}:${line}: [${found}] ${text}`]))).toEqual(
    [],
  );
});

test('the reports of the golden scenarios use the vocabulary', () => {
  const folders = ['test/golden', 'test/unit/report/expected'];
  const paths = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)));
  const reports = paths.filter((path) => /\.(?:txt|md|html)$|expected.plan\.json$/.test(path));
  expect(reports.length).toBeGreaterThan(100);
  const found = reports.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const lines = path.endsWith('.json') ? (text.match(/(?<="(?:text|message|hint)":")(?:[^"\\]|\\.)*/g) ?? []) : text.split('\n');
    return lines.flatMap((line) => (findReplaced(line) === undefined ? [] : [`${path}: ${line}`]));
  });
  expect(found).toEqual([]);
});
