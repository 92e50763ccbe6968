import type { Target } from '../model/config.ts';

/** What reading a project needs from outside the program. */
export type ProjectContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute working directory; relative paths count from it. */
  readonly cwd: string;
  /** Receives every secret that is read, before a text that contains it can be printed. */
  readonly onEvent?: (event: { readonly secret: string | Uint8Array }) => void;
};

/** Which config file, target and manifests the caller asks for; `url`, `dialect` and `auth` override those of the target. */
export type ProjectSelection = Partial<Pick<Target, 'url' | 'dialect' | 'auth'>> & {
  /** The path of the config file; the nearest one upward if undefined. */
  readonly config?: string;
  /** The commit whose config decides targets, URLs, names of tokens and secrets, and limits. */
  readonly configRef?: string;
  /** The name of the target. */
  readonly target?: string;
  /** The resources to load, as `KIND/NAME`; all if empty. */
  readonly only: readonly string[];
  /** The files and folders to load; all if empty. */
  readonly paths: readonly string[];
};
