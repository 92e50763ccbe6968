import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseGoJson } from './go-json.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** One request that was sent to a real gateway, and its response. */
export type Exchange = {
  readonly why: string;
  readonly method: string;
  /** Without the base path, with the query. */
  readonly path: string;
  /** The body as it was sent; undefined for none. */
  readonly sent: string | undefined;
  readonly status: number;
  readonly contentType: string | null;
  /** The body of the response: JSON, plain text, or null for none. */
  readonly answer: Json;
  /** Who sent it, where it was not an admin's key. */
  readonly as: string | undefined;
  /** The names of the connections that a list shows; undefined where the response was recorded itself. */
  readonly sees: readonly Json[] | undefined;
};

/** A topic's exchanges in the order in which they were made. */
export type Recording = { readonly file: string; readonly exchanges: readonly Exchange[] };

const folder = join(import.meta.dirname, '../../recordings');

/** The names of all recordings. */
export function recordingNames(): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
}

/** Reads one recording. */
export function readRecording(file: string): Recording {
  const value = parseGoJson(readFileSync(join(folder, file), 'utf8'));
  return { file, exchanges: isList(value) ? value.filter(isObject).map(readExchange) : [] };
}

/** A request of which only the names in the response were recorded. */
const listing = {
  method: 'GET',
  path: '/connections',
  sent: undefined,
  status: 200,
  contentType: 'application/json; charset=utf-8',
  answer: null,
} as const;

function readExchange(exchange: JsonObject): Exchange {
  const { as, sees } = exchange;
  const caller = typeof as === 'string' ? as : undefined;
  if (isList(sees)) return { ...listing, why: string(exchange['why']), as: caller, sees };
  const request = object(exchange['request']);
  const response = object(exchange['response']);
  const body = request['body'];
  const raw = request['raw'];
  const answered = response['body'] ?? null;
  const text = isObject(answered) ? answered['$text'] : undefined;
  return {
    why: string(exchange['why']),
    method: string(request['method']),
    path: string(request['path']),
    sent: typeof raw === 'string' ? raw : body === undefined ? undefined : JSON.stringify(body),
    status: Number(response['status']),
    contentType: typeof response['contentType'] === 'string' ? response['contentType'] : null,
    answer: text ?? answered,
    as: caller,
    sees: undefined,
  };
}

function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function string(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
