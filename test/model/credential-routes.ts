import { resourceOf, textOf, type ModelState } from './gateway-objects.ts';

/** A credential at the place where a session of a connection sends it. */
export type Route = { readonly credential: string; readonly place: string; readonly isInherited: boolean };

/** Keys that say where a connection leads, or who connects: they are not credentials. */
const settings = ['envvar:HOST', 'envvar:PORT'];
const users = ['envvar:USER'];

/** Lists the credentials that a connection has or inherits from its resource; an own secret with the same key takes precedence. */
function routesOf(state: ModelState, id: string): readonly Route[] {
  const { spec = {}, secrets: own = {} } = state[id] ?? { id };
  const resource = resourceOf(state, id);
  const used = { ...resource?.secrets, ...own };
  const endpoint = settings.map((key) => used[`/secret/${key}`] ?? '');
  const kind = ['agent_id', 'type', 'subtype'].map((field) => textOf(spec[field]));
  const rest = [JSON.stringify(spec['command'] ?? null), ...kind, ...endpoint];
  return Object.entries(used).flatMap(([path, value]) => {
    const key = path.replace('/secret/', '');
    if (settings.includes(key) || users.includes(key)) return [];
    const isInherited = own[path] === undefined;
    return [{ credential: isInherited ? `${resource?.id} ${key}` : value, place: [key, ...rest].join(' '), isInherited }];
  });
}

/** What is known before a plan: the gateway, and the manifests that were applied to it. */
type Known = { readonly before: ModelState; readonly applied: ModelState };

type Subject = { readonly id: string; readonly predecessor?: string; readonly isShared: (credential: string) => boolean };

/**
 * Lists the credentials that a session of the connection sends where it did not send them before: to another endpoint, agent, command,
 * type or key. `predecessor` is the connection that it replaces. A new credential of its own is not rerouted, but one that it inherits
 * for the first time is: the resource had it before. That two connections share a source is known from the applied manifests only,
 * because the gateway has no sources.
 */
export function reroutedCredentials({ before, applied }: Known, after: ModelState, subject: Subject): readonly Route[] {
  const { id, predecessor = id, isShared } = subject;
  if (after[id] === undefined) return [];
  const [live, stated] = [before, applied].map((state) => (state[predecessor] === undefined ? undefined : routesOf(state, predecessor)));
  const shared = Object.keys(applied)
    .filter((one) => one.startsWith('Connection/'))
    .flatMap((one) => routesOf(applied, one));
  return routesOf(after, id).filter(({ credential, place, isInherited }) => {
    // A manifest says where its own credentials belong, but not those of a resource.
    const own = isInherited ? (live ?? stated ?? []) : [...(live ?? []), ...(stated ?? []), ...(isShared(credential) ? shared : [])];
    const earlier = own.filter((route) => route.credential === credential);
    return (isInherited || earlier.length > 0) && !earlier.some((route) => route.place === place);
  });
}
