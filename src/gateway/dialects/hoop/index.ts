import type { Dialect, ErrorHint } from '../../dialect.ts';
import { groupsList, restList } from '../rest.ts';
import { referencePrefixes } from './fields.ts';
import { authHeaderFor, readCapabilities } from './handshake.ts';
import { kinds, terraformKinds } from './kinds.ts';
import { preflight, preflightReads } from './preflight.ts';
import { accessRules } from './read.ts';
import { service } from './service.ts';

/** What to do about the gateway's own error messages. */
const errorHints: readonly ErrorHint[] = [
  { matches: /404 page not found/, hint: 'is the url the root of the API? It ends in /api unless the gateway was set up otherwise' },
  {
    matches: /OSS version/,
    hint: 'the free licence of this gateway does not allow more; ostiary plan tells it before anything is written',
  },
  { matches: /no data masking provider/, hint: 'set DLP_PROVIDER on the gateway; without it masking rules are not enforced' },
  { matches: /managed by (its agent|Hoop)|owned by a rulepack/, hint: 'it is changed where it is managed; take it out of the manifests' },
  { matches: /enum_connection_type/, hint: 'type is not one that this gateway knows' },
  { matches: /enum_access_status/, hint: 'access modes are enabled or disabled' },
  { matches: /input syntax for type uuid/, hint: 'an id is no uuid' },
  { matches: /foreign key constraint|reference in the connection_ids/, hint: 'what it refers to is gone from the gateway; plan again' },
  { matches: /duplicated key/, hint: 'something else on the gateway has the name' },
  { matches: /failed parsing SSH key/, hint: 'ssh_key is no private key in a form that the gateway reads (PEM or OpenSSH)' },
  { matches: /connection attributes|rule attributes/, hint: 'the object was saved without its attributes; plan and apply again' },
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
  lookups: { Agent: restList('/agents') },
  groups: groupsList({ rows: [] }),
  accessRules,
  service,
  referencePrefixes,
  errorHints,
  terraform: { name: 'hoop', kinds: terraformKinds },
  preflightReads,
  preflight,
};
