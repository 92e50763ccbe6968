import type { ErrorCode, Range, YAMLError } from 'yaml';

/** A mistake in a text: what is wrong, what to do, and the offsets where it begins and ends. */
export type Mistake = {
  readonly code: `manifest/${string}`;
  readonly message: string;
  readonly hint: string;
  readonly start: number;
  readonly end: number;
};

/** Mistakes that are ours to find, beside those of `yaml`. */
export type OwnMistake =
  | 'alias'
  | 'alias-bomb'
  | 'duplicate-key'
  | 'non-string-key'
  | 'not-json'
  | 'too-blank'
  | 'too-deep'
  | 'too-dense'
  | 'unsafe-key'
  | 'version';
type Word = { readonly code: Mistake['code']; readonly message: (name: string) => string; readonly hint: string };

const words: Readonly<Record<OwnMistake, Word>> = {
  alias: {
    code: 'manifest/yaml',
    message: (name) => `the alias *${name} stands before its anchor, or has none`,
    hint: 'define the anchor first, or put the text in quotes',
  },
  'alias-bomb': {
    code: 'manifest/alias-bomb',
    message: (name) => `the alias *${name} repeats too much: aliases may add 10,000 values to a document, and none may contain itself`,
    hint: 'write the values out, or split the document',
  },
  'duplicate-key': { code: 'manifest/duplicate-key', message: (name) => `"${name}" stands twice in one map`, hint: 'keep one of the two' },
  'non-string-key': {
    code: 'manifest/non-string-key',
    message: (name) => (name === '' ? 'a key is not a plain text' : `the key ${name} is not a text`),
    hint: 'put the key in quotes',
  },
  'not-json': {
    code: 'manifest/not-json',
    message: () => 'the number is not finite, or too large to be exact',
    hint: 'put it in quotes to make it a text',
  },
  'too-blank': { code: 'manifest/yaml', message: () => 'more than 500 blank lines follow each other', hint: 'remove the blank lines' },
  'too-deep': {
    code: 'manifest/too-deep',
    message: () => 'maps and lists are nested more than 64 deep',
    hint: 'no manifest is that deep: is a bracket or an indentation wrong?',
  },
  'too-dense': {
    code: 'manifest/too-large',
    message: () => 'the file holds more than 500,000 words and signs up to here',
    hint: 'split it into several files',
  },
  'unsafe-key': { code: 'manifest/unsafe-key', message: (name) => `"${name}" cannot be a key`, hint: 'use another name' },
  version: { code: 'manifest/yaml', message: () => 'manifests are YAML 1.2', hint: 'remove the %YAML line' },
};

/** Words a mistake that is ours to find; the name is quoted from the text, without control characters and not at length. */
export function mistake(about: OwnMistake, [start, end]: Readonly<Range> | readonly [number, number], name = ''): Mistake {
  const { code, message, hint } = words[about];
  return { code, message: message(printable(name)), hint, start, end };
}

const hints: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'in single quotes a backslash is just a backslash',
  BAD_INDENT: 'align the line with its siblings, using spaces',
  BAD_SCALAR_START: 'put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'put a text that contains ": " in quotes',
  BLOCK_IN_FLOW: 'close the bracket on its line',
  MISSING_CHAR: 'check quotes, brackets and colons on this line and the one before',
  MULTILINE_IMPLICIT_KEY: 'a line is "key: value" or "- value": is a colon missing?',
  TAB_AS_INDENT: 'indent with spaces',
};

/** Words a mistake that `yaml` found. Its message is cut before it quotes the text, which may be a secret. */
export function mistakeOf(error: YAMLError): Mistake {
  const [start, end] = error.pos;
  if (error.code === 'TAG_RESOLVE_FAILED') {
    return { code: 'manifest/not-json', message: 'the tag is unknown, or does not fit its value', hint: 'remove the tag', start, end };
  }
  const message = printable(error.message.replace(/: ".*$/s, '').replace(/^Not a YAML token.*$/s, 'the text is no YAML'));
  const hint = hints[error.code] ?? 'check the indentation, quotes and brackets around this place';
  return { code: 'manifest/yaml', message: `not valid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`, hint, start, end };
}

function printable(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
