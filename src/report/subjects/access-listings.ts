import type { AccessList, AccessObjects, AccessUser, Setting } from '../../model/protection/access-objects.ts';
import { durationText } from '../../model/time.ts';
import type { TableListing } from '../blocks.ts';

type AccessTable<Row> = { readonly headers: readonly string[]; readonly row: (one: Row) => readonly string[] };

const everybody = 'everybody';
const everything = 'all';

/** Returns the columns of those who sign in. */
function bearers(heading: string): AccessTable<AccessUser> {
  return { headers: [heading, 'groups', 'signs in'], row: ({ name, groups, isActive }) => [name, words(groups), isActive ? 'yes' : 'no'] };
}

const settings: AccessTable<Setting> = { headers: ['setting', 'value'], row: ({ name, value }) => [name, value] };

/** The columns of each list of what decides access. */
const tables: { readonly [List in AccessList]: AccessTable<AccessObjects[List]> } = {
  'access-control': {
    headers: ['connection', 'groups'],
    row: ({ name, groups }) => [name, words(groups, 'only admins and auditors')],
  },
  attributes: {
    headers: ['attribute', 'connections', 'groups', 'rules', 'managed by'],
    row: (one) => [
      one.name,
      words(one.connections),
      words(one.groups),
      words([...one.access_request_rules, ...one.guardrail_rules, ...one.masking_rules]),
      one.managed_by,
    ],
  },
  'access-request-rules': {
    headers: ['rule', 'access', 'applies to', 'asked of', 'approval', 'forced by', 'skipped by', 'at most', 'managed by'],
    row: (one) => [
      one.name,
      one.access_type,
      words([...one.connections, ...one.attributes.map((name) => `attribute:${name}`)]),
      words(one.approval_required_groups, everybody),
      `${one.approvals} of ${words(one.reviewers_groups, 'no group')}`,
      words(one.force_approval_groups),
      words(one.skip_review_groups),
      one.access_max_duration === null ? '' : durationText(one.access_max_duration),
      one.managed_by,
    ],
  },
  'runbook-rules': {
    headers: ['rule', 'runbooks', 'connections', 'groups', 'id'],
    row: (one) => [
      one.name,
      words(
        one.runbooks.map(({ repository, name }) => `${repository}:${name}`),
        everything,
      ),
      words(one.connections, everything),
      words(one.groups, everybody),
      one.id,
    ],
  },
  rulepacks: {
    headers: ['rulepack', 'connections', 'guardrails', 'masking', 'managed'],
    row: (one) => [one.name, words(one.connections), words(one.guardrail_rules), words(one.masking_rules), one.managed ? 'yes' : ''],
  },
  'analyzer-rules': {
    headers: ['rule', 'connections', 'low risk', 'medium risk', 'high risk', 'managed by'],
    row: (one) => [one.name, words(one.connections), one.low_risk, one.medium_risk, one.high_risk, one.managed_by],
  },
  'machine-identities': {
    headers: ['identity', 'connections', 'attributes'],
    row: (one) => [one.name, words(one.connections), words(one.attributes)],
  },
  'feature-flags': { headers: ['flag', 'enabled'], row: ({ name, enabled }) => [name, enabled ? 'yes' : 'no'] },
  federations: {
    headers: ['connection', 'identity', 'of', 'provider', 'otherwise'],
    row: (one) => [one.name, one.identity_target_template, one.identity_source_attribute, one.builtin_provider, one.fallback_policy],
  },
  groups: { headers: ['group'], row: ({ name }) => [name] },
  users: bearers('user'),
  'api-keys': bearers('key'),
  'ai-agents': bearers('agent'),
  'service-accounts': bearers('account'),
  'spiffe-mappings': {
    headers: ['workloads', 'trust domain', 'agent', 'groups'],
    row: (one) => [one.name, one.trust_domain, one.agent || one.agent_template, words(one.groups)],
  },
  'auth-settings': settings,
  'organization-settings': settings,
};

function words(names: readonly string[], none = ''): string {
  return names.length === 0 ? none : names.join(' ');
}

/** Returns a list of what decides access as a table. */
export function accessListing<List extends AccessList>(list: List, objects: readonly AccessObjects[List][]): TableListing {
  const table: AccessTable<AccessObjects[List]> = tables[list];
  return { headers: table.headers, rows: objects.map(table.row) };
}
