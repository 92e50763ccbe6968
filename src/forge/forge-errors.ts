import type { Checked } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';

/** Runs requests to a forge; converts its errors to warnings that name what is missing, so that they never fail the run. */
export async function withForgeErrors<T>(work: () => Promise<T>, missing?: string): Promise<Checked<T>> {
  try {
    return { value: await work(), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof AppError) || !error.code.startsWith('forge/')) throw error;
    const { code, hint } = error;
    const message = missing === undefined ? error.message : `${missing} was not written: ${error.message}`;
    return { diagnostics: [{ code, severity: 'warning', message, hint }] };
  }
}

/** Returns the result of a request; undefined if the forge refuses it, such as for something that it does not have, or does not show to this token. */
export async function unlessRefused<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'forge/forbidden' || error.code === 'forge/refused')) return undefined;
    throw error;
  }
}
