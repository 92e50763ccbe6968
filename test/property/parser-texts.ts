import { type Arbitrary, array, constantFrom, nat, oneof, record, tuple } from 'fast-check';

/** A manifest as people write it, one of several documents, one that only `yaml` reads, and one as programs write it. */
export const seeds: readonly string[] = [
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
  `{"apiVersion":"ostiary/v1","kind":"GuardrailRule","metadata":{"name":"no-drop"},"spec":{"connection_ids":["orders-db","billing"],"input":{"rules":[{"type":"deny_words_list","words":["DROP",3,true,null,{}]}]}}}`,
];

const pieces = [
  '\n§\n\n§  § §    §\t§\r\n§\r§: §:§ :§- §-§? §# c§ # c§#§---\n§\n---\n§...\n',
  "[§]§{§}§,§, §\"§'§''§\\§\\n§\\x41§&a §*a§!!str §!x §|\n§>\n§|-\n  x\n§%YAML 1.2\n",
  '<<: §__proto__: §constructor: §a: 1\n§  b: 2\n§null§~§true§False§yes§0§-0§1.0§1e3§.5§.inf§.nan',
  '{"a":1}§"b":[§"c":§"d" :§{"e":"f","g":§:"§":§]:§}:§?"',
  '0o7§0x1F§12345678901234567890§2024-01-01§1_000§+1§-§--§@§`§\ufeff§\u0085§\u2028§ü§🚪§\u0000§\u001f§\u0002',
].flatMap((row) => row.split('§'));

/** A seed with a few pieces put in, cut out, doubled or exchanged. */
export const mutatedSeed: Arbitrary<string> = tuple(
  constantFrom(...seeds),
  array(
    record({
      at: nat(900),
      cut: constantFrom(0, 0, 0, 1, 1, 2, 5, 20),
      piece: oneof(constantFrom(...pieces), constantFrom('', '')),
    }),
    { minLength: 1, maxLength: 4 },
  ),
).map(([seed, edits]) =>
  edits.reduce((text, { at, cut, piece }) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + piece + text.slice(place + cut);
  }, seed),
);

/** Short texts of pieces alone reach corners that long manifests hide. */
export const shortTexts: Arbitrary<string> = array(constantFrom(...pieces, 'a', 'b', 'key', 'x y'), { maxLength: 14 }).map((parts) =>
  parts.join(''),
);

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
  "- 'o' p: q",
  "'r' s: t",
];

/** Lines at random indentations: what maps and lists make of each other. */
export const blocks: Arbitrary<string> = array(tuple(constantFrom(0, 0, 1, 2, 2, 4), constantFrom(...lines)), { maxLength: 9 }).map(
  (rows) => rows.map(([indent, line]) => `${' '.repeat(indent)}${line}\n`).join(''),
);
