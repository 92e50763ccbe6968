import type { SecretLookup } from '../../apply/request.ts';
import { type DesiredResource, type DesiredState, desiredById } from '../../model/desired.ts';
import type { Gateway } from '../../model/gateway.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Plan, type Refusal } from '../../model/plan/plan.ts';
import type { Pointer } from '../../model/pointer.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { DesiredSecret } from '../../model/secret.ts';
import { savedPlanRefusal } from '../../reconcile/saved-plan/saved-plan-checks.ts';

/** The manifests with all secret values that the plan sets, and the secrets whose source is no longer the planned one. */
type SavedSecrets = { readonly desired: DesiredState; readonly refusals: readonly Refusal[] };

/**
 * Adds to the manifests a value for every secret that a saved plan sets: the value of the manifest, or the live value of the
 * replaced object. Refuses a secret whose source differs from the plan.
 */
export async function readSavedSecrets(plan: Plan, desired: DesiredState, { live, gateway }: LiveSecrets): Promise<SavedSecrets> {
  const declared = desiredById(desired.resources);
  const inherited = new Map<ResourceId, Record<Pointer, DesiredSecret>>();
  const refusals: Refusal[] = [];
  const read = objectReader(live, gateway);
  for (const { id, path, source, key } of secretsOf(plan)) {
    if (!source.startsWith(fromLive)) {
      const found = declared.get(id)?.secrets[path]?.source;
      if (found !== source) refusals.push(otherSource(id, path, source));
      continue;
    }
    const predecessor = await read(source.slice(fromLive.length));
    const secret = predecessor?.secrets[path] ?? (await read(key))?.secrets[path];
    if (secret?.state === 'value') inherited.set(id, { ...inherited.get(id), [path]: secret.withSource(source) });
    else refusals.push(unreadableSecret(id, path, source));
  }
  if (inherited.size === 0) return { desired, refusals };
  const resources = desired.resources.map((resource): DesiredResource => {
    return { ...resource, secrets: { ...resource.secrets, ...inherited.get(resource.id) } };
  });
  return { desired: { ...desired, resources }, refusals };
}

type LiveSecrets = { readonly live: LiveState; readonly gateway: Gateway };

const fromLive = 'live:';

/** A secret that a plan sets: the object after the change, its key in the live state, and the source of the value. */
type PlannedSecret = { readonly id: ResourceId; readonly key: ResourceId; readonly path: Pointer; readonly source: string };

function secretsOf({ changes }: Plan): readonly PlannedSecret[] {
  return changes.filter(isWritten).flatMap((change) =>
    change.fields.flatMap(({ path, after, held }): readonly PlannedSecret[] => {
      return 'secret' in after && held !== true ? [{ id: change.id, key: liveKeyOf(change), path, source: after.secret }] : [];
    }),
  );
}

/** Reads each object at most once with a request of its own, because lists may omit secrets. */
function objectReader({ resources }: LiveState, gateway: Gateway): (id: string) => Promise<LiveResource | undefined> {
  const byId: ReadonlyMap<string, LiveResource> = liveById(resources);
  const read = new Map<string, Promise<LiveResource | undefined>>();
  return (id) => {
    const found = byId.get(id);
    const known = read.get(id) ?? (found === undefined ? Promise.resolve(undefined) : gateway.readOne(found));
    read.set(id, known);
    return known;
  };
}

function otherSource(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `the plan reads ${path} from ${source}, but the manifests do not`;
  return { ...savedPlanRefusal('plan/other-manifests', message, 'plan again'), resource: id };
}

function unreadableSecret(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `${path} is copied from ${source.slice(fromLive.length)}, which can no longer be read`;
  return { ...savedPlanRefusal('plan/moved', message, 'plan again, with every secret in the manifest'), resource: id };
}

/** Returns a lookup of the secret values that manifests set. */
export function secretLookup({ resources }: DesiredState): SecretLookup {
  const secrets = new Map(resources.map((resource) => [resource.id, resource.secrets]));
  return (id, path) => {
    const secret = secrets.get(id)?.[path];
    return secret?.state === 'value' ? secret : undefined;
  };
}
