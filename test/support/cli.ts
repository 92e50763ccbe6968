import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

/** The result of a process. */
export type Ended = {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A running process; `printed` is its output so far. */
export type Running = {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly printed: () => { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ended>;
};

export type RunOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether stdin stays open for typed input. */
  readonly typing?: boolean;
  /** Milliseconds until a process that still runs is killed. */
  readonly patience?: number;
};

/** A way to run one command to its end. */
export type Run = (args: readonly string[], options: RunOptions) => Promise<Ended>;

// A command that takes longer hangs.
const usualPatience = 100_000;

/** Runs one command of the built CLI and waits for its end; the command sees only the given environment. */
export async function ostiary(args: readonly string[], options: RunOptions): Promise<Ended> {
  return (await startOstiary(args, options)).ended;
}

/** Starts one command of the built CLI. */
export async function startOstiary(args: readonly string[], options: RunOptions): Promise<Running> {
  const home = await builtPackage();
  return start(process.execPath, [...flagsFor(args), join(home, 'dist', 'cli.js'), ...args], options);
}

/** Of a short PGlite process, V8 spends half the time on compiling it a second time; other commands would start later. */
function flagsFor([command]: readonly string[]): readonly string[] {
  return command === 'serve' ? ['--liftoff-only'] : [];
}

/** Starts any program with the same handling of output and end. */
export function start(
  program: string,
  args: readonly string[],
  { cwd, env = {}, typing = false, patience = usualPatience }: RunOptions,
): Running {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const parts: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
  const printed = (): { readonly stdout: string; readonly stderr: string } => ({
    stdout: Buffer.concat(parts.stdout).toString(),
    stderr: Buffer.concat(parts.stderr).toString(),
  });
  child.stdout.on('data', (part: Buffer) => parts.stdout.push(part));
  child.stderr.on('data', (part: Buffer) => parts.stderr.push(part));
  child.stdin.on('error', () => undefined);
  if (!typing) child.stdin.end();
  const late = setTimeout(() => child.kill('SIGKILL'), patience);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(late);
      resolve({ code, signal, ...printed() });
    });
  });
  return { child, printed, ended };
}

/** Waits until a `serve` prints its address, and returns it. */
export async function addressOf(running: Running): Promise<string> {
  for (;;) {
    const { stdout, stderr } = running.printed();
    const [url] = /http:\/\/\S+(?=\s)/.exec(stderr + stdout) ?? [];
    if (url !== undefined) return url;
    const early = await Promise.race([running.ended, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 10))]);
    if (early !== undefined) throw new Error(`the gateway ended: ${early.stderr}`);
  }
}

let built: Promise<string> | undefined;

/**
 * Returns the folder of the published package, built from the current sources: tests never run an outdated build,
 * and the `dist` of the checkout is never changed.
 */
export function builtPackage(): Promise<string> {
  built ??= build();
  return built;
}

// All that a build depends on.
const parts = ['src', 'schemas', 'examples', 'package.json', 'package-lock.json', 'rolldown.config.js', 'build'];

async function build(): Promise<string> {
  const home = join(process.cwd(), 'node_modules', '.cache', 'ostiary', `built-${digestOf(parts)}`);
  if (existsSync(home)) return home;
  sweep(dirname(home));
  const draft = `${home}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  for (const path of ['package.json', 'schemas', 'LICENSE']) cpSync(path, join(draft, path), { recursive: true });
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs');
  await promisify(execFile)(process.execPath, [rolldown, '--config', 'rolldown.config.js', '--dir', join(draft, 'dist')]);
  try {
    renameSync(draft, home);
  } catch (error) {
    // Another worker created it first.
    rmSync(draft, { recursive: true });
    if (!existsSync(home)) throw error;
  }
  return home;
}

/** Deletes builds that no process can use any more. */
function sweep(cache: string): void {
  if (!existsSync(cache)) return;
  const old = Date.now() - 3_600_000;
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (name.startsWith('built-') && statSync(path).mtimeMs < old) rmSync(path, { recursive: true, force: true });
  }
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const below = statSync(path).isFile() ? [''] : readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted();
    for (const file of below) {
      const full = join(path, file);
      if (statSync(full).isFile()) hash.update(full).update('\0').update(readFileSync(full)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}
