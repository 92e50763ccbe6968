import { Buffer } from 'node:buffer';

type Spelling = (text: string) => string;

const spell = (text: string, each: (code: number, character: string) => string): string =>
  Array.from(text, (character) => each(character.codePointAt(0) ?? 0, character)).join('');
const units = (text: string, each: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, index) => each(text.charCodeAt(index))).join('');
const hex = (code: number, width = 2): string => code.toString(16).padStart(width, '0');
const bytes = (text: string): readonly number[] => [...Buffer.from(text)];

const quotedPrintable = (text: string): readonly string[] =>
  bytes(text).map((byte) => (/[a-z\d.]/i.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `=${hex(byte).toUpperCase()}`));
const chunks = (text: string): readonly string[] => text.match(/.{1,4}/gsu) ?? [];

function base32(text: string): string {
  const bits = bytes(text).map((byte) => byte.toString(2).padStart(8, '0'));
  const groups = bits.join('').match(/.{1,5}/g) ?? [];
  return groups.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

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
  'HTML with many zeros': (text) => spell(text, (code) => `&#x${hex(code, 12)};`),
  'code points in braces with zeros': (text) => spell(text, (code) => `\\u{${hex(code, 8)}}`),
  'percent and u': (text) => units(text, (code) => `%u${hex(code, 4)}`),
  'names of code points': (text) => spell(text, (code) => `U+${hex(code, 4)} `),
  'escapes of CSS': (text) => spell(text, (code) => `\\${hex(code)} `),
  'octal escapes': (text) =>
    bytes(text)
      .map((byte) => `\\${byte.toString(8)}`)
      .join(''),
  'octal numbers': (text) =>
    bytes(text)
      .map((byte) => `0o${byte.toString(8)}`)
      .join(', '),
  'binary numbers': (text) =>
    bytes(text)
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join(' '),
  bits: (text) =>
    bytes(text)
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join(''),
  'hex with dots': (text) =>
    bytes(text)
      .map((byte) => hex(byte))
      .join('.'),
  'hex in quotes': (text) => JSON.stringify(bytes(text).map((byte) => hex(byte))),
  'decimal bytes with dashes': (text) => bytes(text).join('-'),
  'decimal bytes of three digits': (text) =>
    bytes(text)
      .map((byte) => String(byte).padStart(3, '0'))
      .join(''),
  'a map of bytes': (text) => JSON.stringify(Object.fromEntries(bytes(text).entries())),
  'UTF-16 in base64': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'UTF-16 in hex': (text) => Buffer.from(text, 'utf16le').swap16().toString('hex'),
  base32: (text) => base32(text),
  'base32 in lower case': (text) => base32(text).toLowerCase(),
  'quoted-printable with soft breaks': (text) => [...quotedPrintable(text)].join('=\n'),
  'encoded words in base64': (text) =>
    chunks(text)
      .map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`)
      .join(' '),
  'encoded words': (text) =>
    chunks(text)
      .map((part) => `=?utf-8?Q?${quotedPrintable(part).join('')}?=`)
      .join('\n '),
  'letters in tags': (text) => spell(text, (_, character) => `<b>${character}</b>`),
  'letters in color': (text) => spell(text, (_, character) => `\u001B[1m${character}\u001B[0m`),
  'letters in quotes': (text) => spell(text, (_, character) => `'${character}', `),
  'letters of full width': (text) => text.replaceAll(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  'separate accents': (text) => text.normalize('NFD'),
  'Latin-1': (text) => Buffer.from(text).toString('latin1'),
  spaced: (text) => spell(text, (_, character) => `${character} `),
  'cut at both ends': (text) => text.slice(1, -1),
};

// These change an encoding inside them, so that it cannot be decoded.
const lossy = new Set(['upper case', 'cut at both ends', 'spaced']);
/** Spellings that can contain any other one. */
export const outerSpellings: readonly Spelling[] = Object.entries(spellings).flatMap(([name, encode]) => (lossy.has(name) ? [] : [encode]));
