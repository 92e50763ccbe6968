import { isUtf8 } from 'node:buffer';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { AppError, systemCodeOf } from '../model/errors.ts';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is busy',
  EDQUOT: 'the quota is used up',
  EEXIST: 'it exists already',
  EFBIG: 'it is too large',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link, or its links form a loop',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its path is too long',
  ENFILE: 'too many files are open',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of its path is not a folder',
  ENXIO: 'it is not a regular file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ETXTBSY: 'it is busy',
};

/** Describes why the system refused. */
export function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  return (code === undefined ? undefined : reasons[code]) ?? code ?? 'the operating system refused the operation';
}

const noRoom = 'free space on that disk, then run the command again';
const remedies: Readonly<Record<string, string>> = {
  EDQUOT: noRoom,
  EIO: 'check that disk, then run the command again',
  ENOSPC: noRoom,
  EROFS: 'use a path on a file system that can be written',
};

/** Returns what helps where the system refused a write: for a full disk or a read-only one that, for every other reason the given hint. */
export function remedyOf(error: unknown, otherwise: string): string {
  return remedies[systemCodeOf(error) ?? ''] ?? otherwise;
}

/** The maximum size of manifests, configs and secrets, in bytes. */
export const maxBytes: number = 1024 * 1024;

/** The reason why a file was not read, and the line if the reason is in the text. */
export type ReadProblem = {
  readonly code: 'too-large' | 'not-utf8' | 'unreadable';
  readonly reason: string;
  readonly line: number;
};

type ReadText = { readonly text: string } | { readonly problem: ReadProblem };

/** Reads small text files one after another into one buffer: the fastest way for thousands of files. */
type TextReader = (path: string) => ReadText;

// Never block on a pipe that replaced a file since it was listed.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

// A read returns less than a page of a regular file only at its end (POSIX, read): nearly every manifest is one read.
const page = 4096;

/** Makes a reader with a buffer of its own; drops a byte order mark. */
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

/** Decodes the bytes of a file; drops a byte order mark. */
export function decodeText(bytes: Buffer): ReadText {
  if (bytes.length > maxBytes) return { problem: { code: 'too-large', reason: 'it is larger than 1 MiB', line: 1 } };
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

/** Finds the first byte that is not UTF-8: the first difference between the bytes and their decoded text. */
function notUtf8(bytes: Buffer, text: string): ReadProblem {
  const decoded = Buffer.from(text);
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === decoded[offset]) offset += 1;
  while (!isUtf8(bytes.subarray(0, offset))) offset -= 1;
  let line = 1;
  for (let index = bytes.indexOf(0x0a); index !== -1 && index < offset; index = bytes.indexOf(0x0a, index + 1)) line += 1;
  return { code: 'not-utf8', reason: `byte ${offset + 1} is not valid UTF-8`, line };
}

/** Returns whether the system made a path, such as /dev/stderr: links there may lead anywhere. In /dev/shm are files of users. */
export function isSystemPath(path: string): boolean {
  return /^\/(?:dev\/(?!shm\/)|proc\/)/.test(path);
}

/** Reads the certificates that an environment variable names. Throws AppError if that is not possible. */
export function readCertificates(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('api/bad-ca-file', 3, `${JSON.stringify(path)} of ${variable} cannot be read: ${reasonOf(error)}`, {
      cause: error,
      hint: `correct ${variable}, or unset it`,
    });
  }
}
