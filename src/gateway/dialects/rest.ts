import { asText, isObject, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { ObjectAddress, ListRows, WireList } from '../dialect.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { pointer, isPointerWithin, tokensOf, type Pointer } from '../../model/pointer.ts';
import { type DesiredResource, desiredById } from '../../model/desired.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import type { PreflightRequest } from '../../model/gateway.ts';
import { type Change, isWritten, type Refusal, liveKeyOf, type OutsideReference } from '../../model/plan/plan.ts';
import { kindOf, nameOf, type Spec, resourceId, type ResourceId } from '../../model/resource.ts';

/** Returns the list at a path: a whole array, or `{ data, pages }` where the gateway sends pages. */
export function restList(path: string): WireList {
  return { path, rows: readRows };
}

/** Returns the path of one object below a root. */
export function objectPath(root: string): (address: ObjectAddress) => string {
  return ({ uid }) => `${root}/${encodeURIComponent(uid)}`;
}

/** Returns the `id` of an entry; undefined where it has none. */
export function readUid(entry: JsonObject): string | undefined {
  const { id } = entry;
  return typeof id === 'string' && isPathSegment(id) ? id : undefined;
}

/** Returns whether an id can be part of a path: URLs drop `.` and `..`, and half of a surrogate pair has no encoding. */
function isPathSegment(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && id.isWellFormed();
}

const roles = ['admin', 'auditor', 'standard'] as const;

/** Returns the role; undefined where it is none that Ostiary knows. */
export function readRole(value: Json | undefined): (typeof roles)[number] | undefined {
  return roles.find((role) => role === value);
}

function readRows(body: unknown): ListRows | undefined {
  if (Array.isArray(body)) return { rows: body };
  if (!isObject(body) || !isObject(body['pages'])) return undefined;
  const { page, size, total } = body['pages'];
  if (typeof page !== 'number' || typeof size !== 'number' || typeof total !== 'number') return undefined;
  const { data } = body;
  if (data !== null && !Array.isArray(data)) return undefined;
  return { rows: data ?? [], page: { number: page, size, total } };
}

/** Returns the list of groups, an array of names on the wire; `none` is what a null body means. */
export function groupsList(none: ListRows | undefined): WireList {
  return {
    path: '/users/groups',
    rows(body): ListRows | undefined {
      if (body === null) return none;
      return Array.isArray(body) ? { rows: body.filter((name: Json) => name !== '').map((name: Json) => ({ id: name, name })) } : undefined;
    },
  };
}

/** Returns the id and the name of a row; empty where it has none. */
export function readIdAndName(row: JsonObject): { readonly id: string; readonly name: string } {
  return { id: asText(row['id']), name: asText(row['name']) };
}

/** The fields of groups, and what a group without members cannot do there. */
const groupFields = [
  ['access_groups', 'it grants no access'],
  ['reviewers', 'it cannot approve'],
  ['force_approve_groups', 'it cannot approve'],
  ['reviewers_groups', 'it cannot approve'],
  ['force_approval_groups', 'it cannot approve'],
  ['approval_required_groups', 'it makes no one ask for an approval'],
  ['skip_review_groups', 'no one skips the review'],
  ['user_groups', 'no one can run the runbooks'],
] as const;

/** Warns once about each group that manifests state for a purpose, and that the gateway does not have. */
export function checkGroups(
  code: Diagnostic['code'],
  writes: readonly ProposedWrite[],
  { groups }: Pick<LiveState, 'groups'>,
): readonly Diagnostic[] {
  if (groups === undefined || groups === 'unreadable') return [];
  const known = new Set(groups);
  const found = new Map<string, Diagnostic>();
  for (const write of writes)
    for (const [field, effect] of groupFields)
      for (const group of write.resource.stated.has(field) ? textsIn(write.spec[field]) : []) {
        const key = `${group} ${effect}`;
        if (known.has(group) || found.has(key)) continue;
        const message = `unknown group "${group}" on the gateway`;
        const hint = `the group has no members, so ${effect}`;
        found.set(key, diagnosticAt(write, pointer(field, group), { code, severity: 'warning', message, hint }));
      }
  return [...found.values()];
}

/** One object that a plan creates or updates. */
export type ProposedWrite = {
  readonly kind: string;
  readonly name: string;
  readonly creates: boolean;
  /** The name of the live object, before the write; undefined where none is known. */
  readonly liveName: string | undefined;
  /** What it would be after the write. */
  readonly spec: Spec;
  /** What is live before the write; empty where it is created. */
  readonly stored: Spec;
  /** What it would be in between, where it is written twice. */
  readonly joined: Spec | undefined;
  readonly resource: DesiredResource;
};

/** Lists the objects that a proposal creates or updates, in the order of its plan. */
export function proposedWrites({ plan, desired, live, joined }: PreflightRequest): readonly ProposedWrite[] {
  const resources = desiredById(desired.resources);
  const found = liveById(live.resources);
  return plan.changes.flatMap((change) => {
    const { id, action } = change;
    const resource = resources.get(id);
    if (resource === undefined || !isWritten(change) || action === 'delete') return [];
    const stored = found.get(change.key ?? resource.key)?.spec ?? {};
    const spec: Record<string, Json> = { ...stored, ...(action === 'create' ? resource.spec : watchedSpec(resource)) };
    const [name, creates] = [nameOf(id), action === 'create'];
    const liveName = creates ? undefined : action === 'rename' ? (resource.renamedFrom ?? name) : name;
    return [{ kind: kindOf(id), name, creates, liveName, spec, stored, joined: joined.get(id), resource }];
  });
}

/** Returns the write that a manifest alone describes: of an object that may be live, so that what the manifest ignores may be anything. */
export function manifestWrite(resource: DesiredResource): ProposedWrite {
  const [kind, name, spec] = [kindOf(resource.id), nameOf(resource.id), watchedSpec(resource)];
  return { kind, name, creates: false, liveName: undefined, spec, stored: {}, joined: undefined, resource };
}

function watchedSpec({ spec, ignore }: DesiredResource): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !ignore.some((path) => isPointerWithin(pointer(field), path))));
}

