import { createHmac } from 'node:crypto';
import { ok, type Call, type Reply, type Route } from './call.ts';

export const infoRoutes: readonly Route[] = [
  { method: 'GET', path: '/userinfo', access: 'reader', answer: userInfo },
  { method: 'GET', path: '/serverinfo', access: 'reader', answer: serverInfo },
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
    postgres_proxy_enabled: false,
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
    feature_flags: {
      'beta.oracle_native': true,
      'experimental.claude_code_vertex': false,
      'experimental.db_exec_driver': false,
      'experimental.http_session_analyzer': true,
      'experimental.httpproxy_client_authorization': false,
      'experimental.log_exec_input': true,
      'experimental.mcp_gateway': false,
      'experimental.rdp_pii_detection': true,
      'experimental.rdp_pii_guard': true,
      'experimental.rulepacks': settings.rulepacks,
      'experimental.ssh_guardrails': false,
      'experimental.ssh_input_guardrails': false,
      'experimental.tunnel_token_renewal': false,
    },
    ...settings.serverInfo,
  });
}
