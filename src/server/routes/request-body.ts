import type { IncomingMessage } from 'node:http';
import { duplicateKey } from '../../model/spec/duplicate-key.ts';
import { isObject, type JsonObject, parseJson } from '../../model/json.ts';
import { InvalidBody, Rejection } from '../rejection.ts';

const maxBodyBytes = 1024 * 1024;

/** The size of the largest body of a route that takes a few names and times. */
export const smallBodyBytes: number = 32 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsedBodies = new WeakMap<IncomingMessage, JsonObject>();

type BodyOptions = {
  /** The most bytes of the body; 1 MiB by default. */
  readonly limit?: number | undefined;
  /** The value of an empty body, if the route accepts one. */
  readonly missing?: JsonObject | undefined;
};

/** Reads a JSON object. Throws a `Rejection` that never quotes the text, because it may hold secrets. Routes read it after they have checked the key. */
export async function readBody(incoming: IncomingMessage, { limit = maxBodyBytes, missing }: BodyOptions = {}): Promise<JsonObject> {
  const text = await readText(incoming, limit).catch((error: unknown) => {
    throw error instanceof Rejection ? error : new Rejection(400, 'the body is incomplete');
  });
  if (text === '' && missing !== undefined) return missing;
  const body = parseJson(text);
  if (!isObject(body)) throw new Rejection(400, 'the body is not a JSON object');
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) throw new InvalidBody([{ field: duplicate, reason: 'is a duplicate key' }], 400);
  parsedBodies.set(incoming, body);
  return body;
}

/** Returns the body that `readBody` parsed for a request; undefined when it did not, or when the body was malformed. */
export function parsedBody(incoming: IncomingMessage): JsonObject | undefined {
  return parsedBodies.get(incoming);
}

async function readText(incoming: IncomingMessage, limit: number): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the connection: the response still needs it.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunks.at(-1)?.length ?? 0;
    if (size > limit) throw bodyTooLarge(limit);
  }
  return decodeUtf8(Buffer.concat(chunks));
}

/** Rejects other encodings: decoding them as UTF-8 would store wrong characters. */
function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Rejection(400, 'the body is not UTF-8');
  }
}

function bodyTooLarge(limit: number): Rejection {
  return new Rejection(413, `the body is larger than ${limit} bytes`, { Connection: 'close' });
}
