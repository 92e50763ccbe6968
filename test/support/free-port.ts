import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Returns a port of the loopback address that no process uses. It is below the ports that systems give to whoever asks for any
 * (Linux: from 32768), so that no other test gets it before the caller listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
