import { addToGroup } from '../model/collections.ts';
import { desiredById, desiredByKey, type DesiredState } from '../model/desired.ts';
import type { Diagnostic, SourceFile } from '../model/diagnostic.ts';
import { textsIn } from '../model/json.ts';
import type { LiveState } from '../model/live.ts';
import type { Change } from '../model/plan/plan.ts';
import { pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import { acceptLive } from '../manifest/accept/accept-live.ts';
import { readSources, wholeInputOf } from '../project/manifests.ts';
import type { OpenProject } from '../project/project.ts';
import { reportSharingTargets, writeEdits } from './adopt-drift.ts';

/** The files that were edited, what could not be, and which other targets read them. */
type RevokedGrants = { readonly files: readonly SourceFile[]; readonly left: readonly Diagnostic[] };

/** Removes groups from the access groups of manifests in the working tree, as if they had been removed on the gateway. */
export function revokeGrants(
  grants: readonly { readonly id: ResourceId; readonly group: string }[],
  { project, desired, live }: { readonly project: OpenProject; readonly desired: DesiredState; readonly live: LiveState },
): RevokedGrants {
  const byObject = new Map<ResourceId, string[]>();
  for (const { id, group } of grants) addToGroup(byObject, id, group);
  const changes = [...byObject].flatMap(([id, groups]): readonly Change[] => {
    const resource = desiredById(desired.resources).get(id) ?? desiredByKey(desired.resources).get(id);
    const stated = textsIn(resource?.spec['access_groups']);
    // Each group alone: other entries of a list keep their ends and comments.
    const fields = groups
      .filter((group) => stated.includes(group))
      .map((group) => ({ path: pointer('access_groups', group), before: { absent: true }, after: { value: group } }) as const);
    if (resource === undefined || fields.length === 0) return [];
    return [{ id: resource.id, key: resource.key, action: 'update', fields, needs: [], carried: [] }];
  });
  const resources = live.resources.map((one) => {
    const revoked = byObject.get(one.id) ?? [];
    const kept = textsIn(one.spec['access_groups']).filter((group) => !revoked.includes(group));
    return revoked.length === 0 ? one : { ...one, spec: { ...one.spec, access_groups: kept } };
  });
  const sources = readSources(project);
  const input = { ...wholeInputOf(sources, project), live: { ...live, resources }, plan: { changes, edges: [] } };
  const { files, diagnostics } = acceptLive({ ...input, which: 'all' });
  const elsewhere = reportSharingTargets(project, files);
  writeEdits(project, sources, files);
  return { files, left: [...diagnostics, ...elsewhere] };
}
