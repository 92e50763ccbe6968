import { addToGroup } from '../../model/collections.ts';
import { type DesiredResource, leftSecrets } from '../../model/desired.ts';
import { isExtended, movedEnds } from '../../model/protection/moved-ends.ts';
import { asObject, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { InheritedKeys, LiveResource } from '../../model/live.ts';
import type { Change, FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, overlaps, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { isToolList } from '../../model/spec/tool-lists.ts';
import type { RiskDraft } from '../controls/control-row.ts';
import { generalRisk, type GeneralRiskName } from './risk-codes.ts';
import type { Kind } from '../../model/kind.ts';
import { controlTypesOf } from '../controls/control-table.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { compareInherited, type SecretUse } from './inherited-secrets.ts';
import { isCredential, isEndpoint, isSetting } from '../compare/secret-keys.ts';

/** Finds differences between a manifest and the base that are not fields: its selector, its ignored paths, its protection from deletion and later ends of access. */
export function manifestRisks(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return [
    ...selectorRisks(desired, base),
    ...ignoreRisks(kind, desired, base),
    ...leftFields(kind, desired, base),
    ...protectRisks(desired, base),
    ...extensionRisks(desired, base),
  ];
}

/** Finds secrets that a manifest leaves to the gateway now, and whose live value cannot be compared with the applied one. */
export function leftRisks(desired: DesiredResource, base: DesiredResource, live: LiveResource): readonly RiskDraft[] {
  return leftSecrets(desired, base).flatMap((path) => {
    // What is ignored has that risk already.
    if (isToolList(path)) return isWithinAny(path, desired.ignore) ? [] : [{ code: generalRisk('field-left'), fields: tokensOf(path) }];
    const found = live.secrets[path];
    const isGone = found === undefined && !isWithinAny(path, live.unknown);
    if (isGone || (found?.state === 'value' && base.secrets[path]?.state === 'value')) return [];
    return [{ code: generalRisk('secret-left'), fields: tokensOf(path) }];
  });
}

function protectRisks(desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return base.protect && !desired.protect ? [{ code: generalRisk('protect-removed'), fields: [] }] : [];
}

function selectorRisks({ selector: current }: DesiredResource, { selector: applied }: DesiredResource): readonly RiskDraft[] {
  const field = current?.field ?? applied?.field;
  if (field === undefined) return [];
  const draft = (name: GeneralRiskName): RiskDraft => ({ code: generalRisk(name), fields: [field] });
  return [
    ...(selectsAllOf(current?.value, applied?.value) ? [] : [draft('selector-narrowed')]),
    ...(selectsAllOf(applied?.value, current?.value) ? [] : [draft('selector-widened')]),
  ];
}

/** Returns whether `one` selects everything that `other` selects: it requires no other tags and excludes no other names. */
function selectsAllOf(one: JsonObject | undefined, other: JsonObject | undefined): boolean {
  if (other === undefined) return true;
  if (one === undefined) return false;
  const required = asObject(other['match_tags']);
  const excluded = new Set(textsIn(other['except']));
  return (
    Object.entries(asObject(one['match_tags'])).every(([key, value]) => required[key] === value) &&
    textsIn(one['except']).every((name) => excluded.has(name))
  );
}

function extensionRisks(desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  const later = movedEnds(desired, base).filter(isExtended);
  return later.map(({ path }): RiskDraft => ({ code: generalRisk('access-extended'), fields: tokensOf(path) }));
}

function ignoreRisks(kind: Kind, { ignore: current, spec }: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  const applied = base.ignore;
  const touches = (path: Pointer): boolean => touchesProtection(kind, path, [spec, base.spec]);
  const added = current.filter((path) => !applied.some((other) => isPointerWithin(path, other)) && touches(path));
  const removed = applied.filter((path) => !current.some((other) => isPointerWithin(path, other)) && touches(path));
  return [
    ...added.map((path): RiskDraft => ({ code: generalRisk('ignore-added'), fields: tokensOf(path), isIgnore: true })),
    ...removed.map((path): RiskDraft => ({ code: generalRisk('ignore-removed'), fields: tokensOf(path), isIgnore: true })),
  ];
}

/** Finds protecting fields that a manifest no longer states, and whose live value stays, whatever it becomes. */
function leftFields(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return kind.fields.flatMap(({ name, omitted }): readonly RiskDraft[] => {
    const path = pointer(name);
    // A successor has the value of its predecessor where it states none.
    const isLeft = omitted === 'kept' && base.spec[name] !== undefined && !desired.stated.has(name);
    // What is ignored has that risk already.
    if (!isLeft || isWithinAny(path, desired.ignore) || !touchesProtection(kind, path, [base.spec])) return [];
    return [{ code: generalRisk('field-left'), fields: [name] }];
  });
}

/** Returns whether the path overlaps a protecting field or an edge field; secrets protect where some of the specs have such among them. */
function touchesProtection(kind: Kind, path: Pointer, specs: readonly JsonObject[]): boolean {
  return kind.fields.some(({ name, edge, secret }) => {
    const own = pointer(name);
    if (!overlaps(own, path) || (secret !== undefined && !specs.some((spec) => spec[name] !== undefined))) return false;
    return edge !== undefined || controlTypesOf(kind.name, isPointerWithin(path, own) ? path : own).length > 0;
  });
}

/** The risk of sending a kept credential elsewhere, by the field that redirects it. */
const routes: Readonly<Record<string, GeneralRiskName>> = {
  agent_id: 'agent-rerouted',
  command: 'command-rerouted',
  type: 'command-rerouted',
  subtype: 'command-rerouted',
  resource_name: 'resource-rerouted',
};

const secretField = 'secret';

/** The owner of the secrets: the live connection itself, or the predecessor that it replaces. */
type Owners = {
  readonly subject: LiveResource | undefined;
  /** The connection that a new one replaces. */
  readonly predecessor: LiveResource | undefined;
  /** The fields of the connection after the plan. */
  readonly after: JsonObject;
  readonly desired: DesiredResource | undefined;
  /** The manifest that was applied last. */
  readonly applied: DesiredResource | undefined;
  /** Lists the connections and runbook configurations that use a source of secrets already. */
  readonly usersOf: (source: string) => readonly DesiredResource[];
  /** Lists the live connections of a resource. */
  readonly membersOf: (resource: Json | undefined) => readonly LiveResource[];
  /** The keys of the secrets that connections inherit from their resources. */
  readonly inherited: InheritedKeys | undefined;
};

/** Finds changes that send a kept credential to another agent, command, endpoint or resource. */
export function rerouteRisks(change: Change, owners: Owners): readonly RiskDraft[] {
  return [...keptRerouted(change, owners), ...reusedSecrets(change, owners)];
}

function keptRerouted(change: Change, owners: Owners): readonly RiskDraft[] {
  const { subject, predecessor, desired } = owners;
  const written = change.fields.filter(isCertain);
  const owner = subject ?? predecessor;
  const sides = secretUses(change, written, owners);
  const use = compareInherited(owners.inherited, sides.before, sides.after);
  const joins = sides.before?.resource !== sides.after.resource;
  const moves = resourceRisks(written, owners, joins && use.begins === 'yes');
  const moved =
    joins && use.begins === 'unknown' && moves.length === 0 ? [inheritedDraft('unknown', 'resource-rerouted', 'resource_name')] : moves;
  if (owner === undefined) return isRecreated(owners) ? recreationRisks(use.begins, owners) : moved;
  const uncovered = joins || use.begins === 'no' ? [] : [inheritedDraft(use.begins, 'secret-inherited', secretField)];
  const kept = keepsCredential(written, owner, subject === undefined ? desired : 'its own') ? 'yes' : use.kept;
  if (kept === 'no') return [...moved, ...uncovered];
  const paths = subject === undefined ? reroutingFields(owner, owners) : written.map(({ path }) => path);
  const fields = paths.flatMap((path): readonly RiskDraft[] => {
    const [name = '', key] = tokensOf(path);
    if (name === secretField && key !== undefined)
      return isEndpoint(key) && !isSameSecret(path, desired, owner) ? [inheritedDraft(kept, 'endpoint-rerouted', name)] : [];
    const route = routes[name];
    return route === undefined ? [] : [inheritedDraft(kept, route, name)];
  });
  return [...fields, ...moved, ...uncovered];
}

/** Returns a risk of credentials that are certainly used, or the risk of those that may be inherited. */
function inheritedDraft(used: 'yes' | 'unknown', name: GeneralRiskName, field: string): RiskDraft {
  return { code: generalRisk(used === 'yes' ? name : 'inheritance-unknown'), fields: [field] };
}

/** Returns from which resource and with which own keys a connection uses secrets before and after a change. */
function secretUses(
  { id }: Change,
  written: readonly FieldChange[],
  { subject, predecessor, applied, after }: Owners,
): { readonly before: SecretUse | undefined; readonly after: SecretUse } {
  const owner = subject ?? predecessor;
  // Keys that the token may not read are those of the manifest that was applied.
  const hidden = Object.keys(applied?.secrets ?? {}).filter((path) => owner !== undefined && isWithinAny(path, owner.unknown));
  const before = owner && {
    resource: resourceOf(owner.id, owner.spec),
    own: ownKeys([...Object.keys(owner.secrets), ...owner.unknown, ...hidden]),
  };
  const own = new Set(subject === undefined ? [] : before?.own);
  for (const { path, after: value } of written) {
    const [field, key] = tokensOf(path);
    if (field !== secretField || key === undefined) continue;
    if ('absent' in value || ('secret' in value && value.state === 'removed')) own.delete(key);
    else own.add(key);
  }
  return { before, after: { resource: resourceOf(id, after), own } };
}

/** Returns the resource of a connection, which has the name of the connection unless the connection names one. */
function resourceOf(id: ResourceId, { resource_name: name }: JsonObject): string {
  return typeof name === 'string' && name !== '' ? name : nameOf(id);
}

/** Returns the keys of the map of secrets among some paths. */
function ownKeys(paths: readonly Pointer[]): ReadonlySet<string> {
  return new Set(paths.map(tokensOf).flatMap(([field, key]) => (field === secretField && key !== undefined ? [key] : [])));
}

/** Returns whether a connection that was applied and is gone comes back in its resource. */
function isRecreated({ applied, after }: Owners): boolean {
  return applied !== undefined && resourceOf(applied.id, applied.spec) === resourceOf(applied.id, after);
}

/** Finds inherited credentials that a connection sends elsewhere when it comes back. */
function recreationRisks(begins: 'yes' | 'no' | 'unknown', { desired, applied }: Owners): readonly RiskDraft[] {
  const isMoved = desired !== undefined && applied !== undefined && !isSameRoute(desired, applied);
  return begins === 'no' || !isMoved ? [] : [{ code: generalRisk(begins === 'yes' ? 'secret-reused' : 'inheritance-unknown'), fields: [] }];
}

/** Returns whether a field is written. A secret that the gateway may have changed is written only if it did. */
function isCertain({ held, cause }: FieldChange): boolean {
  return held !== true && cause !== 'gateway';
}

/** Finds secrets of a runbook configuration that are sent to another server: kept ones, and those that are used elsewhere already. */
export function repositoryRisks(change: Change, owners: Owners): readonly RiskDraft[] {
  const { subject, after } = owners;
  const written = new Set(change.fields.filter(isCertain).map(({ path }) => path));
  const isKept =
    subject !== undefined &&
    isOtherRepository(subject, after) &&
    [...Object.keys(subject.secrets), ...subject.unknown].some((path) => !written.has(path));
  return [...(isKept ? [{ code: generalRisk('endpoint-rerouted'), fields: ['git_url'] }] : []), ...reusedSecrets(change, owners)];
}

/** Returns whether runbooks come from another repository than before: a new one, or one that another server sends. */
export function isOtherRepository(subject: LiveResource | undefined, after: JsonObject): boolean {
  const server = serverOf(after);
  return server !== undefined && server !== (subject === undefined ? undefined : serverOf(subject.spec));
}

/** Returns the server of a repository's address, `git@host:path` or a URL, and whether it is reached in clear; undefined if there is none. */
function serverOf({ git_url: url }: JsonObject): string | undefined {
  if (typeof url !== 'string') return undefined;
  const [, scheme = '', long, short] = /^(?:([a-z]+):\/\/(?:[^/?#@]*@)?([^/?#]+)|(?:[\w.-]+@)?([\w.-]+):)/i.exec(url) ?? [];
  return `${scheme.toLowerCase() === 'http' ? 'http ' : ''}${(long ?? short ?? url).toLowerCase()}`;
}

/** Lists the fields and secrets in which a new connection differs from the one that it replaces, also those that it leaves out. */
function reroutingFields({ spec, secrets }: LiveResource, { after, desired }: Owners): readonly Pointer[] {
  const fields = Object.keys(routes).filter((name) => !equal(filled(spec[name]), filled(after[name])));
  return [...fields.map((name) => pointer(name)), ...new Set([...Object.keys(secrets), ...Object.keys(desired?.secrets ?? {})])];
}

function filled(value: Json | undefined): Json {
  return value === undefined || value === '' || equal(value, []) ? null : value;
}

/**
 * Finds secrets that the change sends to another place: their source was used under another key or route of the connection, or only
 * other connections use it, with another key or route.
 */
function reusedSecrets(
  { id, fields }: Pick<Change, 'id' | 'fields'>,
  { desired, applied, subject, predecessor, usersOf }: Owners,
): readonly RiskDraft[] {
  if (desired === undefined) return [];
  const written = fields.filter((field) => isCertain(field) && 'secret' in field.after && field.after.state !== 'removed');
  return written.flatMap(({ path }): readonly RiskDraft[] => {
    const secret = desired.secrets[path];
    if (secret === undefined || !isCredential(tokensOf(path)[1] ?? '')) return [];
    const appliedKeys = applied === undefined ? [] : keysWith(applied, secret);
    const liveKeys = liveKeysWith(subject ?? predecessor, secret);
    const known = new Set([...appliedKeys, ...liveKeys]);
    const users = known.size === 0 && hasOwnSource(secret) ? usersOf(secret.source).filter((other) => other.id !== id) : [];
    // A drift of the secret is reverted while the manifest leads elsewhere.
    const isRestored = applied !== undefined && appliedKeys.includes(path) && !liveKeys.includes(path) && !isSameRoute(desired, applied);
    const isMoved = isRestored || (known.size > 0 && !known.has(path));
    const isShared = users.length > 0 && !users.some((other) => isSameRoute(desired, other) && keysWith(other, secret).includes(path));
    return isMoved || isShared ? [{ code: generalRisk('secret-reused'), fields: tokensOf(path).slice(0, 1) }] : [];
  });
}

/** Lists the paths of a manifest with the same source, or the same value written in the manifest. */
function keysWith({ secrets }: DesiredResource, secret: DesiredSecret): readonly Pointer[] {
  return Object.entries(secrets)
    .filter(([, other]) => (hasOwnSource(secret) ? other.source === secret.source : isEqualSecret(other, secret)))
    .map(([path]) => path);
}

function liveKeysWith(owner: LiveResource | undefined, secret: DesiredSecret): readonly Pointer[] {
  return Object.entries(owner?.secrets ?? {})
    .filter(([, other]) => other.state === 'value' && secret.state === 'value' && secret.equals(other))
    .map(([path]) => path);
}

/** Returns whether the source names where the value is stored; values in manifests have no source of their own. */
function hasOwnSource({ source }: DesiredSecret): boolean {
  return /^(env|file|reference):/.test(source);
}

/** Returns a lookup of the live connections of a resource; the index is built on first use. */
export function resourceMembers(live: readonly LiveResource[]): Owners['membersOf'] {
  let known: Map<Json | undefined, LiveResource[]> | undefined;
  return (resource) => {
    if (known === undefined) {
      known = new Map();
      for (const one of live) addToGroup(known, one.spec['resource_name'], one);
    }
    return resource === undefined ? [] : (known.get(resource) ?? []);
  };
}

/** Returns a lookup of the manifests that use a source; the index is built on first use. */
export function sourceUsers(manifests: () => readonly DesiredResource[]): Owners['usersOf'] {
  let known: Map<string, DesiredResource[]> | undefined;
  return (source) => {
    if (known === undefined) {
      known = new Map();
      for (const one of manifests())
        for (const secret of new Set(Object.values(one.secrets).map((each) => each.source))) addToGroup(known, secret, one);
    }
    return known.get(source) ?? [];
  };
}

function isEqualSecret(one: DesiredSecret, other: DesiredSecret): boolean {
  return one.state === 'value' && other.state === 'value' && one.equals(other);
}

/** Returns whether two manifests lead to the same place: agent, type, command, server of the repository and all endpoints are equal. */
function isSameRoute(one: DesiredResource, other: DesiredResource): boolean {
  const fields = ['agent_id', 'type', 'subtype', 'command'];
  if (serverOf(one.spec) !== serverOf(other.spec)) return false;
  if (!fields.every((field) => equal(one.spec[field] ?? null, other.spec[field] ?? null))) return false;
  const endpoints = new Set(
    [...Object.keys(one.secrets), ...Object.keys(other.secrets)].filter((path) => isSetting(tokensOf(path)[1] ?? '')),
  );
  return [...endpoints].every((path) => {
    const [first, last] = [one.secrets[path], other.secrets[path]];
    if (first === undefined || last === undefined) return false;
    return hasOwnSource(first) ? first.source === last.source : isEqualSecret(first, last);
  });
}

/**
 * Finds a move to another resource, and a new connection in the resource of others: a connection inherits the secrets of its resource in
 * addition to its own.
 */
function resourceRisks(
  written: readonly FieldChange[],
  { subject, predecessor, applied, after, membersOf }: Owners,
  inherits: boolean,
): readonly RiskDraft[] {
  const { resource_name: name } = after;
  const isNew = subject === undefined && name !== (predecessor ?? applied)?.spec['resource_name'];
  const joins = isNew && (inherits || membersOf(name).length > 0);
  const moves = subject === undefined ? joins : written.some(({ path }) => path === pointer('resource_name'));
  return moves ? [{ code: generalRisk('resource-rerouted'), fields: ['resource_name'] }] : [];
}

function isCopied({ after }: FieldChange): boolean {
  return 'secret' in after && after.secret.startsWith('live:');
}

/** Returns whether the secret is a copy or has the same value as before. */
function isSame(field: FieldChange, desired: DesiredResource | undefined, owner: LiveResource): boolean {
  return isCopied(field) || isSameSecret(field.path, desired, owner);
}

function isSameSecret(path: Pointer, desired: DesiredResource | undefined, owner: LiveResource): boolean {
  const [current, previous] = [desired?.secrets[path], owner.secrets[path]];
  if (current !== undefined && previous !== undefined && current.source === `live:${owner.id}`) return true;
  return current?.state === 'value' && previous?.state === 'value' && current.equals(previous);
}

/**
 * Returns whether a credential stays: the connection keeps its own, or a new one copies or repeats that of its predecessor. Any key
 * that is not a known setting may be a credential; so may a hidden one.
 */
function keepsCredential(written: readonly FieldChange[], owner: LiveResource, desired: DesiredResource | 'its own' | undefined): boolean {
  const root = pointer(secretField);
  if (desired === 'its own' && owner.unknown.some((path) => path === root)) return true;
  const isRepeated = (field: FieldChange): boolean => desired !== 'its own' && isSame(field, desired, owner);
  const replaced = new Set(written.filter((field) => !isRepeated(field)).map(({ path }) => path));
  const kept =
    desired === 'its own' ? [...Object.keys(owner.secrets), ...owner.unknown] : written.filter(isRepeated).map(({ path }) => path);
  return kept.some((path) => isPointerWithin(path, root) && path !== root && isCredential(tokensOf(path)[1] ?? '') && !replaced.has(path));
}

/** Finds secrets that moved into the manifest or out of it, compared with the base or else with the live reference. */
export function sourceRisks(
  desired: DesiredResource,
  { base, live }: { readonly base: DesiredResource | undefined; readonly live: LiveResource | undefined },
): readonly RiskDraft[] {
  const drafts = Object.entries(desired.secrets).flatMap(([path, { source }]): readonly RiskDraft[] => {
    const before = base === undefined ? liveForm(live?.secrets[path]) : formOf(base.secrets[path]?.source);
    const after = formOf(source);
    if (before === undefined || after === undefined || before === after) return [];
    return [{ code: generalRisk(after === 'inline' ? 'secret-inlined' : 'secret-referenced'), fields: tokensOf(path) }];
  });
  return drafts;
}

type Form = 'inline' | 'elsewhere';

function formOf(source: string | undefined): Form | undefined {
  if (source === 'inline') return 'inline';
  return source !== undefined && /^(env|file|reference):/.test(source) ? 'elsewhere' : undefined;
}

/** Returns the form of a live secret; only a reference (`_name:…`) shows where the value was stored. */
function liveForm(secret: LiveSecret | undefined): Form | undefined {
  return secret?.state === 'value' && /^_\w+:/.test(secret.reveal()) ? 'elsewhere' : undefined;
}
