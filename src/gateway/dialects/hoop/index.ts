import type { Dialect, ErrorHint, WireService } from '../../dialect.ts';
import { access } from './access.ts';
import { referencePrefixes, valueNames } from './fields.ts';
import { authHeaderFor, readCapabilities } from './handshake.ts';
import { kinds, knownValues, terraformKinds, terraformParts, resources, runbooks } from './kinds.ts';
import { checkManifest, preflight, preflightReads } from './preflight.ts';
import { restList } from '../rest.ts';
import type { Decision, Review } from '../../../model/service.ts';

/** What people look up and decide on the public gateway. */
export const service: WireService = {
  agents: restList('/agents'),
  resources,
  reviews: restList('/reviews'),
  // The route of the interface belongs to a plugin that the gateway removes at every start.
  templates: { ...runbooks, ...restList('/runbooks?list_connections=true&remove_empty_connections=false') },
  agentStatus: { CONNECTED: 'online', DISCONNECTED: 'offline' },
  subtypes: Object.fromEntries(Object.entries(valueNames['subtype'] ?? {}).map(([our, theirs]) => [theirs, our])),
  chatId: 'slack_id',
  windowType: 'time_range',
  listsWindows: false,
  accessEnds: ({ revoke_at: end }) => (end === '' ? undefined : end),
  objection,
};

/** Returns why the gateway would fail: it answers such a decision with a 500. */
function objection({ type }: Review, { status }: Decision): string | undefined {
  return status === 'REVOKED' && type === 'onetime' ? 'this gateway can revoke only jit reviews; reject it instead' : undefined;
}

/** What to do about the gateway's own error messages. */
const errorHints: readonly ErrorHint[] = [
  { matches: /404 page not found/, hint: 'check that the URL is the root of the API; it usually ends in /api' },
  {
    matches: /OSS version/,
    hint: 'the free license of this gateway does not allow more; ostiary plan reports this before any write',
  },
  { matches: /no data masking provider/, hint: 'set DLP_PROVIDER on the gateway; without it, the gateway does not enforce masking rules' },
  { matches: /managed by (its agent|Hoop)|owned by a rulepack/, hint: 'change it where it is managed, and remove it from the manifests' },
  { matches: /enum_connection_type/, hint: 'the gateway does not know this type' },
  { matches: /enum_access_status/, hint: 'access modes must be enabled or disabled' },
  { matches: /input syntax for type uuid/, hint: 'an ID is not a UUID' },
  {
    matches: /foreign key constraint|reference in the connection_ids/,
    hint: 'an object that it refers to no longer exists on the gateway; plan again',
  },
  { matches: /failed removing connection/, hint: 'an event subscription of the gateway may need the connection; delete the subscription' },
  { matches: /duplicated key/, hint: 'another object on the gateway has this name' },
  { matches: /failed parsing SSH key/, hint: 'ssh_key is not a private key in PEM or OpenSSH format' },
  { matches: /connection attributes|rule attributes/, hint: 'the gateway saved the object without its attributes; plan and apply again' },
];

/** The public gateway hoop, as version 1.148 behaves. */
export const hoopDialect: Dialect = {
  name: 'hoop',
  signs: {
    server: 'hoopgateway',
    infoFields: ['license_info', 'redact_provider', 'has_redact_credentials', 'grpc_url', 'tenancy_type'],
    rowFields: ['jira_issue_template_id'],
  },
  authHeaderFor,
  callerPath: '/userinfo',
  readCapabilities,
  kinds,
  access,
  service,
  referencePrefixes,
  knownValues,
  errorHints,
  terraform: { name: 'hoop', kinds: terraformKinds, parts: terraformParts },
  checkManifest,
  preflightReads,
  preflight,
};
