import type { GatewayIdentity } from '../model/gateway.ts';
import type { JsonObject } from '../model/json.ts';

/** What a gateway answers to `GET /serverinfo`, whatever the status. */
export type Hello = { readonly server: string; readonly status: number; readonly body: unknown };

/** What a dialect makes of the hello. */
export type Introduction = Pick<GatewayIdentity, 'organisation' | 'version' | 'role'> & {
  /** A secret sent back as null keeps its stored value. */
  readonly keepsHidden: boolean;
  /** The caller's lists hold everything; where not, nothing may be concluded from an absence. */
  readonly seesAll: boolean;
};

/** A bulk read: where it is and how its rows lie in the body (a whole array, or one page of it). */
export type WireList = { readonly path: string; readonly rows: (body: unknown) => Rows | undefined };

export type Rows = {
  readonly rows: readonly unknown[];
  /** Present where the body is one page of several. */
  readonly page?: { readonly number: number; readonly size: number; readonly total: number };
};

/** A live object as far as a path needs it. */
export type Addressed = { readonly uid: string; readonly name: string };

/** How one kind travels; field names are ours unless `names` says otherwise. */
export type WireKind = {
  readonly list: WireList;
  /** Our field name → the gateway's, where they differ. */
  readonly names: Readonly<Record<string, string>>;
  /** Fields that the gateway sets and no body carries. */
  readonly readOnly: ReadonlySet<string>;
  /** Fields that repeat a secret and are never printed. */
  readonly copies: readonly string[];
  readonly uidOf: (entry: JsonObject) => string | undefined;
  readonly detail: (subject: Addressed) => string;
  readonly create: string;
  readonly update: (subject: Addressed) => string;
  readonly remove: (subject: Addressed) => string;
};

/** How one sort of gateway spells the interface: data and small pure functions. */
export type Dialect = {
  readonly name: string;
  /** The header in which the token goes, where the user does not say. */
  readonly auth: (token: string) => 'bearer' | 'api-key';
  readonly introduce: (hello: Hello) => Introduction;
  readonly kinds: Readonly<Record<string, WireKind>>;
  /** Lists of things that manifests refer to, by kind. */
  readonly lookups: Readonly<Record<string, WireList>>;
  /** The list of groups, where there is one; entries are names or objects with a name. */
  readonly groups?: WireList;
};
