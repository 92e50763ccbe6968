import { AppError } from '../model/errors.ts';

/** An answer that is not a success; without headers if there was no answer. */
export type FailedAnswer = { readonly status: number; readonly message: string; readonly headers?: Readonly<Record<string, unknown>> };

/** Returns the answer of a failed request; undefined for any other error. */
export function failedAnswerOf(error: unknown): FailedAnswer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const response = 'response' in error ? error.response : undefined;
  const headers = isRecord(response) && isRecord(response['headers']) ? response['headers'] : undefined;
  return { status: error.status, message: shortenMessage(error.message), ...(headers === undefined ? {} : { headers }) };
}

const longestMessage = 500;

/** Shortens a message: a proxy may answer with a whole page. */
function shortenMessage(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns whether GitHub refused a request because of a value in it. */
export function isInvalidRequest(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'github/refused' && failedAnswerOf(error.cause)?.status === 422;
}
