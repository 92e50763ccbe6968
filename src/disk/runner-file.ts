import { appendFileSync, readFileSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { reasonOf } from './reason.ts';

/** Reads a file that the runner of a job wrote, such as the payload of an event. Throws AppError. */
export function readRunnerFile(path: string): string {
  return attempt(path, 'read', () => readFileSync(path, 'utf8'));
}

/** Appends to a file that the runner of a job reads after the step. Throws AppError. */
export function appendRunnerFile(path: string, text: string): void {
  attempt(path, 'written', () => appendFileSync(path, text));
}

function attempt<T>(path: string, verb: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new AppError('github/runner-file', 3, `the runner's file ${JSON.stringify(path)} cannot be ${verb}: ${reasonOf(error)}`, {
      cause: error,
      hint: 'is the disk of the runner full?',
    });
  }
}
