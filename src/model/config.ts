import type { DialectChoice } from './dialects.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Names the source of a token; it never holds the token itself. */
export type TokenSource = { readonly env: string };

/** One gateway and the manifests that are applied to it. */
export type Target = {
  readonly name: string;
  readonly url: string;
  readonly dialect: DialectChoice;
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly token: TokenSource;
  /** Environment variables named by `valueFrom.env` must start with one of these prefixes. */
  readonly secretPrefixes: readonly string[];
  /** Absolute paths of manifest folders and files. */
  readonly manifests: readonly string[];
  readonly overlays: readonly string[];
  readonly limits: Limits;
};

/**
 * Limits on mass changes without an override. They count from `from` objects on. The shares are 0 to 1: of the managed
 * objects for updates and deletes, of the live connections for lost protections.
 */
export type Limits = { readonly from: number; readonly updates: number; readonly deletes: number; readonly protections: number };

export const defaultLimits: Limits = { from: 10, updates: 0.3, deletes: 0.3, protections: 0.3 };

export type Config = {
  /** The path of the config file; absent when the command line alone configures the run. */
  readonly file?: string;
  /** Returns the position at which the config file names a path; undefined for other paths. */
  readonly placeOf?: (path: string) => Pick<Diagnostic, 'at' | 'frame'> | undefined;
  /** Secret files and manifests must be inside this folder. */
  readonly root: string;
  readonly targets: readonly Target[];
};
