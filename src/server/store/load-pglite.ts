import type * as Pglite from '@electric-sql/pglite';
import { AppError } from '../../model/errors.ts';

declare const __PGLITE_VERSION__: string;

/**
 * Loads the embedded database, an optional peer dependency of the package: it is ten times as large as everything else.
 * Throws `AppError` with the command that installs it when it is missing.
 */
export async function loadPglite(): Promise<typeof Pglite> {
  try {
    return await import('@electric-sql/pglite');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new AppError('serve/no-embedded-database', 3, 'the embedded database is not installed', {
      cause: error,
      hint: `install it with npm install --global @electric-sql/pglite@${pgliteVersion}, or pass --database postgres://…`,
    });
  }
}

/** The version that this build was tested with; `latest` if the source runs without a build. */
const pgliteVersion = typeof __PGLITE_VERSION__ === 'string' ? __PGLITE_VERSION__ : 'latest';
