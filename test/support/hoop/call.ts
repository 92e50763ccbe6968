import type { Clock } from './clock.ts';
import type { Json } from './json.ts';
import type { RepositorySeed, ModelSettings } from './options.ts';
import type { Random } from './random.ts';
import type { Store } from './store.ts';

/** The caller, and the effect of its role on the response. */
export type Caller = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly role: 'admin' | 'auditor' | 'standard';
  readonly licence: 'oss' | 'enterprise';
  /** Whether inline secret values are masked for this caller. */
  readonly hidden: boolean;
};

/** The gateway behind all calls. */
export type ModelContext = {
  readonly store: Store;
  readonly settings: ModelSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly organisation: { readonly id: string; readonly name: string };
  readonly version: string;
  readonly apiUrl: string;
  readonly repositories: Map<string, RepositorySeed>;
};

/** One request, parsed and authorized. */
export type Call = {
  readonly context: ModelContext;
  readonly store: Store;
  readonly caller: Caller;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly text: string;
  /** Whether the transaction that writes attributes fails this time. */
  readonly attributesFail: boolean;
};

export type Reply = { readonly status: number; readonly body?: Json; readonly headers?: Readonly<Record<string, string>> };

/** The required role of a route: `reader` admits every caller, `member` every caller except auditors, `public` requests without a caller. */
export type Access = 'admin' | 'auditor' | 'reader' | 'member' | 'public';

export type Route = {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly answer: (call: Call) => Reply;
  /** The resource type in the audit log; absent if the log omits the request. */
  readonly audit?: string;
};

/** Returns the value of a path parameter. */
export function param(call: Call, name: string): string {
  return call.params[name] ?? '';
}

export function ok(body: Json): Reply {
  return { status: 200, body };
}

export function created(body: Json): Reply {
  return { status: 201, body };
}

export const empty: Reply = { status: 204 };
