import { hasField, type DialectFields } from '../../model/gateway.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { DesiredResource } from '../../model/desired.ts';
import { compareSecrets } from '../diff/compare-secrets.ts';
import { compareSpecs } from '../diff/compare-specs.ts';
import { comparedFields, resolveDefaults, skippedPaths } from '../diff/resolve-defaults.ts';
import { resolveReferences } from '../diff/resolve-references.ts';
import { closableFields } from './replacements.ts';
import type { OwnObjects } from './with-remembered.ts';

/**
 * Returns the objects that an interrupted creation may have made, or something else: the record has no id of the gateway for them,
 * and they differ from the manifest that was applied. They are never deleted or changed without a question.
 */
export function findUncertain(
  own: OwnObjects,
  live: LiveState,
  { registry, dialect }: { readonly registry: Registry; readonly dialect: DialectFields },
): ReadonlySet<ResourceId> {
  const unfinished = [...own.values()].filter((one) => one.unfinished === true);
  if (unfinished.length === 0) return new Set();
  const found = liveById(live.resources);
  const isCertain = (key: ResourceId, resource: DesiredResource | undefined): boolean => {
    const [kind, object] = [registry.get(kindOf(key)), found.get(key)];
    return kind !== undefined && object !== undefined && resource !== undefined && isAsCreated(kind, resource, { object, live, dialect });
  };
  return new Set(unfinished.flatMap(({ key, resource }) => (isCertain(key, resource) ? [] : [key])));
}

type Creation = { readonly object: LiveResource; readonly live: LiveState; readonly dialect: DialectFields };

/** Returns whether an object is what the creation of a resource leaves: as in the manifest, or closed. */
function isAsCreated(kind: Kind, resource: DesiredResource, { object, live, dialect }: Creation): boolean {
  const { spec, diagnostics } = resolveReferences(kind, resource, object, live);
  if (diagnostics.length > 0 || compareSecrets(resource, object).fields.length > 0) return false;
  const fields = comparedFields(kind).filter((field) => hasField(dialect, kind.name, field));
  const desired = resolveDefaults(kind, { ...resource, spec }, object);
  const differing = compareSpecs(fields, desired, object.spec, skippedPaths(resource, object));
  const closed = new Set(closableFields(kind).flatMap(({ name, path, value }) => (object.spec[name] === value ? [path] : [])));
  return differing.every(({ path }) => closed.has(path));
}
