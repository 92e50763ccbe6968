import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from '@hono/node-server';
import type { Log } from './log.ts';

type MalformedAnswer = { readonly status: 400 | 408 | 431 | 500; readonly reason: string; readonly message: string };

const malformed: MalformedAnswer = { status: 400, reason: 'Bad Request', message: 'the request is not HTTP that can be read' };
const answersByCode: Readonly<Record<string, MalformedAnswer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: 'Request Timeout', message: 'the request did not come in time' },
  HPE_HEADER_OVERFLOW: { status: 431, reason: 'Request Header Fields Too Large', message: 'the headers are larger than 16 KiB' },
};

/** Answers and logs requests that no route sees because they are not valid HTTP. */
export function rejectMalformedRequests(server: Server, log: Log): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refused = answersByCode[error.code ?? ''] ?? malformed;
    logMalformed(log, refused, socket.remoteAddress);
    const body = JSON.stringify({ message: refused.message });
    const head = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'];
    socket.end(`HTTP/1.1 ${refused.status} ${refused.reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** Answers and logs requests whose path does not form a URL. */
export function answerMalformedUrls(log: Log): (error: unknown) => Response {
  return (error) => {
    const refused: MalformedAnswer =
      error instanceof RequestError
        ? { ...malformed, message: 'the address of the request makes no URL' }
        : { status: 500, reason: '', message: 'internal error' };
    logMalformed(log, refused, undefined);
    return Response.json({ message: refused.message }, { status: refused.status });
  };
}

function logMalformed(log: Log, { status, message }: MalformedAnswer, address: string | undefined): void {
  log({
    level: status < 500 ? 'info' : 'error',
    message: `unreadable request: ${status} ${message}`,
    details: { status, address: address ?? null },
  });
}
