// Starts processes for a test worker: a small process starts another one in a fraction of the time that a large one takes.
// Reads one request a line from stdin: what to start, and the id that the first line of each of its three connections has.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [path] = process.argv.slice(2);
const streams = new Map();
const requests = new Map();

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function startIfComplete(id) {
  const request = requests.get(id);
  const stdio = streams.get(id) ?? [];
  if (request === undefined || [0, 1, 2].some((index) => stdio[index] === undefined)) return;
  requests.delete(id);
  streams.delete(id);
  const { file, args, options } = request;
  const child = spawn(file, args, { ...options, stdio });
  for (const stream of stdio) stream.destroy();
  child.once('error', ({ message, code, errno, syscall, path: at, spawnargs }) =>
    say({ id, error: { message, code, errno, syscall, path: at, spawnargs } }),
  );
  if (child.pid === undefined) return;
  say({ id, pid: child.pid });
  child.once('exit', (code, signal) => say({ id, exit: [code, signal] }));
}

createServer({ pauseOnConnect: true }, (stream) => {
  stream.on('error', () => undefined);
  // Nothing follows the first line until the process has started.
  stream.once('data', (line) => {
    stream.pause();
    const [id, index] = String(line).trim().split(' ').map(Number);
    const known = streams.get(id) ?? [];
    known[index] = stream;
    streams.set(id, known);
    startIfComplete(id);
  });
  stream.resume();
}).listen(path, () => say({ ready: true }));

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line);
    requests.set(request.id, request);
    startIfComplete(request.id);
  })
  .on('close', () => {
    rmSync(path, { force: true });
    process.exit();
  });