type DiagnosticText = Pick<Diagnostic, 'code' | 'message'> & { readonly hint: string; readonly severity?: Diagnostic['severity'] };

/** Returns a diagnostic at the manifest's line of a field, or at the manifest. */
export function diagnosticAt(
  { resource }: Pick<ProposedWrite, 'resource'>,
  at: Pointer,
  { severity = 'error', ...text }: DiagnosticText,
): Diagnostic {
  return { ...text, severity, at: resource.locate(at), resource: resource.id };
}

/** Returns a refusal by the gateway at the manifest's line of a field, or at the manifest. */
export function refusalAt({ resource }: ProposedWrite, at: Pointer, text: Omit<DiagnosticText, 'severity'>): Refusal {
  return { ...text, allowable: false, resource: resource.id, at: resource.locate(at) };
}

/** Reports texts that no database stores: the gateway would fail at the write, or store another text. */
export function checkTexts(code: Diagnostic['code'], write: ProposedWrite): readonly Diagnostic[] {
  const secrets = Object.entries(write.resource.secrets).flatMap(([path, secret]) =>
    secret.state === 'value' && secret.source !== 'live' ? [[path, secret.reveal()] as const] : [],
  );
  const fields = unstorable(Object.entries(write.spec)).map(([name, value]) => [pointer(name), value] as const);
  return [...fields, ...unstorable(secrets)].map(([at, value]) => {
    if (containsText(value, (text) => text.includes('\0'))) {
      const message = 'the text contains the character U+0000, which the gateway cannot store';
      return diagnosticAt(write, at, { code, message, hint: 'remove \\0 from the text' });
    }
    const message = 'the text contains half of a surrogate pair, which is not a character';
    return diagnosticAt(write, at, { code, message, hint: 'write the character itself, or \\U and its eight digits' });
  });
}

function unstorable(entries: readonly (readonly [string, Json])[]): readonly (readonly [string, Json])[] {
  return entries.filter(([, value]) => containsText(value, isUnstorable));
}

function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function containsText(value: Json, isBad: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isBad(value);
  if (Array.isArray(value)) return value.some((inner: Json) => containsText(inner, isBad));
  return isObject(value) && Object.entries(value).some(([key, inner]) => isBad(key) || containsText(inner, isBad));
}

/** The fields of a connection that decide where its secrets are sent. */
const routeFields: ReadonlySet<string> = new Set(['agent_id', 'command', 'type', 'subtype', 'resource_name', 'secret']);

/** Returns whether a change, or drift that the manifests accept, may send secrets elsewhere that a connection inherits from its resource. */
export function mayRerouteInherited({ plan, accepted }: PreflightRequest): boolean {
  return [...plan.changes, ...accepted].some(
    ({ id, action, fields }) =>
      kindOf(id) === 'Connection' &&
      (action === 'create' || (action !== 'delete' && fields.some(({ path }) => routeFields.has(tokensOf(path)[0] ?? '')))),
  );
}

/** Lists the changes of connections that a plan writes. */
export function connectionChanges({ plan }: PreflightRequest): readonly Change[] {
  return plan.changes.filter((change) => kindOf(change.id) === 'Connection' && isWritten(change));
}

/** A connection that replaces another one, its predecessor. */
export type ConnectionReplacement = { readonly id: ResourceId; readonly predecessor: LiveResource };

/** Lists the replacements in this plan: it creates the successor, or it closes or deletes the predecessor. */
export function findReplacements({ plan, desired, live }: PreflightRequest): readonly ConnectionReplacement[] {
  const written = new Set(plan.changes.map(liveKeyOf));
  const found = liveById(live.resources);
  return desired.resources.flatMap(({ id, replaces }) => {
    if (replaces === undefined || kindOf(id) !== 'Connection') return [];
    const predecessor = found.get(resourceId('Connection', replaces));
    const isPlanned = predecessor !== undefined && (written.has(predecessor.id) || (written.has(id) && !found.has(id)));
    return isPlanned ? [{ id, predecessor }] : [];
  });
}

/** Returns whether the names include the predecessor and not its successor. */
export function namesOnlyPredecessor(names: readonly unknown[], { id, predecessor }: ConnectionReplacement): boolean {
  return names.includes(nameOf(predecessor.id)) && !names.includes(nameOf(id));
}

/** Returns the reference for things that the gateway does not show to this token: they may name the predecessor. `readers` may read them. */
export function unreadableReference(sort: string, replacement: ConnectionReplacement, readers?: string): OutsideReference {
  const how = readers === undefined ? 'the token cannot see them' : `the token cannot see them; ${readers} may`;
  return replacementReference(replacement, { sort, how });
}

/** Returns the reference of something that names the predecessor. */
export function replacementReference(
  { id, predecessor }: ConnectionReplacement,
  reference: Omit<OutsideReference, 'id' | 'replaces'>,
): OutsideReference {
  return { id, replaces: predecessor.id, ...reference };
}
