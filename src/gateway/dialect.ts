import type { AllowedValues } from '../model/config.ts';
import type { DesiredResource } from '../model/desired.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AccessList, AccessObjects } from '../model/protection/access-objects.ts';
import type { DialectName } from '../model/dialects.ts';
import type { GatewayIdentity, PreflightResult, PreflightRequest } from '../model/gateway.ts';
import type { JsonObject } from '../model/json.ts';
import type { AccessLimits, GrantRow, ServerFacts } from '../model/live.ts';
import type { Decision, Review } from '../model/service.ts';

/** Where a gateway reports about itself. */
export const serverInfoPath = '/serverinfo';

/** The response to `GET /serverinfo`, whatever its status; `server` is the header of that name. */
export type ServerInfo = { readonly server: string; readonly status: number; readonly body: unknown };

/** The report of the gateway about itself, and about the caller where the dialect has a path for that. */
export type Handshake = { readonly serverInfo: ServerInfo; readonly caller: unknown };

/** The responses to `preflightReads`, by path: null where the gateway has no such thing, undefined where it did not show it. */
export type PreflightAnswers = ReadonlyMap<string, unknown>;

/** The abilities of the caller on this gateway. */
export type Capabilities = Pick<GatewayIdentity, 'organisation' | 'version' | 'role' | 'borrowed'> & {
  /** A secret that is sent back as null keeps its stored value. */
  readonly keepsHiddenSecrets: boolean;
  /** A secret field that a replacement omits keeps its stored value. */
  readonly keepsOmittedSecrets: boolean;
  /** The caller's lists are complete; where they are not, an absence proves nothing. */
  readonly seesAll: boolean;
  /** The longest access in seconds where a connection sets no limit. */
  readonly longestAccess?: number;
  /** The connections for which the gateway enforces their own limit, if not all. */
  readonly accessLimits?: AccessLimits;
  /** What the gateway reports of itself that decides which rules it enforces; absent where it enforces all. */
  readonly server?: ServerFacts;
  /** Reads of one object show the caller its secrets. */
  readonly seesSecrets: boolean;
};

/** A bulk read: its path, and where the rows are in the body (a whole array, or one page of it). */
export type WireList = {
  readonly path: string;
  /** Returns the rows of a body; undefined where the body is not such a list. */
  readonly rows: (body: unknown) => ListRows | undefined;
  /** Read by page from the start: without a page, the gateway cuts the list. */
  readonly paged?: true;
  /** Returns whether a response with the status 404 means an empty list. */
  readonly isEmpty?: (body: unknown) => boolean;
};

export type ListRows = {
  readonly rows: readonly unknown[];
  /** Present where the body is one page of several. */
  readonly page?: { readonly number: number; readonly size: number; readonly total: number };
};

/** A second bulk read that contains, somewhere in its rows, what the list omits. */
export type SupplementList = {
  readonly list: WireList;
  /** Returns the part of the list that has the row about one entry of the kind. */
  readonly listFor: (entry: JsonObject) => WireList;
  readonly uidOf: (row: JsonObject) => string | undefined;
  /** Returns what a row contains about which objects. */
  readonly objectsIn: (row: JsonObject) => readonly SupplementRow[];
  /** The fields that are reliable in both lists: they are compared. */
  readonly shared: readonly string[];
  /** The fields that only the supplement has: they are added. */
  readonly added: readonly string[];
};

/** The content of the supplement about one object. */
export type SupplementRow = { readonly uid: string; readonly fields: JsonObject };

/** The parts of a live object that a path needs. */
export type ObjectAddress = { readonly uid: string; readonly name: string };

/** How an entry was read: in a list or alone, and whether reads of one object show secrets. */
export type ReadMode = { readonly bulk: boolean; readonly seesSecrets: boolean };

/**
 * A set of groups that the gateway keeps in a row beside each object. Rows exist only while their feature is on; then an object without a row has
 * an empty one, and while it is off the field of every object is null.
 */
