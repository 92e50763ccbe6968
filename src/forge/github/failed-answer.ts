import { type FailedAnswer, shortenMessage } from '../requests.ts';
import { AppError } from '../../model/errors.ts';

/** Returns the answer of a failed request; undefined for any other error. */
export function failedAnswerOf(error: unknown): FailedAnswer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const response = 'response' in error ? error.response : undefined;
  const headers = isRecord(response) && isRecord(response['headers']) ? response['headers'] : undefined;
  return { status: error.status, message: shortenMessage(error.message), headers };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns whether GitHub refused a request because of a value in it. */
export function isInvalidRequest(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'forge/refused' && failedAnswerOf(error.cause)?.status === 422;
}
