import type { SecretLookup } from '../apply/request.ts';
import { type DesiredResource, type DesiredState, desiredById } from '../model/desired.ts';
import type { Gateway } from '../model/gateway.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import { isWritten, liveKeyOf, type Plan, type Refusal } from '../model/plan/plan.ts';
import type { Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import type { DesiredSecret } from '../model/secret.ts';
import { planRefusal } from './saved-plan-checks.ts';

type Found = { readonly desired: DesiredState; readonly unfit: readonly Refusal[] };

/**
 * The manifests with a value for every secret that a saved plan sets: their own, read anew, or what the object has whose
 * place is taken. A secret that would come from elsewhere than the plan says is a refusal.
 */
export async function secretsFor(plan: Plan, desired: DesiredState, { live, gateway }: Where): Promise<Found> {
  const wished = desiredById(desired.resources);
  const inherited = new Map<ResourceId, Record<Pointer, DesiredSecret>>();
  const unfit: Refusal[] = [];
  const read = reader(live, gateway);
  for (const { id, path, source, key } of secretsOf(plan)) {
    if (!source.startsWith(fromLive)) {
      const found = wished.get(id)?.secrets[path]?.source;
      if (found !== source) unfit.push(elsewhere(id, path, source));
      continue;
    }
    const former = await read(source.slice(fromLive.length));
    const secret = former?.secrets[path] ?? (await read(key))?.secrets[path];
    if (secret?.state === 'value') inherited.set(id, { ...inherited.get(id), [path]: secret.withSource(source) });
    else unfit.push(lost(id, path, source));
  }
  if (inherited.size === 0) return { desired, unfit };
  const resources = desired.resources.map((resource): DesiredResource => {
    return { ...resource, secrets: { ...resource.secrets, ...inherited.get(resource.id) } };
  });
  return { desired: { ...desired, resources }, unfit };
}

type Where = { readonly live: LiveState; readonly gateway: Gateway };

const fromLive = 'live:';

type Place = { readonly id: ResourceId; readonly key: ResourceId; readonly path: Pointer; readonly source: string };

function secretsOf({ changes }: Plan): readonly Place[] {
  return changes.filter(isWritten).flatMap((change) =>
    change.fields.flatMap(({ path, after, held }): readonly Place[] => {
      return 'secret' in after && held !== true ? [{ id: change.id, key: liveKeyOf(change), path, source: after.secret }] : [];
    }),
  );
}

/** Reads each object once, by itself: lists may leave secrets out. */
function reader({ resources }: LiveState, gateway: Gateway): (id: string) => Promise<LiveResource | undefined> {
  const read = new Map<string, Promise<LiveResource | undefined>>();
  return (id) => {
    const found = resources.find((resource) => resource.id === id);
    const known = read.get(id) ?? (found === undefined ? Promise.resolve(undefined) : gateway.readOne(found));
    read.set(id, known);
    return known;
  };
}

function elsewhere(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `the plan takes ${path} from ${source}, and the manifests do not`;
  return { ...planRefusal('plan/other-manifests', message, 'plan again'), resource: id };
}

function lost(id: ResourceId, path: Pointer, source: string): Refusal {
  const message = `${path} is to be that of ${source.slice(fromLive.length)}, which cannot be read any more`;
  return { ...planRefusal('plan/moved', message, 'plan again, with every secret in the manifest'), resource: id };
}

/** Finds the values of secrets that the manifests give. */
export function secretOf({ resources }: DesiredState): SecretLookup {
  const secrets = new Map(resources.map((resource) => [resource.id, resource.secrets]));
  return (id, path) => {
    const secret = secrets.get(id)?.[path];
    return secret?.state === 'value' ? secret : undefined;
  };
}
