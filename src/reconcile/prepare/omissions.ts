import { addToGroup, appendAll } from '../../model/collections.ts';
import { desiredByKey, type DesiredResource, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type DialectFields, hasField } from '../../model/gateway.ts';
import { textsIn } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveResource, UnreadKind } from '../../model/live.ts';
import type { BlockingError, Change } from '../../model/plan/plan.ts';
import { pointer } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** An object that cannot be planned, or that depends on one. */
export type UnplannableObject = { readonly resource: DesiredResource; readonly error: BlockingError };

/**
 * Leaves unplannable objects out of the manifests. They, and the live objects that they rename or replace, still count as declared: nothing
 * deletes them, and nothing else may take their names.
 */
export function withoutUnplannable(desired: DesiredState, unplannable: readonly UnplannableObject[]): DesiredState {
  if (unplannable.length === 0) return desired;
  const ids = new Set(unplannable.map(({ resource }) => resource.id));
  const resources = desired.resources.filter(({ id }) => !ids.has(id));
  const former = formerKeys(desired, unplannable).map((id) => ({ id, key: id, ignore: [] }));
  const kept = [...unplannable.map(({ resource }) => resource), ...former];
  return { ...desired, resources, unselected: [...desired.unselected, ...kept.map(({ id, key, ignore }) => ({ id, key, ignore }))] };
}

/** Returns the live keys that a plan leaves as they are: those of unplannable objects, and of the objects that they rename or replace. */
export function frozenKeys(desired: DesiredState, unplannable: readonly UnplannableObject[]): ReadonlySet<ResourceId> {
  return new Set([...unplannable.map(({ resource }) => resource.key), ...formerKeys(desired, unplannable)]);
}

/** Returns the objects that unplannable ones rename or replace, except those that have a manifest of their own. */
function formerKeys({ resources }: DesiredState, unplannable: readonly UnplannableObject[]): readonly ResourceId[] {
  const declared = desiredByKey(resources);
  return unplannable.flatMap(({ resource }) => formerIdOf(resource) ?? []).filter((id) => !declared.has(id));
}

/**
 * Returns the objects that errors are about, each with its first error. Returns none if one of the errors is not about a single object of
 * these manifests: then nothing can be planned.
 */
export function unplannableByErrors(diagnostics: readonly Diagnostic[], { resources }: DesiredState): readonly UnplannableObject[] {
  const byId = new Map(resources.flatMap((resource) => [[resource.id, resource] as const, [resource.key, resource] as const]));
  const unplannable = new Map<ResourceId, UnplannableObject>();
  for (const { severity, code, message, hint, resource: id } of diagnostics) {
    if (severity !== 'error') continue;
    const resource = id === undefined ? undefined : byId.get(id);
    if (resource === undefined) return [];
    const error = { code, message, hint };
    if (!unplannable.has(resource.id)) unplannable.set(resource.id, { resource, error });
  }
  return [...unplannable.values()];
}

/** Returns an unplannable object as a change that writes nothing. */
export function unplannableChange({ resource: { id, key, locate }, error }: UnplannableObject): Change {
  const identity = key === id ? { id } : { id, key };
  return { ...identity, action: 'blocked', at: locate(''), error, fields: [], needs: [], carried: [] };
}

/** Drops fields that the dialect of the gateway does not have; warns about each at its line. */
export function adaptToDialect(
  desired: DesiredState,
  dialectFields: DialectFields,
  registry: Registry,
): { readonly desired: DesiredState; readonly diagnostics: readonly Diagnostic[] } {
  const foreign = new Map(
    [...registry].map(([name, kind]) => [name, kind.fields.filter((field) => !hasField(dialectFields, name, field))]),
  );
  const diagnostics: Diagnostic[] = [];
  const resources = desired.resources.map((resource): DesiredResource => {
    appendAll(diagnostics, otherDialectKind(resource, registry, dialectFields));
    const fields = foreign.get(kindOf(resource.id)) ?? [];
    if (!fields.some(({ name }) => resource.stated.has(name))) return resource;
    const stated = fields.filter(({ name }) => resource.stated.has(name));
    const names = new Set(stated.map(({ name }) => name));
    appendAll(
      diagnostics,
      stated.map(({ name, dialect: owner, borrowed }): Diagnostic => ({
        code: 'plan/other-dialect-field',
        severity: 'warning',
        message: `${name} is a field of ${owner ?? `${borrowed}`} gateways${owner === undefined ? ' that report it' : ''}; this gateway (${dialectFields.dialect}) does not have it, so Ostiary does not send it`,
        hint: 'remove it, or limit the manifest to some targets with metadata.targets',
        at: resource.locate(pointer(name)),
        resource: resource.id,
      })),
    );
    return {
      ...resource,
      spec: Object.fromEntries(Object.entries(resource.spec).filter(([name]) => !names.has(name))),
      stated: new Set([...resource.stated].filter((name) => !names.has(name))),
    };
  });
  return { desired: diagnostics.length === 0 ? desired : { ...desired, resources }, diagnostics };
}

