import type { IncomingMessage } from 'node:http';
import { isObject, type JsonObject } from '../../model/json.ts';
import { Rejection } from './rejection.ts';

const maxBodyBytes = 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsedBodies = new WeakMap<IncomingMessage, JsonObject>();

/** Reads a JSON object of at most 1 MiB; what is wrong with the text is never quoted, as it may hold secrets. No body is `missing`. */
export async function readBody(incoming: IncomingMessage, missing?: JsonObject): Promise<JsonObject> {
  const text = await readText(incoming).catch((error: unknown) => {
    throw error instanceof Rejection ? error : new Rejection(400, 'the body was cut off');
  });
  if (text === '' && missing !== undefined) return missing;
  const body = parseJson(text);
  if (!isObject(body)) throw new Rejection(400, 'the body is not a JSON object');
  parsedBodies.set(incoming, body);
  return body;
}

/** The body that was read of a request; undefined where none was, or it was unreadable. */
export function parsedBody(incoming: IncomingMessage): JsonObject | undefined {
  return parsedBodies.get(incoming);
}

async function readText(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw bodyTooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the connection that the answer still needs.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunks.at(-1)?.length ?? 0;
    if (size > maxBodyBytes) throw bodyTooLarge();
  }
  return decodeUtf8(Buffer.concat(chunks));
}

/** What another encoding wrote would be stored as something that nobody meant. */
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Rejection(400, 'the body is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bodyTooLarge(): Rejection {
  return new Rejection(413, `the body is larger than ${maxBodyBytes} bytes`, { Connection: 'close' });
}
