import { createHmac } from 'node:crypto';
import { ok, param, type Call, type ModelContext, type Reply, type Route } from './call.ts';
import { ModelError } from './errors.ts';
import flags from './feature-flags.json' with { type: 'json' };

export const infoRoutes: readonly Route[] = [
  { method: 'GET', path: '/userinfo', access: 'reader', answer: userInfo },
  { method: 'GET', path: '/serverinfo', access: 'reader', answer: serverInfo },
  { method: 'GET', path: '/feature-flags', access: 'reader', answer: ({ context }) => ok(featureFlags(context)) },
  { method: 'PUT', path: '/feature-flags/:name', access: 'admin', answer: switchFlag },
];

const tenYears = 315_619_200;

function userInfo({ caller, context }: Call): Reply {
  const { settings, organisation } = context;
  const digest = createHmac('sha256', organisation.id).update(caller.email).digest('hex');
  return ok({
    id: caller.id,
    name: caller.name,
    email: caller.email,
    status: 'active',
    verified: true,
    role: caller.role,
    slack_id: '',
    picture: '',
    groups: caller.groups,
    is_admin: caller.role === 'admin',
    is_multitenant: false,
    tenancy_type: 'selfhosted',
    org_id: organisation.id,
    org_name: organisation.name,
    org_license: '',
    feature_ask_ai: 'unavailable',
    webapp_users_management: 'on',
    intercom_hmac_digest: settings.supportChat ? digest : '',
    default_protection_profile: settings.profile,
    show_origin_survey: false,
    show_setup_checklist: caller.role === 'admin',
  });
}

function serverInfo({ context, caller }: Call): Reply {
  const { settings } = context;
  const now = Math.floor(Date.now() / 1000);
  return ok({
    version: context.version,
    commit_sha: '',
    log_level: 'info',
    go_debug: '',
    auth_method: 'local',
    redact_provider: settings.provider ?? '',
    has_redact_credentials: settings.provider !== null,
    has_webhook_app_key: false,
    has_idp_audience: false,
    has_idp_custom_scopes: false,
    has_ask_ai_credentials: false,
    has_ssh_client_host_key: false,
    postgres_proxy_enabled: settings.listeners,
    api_url: context.apiUrl,
    grpc_url: 'grpc://127.0.0.1:8010',
    tenancy_type: 'selfhosted',
    license_info: {
      key_id: '',
      allowed_hosts: ['*'],
      type: caller.licence,
      issued_at: now,
      expire_at: now + tenYears,
      is_valid: true,
      status: 'valid',
      verify_error: '',
      verified_host: '127.0.0.1',
      features: [],
      ...settings.licenseInfo,
    },
    idp_provider_name: 'unknown',
    disable_sessions_download: false,
    disable_clipboard_copy_cut: false,
    analytics_tracking: 'enabled',
    analytics_mode: 'identified',
    feature_flags: Object.fromEntries(featureFlags(context).map(({ name, enabled }) => [name, enabled])),
    ...settings.serverInfo,
  });
}

type FeatureFlag = (typeof flags)[number] & { readonly enabled: boolean };

function featureFlags({ settings }: ModelContext): readonly FeatureFlag[] {
  return flags.map((flag) => ({
    ...flag,
    enabled: flag.name === 'experimental.rulepacks' ? settings.rulepacks : (settings.flags.get(flag.name) ?? flag.default),
  }));
}

function switchFlag(call: Call): Reply {
  const { context, text } = call;
  const name = param(call, 'name');
  if (!flags.some((flag) => flag.name === name)) throw new ModelError(400, `unknown feature flag: ${name}`);
  const { enabled } = Object(JSON.parse(text));
  context.settings.flags.set(name, enabled === true);
  return ok(featureFlags(context).find((flag) => flag.name === name) ?? null);
}
