import type { PreflightResult, GatewayIdentity, PreflightRequest } from '../model/gateway.ts';
import type { JsonObject } from '../model/json.ts';
import type { AccessRule } from '../model/live.ts';
import type { Decision, Review } from '../model/service.ts';

/** What a gateway answers to `GET /serverinfo`, whatever the status. */
export type ServerInfo = { readonly server: string; readonly status: number; readonly body: unknown };

/** What a gateway says of itself, and of the caller where it is asked that apart. */
export type Handshake = { readonly serverInfo: ServerInfo; readonly caller: unknown };

/** What a gateway answered to inquiries, by path: null where it has no such thing, nothing where it did not tell. */
export type PreflightAnswers = ReadonlyMap<string, unknown>;

/** What a dialect makes of the answers. */
export type Capabilities = Pick<GatewayIdentity, 'organisation' | 'version' | 'role' | 'borrowed'> & {
  /** A secret sent back as null keeps its stored value. */
  readonly keepsHiddenSecrets: boolean;
  /** A secret field that a replacement leaves out keeps its stored value. */
  readonly keepsOmittedSecrets: boolean;
  /** The caller's lists hold everything; where not, nothing may be concluded from an absence. */
  readonly seesAll: boolean;
  /** Reads of one object show the caller its secrets. */
  readonly seesSecrets: boolean;
};

/** A bulk read: where it is and how its rows lie in the body (a whole array, or one page of it). */
export type WireList = {
  readonly path: string;
  readonly rows: (body: unknown) => ListRows | undefined;
  /** Asked for by page from the start: without a page the gateway cuts the list. */
  readonly paged?: true;
  /** Tells whether an answer with the status 404 is the empty list. */
  readonly isEmpty?: (body: unknown) => boolean;
};

export type ListRows = {
  readonly rows: readonly unknown[];
  /** Present where the body is one page of several. */
  readonly page?: { readonly number: number; readonly size: number; readonly total: number };
};

/** A second bulk read that holds, somewhere in its rows, what the list leaves out. */
export type SupplementList = {
  readonly list: WireList;
  readonly uidOf: (row: JsonObject) => string | undefined;
  /** What a row tells of which objects. */
  readonly objectsIn: (row: JsonObject) => readonly SupplementRow[];
  /** The fields that both lists tell truly: to be compared. */
  readonly shared: readonly string[];
  /** The fields that only parts have: to be added. */
  readonly added: readonly string[];
};

/** What another list tells of one object. */
export type SupplementRow = { readonly uid: string; readonly fields: JsonObject };

/** A live object as far as a path needs it. */
export type ObjectAddress = { readonly uid: string; readonly name: string };

/** How an entry was read: in a list or alone, and whether reads of one object show secrets. */
export type ReadMode = { readonly bulk: boolean; readonly seesSecrets: boolean };

/** How one kind travels; field names are ours unless `names` says otherwise. */
export type WireKind = {
  readonly list: WireList;
  readonly supplement?: SupplementList;
  /** Our field name → the gateway's, where they differ. */
  readonly fieldNames: Readonly<Record<string, string>>;
  /** By our field name: our value → the gateway's, where they differ. */
  readonly valueNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How secret values are spelled, where that differs. */
  readonly secretSpelling?: { readonly fromWire: (value: string) => string; readonly toWire: (value: string) => string };
  /** Fields that the gateway sets and no body carries. */
  readonly readOnly: ReadonlySet<string>;
  /** Fields that repeat a secret and are never printed. */
  readonly secretEchoes: readonly string[];
  readonly uidOf: (entry: JsonObject) => string | undefined;
  /** The entry without what it does not truly say. */
  readonly stripUntrusted?: (entry: JsonObject, view: ReadMode) => JsonObject;
  /** The version of the entry's secrets, where there is one to rely on. */
  readonly secretsVersion?: (entry: JsonObject, view: ReadMode) => string | undefined;
  readonly detailPath: (subject: ObjectAddress) => string;
  /** The detail is read from the whole list: the gateway cannot show one object. */
  readonly detailIsList?: true;
  readonly createPath: string;
  readonly updatePath: (subject: ObjectAddress, body: JsonObject) => string;
  readonly removePath: (subject: ObjectAddress) => string;
  /** Last touches to the body of a replacement. */
  readonly completeBody?: (body: JsonObject, fresh: JsonObject) => JsonObject;
  /** A replacement cannot change the name, and the gateway does not say so. */
  readonly fixedName?: true;
  /** Answers to replacements are not what a read shows. */
  readonly readAfterWrite?: true;
};

/** How the gateway spells what people look up and decide beside its configuration. */
export type WireService = {
  readonly agents: WireList;
  readonly resources: WireList;
  readonly reviews: WireList;
  /** Where runbooks are listed, with its query: one listing, or several under `repositories`. */
  readonly templates: WireList;
  /** The gateway's status of an agent → ours, where they differ. */
  readonly agentStatus: Readonly<Record<string, string>>;
  /** The gateway's subtype → ours, where they differ. */
  readonly subtypes: Readonly<Record<string, string>>;
  /** What it calls the chat-system id of a reviewer. */
  readonly chatId: string;
  /** The type that it wants in a time window. */
  readonly windowType?: string;
  /** Lists of reviews tell their time windows. */
  readonly listsWindows: boolean;
  /** Why it would not carry a decision out though the interface allows it. */
  readonly objection: (review: Review, decision: Decision) => string | undefined;
};

/** What to do about an error of the gateway whose words match. */
export type ErrorHint = { readonly matches: RegExp; readonly hint: string };

/** How one sort of gateway spells the interface: data and small pure functions. */
export type Dialect = {
  readonly name: string;
  /** The header in which the token goes, where the user does not say. */
  readonly authHeaderFor: (token: string) => 'bearer' | 'api-key';
  /** Where the gateway tells who the caller is, if not in its hello. */
  readonly callerPath?: string;
  readonly readCapabilities: (answers: Handshake) => Capabilities;
  readonly kinds: Readonly<Record<string, WireKind>>;
  /** Lists of things that manifests refer to, by kind. */
  readonly lookups: Readonly<Record<string, WireList>>;
  /** The list of groups, where there is one; entries are names or objects with a name. */
  readonly groups?: WireList;
  /** Rules that review beside connections, where the gateway has some. */
  readonly accessRules?: { readonly list: WireList; readonly read: (row: JsonObject) => AccessRule | undefined };
  readonly service: WireService;
  /** Prefixes of secret values that are references, in our words. */
  readonly referencePrefixes: readonly string[];
  readonly errorHints: readonly ErrorHint[];
  /** What has to be asked of the gateway before a proposal is judged: paths to read, none as a rule. */
  readonly preflightReads?: (proposal: PreflightRequest, answers: Handshake) => readonly string[];
  /** What the gateway would refuse, or do otherwise than the manifests say, in a proposal. */
  readonly preflight: (proposal: PreflightRequest, answers: Handshake, inquired: PreflightAnswers) => PreflightResult;
};
