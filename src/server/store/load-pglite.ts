import { getAsset, getAssetAsBlob, isSea } from 'node:sea';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import { AppError } from '../../model/errors.ts';

declare const __PGLITE_VERSION__: string;

/** The types of Node 20 leave it out. */
declare const WebAssembly: { readonly compile: (bytes: ArrayBuffer) => Promise<object> };

/** The embedded database and the options that it needs where its files are part of the executable. */
export type LoadedPglite = { readonly PGlite: typeof PGlite; readonly parts: PGliteOptions };

/**
 * Loads the embedded database. It is an optional peer dependency of the package, because it is ten times as large as
 * everything else; the single executable contains it. Throws `AppError` with the command that installs it when it is missing.
 */
export async function loadPglite(): Promise<LoadedPglite> {
  try {
    const module = await import('@electric-sql/pglite');
    return { PGlite: module.PGlite, parts: isSea() ? await partsOfExecutable() : {} };
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

async function partsOfExecutable(): Promise<PGliteOptions> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(getAsset('pglite.wasm')),
    WebAssembly.compile(getAsset('initdb.wasm')),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: getAssetAsBlob('pglite.data') };
}
