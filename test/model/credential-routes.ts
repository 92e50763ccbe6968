import { textOf, type ModelObject, type ModelState } from './gateway-objects.ts';

/** A credential at the place where a session of a connection sends it. */
type Route = { readonly credential: string; readonly place: string };

/** Keys that say where a connection leads, or who connects: they are not credentials. */
const settings = ['envvar:HOST', 'envvar:PORT'];
const users = ['envvar:USER'];

function routesOf({ spec = {}, secrets = {} }: ModelObject): readonly Route[] {
  const keys = Object.keys(secrets).map((path) => path.replace('/secret/', ''));
  const endpoint = settings.map((key) => secrets[`/secret/${key}`] ?? '');
  const kind = ['agent_id', 'type', 'subtype'].map((field) => textOf(spec[field]));
  const rest = [JSON.stringify(spec['command'] ?? null), ...kind, ...endpoint];
  return keys
    .filter((key) => !settings.includes(key) && !users.includes(key))
    .map((key) => ({ credential: secrets[`/secret/${key}`] ?? '', place: [key, ...rest].join(' ') }));
}

/** What is known before a plan: the gateway, and the manifests that were applied to it. */
type Known = { readonly before: ModelState; readonly applied: ModelState };

/**
 * Returns whether a session of the connection sends a credential where it was not sent before: another endpoint, agent, command,
 * type or key. `predecessor` is the connection that it replaces. A credential that is new is not rerouted. That two connections
 * share a source is known from the applied manifests only, because the gateway has no sources.
 */
export function isRerouted(
  { before, applied }: Known,
  after: ModelState,
  {
    id,
    predecessor = id,
    isShared,
  }: { readonly id: string; readonly predecessor?: string; readonly isShared: (credential: string) => boolean },
): boolean {
  const last = after[id];
  const own = [before[predecessor], applied[predecessor]].flatMap((one) => (one === undefined ? [] : routesOf(one)));
  const shared = Object.values(applied)
    .filter((one) => one.id.startsWith('Connection/'))
    .flatMap(routesOf);
  return (last === undefined ? [] : routesOf(last)).some(({ credential, place }) => {
    const earlier = [...own, ...(isShared(credential) ? shared : [])].filter((route) => route.credential === credential);
    return earlier.length > 0 && !earlier.some((route) => route.place === place);
  });
}