const olderGateway = 'update a gateway that does not have the kind, or limit the manifests to other targets with metadata.targets';

/** Reports manifests of kinds that could not be listed, and what was applied of them: a missing object proves nothing. */
export function unreadKinds(unread: readonly UnreadKind[], desired: DesiredState, base: DesiredState | undefined): readonly Diagnostic[] {
  return unread.flatMap(({ kind, failure }): readonly Diagnostic[] => {
    const own = desired.resources.find(({ id }) => kindOf(id) === kind);
    const applied = base?.resources.find(({ id }) => kindOf(id) === kind);
    const one = own ?? applied;
    if (one === undefined) return [];
    return [
      {
        code: 'plan/unreadable-kind',
        severity: 'error',
        message: `the gateway does not list objects of the kind ${kind}${failure === undefined ? ' to this token' : ''}, so nothing is known about ${one.id}${failure === undefined ? '' : `: ${failure.message}`}`,
        hint: failure === undefined ? 'use a key with the role admin, or auditor for read-only commands' : (failure.hint ?? olderGateway),
        at: one.locate(''),
      },
    ];
  });
}

/** Reports manifests, and what was applied, with the name of several live objects: nothing says which of them is meant. */
export function ambiguousNames(
  namesakes: readonly LiveResource[],
  desired: DesiredState,
  base: DesiredState | undefined,
): readonly Diagnostic[] {
  const byId = new Map<ResourceId, LiveResource[]>();
  for (const one of namesakes) addToGroup(byId, one.id, one);
  const own = [...desired.resources, ...(base?.resources ?? [])];
  return [...byId].flatMap(([id, all]): readonly Diagnostic[] => {
    const named = own.find((resource) => resource.key === id || formerIdOf(resource) === id);
    if (named === undefined) return [];
    return [
      {
        code: 'plan/namesakes',
        severity: 'error',
        message: `the gateway has ${all.length} objects ${id}: ${all.map(describeNamesake).join('; ')}`,
        hint: 'rename or delete all but one of them on the gateway, then plan again',
        at: named.locate(''),
      },
    ];
  });
}

/** Describes a live object beside others of its name: by its ID, its attachments and its groups. */
function describeNamesake({ uid, edges, spec }: LiveResource): string {
  const ends = Object.entries(edges).map(([field, names]) => `${field} ${names.map(nameOf).join(', ') || '(none)'}`);
  const groups = Object.keys(spec).flatMap((field) =>
    field.endsWith('groups') ? [`${field} ${textsIn(spec[field]).join(', ') || '(none)'}`] : [],
  );
  return [uid, ...ends, ...groups].join(', ');
}

/** Reports an object of a kind that only gateways of another dialect have: without it, what it protects would not be protected. */
function otherDialectKind(resource: DesiredResource, registry: Registry, { dialect }: DialectFields): readonly Diagnostic[] {
  const owner = registry.get(kindOf(resource.id))?.dialect;
  if (owner === undefined || owner === dialect) return [];
  return [
    {
      code: 'plan/other-dialect-kind',
      severity: 'error',
      message: `${kindOf(resource.id)} is a kind of ${owner} gateways; this gateway (${dialect}) does not have it`,
      hint: 'remove the manifest, or limit it to some targets with metadata.targets',
      at: resource.locate(''),
      resource: resource.id,
    },
  ];
}
