import { type DesiredResource, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import type { Renames } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';

/** The live objects that get new names, and the managed ones that cannot, by their new names. */
type FormerNames = {
  readonly renames: Renames;
  readonly taken: ReadonlyMap<ResourceId, ResourceId>;
  readonly diagnostics: readonly Diagnostic[];
};

/** Finds the former names that are still live; a former name that is not live any more has no effect. */
export function resolveFormerNames(desired: DesiredState, live: LiveState): FormerNames {
  const renamed = desired.resources.filter((resource) => formerIdOf(resource) !== undefined);
  if (renamed.length === 0) return { renames: new Map(), taken: new Map(), diagnostics: [] };
  const found = liveById(live.resources);
  const taken = new Map<ResourceId, ResourceId>();
  const declared = new Set([...desired.resources, ...desired.unselected].map(({ id }) => id));
  const renames = new Map<ResourceId, ResourceId>();
  const diagnostics: Diagnostic[] = [];
  for (const resource of renamed) {
    const former = formerIdOf(resource);
    if (former === undefined) continue;
    if (declared.has(former) || renames.has(former)) diagnostics.push(takenName(resource, former, declared.has(former)));
    else if (resource.renamedFrom !== undefined && found.has(former) && !found.has(resource.key)) {
      if (found.get(former)?.managedBy === undefined) renames.set(former, resource.key);
      else taken.set(resource.key, former);
    }
  }
  return { renames, taken, diagnostics };
}

function takenName({ id, locate }: DesiredResource, former: ResourceId, isDeclared: boolean): Diagnostic {
  return {
    code: 'plan/former-name-declared',
    severity: 'error',
    message: `${id} replaces ${former}, ${isDeclared ? 'which still has a manifest' : 'but another manifest also replaces it'}`,
    hint: isDeclared ? 'remove that manifest, or remove the former name from this one' : 'keep the former name in only one of them',
    at: locate(''),
    resource: id,
  };
}
