import { Buffer } from 'node:buffer';

type Spelling = (text: string) => string;

const spell = (text: string, each: (code: number, character: string) => string): string =>
  Array.from(text, (character) => each(character.codePointAt(0) ?? 0, character)).join('');
const units = (text: string, each: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, index) => each(text.charCodeAt(index))).join('');
const hex = (code: number, width = 2): string => code.toString(16).padStart(width, '0');
const bytes = (text: string): readonly number[] => [...Buffer.from(text)];

/** The ways in which gateways, proxies and loggers spell a text. */
export const spellings: Readonly<Record<string, Spelling>> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'HTML of special characters': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
  'HTML decimal': (text) => spell(text, (code) => `&#${code};`),
  'HTML hexadecimal': (text) => spell(text, (code) => `&#x${hex(code)};`),
  'HTML with leading zeros': (text) => spell(text, (code) => `&#${String(code).padStart(7, '0')};`),
  JSON: (text) => JSON.stringify(text),
  'JSON twice': (text) => JSON.stringify(JSON.stringify({ value: text })),
  'JSON without quotes': (text) => JSON.stringify(text).slice(1, -1),
  'JSON of ASCII': (text) => units(text, (code) => `\\u${hex(code, 4)}`),
  'JSON of ASCII in upper case': (text) => units(text, (code) => `\\u${hex(code, 4).toUpperCase()}`),
  'code points in braces': (text) => spell(text, (code) => `\\u{${hex(code)}}`),
  'long code points': (text) => spell(text, (code) => `\\U${hex(code, 8)}`),
  'bytes with \\x': (text) =>
    bytes(text)
      .map((byte) => `\\x${hex(byte)}`)
      .join(''),
  URI: (text) => encodeURIComponent(text),
  form: (text) => new URLSearchParams({ q: text }).toString(),
  'percent of every byte': (text) =>
    bytes(text)
      .map((byte) => `%${hex(byte)}`)
      .join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 with a prefix inside': (text) => Buffer.from(`x=${text}`).toString('base64'),
  'base64 in lines': (text) => Buffer.from(text).toString('base64').replaceAll(/.{7}/g, '$&\r\n'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with colons': (text) =>
    bytes(text)
      .map((byte) => hex(byte))
      .join(':'),
  'hex with 0x': (text) =>
    bytes(text)
      .map((byte) => `0x${hex(byte)}`)
      .join(', '),
  'decimal bytes': (text) => `[${bytes(text).join(' ')}]`,
  'zero-width characters between': (text) => spell(text, (_, character) => `${character}\u200B`),
  spaced: (text) => spell(text, (_, character) => `${character} `),
  'cut at both ends': (text) => text.slice(1, -1),
};

// These change an encoding inside them, so that it cannot be decoded.
const lossy = new Set(['upper case', 'cut at both ends', 'spaced']);
/** Spellings that can contain any other one. */
export const outerSpellings: readonly Spelling[] = Object.entries(spellings).flatMap(([name, encode]) => (lossy.has(name) ? [] : [encode]));
