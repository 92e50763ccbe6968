import type { JsonObject } from '../../model/json.ts';

export type LogLevel = 'info' | 'warn' | 'error';

/** Something worth a line; never a query, a header, a body or a secret. `details` stand in JSON alone. */
export type LogEntry = {
  readonly level: LogLevel;
  readonly message: string;
  readonly requestId?: string;
  readonly details?: JsonObject;
};

export type Log = (entry: LogEntry) => void;

/** How lines are written: for people, or one JSON object each. */
export const logFormats = ['text', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** Makes a log that writes each entry as one line. */
export function createLog(write: (line: string) => void, form: LogFormat, now: () => Date): Log {
  return (entry) => write(form === 'json' ? jsonLine(entry, now()) : textLine(entry));
}

function jsonLine({ level, message, requestId, details }: LogEntry, now: Date): string {
  const id = requestId === undefined ? {} : { request_id: requestId };
  return JSON.stringify({ time: now.toISOString(), level, message, ...id, ...details });
}

/** A stack keeps its lines: it is for the one who repairs. */
function textLine({ message, requestId, details }: LogEntry): string {
  const stack = details?.['stack'];
  return [message, requestId, typeof stack === 'string' ? stack : undefined].filter((part) => part !== undefined).join(' ');
}
