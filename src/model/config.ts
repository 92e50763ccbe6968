import type { DialectChoice } from './dialects.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Values that the gateway knows and Ostiary does not, by field, such as `Connection.subtype`. */
export type AllowedValues = Readonly<Record<string, readonly string[]>>;

/** Names the source of a token; it never holds the token itself. */
type TokenSource = { readonly env: string };

/** Names the source of a text in PEM. */
export type PemSource = { readonly env: string } | PemFile;

/** A file by its absolute path; `below` is the folder of the config that a relative path began at, `text` what a reviewed commit has there. */
export type PemFile = { readonly file: string; readonly below?: string; readonly text?: string };

/** How a gateway proves who it is, and how Ostiary does; absent where only Node's authorities and the token count. */
export type TargetTls = { readonly ca?: PemSource; readonly clientCertificate?: PemSource; readonly clientKey?: PemSource };

/** One gateway and the manifests that are applied to it. */
export type Target = {
  readonly name: string;
  readonly url: string;
  readonly dialect: DialectChoice;
  readonly auth: 'auto' | 'bearer' | 'api-key';
  readonly token: TokenSource;
  readonly tls?: TargetTls | undefined;
  /** Environment variables named by `valueFrom.env` must start with one of these prefixes. */
  readonly secretPrefixes: readonly string[];
  /** Values without a warning. */
  readonly allowedValues: AllowedValues;
  /** Absolute paths of manifest folders and files. */
  readonly manifests: readonly string[];
  readonly overlays: readonly string[];
  readonly limits: Limits;
  readonly prune: boolean;
  /** Whether plans list live connections without a manifest and check their policies. */
  readonly reportUnmanaged: boolean;
  /** Whether drift and plans report changes of objects that decide access and that no manifest declares. */
  readonly watchAccess: boolean;
  /** Whether `drift --expire` removes groups whose access has ended, or reports them. */
  readonly expire: 'report' | 'apply';
  /** How many objects are read at the same time. */
  readonly readConcurrency: number;
  /** Removed objects that stay live on purpose, as `KIND/NAME`; they are unmanaged. */
  readonly released: readonly string[];
  /** The branch of origin whose commits are reviewed; `any`: every commit counts; the default branch of origin if undefined. */
  readonly reviewed?: string;
};

/** How many objects are read at the same time unless the config or an option says otherwise. */
export const defaultReadConcurrency = 16;

/** Returns the one spelling of a gateway's URL: a host without case, no default port and no final slash. A text that is no such URL stays as it is. */
export function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRoot = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  return (isRoot ? `${url.origin}${url.pathname}` : text).replace(/\/+$/, '');
}

/**
 * Limits on changes that no reviewer saw, without an override. Those on mass changes count from `from` objects on. The shares are 0
 * to 1: of the managed objects for updates and deletes, of the live connections for lost protections.
 */
export type Limits = {
  readonly from: number;
  readonly updates: number;
  readonly deletes: number;
  readonly protections: number;
  readonly newAccess: NewAccessLimit;
};

/** Whether a plan may let people do more than before; with tags, only connections with all of them are limited. */
export type NewAccessLimit = 'allow' | 'refuse' | { readonly tags: Readonly<Record<string, string>> };

export const defaultLimits: Limits = {
  from: 10,
  updates: 0.3,
  deletes: 0.3,
  protections: 0.3,
  newAccess: 'allow',
};

export type Config = {
  /** The path of the config file; absent when the command line alone configures the run. */
  readonly file?: string;
  /** Returns the position at which the config file names a path; undefined for other paths. */
  readonly placeOf?: (path: string) => Pick<Diagnostic, 'at' | 'frame'> | undefined;
  /** Secret files and manifests must be inside this folder. */
  readonly root: string;
  readonly targets: readonly Target[];
  /** The public halves of the keys that sign records of applies; without any, records need no signature. */
  readonly recordKeys?: readonly string[];
  /** The random text that seals contents of secrets in digests; readers of the repository may know it. */
  readonly digestKey?: string;
  /** The rules for decisions in comments on a pull request; absent without a config file. */
  readonly approvals?: ApprovalRules;
};

/** The people whose comments on a pull request override refusals and agree to plans. */
export type ApprovalRules = {
  /** The logins and the teams (`ORGANIZATION/TEAM`) that may decide; all people with write access if empty. */
  readonly approvers: readonly string[];
  /** Whether people may decide about changes that they opened, wrote or committed. */
  readonly selfApproval: boolean;
};

/** The rules of a config that states none: any other person with write access decides. */
export const defaultApprovals: ApprovalRules = { approvers: [], selfApproval: false };
