import type { IncomingHttpHeaders } from 'node:http';
import type { Access, Caller, ModelContext } from './call.ts';
import { ModelError } from './errors.ts';

/** Returns the caller of a request; refuses an unknown one with 401. */
export function authenticate(context: ModelContext, headers: IncomingHttpHeaders): Caller {
  const key = headers['api-key'];
  if (key !== undefined) return organisationKey(context, String(key));
  const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  const identity = context.store.identities.find((row) => row.status === 'active' && row.token !== '' && row.token === token);
  if (identity === undefined) throw new ModelError(401, 'access denied');
  return {
    id: identity.id,
    name: identity.name,
    email: identity.email,
    groups: identity.groups,
    role: roleOf(identity.groups, context.settings),
    licence: context.settings.licence,
    hidden: identity.kind === 'user' && context.settings.hideRoleInfo,
  };
}

/** Returns the caller of a route that needs none. */
export function noCaller({ settings }: ModelContext): Caller {
  return { id: '', name: '', email: '', groups: [], role: 'standard', licence: settings.licence, hidden: false };
}

function organisationKey({ settings }: ModelContext, key: string): Caller {
  if (settings.apiKey === null) throw new ModelError(401, 'access denied');
  if (settings.apiKey !== key) throw new ModelError(401, 'unauthorize');
  const licence = key.startsWith('xapi-') ? settings.licence : 'oss';
  return { id: 'API_KEY', name: 'API_KEY', email: 'API_KEY', groups: [settings.roles.admin], role: 'admin', licence, hidden: false };
}

function roleOf(groups: readonly string[], { roles }: ModelContext['settings']): Caller['role'] {
  if (groups.includes(roles.admin)) return 'admin';
  return groups.includes(roles.auditor) ? 'auditor' : 'standard';
}

/** Refuses with 403 a caller whose role the route does not list. */
export function authorise({ role }: Caller, access: Access): void {
  if (role === 'admin' || access === 'reader' || access === 'public') return;
  if (role === 'auditor' && access === 'auditor') return;
  if (role === 'standard' && access === 'member') return;
  throw new ModelError(403, 'access denied');
}

/**
 * Returns whether the caller sees the connection. Admins and auditors see all of them, and everybody does without the
 * plugin `access_control`; others need a group that the row of the connection or one of its attributes grants.
 */
export function mayUse({ store }: ModelContext, caller: Caller, connection: string): boolean {
  if (!store.plugins.has('access_control') || caller.role !== 'standard') return true;
  const id = store.connections.get(connection)?.id;
  const granted = store.pluginRows('access_control').find((row) => row.connectionId === id)?.config ?? [];
  const byAttribute = store.connectionAttributes.leftsOf(connection).flatMap((attribute) => store.groupAttributes.rightsOf(attribute));
  return [...granted, ...byAttribute].some((group) => caller.groups.includes(group));
}
