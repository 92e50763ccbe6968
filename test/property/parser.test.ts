import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseDocuments } from '../../src/manifest/parse.ts';
import { readStrictly } from '../../src/manifest/strict-reader.ts';
import { readYaml } from '../../src/manifest/yaml-reader.ts';

const seeds = [
  `# yaml-language-server: $schema=../schemas/connection.schema.json
apiVersion: ostiary/v1
kind: Connection                 # DataMaskingRule
metadata:
  name: orders-db
  ignore: [/command]
spec:
  type: database
  agent_id: prod-agent
  reviewers: [dba-team, "sre", 'on ''call''']
  connection_tags: { env: prod, team: orders, level: 3, on: true, none: ~ }
  port: 5432
  ratio: 0.25
  host: 10.0.0.5
  empty:
  command: ["psql", "-h", "$HOST"]
  secret:
    envvar:HOST: { value: 10.0.0.5 }
    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_ORDERS } }
    envvar:KEY: { keep: true }
`,
  `---
apiVersion: ostiary/v1
kind: GuardrailRule
metadata: { name: "no-drop" }
spec:
  input:
    rules:
      - type: deny_words_list
        words: [DROP, "TRUNCATE\\tTABLE"]
      -   type: pattern_match
          pattern_regex: '(?i)^\\s*delete'
      - - nested
        - []
  connection_ids:
  - orders-db
  - billing
tests:
  - input: "DROP TABLE x"   # a comment

    expect: blocked
---
# nothing

---
a: {}
`,
  `"quoted key": 'x'
list:
-
- null
-
  - 1
  - -2
  - 3.50
  - 0x1f
text: |
  line
  line
folded: >-
  a
  b
anchor: &a { x: 1 }
alias: *a
plain: several words
  on two lines
? complex
: value
`,
];

const pieces = [
  ...[
    '\n',
    '\n\n',
    '  ',
    ' ',
    '    ',
    '\t',
    '\r\n',
    '\r',
    ': ',
    ':',
    ' :',
    '- ',
    '-',
    '? ',
    '# c',
    ' # c',
    '#',
    '---\n',
    '\n---\n',
    '...\n',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ', ',
    '"',
    "'",
    "''",
    '\\',
    '\\n',
    '\\x41',
    '&a ',
    '*a',
    '!!str ',
    '!x ',
    '|\n',
    '>\n',
    '|-\n  x\n',
    '%YAML 1.2\n',
  ],
  ...[
    '<<: ',
    '__proto__: ',
    'constructor: ',
    'a: 1\n',
    '  b: 2\n',
    'null',
    '~',
    'true',
    'False',
    'yes',
    '0',
    '-0',
    '1.0',
    '1e3',
    '.5',
    '.inf',
    '.nan',
  ],
  ...[
    '0o7',
    '0x1F',
    '12345678901234567890',
    '2024-01-01',
    '1_000',
    '+1',
    '-',
    '--',
    '@',
    '`',
    '\ufeff',
    '\u0085',
    '\u2028',
    'ü',
    '🚪',
    '\u0000',
    '\u001f',
    '\u0002',
  ],
];

/** A seed with a few pieces put in, cut out, doubled or exchanged. */
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(
      fc.record({
        at: fc.nat(900),
        cut: fc.constantFrom(0, 0, 0, 1, 1, 2, 5, 20),
        piece: fc.oneof(fc.constantFrom(...pieces), fc.constantFrom('', '')),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([seed, edits]) =>
    edits.reduce((text, { at, cut, piece }) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + piece + text.slice(place + cut);
    }, seed),
  );

/** Short texts of pieces alone reach corners that long manifests hide. */
const scraps = fc.array(fc.constantFrom(...pieces, 'a', 'b', 'key', 'x y'), { maxLength: 14 }).map((parts) => parts.join(''));

const lines = [
  'a:',
  'b: 1',
  'c: text',
  '-',
  '- ',
  '- x',
  '- d: 1',
  '-  e:',
  '- - f',
  '- -',
  '# note',
  '',
  'g: [1, {h: i}]',
  '"j": k',
  'l: # note',
  '- [m]',
  '---',
  "n: ''",
];

/** Lines at random indentations: what maps and lists make of each other. */
const blocks = fc
  .array(fc.tuple(fc.constantFrom(0, 0, 1, 2, 2, 4), fc.constantFrom(...lines)), { maxLength: 9 })
  .map((rows) => rows.map(([indent, line]) => `${' '.repeat(indent)}${line}\n`).join(''));

/** What `yaml` itself makes of a text: undefined where it finds anything wrong. */
function reference(text: string): string | undefined {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent' });
  if ('empty' in documents) return '[]';
  if (documents.some(({ errors, warnings }) => errors.length + warnings.length > 0)) return undefined;
  return JSON.stringify(documents.map((document): unknown => document.toJS()).filter((value) => value !== null));
}

describe('the strict reader', () => {
  it('gives up or reads what yaml reads', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(mutated, mutated, blocks, scraps), (text) => {
        const documents = readStrictly(text);
        if (documents === undefined) return;
        accepted += 1;
        expect(JSON.stringify(documents.map(({ value }) => value).filter((value) => value !== null))).toBe(reference(text));
        expect({ documents, mistakes: [] }).toStrictEqual(readYaml(text));
      }),
      { numRuns: Number(process.env['OSTIARY_FUZZ'] ?? 1500) },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('reads the manifests that people write', () => {
    expect(readStrictly(seeds[0] ?? '')).toHaveLength(1);
    expect(readStrictly(seeds[1] ?? '')).toHaveLength(2);
    expect(readStrictly(seeds[2] ?? '')).toBeUndefined();
  });

  it('reads Windows line ends, with positions in the text as it is', () => {
    const text = (seeds[1] ?? '').replaceAll('\n', '\r\n');
    const documents = readStrictly(text);
    expect(documents).toHaveLength(2);
    expect({ documents, mistakes: [] }).toStrictEqual(readYaml(text));
  });
});

describe('the parser', () => {
  it('never throws, and says something or returns something, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(mutated, scraps, blocks, fc.string({ unit: 'binary', maxLength: 200 })), (text) => {
        const { value, diagnostics } = parseDocuments({ path: 'any.yaml', text });
        expect(value === undefined).toBe(diagnostics.length > 0);
        for (const { code, message, at, frame } of diagnostics) {
          expect(code).toMatch(/^manifest\/[a-z-]+$/);
          expect(message).not.toMatch(/\p{Cc}/u);
          expect(at?.line).toBeGreaterThan(0);
          expect(at?.column).toBeGreaterThan(0);
          expect(frame?.lines.join('')).not.toMatch(/\p{Cc}/u);
        }
        for (const document of value ?? []) {
          expect(document.locate('').line).toBeGreaterThan(0);
          expect(document.locate('/spec/secret/0/x').line).toBeGreaterThan(0);
          expect(JSON.parse(JSON.stringify(document.value))).toStrictEqual(document.value);
        }
      }),
      { numRuns: Number(process.env['OSTIARY_FUZZ'] ?? 800) },
    );
  });

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
    ['too much', 'a'.repeat(1_100_000)],
  ])('ends soon: %s', (_, text) => {
    const begun = performance.now();
    const { value, diagnostics } = parseDocuments({ path: 'bomb.yaml', text });
    expect(value === undefined).toBe(diagnostics.length > 0);
    expect(diagnostics.length).toBeLessThanOrEqual(20);
    expect(performance.now() - begun).toBeLessThan(3000);
  });
});