export type WireRows = {
  /** The field of the object, as manifests name it. */
  readonly field: string;
  /** The list of all rows. */
  readonly rowPath: (uid: string) => string;
  /** Returns the groups of one row; undefined where the body is not a row. */
  readonly groupsIn: (body: unknown) => readonly string[] | undefined;
  readonly rowBody: (groups: readonly string[]) => JsonObject;
  /** Switches the feature on, with rows by the id of their object. */
  readonly switchPath: string;
  readonly switchBody: (rows: readonly GrantRow[]) => JsonObject;
};

/**
 * A list that a plugin keeps in a row beside each object, and that decides nothing about access. An object without a row has an empty one; the
 * list of all rows is read once, and not again with each object.
 */
export type WirePluginRows = Pick<WireRows, 'field' | 'rowPath'> & {
  readonly list: WireList;
  /** Returns the texts of one row. */
  readonly textsIn: (row: JsonObject) => readonly string[];
  readonly rowBody: (texts: readonly string[]) => JsonObject;
};

/** How one kind travels; field names are ours unless `fieldNames` has another one. */
export type WireKind = {
  readonly list: WireList;
  /** Several objects may have one name. */
  readonly namesakes?: true;
  readonly supplement?: SupplementList;
  /** Our field name → the gateway's, where they differ. */
  readonly fieldNames: Readonly<Record<string, string>>;
  /** By our field name: our value → the gateway's, where they differ. */
  readonly valueNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By our field name of secrets: our prefix of a reference → the gateway's, where they differ. */
  readonly referenceNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How secret values are spelled, where that differs. */
  readonly secretSpelling?: { readonly fromWire: (value: string) => string; readonly toWire: (value: string) => string };
  /** A field that no body contains, because the gateway keeps it in rows of their own. */
  readonly rows?: WireRows;
  /** Another field that no body contains, in the rows of a plugin. */
  readonly pluginRows?: WirePluginRows;
  /** Fields that the gateway sets; no body contains them. */
  readonly readOnly: ReadonlySet<string>;
  /** Fields that repeat a secret; they are never printed. */
  readonly secretEchoes: readonly string[];
  readonly uidOf: (entry: JsonObject) => string | undefined;
  /** Returns the entry without the fields whose values are not reliable in this mode, and without placeholders. */
  readonly stripUntrusted?: (entry: JsonObject, mode: ReadMode) => JsonObject;
  /** Lists leave out the secrets of an entry that has some. */
  readonly listsOmitSecrets?: true;
  /** Returns the version of the entry's secrets, where the gateway has a reliable one. */
  readonly secretsVersion?: (entry: JsonObject, mode: ReadMode) => string | undefined;
  /** Returns whether the entry states nothing: the gateway creates such an object where others name it. */
  readonly isLabel?: (entry: JsonObject) => boolean;
  /** Returns the names of the connections that have the object, where its entry lists them. */
  readonly linksOf?: (entry: JsonObject) => readonly string[];
  /** Returns the version of the entry for conditional writes, where lists contain it. */
  readonly version?: (entry: JsonObject) => string | undefined;
  readonly detailPath: (address: ObjectAddress) => string;
  /** The detail is read from the whole list: the gateway cannot show one object. */
  readonly detailIsList?: true;
  readonly createPath: string;
  readonly updatePath: (address: ObjectAddress, body: JsonObject) => string;
  readonly removePath: (address: ObjectAddress) => string;
  /** Completes the body of a replacement from the fresh entry. */
  readonly completeBody?: (body: JsonObject, fresh: JsonObject) => JsonObject;
  /** A replacement cannot change the name, and the gateway does not reject the attempt. */
  readonly fixedName?: true;
  /** The response to a replacement is not what a read shows, so the object is read afterwards. */
  readonly readAfterWrite?: true;
};

