import type { JsonObject } from '../model/json.ts';

type LogLevel = 'info' | 'warn' | 'error';

/** A log entry. It never contains a query, a header, a body or a secret; only the JSON format has `details`. */
type LogEntry = {
  readonly level: LogLevel;
  readonly message: string;
  readonly requestId?: string;
  readonly details?: JsonObject;
};

export type Log = (entry: LogEntry) => void;

/** The formats of the log: text for people, or one JSON object per line. */
const logFormats = ['text', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** Creates a log that writes each entry as one line. */
export function createLog(write: (line: string) => void, form: LogFormat, now: () => Date): Log {
  return (entry) => write(form === 'json' ? jsonLine(entry, now()) : textLine(entry));
}

function jsonLine({ level, message, requestId, details }: LogEntry, now: Date): string {
  const id = requestId === undefined ? {} : { request_id: requestId };
  return JSON.stringify({ time: now.toISOString(), level, message, ...id, ...details });
}

/** A stack keeps its lines, for readability. */
function textLine({ message, requestId, details }: LogEntry): string {
  const stack = details?.['stack'];
  return [message, requestId, typeof stack === 'string' ? stack : undefined].filter((part) => part !== undefined).join(' ');
}
