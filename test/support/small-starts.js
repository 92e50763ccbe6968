// Starting a process copies the memory map of its parent, which took a third of the CPU time of tests that run git: a worker has a small
// process that starts others for it, connected to their streams directly.
import childProcess from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

const startHere = childProcess.spawn;
const starts = Symbol.for('ostiary: a small process starts others');

/** The options that the starter passes on; a process with others is started here. */
const known = new Set(['argv0', 'cwd', 'detached', 'env', 'stdio', 'windowsHide']);

/** A process of the starter, with what tests and Ostiary use of a child process. */
class StartedProcess extends EventEmitter {
  pid;
  exitCode = null;
  signalCode = null;
  killed = false;
  #waitingSignals = [];
  #open = 0;
  #isEnded = false;
  #began;

  constructor({ file, args, streams }) {
    super();
    const [input, output, errors] = streams;
    this.spawnfile = file;
    this.spawnargs = [file, ...args];
    this.stdin = new Writable({
      // Its input goes to a process that has started.
      construct: (done) => {
        this.#began = done;
      },
      write: (chunk, _, done) => input.write(chunk, (error) => done(this.#heard(error))),
      final: (done) => input.end(() => done()),
      destroy: (error, done) => {
        input.destroy();
        done(error);
      },
    });
    input.on('error', (error) => this.stdin.destroy(this.#heard(error) ?? undefined));
    input.on('close', () => this.stdin.destroy());
    this.stdout = output;
    this.stderr = errors;
    this.stdio = [this.stdin, output, errors];
    for (const stream of [output, errors]) {
      this.#open += 1;
      stream.once('close', () => {
        this.#open -= 1;
        this.#closeIfEnded();
      });
    }
  }

  kill(signal = 'SIGTERM') {
    if (this.#isEnded) return false;
    if (this.pid === undefined) {
      this.#waitingSignals.push(signal);
      return true;
    }
    try {
      process.kill(this.pid, signal);
    } catch (error) {
      if (error.code === 'ESRCH') return false;
      throw error;
    }
    this.killed = true;
    return true;
  }

  ref() {}

  unref() {}

  began(pid) {
    this.pid = pid;
    this.#began();
    this.emit('spawn');
    for (const signal of this.#waitingSignals.splice(0)) this.kill(signal);
  }

  failed(error) {
    this.#began();
    this.exitCode = error.errno;
    this.#end();
    this.emit('error', Object.assign(new Error(error.message), error));
    this.#closeIfEnded();
  }

  ended([code, signal]) {
    this.exitCode = code;
    this.signalCode = signal;
    this.#end();
    this.emit('exit', code, signal);
    this.#closeIfEnded();
  }

  /** Returns an error that has a listener: a process may end before its input arrives, which the caller learns from its end. */
  #heard(error) {
    return this.stdin.listenerCount('error') > 0 ? error : undefined;
  }

  #end() {
    this.#isEnded = true;
    this.stdin.destroy();
    // Output without a reader must not keep the process open.
    for (const stream of [this.stdout, this.stderr]) if (stream.readableFlowing === null) stream.resume();
  }

  #closeIfEnded() {
    if (this.#isEnded && this.#open === 0) this.emit('close', this.exitCode, this.signalCode);
  }
}

/** Starts the small process; it ends with this one. */
function openStarter() {
  const path = join(tmpdir(), `ostiary-${randomUUID()}`);
  const running = new Map();
  const starter = startHere(process.execPath, [join(import.meta.dirname, 'process-starter.js'), path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  starter.unref();
  const ready = new Promise((resolve) => {
    createInterface({ input: starter.stdout }).on('line', (line) => {
      const { id, ready: isReady, pid, error, exit } = JSON.parse(line);
      if (isReady) resolve();
      const one = running.get(id);
      if (one === undefined) return;
      if (pid !== undefined) one.began(pid);
      if (error !== undefined) one.failed(error);
      if (exit !== undefined) one.ended(exit);
      if (pid === undefined) running.delete(id);
    });
  });
  for (const stream of [starter.stdin, starter.stdout]) stream.unref?.();
  let count = 0;
  return (file, args, { cwd = process.cwd(), env = process.env, ...options }) => {
    count += 1;
    const id = count;
    const streams = [0, 1, 2].map((index) => {
      const stream = new Socket();
      void ready.then(() => stream.connect(path, () => stream.write(`${id} ${index}\n`)));
      return stream;
    });
    const one = new StartedProcess({ file, args, streams });
    running.set(id, one);
    starter.stdin.write(`${JSON.stringify({ id, file, args, options: { ...options, cwd, env } })}\n`);
    return one;
  };
}

let start;

/** Returns whether the starter can start it: as a program with three pipes. */
function isPlain(file, args, { stdio = 'pipe', ...options }) {
  const arePipes = [stdio].flat().every((one) => one === 'pipe');
  return arePipes && Object.keys(options).every((name) => known.has(name)) && !JSON.stringify([file, args, options]).includes('\\u0000');
}

function spawn(file, ...more) {
  const [args, options] = Array.isArray(more[0]) ? [more[0], more[1] ?? {}] : [[], more[0] ?? {}];
  if (!isPlain(file, args, options)) return startHere(file, ...more);
  start ??= openStarter();
  return start(file, args.map(String), options);
}

// Files of one worker share it.
if (!Object.hasOwn(childProcess, starts)) {
  Object.defineProperty(childProcess, starts, { value: true });
  childProcess.spawn = spawn;
  syncBuiltinESMExports();
}
