import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTemplate, type ParsedTemplate } from '../../../src/server/rules/runbooks/template.ts';
import { runCount } from '../../support/property-runs.ts';

const plain = { type: 'text', required: false, description: '' };

function metadataOf(template: ParsedTemplate): unknown {
  return 'metadata' in template ? template.metadata : template.problem;
}

describe('the parameters of a runbook', () => {
  test.each([
    ['none', 'select id from customers where id = 10', {}],
    ['one', 'name = {{ .name }}', { name: plain }],
    ['several, with little space', '{{.a}} {{ .B_2}} {{- .c -}}', { a: plain, B_2: plain, c: plain }],
    [
      'everything on several lines',
      `{{ .url
          | default "http://127.0.0.1:3000"
          | required "url is required"
          | description "The URL to \\"fetch\\""
          | type "url" | placeholder \`raw "text"\`
          | asenv "FETCH_URL" | order 3 | minlength "2" | maxlength "50" }}`,
      {
        url: {
          type: 'url',
          required: true,
          description: 'The URL to "fetch"',
          default: 'http://127.0.0.1:3000',
          placeholder: 'raw "text"',
          asenv: 'FETCH_URL',
          order: 3,
          minlength: '2',
          maxlength: '50',
        },
      },
    ],
    [
      'options, also of several words',
      '{{ .city | options "Rome" "New York" | type "select" | default "a | b" }}',
      { city: { ...plain, type: 'select', options: ['Rome', 'New York'], default: 'a | b' } },
    ],
    ['an unknown type', '{{ .a | type "color" | order "first" }}', { a: plain }],
    ['functions that say nothing of it', '{{ .a | squote | pattern "^[0-9]+" | encodeb64 }}', { a: plain }],
    ['the same twice', '{{ .a | required "r" }} {{ .a }}', { a: { ...plain, required: true } }],
    ['some in comments and blocks', '{{/* {{ .no }} */}}{{ if .x }}{{ .inner }}{{ else }}{{ end }}{{ .a }}', { a: plain }],
    ['a name of every object', '{{ .constructor }}', { constructor: plain }],
    ['braces that are none', '{ .a } }} { {', {}],
  ])('are parsed: %s', (_case, text, metadata) => {
    expect(metadataOf(readTemplate(text))).toEqual(metadata);
  });

  test('may have the name __proto__', () => {
    expect(JSON.stringify(metadataOf(readTemplate('{{ .__proto__ }}')))).toBe(`{"__proto__":${JSON.stringify(plain)}}`);
  });
});

test.each([
  ['{{ .name\n', 'template: :1: unclosed action, or unexpected "end" in it'],
  ['{{ .name', 'template: :1: unclosed action, or unexpected "end" in it'],
  ['a\n{{ .name }\n', 'template: :2: unclosed action, or unexpected "}" in it'],
  ['{{ .a | description "x }}', String.raw`template: :1: unclosed action, or unexpected "\"" in it`],
  ['\n{{ .a | shout }}', 'template: :2: function "shout" not defined'],
  ['{{ }}', 'template: :1: missing value for command'],
  ['{{ .a | }}', 'template: :1: missing value for command'],
  ['{{ end }}', 'template: :1: unexpected {{end}}'],
  ['{{ else }}', 'template: :1: unexpected {{else}}'],
  ['{{ if .a }}\n', 'template: :2: unexpected EOF'],
  ['{{/* x }}', 'template: :1: unclosed comment'],
  ['{{/* x */ .a }}', 'template: :1: unclosed comment'],
  ['{{ .a ; }}', 'template: :1: unclosed action, or unexpected ";" in it'],
  ['a\n{{ "text" }}', 'template: :2: an action must begin with a parameter, such as {{ .name }}'],
  ['{{ $x := .a }}', 'template: :1: an action must begin with a parameter, such as {{ .name }}'],
])('%j is not a template: %s', (text, problem) => {
  expect(readTemplate(text)).toEqual({ problem });
});

function law(text: string): void {
  const template = readTemplate(text);
  expect(JSON.parse(JSON.stringify(template))).toEqual(template);
}

test('any text gives parameters or an error, as JSON', () => {
  const parts = constantFrom(
    '{{',
    '}}',
    ' ',
    '\n',
    '|',
    '.a',
    '"',
    '`',
    "'",
    '\\',
    '/*',
    '*/',
    '-',
    'required',
    'if',
    'end',
    '(',
    ')',
    '{',
    'x',
  );
  const texts = array(parts, { maxLength: 30 }).map((chosen) => chosen.join(''));
  assert(property(texts, law), { numRuns: runCount(1700) });
  assert(property(string({ unit: 'binary' }), law));
});

test.each([
  ['steps', (count: number) => `{{ .a${'|""'.repeat(count / 2)} }}`],
  ['words', (count: number) => `{{ .a | description ${'1 '.repeat(count)} }}`],
  ['parameters', (count: number) => Array.from({ length: count }, (_, index) => `{{ .a${index} }}`).join('')],
])('a template of many %s is read, and one of too many is an error', (_, textOf) => {
  expect(readTemplate(textOf(9000))).toHaveProperty('metadata');
  expect(readTemplate(textOf(330_000))).toEqual({ problem: 'template: :1: the template has more than 10000 parts' });
});
