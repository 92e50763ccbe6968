import { readBody } from './body.ts';
import { empty, ok, param, type Call, type Reply, type Route } from './call.ts';
import { nanoTime } from './clock.ts';
import { ModelError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { ConnectionRow, FederationRow } from './rows.ts';

const path = '/connections/:nameOrID/federation';

/** As whom people work in the cloud (gateway/api/connections/connection_federation.go). The audit log has none of these requests. */
export const federationRoutes: readonly Route[] = [
  { method: 'GET', path, access: 'admin', answer: (call) => ok(view(find(call))) },
  { method: 'PUT', path, access: 'admin', answer: save },
  { method: 'DELETE', path, access: 'admin', answer: remove },
];

function connectionOf(call: Call): ConnectionRow {
  const row = call.store.findConnection(param(call, 'nameOrID'));
  if (row === undefined) throw new ModelError(404, 'connection not found');
  return row;
}

function find(call: Call): FederationRow {
  const row = call.store.federations.get(connectionOf(call).id);
  if (row === undefined) throw new ModelError(404, 'federation not configured for this connection');
  return row;
}

function remove(call: Call): Reply {
  call.store.federations.delete(find(call).connectionId);
  return empty;
}

/** Replaces it; without a credential in the body, the stored one stays. */
function save(call: Call): Reply {
  const { store, context, text } = call;
  const body = readBody(text, 'ConnectionFederationConfig');
  body.require({ HookSource: body.string('hook_source') });
  const connection = connectionOf(call);
  const [hook, provider, policy] = [body.string('hook_source'), body.string('builtin_provider'), body.string('fallback_policy')];
  if (hook !== 'builtin') throw new ModelError(400, 'hook_source must be "builtin"');
  if (provider === '') throw new ModelError(400, 'builtin_provider is required when hook_source=builtin');
  if (!['gcp_iam', 'gcp_oauth'].includes(provider)) throw new ModelError(400, `unknown builtin_provider ${JSON.stringify(provider)}`);
  if (!['', 'deny', 'static'].includes(policy)) throw new ModelError(400, 'fallback_policy must be one of: deny, static');
  const now = context.clock.now();
  const before = store.federations.get(connection.id);
  const row: FederationRow = {
    id: before?.id ?? context.random.uuid(),
    connectionId: connection.id,
    hookSource: hook,
    builtinProvider: provider,
    hasCredentials: body.string('admin_credentials_json') !== '' || before?.hasCredentials === true,
    identitySource: body.string('identity_source_attribute') || '$.user.email',
    identityTarget: body.string('identity_target_template') || '{user.email}',
    fallbackPolicy: policy === '' ? 'deny' : policy,
    tokenSeconds: body.int('token_ttl_seconds') || 3600,
    extra: body.map('extra_config') ?? {},
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  store.federations.set(connection.id, row);
  return ok(view(row));
}

function secondsOf(moment: bigint): string {
  return nanoTime(moment - (moment % 1_000_000_000n));
}

function view(row: FederationRow): JsonObject {
  return {
    id: row.id,
    connection_id: row.connectionId,
    hook_source: row.hookSource,
    builtin_provider: row.builtinProvider,
    ...(row.hasCredentials ? { has_admin_credentials: true } : {}),
    identity_source_attribute: row.identitySource,
    identity_target_template: row.identityTarget,
    fallback_policy: row.fallbackPolicy,
    token_ttl_seconds: row.tokenSeconds,
    ...(Object.keys(row.extra).length === 0 ? {} : { extra_config: row.extra }),
    created_at: secondsOf(row.createdAt),
    updated_at: secondsOf(row.updatedAt),
  };
}
