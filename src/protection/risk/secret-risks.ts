import { addToGroup, onFirstUse } from '../../model/collections.ts';
import { type DesiredResource, leftSecrets } from '../../model/desired.ts';
import { isExtended, movedEnds } from '../../model/protection/moved-ends.ts';
import { asObject, equal, type Json, type JsonObject, textsIn } from '../../model/json.ts';
import type { InheritedKeys, LiveResource } from '../../model/live.ts';
import type { Change, FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, overlaps, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { isToolList } from '../../model/spec/tool-lists.ts';
import type { RiskDraft } from '../controls/control-row.ts';
import { type GeneralRiskName, riskOf } from './risk-codes.ts';
import type { Kind } from '../../model/kind.ts';
import { controlTypesOf } from '../controls/control-table.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { compareInherited, type SecretUse } from './inherited-secrets.ts';
import { hasOwnSource, isCredential, isEndpoint, isSetting } from '../compare/secret-keys.ts';

/** Finds differences between a manifest and the base that are not fields: its selector, its ignored paths, its protection from deletion and later ends of access. */
export function manifestRisks(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  const touches = (path: Pointer): boolean => touchesProtection(kind, path, [desired.spec, base.spec]);
  const ignoredBy = (one: DesiredResource, other: DesiredResource): readonly Pointer[] =>
    one.ignore.filter((path) => !isWithinAny(path, other.ignore) && touches(path));
  return [
    ...selectorRisks(desired, base),
    ...ignoredBy(desired, base).map((path) => riskOf('ignore-added', tokensOf(path))),
    ...ignoredBy(base, desired).map((path) => riskOf('ignore-removed', tokensOf(path))),
    ...leftFields(kind, desired, base),
    ...(base.protect && !desired.protect ? [riskOf('protect-removed')] : []),
    ...movedEnds(desired, base)
      .filter(isExtended)
      .map(({ path }) => riskOf('access-extended', tokensOf(path))),
  ];
}

/** Finds secrets that a manifest leaves to the gateway now, and whose live value cannot be compared with the applied one. */
export function leftRisks(desired: DesiredResource, base: DesiredResource, live: LiveResource): readonly RiskDraft[] {
  return leftSecrets(desired, base).flatMap((path) => {
    // What is ignored has that risk already.
    if (isToolList(path)) return isWithinAny(path, desired.ignore) ? [] : [riskOf('field-left', tokensOf(path))];
    const found = live.secrets[path];
    const isGone = found === undefined && !isWithinAny(path, live.unknown);
    if (isGone || (found?.state === 'value' && base.secrets[path]?.state === 'value')) return [];
    return [riskOf('secret-left', tokensOf(path))];
  });
}

function selectorRisks({ selector: current }: DesiredResource, { selector: applied }: DesiredResource): readonly RiskDraft[] {
  const field = current?.field ?? applied?.field;
  if (field === undefined) return [];
  return [
    ...(selectsAllOf(current?.value, applied?.value) ? [] : [riskOf('selector-narrowed', [field])]),
    ...(selectsAllOf(applied?.value, current?.value) ? [] : [riskOf('selector-widened', [field])]),
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

/** Finds protecting fields that a manifest no longer states, and whose live value stays, whatever it becomes. */
function leftFields(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return kind.fields.flatMap(({ name, omitted }): readonly RiskDraft[] => {
    const path = pointer(name);
    // A successor has the value of its predecessor where it states none.
    const isLeft = omitted === 'kept' && base.spec[name] !== undefined && !desired.stated.has(name);
    // What is ignored has that risk already.
    if (!isLeft || isWithinAny(path, desired.ignore) || !touchesProtection(kind, path, [base.spec])) return [];
    return [riskOf('field-left', [name])];
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

/** What decides where the secrets of an object go. */
type Owners = {
  /** What has the secrets: the live object itself, or the connection that a new one replaces. */
  readonly owner: LiveResource | undefined;
  readonly isNew: boolean;
  /** The fields of the connection after the plan. */
  readonly after: JsonObject;
  readonly desired: DesiredResource | undefined;
  /** The manifest that was applied last. */
  readonly applied: DesiredResource | undefined;
  /** Lists the connections and runbook configurations that use a source of secrets already. */
  readonly usersOf: (source: string) => readonly DesiredResource[];
  /** The resources of live connections. */
  readonly resourceNames: () => ReadonlySet<Json | undefined>;
  /** The keys of the secrets that connections inherit from their resources. */
  readonly inherited: InheritedKeys | undefined;
};

/** Finds changes that send a kept credential to another agent, command, endpoint or resource. */
export function rerouteRisks(change: Change, owners: Owners): readonly RiskDraft[] {
  return [...keptRerouted(change, owners), ...reusedSecrets(change, owners)];
}

function keptRerouted(change: Change, owners: Owners): readonly RiskDraft[] {
  const { owner, isNew, desired, applied, after } = owners;
  const written = change.fields.filter(isCertain);
  const sides = secretUses(change, written, owners);
  const use = compareInherited(owners.inherited, sides.before, sides.after);
  const joins = sides.before?.resource !== sides.after.resource;
  const moved = resourceRisks(written, owners, joins ? use.begins : 'no');
  if (owner === undefined) {
    // A connection that was applied and is gone comes back in its resource: it inherits credentials, and may send them elsewhere.
    if (applied === undefined || resourceOf(applied.id, applied.spec) !== resourceOf(applied.id, after)) return moved;
    const isMoved = desired !== undefined && !isSameRoute(desired, applied);
    return use.begins === 'no' || !isMoved ? [] : [riskOf(use.begins === 'yes' ? 'secret-reused' : 'inheritance-unknown')];
  }
  const uncovered = joins || use.begins === 'no' ? [] : [inheritedDraft(use.begins, 'secret-inherited', secretField)];
  const kept = keepsCredential(written, owner, owners) ? 'yes' : use.kept;
  if (kept === 'no') return [...moved, ...uncovered];
  const paths = isNew ? reroutingFields(owner, owners) : written.map(({ path }) => path);
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
  return riskOf(used === 'yes' ? name : 'inheritance-unknown', [field]);
}

/** Returns from which resource and with which own keys a connection uses secrets before and after a change. */
function secretUses(
  { id }: Change,
  written: readonly FieldChange[],
  { owner, isNew, applied, after }: Owners,
): { readonly before: SecretUse | undefined; readonly after: SecretUse } {
  // Keys that the token may not read are those of the manifest that was applied.
  const hidden = Object.keys(applied?.secrets ?? {}).filter((path) => owner !== undefined && isWithinAny(path, owner.unknown));
  const before = owner && {
    resource: resourceOf(owner.id, owner.spec),
    own: new Set([...Object.keys(owner.secrets), ...owner.unknown, ...hidden].flatMap(keysAt)),
  };
  const own = new Set(isNew ? [] : before?.own);
  for (const { path, after: value } of written) {
    for (const key of keysAt(path)) {
      if ('absent' in value || ('secret' in value && value.state === 'removed')) own.delete(key);
      else own.add(key);
    }
  }
  return { before, after: { resource: resourceOf(id, after), own } };
}

/** Returns the resource of a connection, which has the name of the connection unless the connection names one. */
function resourceOf(id: ResourceId, { resource_name: name }: JsonObject): string {
  return typeof name === 'string' && name !== '' ? name : nameOf(id);
}

/** Returns the key of the map of secrets that a path leads to; none elsewhere. */
function keysAt(path: Pointer): readonly string[] {
  const [field, key] = tokensOf(path);
  return field === secretField && key !== undefined ? [key] : [];
}

/** Returns whether a field is written. A secret that the gateway may have changed is written only if it did. */
function isCertain({ held, cause }: FieldChange): boolean {
  return held !== true && cause !== 'gateway';
}

/** Finds secrets of a runbook configuration that are sent to another server: kept ones, and those that are used elsewhere already. */
export function repositoryRisks(change: Change, owners: Owners): readonly RiskDraft[] {
  const { owner, after } = owners;
  const written = new Set(change.fields.filter(isCertain).map(({ path }) => path));
  const isKept =
    owner !== undefined &&
    isOtherRepository(owner, after) &&
    [...Object.keys(owner.secrets), ...owner.unknown].some((path) => !written.has(path));
  return [...(isKept ? [riskOf('endpoint-rerouted', ['git_url'])] : []), ...reusedSecrets(change, owners)];
}

/** Returns whether runbooks come from another repository than before: a new one, or one that another server sends. */
export function isOtherRepository(subject: LiveResource | undefined, after: JsonObject): boolean {
  const server = serverOf(after);
  return server !== undefined && server !== serverOf(subject?.spec ?? {});
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
function reusedSecrets({ id, fields }: Change, { desired, applied, owner, usersOf }: Owners): readonly RiskDraft[] {
  if (desired === undefined) return [];
  const written = fields.filter((field) => isCertain(field) && 'secret' in field.after && field.after.state !== 'removed');
  return written.flatMap(({ path }): readonly RiskDraft[] => {
    const secret = desired.secrets[path];
    if (secret === undefined || !isCredential(tokensOf(path)[1] ?? '')) return [];
    const appliedKeys = pathsWith(applied?.secrets, (other) => isSameSource(other, secret));
    const liveKeys = pathsWith(owner?.secrets, (other) => isEqualSecret(other, secret));
    const known = new Set([...appliedKeys, ...liveKeys]);
    const users = known.size === 0 && hasOwnSource(secret) ? usersOf(secret.source).filter((other) => other.id !== id) : [];
    // A drift of the secret is reverted while the manifest leads elsewhere.
    const isRestored = applied !== undefined && appliedKeys.includes(path) && !liveKeys.includes(path) && !isSameRoute(desired, applied);
    const isMoved = isRestored || (known.size > 0 && !known.has(path));
    const isUsedAlike = (other: DesiredResource): boolean => {
      const one = other.secrets[path];
      return isSameRoute(desired, other) && one !== undefined && isSameSource(one, secret);
    };
    const isShared = users.length > 0 && !users.some(isUsedAlike);
    return isMoved || isShared ? [riskOf('secret-reused', tokensOf(path).slice(0, 1))] : [];
  });
}

function pathsWith<One>(secrets: Readonly<Record<Pointer, One>> = {}, isSame: (one: One) => boolean): readonly Pointer[] {
  return Object.entries(secrets).flatMap(([path, one]) => (isSame(one) ? [path] : []));
}

/** Returns whether two secrets of manifests have the same source, or the same value written in the manifest. */
function isSameSource(one: DesiredSecret, other: DesiredSecret): boolean {
  return hasOwnSource(other) ? one.source === other.source : isEqualSecret(one, other);
}

/** Returns a lookup of the manifests that use a source; the index is built on first use. */
export function sourceUsers(manifests: () => readonly DesiredResource[]): Owners['usersOf'] {
  const index = onFirstUse(() => {
    const known = new Map<string, DesiredResource[]>();
    for (const one of manifests())
      for (const source of new Set(Object.values(one.secrets).map((each) => each.source))) addToGroup(known, source, one);
    return known;
  });
  return (source) => index().get(source) ?? [];
}

function isEqualSecret(one: DesiredSecret | LiveSecret | undefined, other: DesiredSecret | LiveSecret | undefined): boolean {
  return one?.state === 'value' && other?.state === 'value' && one.equals(other);
}

/** Returns whether two manifests lead to the same place: agent, type, command, server of the repository and all endpoints are equal. */
function isSameRoute(one: DesiredResource, other: DesiredResource): boolean {
  const fields = ['agent_id', 'type', 'subtype', 'command'];
  if (serverOf(one.spec) !== serverOf(other.spec)) return false;
  if (!fields.every((field) => equal(one.spec[field] ?? null, other.spec[field] ?? null))) return false;
  const paths = [...Object.keys(one.secrets), ...Object.keys(other.secrets)].filter((path) => isSetting(tokensOf(path)[1] ?? ''));
  return paths.every((path) => {
    const [first, last] = [one.secrets[path], other.secrets[path]];
    return first !== undefined && last !== undefined && isSameSource(last, first);
  });
}

/**
 * Finds a move to another resource, and a new connection in the resource of others: a connection inherits the secrets of its resource in
 * addition to its own.
 */
function resourceRisks(
  written: readonly FieldChange[],
  { owner, isNew, applied, after, resourceNames }: Owners,
  begins: 'yes' | 'no' | 'unknown',
): readonly RiskDraft[] {
  const { resource_name: name } = after;
  const joins =
    name !== (owner ?? applied)?.spec['resource_name'] && (begins === 'yes' || (name !== undefined && resourceNames().has(name)));
  const moves = isNew ? joins : written.some(({ path }) => path === pointer('resource_name'));
  return moves || begins === 'unknown' ? [inheritedDraft(moves ? 'yes' : 'unknown', 'resource-rerouted', 'resource_name')] : [];
}

function isSameSecret(path: Pointer, desired: DesiredResource | undefined, owner: LiveResource): boolean {
  const [current, previous] = [desired?.secrets[path], owner.secrets[path]];
  return (previous !== undefined && current?.source === `live:${owner.id}`) || isEqualSecret(current, previous);
}

/**
 * Returns whether a credential stays: the connection keeps its own, or a new one copies or repeats that of its predecessor. Any key
 * that is not a known setting may be a credential; so may a hidden one.
 */
function keepsCredential(written: readonly FieldChange[], owner: LiveResource, { isNew, desired }: Owners): boolean {
  if (!isNew && owner.unknown.includes(pointer(secretField))) return true;
  const isRepeated = ({ path, after }: FieldChange): boolean =>
    ('secret' in after && after.secret.startsWith('live:')) || isSameSecret(path, desired, owner);
  const replaced = new Set(written.map(({ path }) => path));
  const kept = isNew
    ? written.filter(isRepeated).map(({ path }) => path)
    : [...Object.keys(owner.secrets), ...owner.unknown].filter((path) => !replaced.has(path));
  return kept.flatMap(keysAt).some(isCredential);
}

/** Finds secrets that moved into the manifest or out of it, compared with the base or else with the live reference. */
export function sourceRisks(
  desired: DesiredResource,
  { base, live }: { readonly base: DesiredResource | undefined; readonly live: LiveResource | undefined },
): readonly RiskDraft[] {
  return Object.entries(desired.secrets).flatMap(([path, secret]): readonly RiskDraft[] => {
    const before = base === undefined ? liveForm(live?.secrets[path]) : formOf(base.secrets[path]);
    const after = formOf(secret);
    if (before === undefined || after === undefined || before === after) return [];
    return [riskOf(after === 'inline' ? 'secret-inlined' : 'secret-referenced', tokensOf(path))];
  });
}

function formOf(secret: DesiredSecret | undefined): 'inline' | 'elsewhere' | undefined {
  if (secret?.source === 'inline') return 'inline';
  return secret !== undefined && hasOwnSource(secret) ? 'elsewhere' : undefined;
}

/** Returns the form of a live secret; only a reference (`_name:…`) shows where the value was stored. */
function liveForm(secret: LiveSecret | undefined): ReturnType<typeof formOf> {
  return secret?.state === 'value' && /^_\w+:/.test(secret.reveal()) ? 'elsewhere' : undefined;
}
