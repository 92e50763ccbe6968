import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The address that a request comes from; behind a trusted proxy the one that the proxy added last. */
export function clientAddress(incoming: Pick<IncomingMessage, 'headers' | 'socket'>, trustProxy: boolean): string {
  const peer = plain(incoming.socket.remoteAddress ?? '');
  if (!trustProxy) return peer;
  const header = incoming.headers['x-forwarded-for'];
  const told = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').at(-1)?.trim() ?? '';
  return isIP(told) === 0 ? peer : plain(told);
}

/** An IPv4 address is the same, however it reached the socket. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
