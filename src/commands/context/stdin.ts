import { maxBytes } from '../../disk/text-file.ts';
import { decodeFile } from '../../disk/walk.ts';
import type { Checked, SourceFile } from '../../model/diagnostic.ts';
import { UsageError } from '../../model/errors.ts';
import type { CliContext } from './cli-context.ts';

/** The name of stdin in messages. */
export const stdinName = '<stdin>';

/** Returns whether a path of the command line means stdin: `-`, or a name that the system gives it. */
export function isStdin(path: string): boolean {
  return path === '-' || /^\/(?:dev\/(?:stdin|fd\/0)|proc\/self\/fd\/0)$/.test(path);
}

/** Reads the YAML of stdin if it is the only path; returns undefined for paths of files. Throws UsageError if it is one of several paths. */
export async function readPipedFile(paths: readonly string[], context: CliContext): Promise<Checked<SourceFile> | undefined> {
  const stdin = paths.find(isStdin);
  if (stdin === undefined) return undefined;
  if (paths.length > 1)
    throw new UsageError(`${JSON.stringify(stdin)} means stdin, and cannot be combined with other paths`, 'pass it alone');
  return decodeFile(stdinName, await context.readStdin(maxBytes));
}

/** Makes a function that reads a stream once, up to one byte more than the first call asks for. */
export function streamReader(stream: AsyncIterable<Uint8Array | string>): CliContext['readStdin'] {
  let content: Promise<Buffer> | undefined;
  return (most) => (content ??= readStream(stream, most));
}

async function readStream(stream: AsyncIterable<Uint8Array | string>, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part);
    parts.push(bytes);
    length += bytes.length;
    if (length > most) break;
  }
  return Buffer.concat(parts).subarray(0, most + 1);
}
