import { Buffer } from 'node:buffer';

type Spelling = (text: string) => string;

const spell = (text: string, each: (code: number, character: string) => string): string =>
  Array.from(text, (character) => each(character.codePointAt(0) ?? 0, character)).join('');
const units = (text: string, each: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, index) => each(text.charCodeAt(index))).join('');
const hex = (code: number, width = 2): string => code.toString(16).padStart(width, '0');
const bytes = (text: string): readonly number[] => [...Buffer.from(text)];

/** The ways in which gateways and proxies spell a text; a part of a secret is recognized in each. */
export const spellings: Readonly<Record<string, Spelling>> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  JSON: (text) => JSON.stringify(text),
  'JSON twice': (text) => JSON.stringify(JSON.stringify({ value: text })),
  'JSON without quotes': (text) => JSON.stringify(text).slice(1, -1),
  'JSON of ASCII': (text) => units(text, (code) => `\\u${hex(code, 4)}`),
  'JSON of ASCII in upper case': (text) => units(text, (code) => `\\u${hex(code, 4).toUpperCase()}`),
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
  'letters of full width': (text) => text.replaceAll(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  'separate accents': (text) => text.normalize('NFD'),
  spaced: (text) => spell(text, (_, character) => `${character} `),
  'cut at both ends': (text) => text.slice(1, -1),
};

/** Spellings that are not decoded: a message with a whole secret of ten characters or more is not shown, because it looks like data. */
export const opaqueSpellings: Readonly<Record<string, Spelling>> = {
  'HTML decimal': (text) => spell(text, (code) => `&#${code};`),
  'HTML hexadecimal': (text) => spell(text, (code) => `&#x${hex(code)};`),
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
};
