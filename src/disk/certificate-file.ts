import { readFileSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { reasonOf } from './text-file.ts';

/** Reads the certificates that an environment variable names. Throws AppError if that is not possible. */
export function readCertificates(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('api/bad-ca-file', 3, `${JSON.stringify(path)} of ${variable} cannot be read: ${reasonOf(error)}`, {
      cause: error,
      hint: `correct ${variable}, or unset it`,
    });
  }
}
