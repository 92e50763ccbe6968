import type { Json, JsonObject } from './json.ts';

/** A key that callers send as `Authorization: Bearer hpk_…`. */
export type KeySeed = { readonly name: string; readonly token: string; readonly groups: readonly string[]; readonly id?: string };

/** A signed-in user; the token replaces a JWT. */
export type UserSeed = {
  readonly email: string;
  readonly token: string;
  readonly groups: readonly string[];
  readonly id?: string;
  /** The address by default. */
  readonly name?: string;
};

export type AgentSeed = { readonly name: string; readonly mode?: string; readonly online?: boolean };

/** A rule or an attribute that a rulepack owns: lists hide it, a read by id shows it. */
export type HiddenSeed = {
  readonly guardrails?: readonly { readonly name: string; readonly input?: JsonObject; readonly attributes?: readonly string[] }[];
  readonly maskings?: readonly { readonly name: string; readonly attributes?: readonly string[] }[];
  readonly attributes?: readonly string[];
};

/** The content of a reachable git repository, with parsed templates. */
export type RepositorySeed = {
  readonly commit: string;
  readonly author: string;
  readonly message: string;
  readonly files: readonly { readonly name: string; readonly metadata?: Json; readonly error?: string }[];
};

/** A request as the log and the faults see it. */
export type SeenRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Method and pattern, as `PUT /connections/:nameOrID`; the path itself where no route matches. */
  readonly route: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The number of the request among all, from 1. */
  readonly index: number;
  /** The number of the request among those of its route, from 1. */
  readonly routeIndex: number;
};

/** A fault of a request: before it takes effect, or after. */
export type InjectedFault =
  | {
      readonly kind: 'answer';
      readonly when: 'before' | 'after';
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'lost'; readonly when: 'before' | 'after' }
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** It arrives twice, and the second answer counts. */
  | { readonly kind: 'twice' }
  /** The second transaction, the one that writes attributes, fails: 500 with the main row saved. */
  | { readonly kind: 'attributes' };

export type HoopOptions = {
  readonly organisation?: { readonly id?: string; readonly name?: string };
  readonly version?: string;
  /** The address that `/serverinfo` reports. */
  readonly apiUrl?: string;
  readonly basePath?: string;
  readonly licence?: 'oss' | 'enterprise';
  /** The provider of data masking; null for none, '' for credentials without the name of one. */
  readonly provider?: 'alcatraz' | 'mspresidio' | 'gcp' | '' | null;
  /** The organization's key for the header `Api-Key`; its caller is an admin with the free license. */
  readonly apiKey?: string;
  readonly keys?: readonly KeySeed[];
  readonly users?: readonly UserSeed[];
  readonly agents?: readonly AgentSeed[];
  readonly hidden?: HiddenSeed;
  /** The rulepacks of a fresh gateway: none by default. */
  readonly rulepacks?: 'default' | 'none';
  /** Reachable repositories by git url; every other one fails to be pulled. */
  readonly repositories?: Readonly<Record<string, RepositorySeed>>;
  /** The runbook configuration of a fresh gateway: the demo repository, or no row. */
  readonly runbooks?: 'demo' | 'none';
  /** Port to listen on; a free one by default. */
  readonly port?: number;
  /** Seed of everything that is random, the order of unordered lists first. */
  readonly random?: number;
  readonly fault?: (request: SeenRequest) => InjectedFault | undefined;
};

/** The settings that tests can change while the gateway runs. */
export type ModelSettings = {
  licence: 'oss' | 'enterprise';
  provider: 'alcatraz' | 'mspresidio' | 'gcp' | '' | null;
  hideRoleInfo: boolean;
  /** The groups of admins and auditors. */
  roles: { readonly admin: string; readonly auditor: string };
  /** What `/serverconfig/auth` and `/serverconfig/mcp-auth` report differently. */
  authConfig: JsonObject;
  mcpAuth: JsonObject;
  profile: string | null;
  /** Whether `/userinfo` signs callers for the support chat. */
  supportChat: boolean;
  /** Whether the flag `experimental.rulepacks` is on. */
  rulepacks: boolean;
  /** Other flags that are not as their default, by name. */
  readonly flags: Map<string, boolean>;
  apiKey: string | null;
  /** Whether native clients can connect; if not, machine identities get no credentials. */
  listeners: boolean;
  /** What `/serverinfo` and the license in it report differently. */
  serverInfo: JsonObject;
  licenseInfo: JsonObject;
};
