import { appendAll } from '../../model/append-all.ts';
import type { DesiredResource, DesiredState } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasField, type DialectFields } from '../../model/gateway.ts';
import type { Registry } from '../../model/kind.ts';
import { pointer } from '../../model/pointer.ts';
import { kindOf } from '../../model/resource.ts';

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
    const stated = (foreign.get(kindOf(resource.id)) ?? []).filter(({ name }) => resource.stated.has(name));
    if (stated.length === 0) return resource;
    const names = new Set(stated.map(({ name }) => name));
    appendAll(
      diagnostics,
      stated.map(({ name, dialect: whose }): Diagnostic => ({
        code: 'plan/other-dialect-field',
        severity: 'warning',
        message: `${name} is a field of ${whose} gateways; this gateway (${dialectFields.dialect}) does not have it, so Ostiary does not send it`,
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
