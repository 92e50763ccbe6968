import { inspect, isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.ts';
import { load, sources } from '../manifest-fixtures.ts';

const canary = 'Canary-7f3a9-Hunter2';
const shown = /7f3a9|Q2FuYXJ5|Canary|Hunter/i;

/** Values that no YAML parser reads, or that no secret may be, with the indent of the key. */
const values: readonly ((indent: string) => string)[] = [
  ...['|', '>', '|-', '>+', '|2', '|+9', '>-x', '|0', '| #', '|#'].flatMap((header) => [
    () => `${header}${canary}`,
    () => `${header} ${canary}`,
    (indent: string) => `${header}\n${indent}${canary}\n${indent}  name: ${canary}`,
    (indent: string) => `${header}\n${indent}  x\n${indent} ${canary}: y`,
    () => `${header}\n${canary}`,
  ]),
  () => `{ ${canary}`,
  () => `{ ${canary} ]`,
  () => `{ "value": ${canary}, "value": ${canary} }`,
  () => `{ ${canary}, ${canary} }`,
  () => `{ [${canary}]: x, ${canary}: [ }`,
  (indent) => `{\n${indent}value: ${canary},\n${indent}name: ${canary}`,
  (indent) => `{\n${indent}name: ${canary}\n${indent}type: ${canary} ]`,
  (indent) => `[\n${indent}- name: ${canary}\n${indent}  ${canary} }`,
  () => `{value:${canary}`,
  () => `{ value: ${canary}`,
  () => `{ valueFrom: { env: ${canary} }`,
  () => `{ file: "${canary}`,
  (indent) => `\n${indent}  value: ${canary}: ${canary}`,
  (indent) => `|\n${indent}  value: { env: ${canary}\n${indent} file: ${canary}: x`,
  () => `{"value":"${canary}"`,
  () => `{"value":"${canary}}`,
  () => `"${canary}`,
  (indent) => `"${canary}\n${indent}name: ${canary}\n${indent}type: ${canary}`,
  (indent) => `'${canary}\n${indent}description: ${canary}`,
  () => `"\\${canary}"`,
  () => `"\\x${canary}"`,
  () => `"a" ${canary}`,
  () => `'a' ${canary}: b`,
  () => `@${canary}`,
  () => `\`${canary}\``,
  () => `%${canary}`,
  () => `*${canary}`,
  () => `&${canary} *${canary}`,
  () => `!${canary} ${canary}`,
  () => `!<${canary} x`,
  () => `!!${canary}!x y`,
  () => `- ${canary}`,
  () => `? ${canary}`,
  () => `: ${canary}`,
  () => `${canary}: ${canary}: ${canary}`,
  (indent) => `${canary}\n${indent}  ${canary}: x\n${indent} - ${canary}`,
  (indent) => `\n\t${canary}: x\n${indent}\t- ${canary}`,
  (indent) => `# ${canary}\n${indent}]${canary}`,
];

const head = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata:\n  name: a\nspec:\n  type: database\n';
const tail = '\n  reviewers: [dba\n';

/** Places of a secret in a manifest; the value follows. */
const places: readonly (readonly [start: string, indent: string])[] = [
  [`${head}  secret:\n    envvar:PASS: `, '    '],
  [`${head}  secret:\n    "envvar:PASS": `, '    '],
  [`${head}  secret: `, '  '],
  [`${head}  "secret": {\n  "envvar:PASS": `, '  '],
  [`${head}  secret: { envvar:PASS: `, '  '],
  [`${head}  secret:\n  - `, '  '],
  [`${head}  ? secret\n  : `, '  '],
  [`${head}  &x secret: `, '  '],
  [`{"apiVersion":"ostiary/v1","kind":"Connection","metadata":{"name":"a"},"spec":{"secret":{"envvar:PASS":`, ''],
  [`{\n"kind": "Connection",\n"spec": {\n"type": "database",\n"secret": {\n"envvar:PASS": `, ''],
];

const variants = places.flatMap(([start, indent]) => values.flatMap((value) => ['', tail].map((end) => `${start}${value(indent)}${end}`)));

function printed(diagnostics: readonly Diagnostic[]): string {
  const texts = diagnostics.map(({ code, message, hint, frame }) => ({ code, message, hint, frame }));
  return inspect(texts, { depth: null });
}

function check(text: string): readonly Diagnostic[] {
  return load({}, { files: sources({ 'a.yaml': text }) }).diagnostics;
}

test(`none of ${variants.length} unreadable or wrong secrets is quoted`, () => {
  expect(variants.length).toBeGreaterThan(272);
  const leaks = variants.filter((text) => shown.test(printed(check(text))));
  expect(leaks).toEqual([]);
});

function shownLines(text: string): unknown {
  return check(text).map(({ code, message, frame }) => [code, message, frame?.lines, frame?.caret.length]);
}

// security: proposal
test('what is shown around an unreadable secret does not depend on its length', () => {
  const differing = variants.filter(
    (text) => !isDeepStrictEqual(shownLines(text), shownLines(text.replaceAll(canary, `${canary}${canary}`))),
  );
  expect(differing).toEqual([]);
});

test.each([
  ['an unclosed quote', '    envvar:PASS: "CANARY\n    envvar:B: x\n', '    envvar:PASS: ***', 'close the quote that opens here'],
  [
    'an unclosed brace',
    '    "envvar:PASS": { value: CANARY\n',
    '    "envvar:PASS": { value: ***',
    'add the missing "}", or indent the line',
  ],
  [
    'a source',
    '    envvar:PASS:\n      valueFrom:\n        env: CANARY: x\n',
    '        env: ***',
    'put a string that contains ": " in quotes',
  ],
  ['a tag', '    filesystem:KEY: !CANARY CANARY\n', '    filesystem:KEY: ***', 'remove the tag'],
])('a syntax error at %s in secret shows its line with the value masked', (_, text, line, hint) => {
  const [found] = check(`${head}  secret:\n${text.replaceAll('CANARY', canary)}`);
  expect(found).toMatchObject({ hint, frame: { lines: expect.arrayContaining([line]) } });
});

test.each([
  ['a.yaml', 'Connection', `spec:\n  - secret: { envvar:PASS: ${canary} }\n`],
  ['a.yaml', 'Connection', `spec: [[{ secret: ${canary} }, { type: ${canary} }]]\n`],
  ['a.yaml', 'Connection', `metadata: [{ name: ${canary} }, [{ secret: ${canary} }]]\nspec: {}\n`],
  ['a.yaml', 'RunbookConfiguration', `spec: { git_url: [{ git_password: ${canary} }] }\n`],
  ['a.yaml', 'RunbookConfiguration', `spec:\n  git_url: [https://git.test/a?token=${canary}]\n`],
  ['_defaults.yaml', 'Defaults', `spec:\n  Connection: [{ secret: ${canary} }]\n`],
  ['_defaults.yaml', 'Defaults', `spec: [{ Connection: { secret: ${canary} } }]\n`],
])('%s of kind %s: values in a list where none belongs are masked: %s', (path, kind, text) => {
  const { diagnostics } = load({}, { files: sources({ [path]: `apiVersion: ostiary/v1\nkind: ${kind}\n${text}` }) });
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(printed(diagnostics)).not.toMatch(shown);
});

test.each([
  ['a key', `-----BEGIN ${canary}-----\n${canary}\n-----END-----\n`],
  ['a string', `${canary}\n`],
  ['a list', `- ${canary}\n- ${canary}: x\n`],
  ['an unclosed list', `- ${canary}\n- [${canary}\n`],
  ['a .env file', `PASS=${canary}\nexport B='${canary}\n`],
  ['a second document', `${head}---\n${canary}\n`],
  ['a second document that cannot be read', `${head}---\n"${canary}\n`],
])('a document that is %s has no code frame', (_, text) => {
  const diagnostics = check(text);
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(printed(diagnostics)).not.toMatch(shown);
});

test('an error in plain fields is shown with its line, and one in secret with the key and stars', () => {
  expect(check(`${head}  reviewers: [dba\n`)[0]?.frame?.lines).toEqual(['  reviewers: [dba', '']);
  expect(check(`${head}  secret:\n    envvar:PASS: "${canary}\n`).flatMap(({ frame }) => frame?.lines ?? [])).toEqual([
    '  secret:',
    '    envvar:PASS: ***',
  ]);
  expect(check(`${head}  secret:\n    envvar:A: x\n    envvar:B: [${canary}}\n`)[0]?.frame?.lines.at(-1)).toMatch(/^ {4}envvar:B: \*\*\*$/);
});
