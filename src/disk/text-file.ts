import { isUtf8 } from 'node:buffer';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { reasonOf } from './reason.ts';

/** Larger files are not manifests, configs or secrets. */
export const maxBytes: number = 1024 * 1024;

/** Why a file was not read, in words, and the line where a place is meant. */
export type ReadProblem = {
  readonly code: 'too-large' | 'not-utf8' | 'unreadable';
  readonly reason: string;
  readonly line: number;
};

export type ReadText = { readonly text: string } | { readonly problem: ReadProblem };

/** Reads small text files one after another into one buffer: far faster than any other way when there are thousands. */
export type TextReader = (path: string) => ReadText;

// A pipe that took a file's place since it was listed must not be waited for.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

// No file system hands over less than a page of a regular file unless it ends there (POSIX, read): nearly all manifests are one read.
const page = 4096;

/** Makes a reader with a buffer of its own; a byte order mark is dropped. */
export function textReader(): TextReader {
  const buffer = Buffer.allocUnsafeSlow(maxBytes + 1);
  return (path) => {
    let length: number;
    try {
      length = fill(buffer, path);
    } catch (error) {
      return { problem: { code: 'unreadable', reason: reasonOf(error), line: 1 } };
    }
    return decodeText(buffer.subarray(0, length));
  };
}

/** Makes text of a file's bytes; a byte order mark is dropped. */
export function decodeText(bytes: Buffer): ReadText {
  if (bytes.length > maxBytes) return { problem: { code: 'too-large', reason: 'larger than 1 MiB', line: 1 } };
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') && !isUtf8(bytes)) return { problem: notUtf8(bytes, text) };
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text };
}

function fill(buffer: Buffer, path: string): number {
  const file = openSync(path, flags);
  try {
    let length = 0;
    for (;;) {
      const read = readSync(file, buffer, length, buffer.length - length, null);
      length += read;
      if (read === 0 || length < page || length === buffer.length) return length;
    }
  } finally {
    closeSync(file);
  }
}

/** Finds the first byte that is not UTF-8: where the bytes part from their decoded text. */
function notUtf8(bytes: Buffer, text: string): ReadProblem {
  const decoded = Buffer.from(text);
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === decoded[offset]) offset += 1;
  while (!isUtf8(bytes.subarray(0, offset))) offset -= 1;
  let line = 1;
  for (let index = bytes.indexOf(0x0a); index !== -1 && index < offset; index = bytes.indexOf(0x0a, index + 1)) line += 1;
  return { code: 'not-utf8', reason: `byte ${offset + 1} is no part of a character`, line };
}