/** How the gateway spells what people look up and decide outside its configuration. */
export type WireService = {
  /** Manifests refer to agents, too. */
  readonly agents: WireList;
  readonly resources: WireList;
  readonly reviews: WireList;
  /** Where runbooks are listed, with its query: one listing, or several under `repositories`. */
  readonly templates: WireList;
  /** The gateway's status of an agent → ours, where they differ. */
  readonly agentStatus: Readonly<Record<string, string>>;
  /** The gateway's subtype → ours, where they differ. */
  readonly subtypes: Readonly<Record<string, string>>;
  /** The gateway's field for the chat-system id of a reviewer. */
  readonly chatId: string;
  /** The type that the gateway requires in a time window. */
  readonly windowType?: string;
  /** Lists of reviews contain their time windows. */
  readonly listsWindows: boolean;
  /** Returns the time at which the access of an approved jit review ends; undefined where the gateway does not report it. */
  readonly accessEnds: (review: Review) => string | undefined;
  /** Returns why the gateway would reject a decision that the interface allows; undefined where it would not. */
  readonly objection: (review: Review, decision: Decision) => string | undefined;
};

/** How one list of what decides access is read. */
export type WireAccessList<Row> = {
  readonly list: WireList;
  readonly read: (row: JsonObject) => Row;
  /** Returns the list of what belongs to one row, where that may be something: `list` is of other objects, and the rows to read are theirs. */
  readonly ownedBy?: (row: JsonObject) => WireList | undefined;
  /** Returns other lists of the same rows, by those of the first one; what they have is only reported. */
  others?(this: void, rows: readonly Row[]): readonly WireList[];
};

/** How the gateway lists what decides access; a list with `isEmpty` does not exist while its feature is off. */
export type WireAccess = { readonly [List in AccessList]: WireAccessList<AccessObjects[List]> };

/** The hint for an error message of the gateway. */
export type ErrorHint = { readonly matches: RegExp; readonly hint: string };

/** A resource type of a Terraform provider that is a field of another object: the attribute with its uid, and what else has to hold. */
export type TerraformPart = { readonly kind: string; readonly uid: string; readonly where: Readonly<Record<string, string>> };

/** The Terraform provider of a gateway: the last part of its address, the kinds of its resource types, and the types that are parts of objects. */
export type TerraformTypes = {
  readonly name: string;
  readonly kinds: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, TerraformPart>>;
};

/** The signs that a gateway is of a dialect. Proxies replace the header, so the fields of the responses decide without it. */
type DialectSigns = {
  /** The start of the `Server` header, before the slash. */
  readonly server: string;
  /** Fields that only the server info of this dialect has. */
  readonly infoFields: readonly string[];
  /** Fields that only the connections of this dialect have. */
  readonly rowFields: readonly string[];
};

/** How one sort of gateway spells the interface: data and small pure functions. */
export type Dialect = {
  readonly name: DialectName;
  /** The signs that a gateway is of this dialect. */
  readonly signs: DialectSigns;
  /** Returns the header that carries the token, where the user does not choose one. */
  readonly authHeaderFor: (token: string) => 'bearer' | 'api-key';
  /** The path that reports who the caller is, where the server info does not. */
  readonly callerPath?: string;
  readonly readCapabilities: (handshake: Handshake) => Capabilities;
  /** One row per kind. */
  readonly kinds: Readonly<Record<string, WireKind>>;
  /** The lists of what decides access; a gateway without a list has nothing of the kind. */
  readonly access: Partial<WireAccess>;
  readonly service: WireService;
  /** Prefixes of secret values that are references, in our spelling. */
  readonly referencePrefixes: readonly string[];
  /** Values that the gateway has besides those of the schemas, by field. */
  readonly knownValues: AllowedValues;
  readonly errorHints: readonly ErrorHint[];
  readonly terraform?: TerraformTypes;
  /** Returns what the gateway would reject in a manifest, whatever it has: what `preflight` finds without it. `allowed` are values that it has besides. */
  readonly checkManifest: (resource: DesiredResource, allowed: AllowedValues) => readonly Diagnostic[];
  /** Returns the paths to read before `preflight`. */
  readonly preflightReads: (proposal: PreflightRequest, handshake: Handshake) => readonly string[];
  /** Returns what the gateway would reject in a proposal, or do differently from the manifests. */
  readonly preflight: (proposal: PreflightRequest, handshake: Handshake, answers: PreflightAnswers) => PreflightResult;
};
