// Runs the demos in a temporary folder with their own gateway, prints what they do, and removes everything at the end.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The build that is shown; a test passes another one. */
export const [, , dist = fileURLToPath(new URL('../dist', import.meta.url))] = process.argv;
export const cli = join(dist, 'cli.js');

export function say(text) {
  process.stdout.write(`${text}\n`);
}

export function title(text) {
  say(`\n\u2500\u2500 ${text} ${'\u2500'.repeat(Math.max(0, 76 - text.length))}\n`);
}

/** Starts a gateway in the folder and waits for its address. */
function serve(folder, key) {
  const agents = ['default', 'prod-agent', 'staging-agent'].flatMap((name) => ['--agent', name]);
  // A gateway that soon ends is compiled once: V8 would compile the database a second time for a longer life.
  const args = ['--liftoff-only', cli, 'serve', '--port', '0', '--database', join(folder, 'gateway'), '--quiet', ...agents];
  const server = spawn(process.execPath, args, {
    env: { ...process.env, OSTIARY_SERVE_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const url = new Promise((resolve, reject) => {
    let text = '';
    server.stderr.on('data', (chunk) => {
      text += chunk;
      const [address] = /http:\/\/\S+/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
    server.on('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
  return { server, url };
}

/** Runs a demo on a new gateway, and removes everything, also after an interruption. */
export async function onStage(play) {
  if (!existsSync(cli)) throw new Error('there is no dist/: run npm run build first');
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-demo-'));
  const key = randomBytes(24).toString('base64url');
  const { server, url } = serve(folder, key);
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const clear = async () => {
    if (server.exitCode === null && server.kill('SIGTERM')) await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void clear().then(() => process.kill(process.pid, signal)));
  try {
    const address = await url;
    say(`A gateway (ostiary serve) answers on ${address}.`);
    await play({ folder, key, url: address });
  } finally {
    await clear();
  }
}
