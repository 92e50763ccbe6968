import { readBody } from './body.ts';
import { ok, type Call, type ModelContext, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';

const audit = 'auth_config';
const path = '/serverconfig/auth';

/** Who signs in as whom (gateway/api/serverconfig/auth.go), with accounts of the gateway itself. */
export const authConfigRoutes: readonly Route[] = [
  { method: 'GET', path, access: 'auditor', answer: ({ context }) => ok(view(context)) },
  { method: 'PUT', path, access: 'admin', answer: save, audit },
  {
    method: 'GET',
    path: '/serverconfig/mcp-auth',
    access: 'auditor',
    answer: ({ context }) =>
      ok({ enabled: false, resource_uri: '', groups_claim: '', client_id: '', client_secret: '', ...context.settings.mcpAuth }),
  },
];

function view({ settings }: ModelContext): JsonObject {
  return {
    auth_method: 'local',
    oidc_config: null,
    saml_config: null,
    provider_name: '',
    api_key: settings.apiKey,
    rollout_api_key: null,
    webapp_users_management_status: 'active',
    admin_role_name: settings.roles.admin,
    auditor_role_name: settings.roles.auditor,
    ...settings.authConfig,
  };
}

/** Saves the names of the groups, by default the first ones; everybody in a group is in the one of its other name. */
function save({ text, store, context }: Call): Reply {
  const body = readBody(text, 'ServerAuthConfig');
  const status = body.string('webapp_users_management_status');
  if (status !== 'active' && status !== 'inactive')
    throw new ModelError(422, "invalid attribute for webapp_users_management_status, accepted values are 'active' or 'inactive'");
  const { settings } = context;
  const before = settings.roles;
  const roles = { admin: body.string('admin_role_name') || 'admin', auditor: body.string('auditor_role_name') || 'auditor' };
  const renamed = new Map([
    [before.admin, roles.admin],
    [before.auditor, roles.auditor],
  ]);
  settings.roles = roles;
  for (const [index, row] of store.identities.entries())
    store.identities[index] = { ...row, groups: [...new Set(row.groups.map((group) => renamed.get(group) ?? group))] };
  return ok(view(context));
}
