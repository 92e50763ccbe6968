import type { Diagnostic } from './diagnostic.ts';

/** Where a token comes from; never the token. */
export type TokenSource = { readonly env: string };

/** One gateway that manifests are applied to. */
export type Target = {
  readonly name: string;
  readonly url: string;
  readonly dialect: 'auto' | 'interface' | 'hoop';
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly token: TokenSource;
  /** Prefixes that names of `valueFrom.env` must have. */
  readonly secretPrefixes: readonly string[];
  /** Folders and files of manifests, as absolute paths. */
  readonly manifests: readonly string[];
  readonly overlays: readonly string[];
  readonly limits: Limits;
};

/**
 * What a plan may do without an override, from so many objects on: the shares (0 to 1) of ours that may be updated and
 * deleted, and of the live connections that may lose a protection.
 */
export type Limits = { readonly from: number; readonly updates: number; readonly deletes: number; readonly protections: number };

export const defaultLimits: Limits = { from: 10, updates: 0.3, deletes: 0.3, protections: 0.3 };

export type Config = {
  /** The config file's path, absent where flags alone say everything. */
  readonly file?: string;
  /** Where the config file names a path; undefined for one that it does not. */
  readonly placeOf?: (path: string) => Pick<Diagnostic, 'at' | 'frame'> | undefined;
  /** The folder that secret files and manifests must lie below. */
  readonly root: string;
  readonly targets: readonly Target[];
};
