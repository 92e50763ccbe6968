import type { ErrorCode, Range, YAMLError } from 'yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { SourceFile } from '../../model/source.ts';
import { cutCodeFrame } from './code-frame.ts';
import { createLineFinder } from './line-finder.ts';

/** The errors that Ostiary finds in addition to those of `yaml`. */
export type YamlErrorName =
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
type ErrorText = { readonly code: `manifest/${string}`; readonly message: (name: string) => string; readonly hint: string };

const texts: Readonly<Record<YamlErrorName, ErrorText>> = {
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

/** Creates the diagnostics of one file's YAML errors, each with its position and a code frame. */
export type YamlErrorReporter = {
  /** Reports an error that Ostiary finds. The name is quoted from the text, without control characters and shortened. */
  readonly report: (error: YamlErrorName, range: Readonly<Range> | readonly [number, number], name?: string) => Diagnostic;
  /** Reports an error that `yaml` finds. Its message is cut before it quotes the text, which may be a secret. */
  readonly reportParserError: (error: YAMLError) => Diagnostic;
};

/** Creates the reporter of a file. Each diagnostic costs a scan of the text up to its position. */
export function createYamlErrorReporter({ path, text }: SourceFile): YamlErrorReporter {
  const positionAt = createLineFinder(text);
  const toDiagnostic = (error: Pick<Diagnostic, 'code' | 'message' | 'hint'>, start: number, end: number): Diagnostic => {
    const at = { file: path, ...positionAt(start) };
    return { ...error, severity: 'error', at, frame: cutCodeFrame(text, at, end - start) };
  };
  return {
    report(error, [start, end], name = '') {
      const { code, message, hint } = texts[error];
      return toDiagnostic({ code, message: message(toPrintable(name)), hint }, start, end);
    },
    reportParserError: (error) => toDiagnostic(describeParserError(error), ...error.pos),
  };
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

function describeParserError({ code, message }: YAMLError): Pick<Diagnostic, 'code' | 'message' | 'hint'> {
  if (code === 'TAG_RESOLVE_FAILED') {
    return { code: 'manifest/not-json', message: 'the tag is unknown, or does not fit its value', hint: 'remove the tag' };
  }
  const text = toPrintable(message.replace(/: ".*$/s, '').replace(/^Not a YAML token.*$/s, 'the text is no YAML'));
  const hint = hints[code] ?? 'check the indentation, quotes and brackets around this place';
  return { code: 'manifest/yaml', message: `not valid YAML: ${text.charAt(0).toLowerCase()}${text.slice(1)}`, hint };
}

function toPrintable(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
