import { fstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import type { DiagnosticCode } from '../../model/catalog/diagnostic-code.ts';
import type { Output } from './cli-context.ts';

type Stream = NodeJS.WriteStream & { readonly fd: number };

const lossCode: DiagnosticCode = 'cli/output';

type OnLoss = (error: NodeJS.ErrnoException) => void;

/** The output of this process. */
export type ProcessOutput = {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Waits until everything has arrived, and returns the exit code: a result that was lost is no success. */
  readonly finish: (exitCode: number) => Promise<number>;
};

/** Opens the output of this process. What is lost on the way is reported once, and the command runs to its end. */
export function openProcessOutput(): ProcessOutput {
  let isLost = false;
  let isReported = false;
  const lose: OnLoss = (error) => {
    isLost = true;
    if (isReported || isOfReader(error)) return;
    isReported = true;
    const reason = error.code === 'ENOSPC' ? 'no space left on the disk' : error.message;
    const hint = `write it elsewhere, or discard it: > ${devNull}; the command ran to its end`;
    process.stderr.write(`error ${lossCode}  the result cannot be written: ${reason}\n  hint: ${hint}\n`);
  };
  const loseNote: OnLoss = (error) => {
    if (!isOfReader(error)) lose(error);
  };
  return {
    stdout: openStream(process.stdout, lose),
    stderr: openStream(process.stderr, loseNote),
    async finish(exitCode) {
      await Promise.all([arrived(process.stdout, lose), arrived(process.stderr, loseNote)]);
      return isLost && (exitCode === 0 || exitCode === 2) ? 1 : exitCode;
    },
  };
}

/** Returns true if the reader of a pipe closed it (`| head`): it wants no more. */
function isOfReader({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}

function openStream(stream: Stream, onLoss: OnLoss): Output {
  stream.on('error', onLoss);
  return { write: writerOf(stream, onLoss), ...describeStream(stream) };
}

/** Describes a stream of this process. */
export function describeStream(stream: Stream): Omit<Output, 'write'> {
  const isTTY = isatty(stream.fd);
  // A terminal of unknown width reports 0.
  const columns = isTTY && stream.columns > 0 && process.env['COLUMNS'] !== '0' ? stream.columns : undefined;
  return { isTTY, columns, ansi: columns !== undefined && process.env['TERM'] !== 'dumb' };
}

function writerOf(stream: Stream, onLoss: OnLoss): Output['write'] {
  const { fd } = stream;
  const stats = fstatSync(fd);
  if (stats.isCharacterDevice() && wasClosed(fd, stats.rdev))
    return (text) => {
      if (text !== '') onLoss(new Error(`it is closed, or ${devNull} that was opened for reading and writing`));
    };
  if (!stats.isFile()) return (text) => void stream.write(text);
  // The stream of a file ends with what one write takes, which is not all on a disk that becomes full.
  return (text) => {
    try {
      writeFileSync(fd, text);
    } catch (error) {
      onLoss(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/** Returns true if a stream was closed when this process started: Node then opens the null device for reading and writing, a shell only for writing. */
function wasClosed(fd: number, device: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return device === statSync(devNull).rdev && (Number.parseInt(flags, 8) & 3) === 2;
  } catch {
    // Only Linux says how a file was opened.
    return false;
  }
}

/** Waits until the stream has passed on everything that was printed. */
function arrived(stream: Stream, onLoss: OnLoss): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', (error) => {
      if (error !== null && error !== undefined) onLoss(error);
      resolve();
    });
  });
}
