import { readableKinds } from '../../src/kinds/watched.ts';
import { compareText, type JsonObject } from '../../src/model/json.ts';
import type { LiveResource, LiveState, UnreadKind } from '../../src/model/live.ts';
import {
  type AccessList,
  type AccessObjects,
  decidingLists,
  defaultRoles,
  rolesOf,
  watchedLists,
} from '../../src/model/protection/access-objects.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { liveOf } from './resources.ts';

type DecidingList = Exclude<AccessList, 'groups'>;

/** What decides access on a gateway, as its lists have it; `off` while its feature is off. */
export type AccessLists = { readonly [List in DecidingList]?: readonly AccessObjects[List][] | 'off' | 'unreadable' };

const bearers = [
  ['User', 'users'],
  ['ApiKey', 'api-keys'],
  ['AiAgent', 'ai-agents'],
  ['ServiceAccount', 'service-accounts'],
] as const;

const settingKinds = [
  ['AuthSetting', 'auth-settings'],
  ['OrganizationSetting', 'organization-settings'],
] as const;

/** Returns a live state with these objects, and nothing else that decides access; access control is off where it is not given. */
export function withAccess(live: LiveState, lists: AccessLists = {}): LiveState {
  const { 'access-control': rows, attributes = [] } = lists;
  const objects: readonly LiveResource[] = [
    ...entriesOf(lists['access-request-rules']).map((rule) =>
      objectOf('AccessRequestRule', rule, {
        spec: {
          access_type: rule.access_type,
          attributes: rule.attributes,
          approval_required_groups: rule.approval_required_groups,
          reviewers_groups: rule.reviewers_groups,
          min_approvals: rule.credential_approvals ?? rule.approvals,
          all_groups_must_approve: rule.credential_approvals !== undefined,
          force_approval_groups: rule.force_approval_groups,
          skip_review_groups: rule.skip_review_groups,
          access_max_duration: rule.access_max_duration,
        },
        managed: rule.managed_by,
      }),
    ),
    ...entriesOf(lists['runbook-rules']).map((rule) =>
      objectOf('RunbookRule', rule, { spec: { runbooks: rule.runbooks, user_groups: rule.groups } }),
    ),
    ...entriesOf(attributes).map(({ id, name, groups, connections, managed_by: managed }) => ({
      ...objectOf('Attribute', { id, name, connections: [] }, { spec: { access_groups: groups }, managed }),
      links: connections,
    })),
    ...entriesOf(lists.rulepacks).map((pack) => {
      const { digest, guardrail_rules, masking_rules, managed } = pack;
      return objectOf('Rulepack', pack, { spec: { digest, guardrail_rules, masking_rules, managed } });
    }),
    ...entriesOf(lists['analyzer-rules']).map((rule) => {
      const { low_risk, medium_risk, high_risk, prompt = '', managed_by: managed } = rule;
      return objectOf('AnalyzerRule', rule, { spec: { low_risk, medium_risk, high_risk, prompt }, managed });
    }),
    ...entriesOf(lists['machine-identities']).map((machine) =>
      objectOf('MachineIdentity', machine, { spec: { attributes: machine.attributes } }),
    ),
    ...entriesOf(lists['feature-flags']).map(({ id, name, enabled }) =>
      objectOf('FeatureFlag', { id, name, connections: [] }, { spec: { enabled } }),
    ),
    ...bearers.flatMap(([kind, list]) =>
      entriesOf(lists[list]).map(({ id, name, groups }) =>
        objectOf(kind, { id, name, connections: [] }, { spec: { roles: rolesOf(groups, defaultRoles) } }),
      ),
    ),
    ...entriesOf(lists['spiffe-mappings']).map(({ id, name, ...spec }) =>
      objectOf('SpiffeMapping', { id, name, connections: [] }, { spec }),
    ),
    ...settingKinds.flatMap(([kind, list]) =>
      entriesOf(lists[list]).map(({ id, name, value }) => objectOf(kind, { id, name, connections: [] }, { spec: { value } })),
    ),
    ...entriesOf(lists.federations).map(({ id, name, connections, ...spec }) =>
      objectOf('Federation', { id, name, connections }, { spec }),
    ),
  ];
  const given = new Map(objects.map((one) => [one.id, one]));
  const [watched, declarable] = [true, false].map((isWatched) =>
    objects.filter(({ id }) => (watchedLists[kindOf(id)] !== undefined) === isWatched),
  );
  const isAlone = ({ id }: LiveResource): boolean => objects.filter((one) => one.id === id).length === 1;
  const kinds = Object.entries({ ...decidingLists, ...watchedLists });
  const unread = kinds.flatMap(([kind, list]): readonly UnreadKind[] => (lists[list] === 'unreadable' ? [{ kind }] : []));
  return {
    ...live,
    resources: [
      ...live.resources.map((one) => withIdentity(withRow(one, rows), given.get(one.id))),
      ...(declarable ?? []).filter((one) => isAlone(one) && !live.resources.some(({ id }) => id === one.id)),
    ],
    namesakes: (declarable ?? []).filter((one) => !isAlone(one)),
    watched: (watched ?? []).toSorted((one, other) => compareText(one.id, other.id)),
    ...(unread.length === 0 ? {} : { unread }),
    ...(rows === undefined ? {} : { rowFields: { 'Connection.access_groups': typeof rows === 'object' ? 'on' : rows } }),
  };
}

function withRow(one: LiveResource, rows: AccessLists['access-control']): LiveResource {
  if (kindOf(one.id) !== 'Connection' || typeof rows !== 'object' || Array.isArray(one.spec['access_groups'])) return one;
  const row = rows.find(({ name }) => name === nameOf(one.id));
  return { ...one, spec: { ...one.spec, access_groups: row?.groups ?? [] } };
}

/** Returns an object as a list has it, too: with the id of the gateway, and what has it. */
function withIdentity(one: LiveResource, { uid = one.uid, links, managedBy }: Partial<LiveResource> = {}): LiveResource {
  return { ...one, uid, ...(links === undefined ? {} : { links }), ...(managedBy === undefined ? {} : { managedBy }) };
}

function objectOf(
  kind: string,
  { id, name, connections }: { readonly id: string; readonly name: string; readonly connections: readonly string[] },
  { spec, managed = '' }: { readonly spec: JsonObject; readonly managed?: string },
): LiveResource {
  const ends = connections.map((connection): ResourceId => resourceId('Connection', connection));
  return liveOf(resourceId(kind, name), {
    uid: id,
    spec,
    edges: { [readableKinds.get(kind)?.fields.find(({ edge }) => edge !== undefined)?.name ?? '']: ends },
    ...(managed === '' ? {} : { managedBy: managed }),
  });
}

function entriesOf<Row>(list: readonly Row[] | 'off' | 'unreadable' | undefined): readonly Row[] {
  return typeof list === 'object' ? list : [];
}

/** An access-request rule: one of two groups must approve all access of everybody. */
export function requestRule(
  name: string,
  given: Partial<AccessObjects['access-request-rules']> = {},
): AccessObjects['access-request-rules'] {
  return {
    id: `id-${name}`,
    name,
    access_type: 'jit_command',
    connections: [],
    attributes: [],
    approval_required_groups: [],
    reviewers_groups: ['sec', 'dba'],
    approvals: 1,
    force_approval_groups: [],
    skip_review_groups: [],
    access_max_duration: null,
    managed_by: '',
    ...given,
  };
}

/** A runbook rule: everybody runs every runbook on every connection. */
export function runbookRule(name: string, given: Partial<AccessObjects['runbook-rules']> = {}): AccessObjects['runbook-rules'] {
  return { id: `id-${name}`, name, runbooks: [], connections: [], groups: [], ...given };
}

/** An attribute that nobody has and nothing uses. */
export function attributeObject(name: string, given: Partial<AccessObjects['attributes']> = {}): AccessObjects['attributes'] {
  const none = { groups: [], connections: [], access_request_rules: [], guardrail_rules: [], masking_rules: [] };
  return { id: `id-${name}`, name, ...none, managed_by: '', ...given };
}

/** An analyzer rule that blocks what is risky on `orders-db`. */
export function analyzerRule(given: Partial<AccessObjects['analyzer-rules']> = {}): AccessObjects['analyzer-rules'] {
  const risks = { low_risk: 'allow_execution', medium_risk: 'allow_execution', high_risk: 'block_execution' };
  return { id: 'a', name: 'risky', connections: ['orders-db'], ...risks, managed_by: '', ...given };
}

/** A rulepack on `orders-db`. */
export function rulepack(given: Partial<AccessObjects['rulepacks']> = {}): AccessObjects['rulepacks'] {
  const rules = { digest: '1', guardrail_rules: [], masking_rules: [] };
  return { id: 'p', name: 'PCI', ...rules, connections: ['orders-db'], managed: false, ...given };
}

/** The federation of `orders-db`, where people work as themselves or not at all. */
export function federation(given: Partial<AccessObjects['federations']> = {}): AccessObjects['federations'] {
  return {
    id: 'f',
    name: 'orders-db',
    connections: ['orders-db'],
    fallback_policy: 'deny',
    hook_source: 'builtin',
    builtin_provider: 'gcp_iam',
    identity_source_attribute: '$.user.email',
    identity_target_template: '{user.email}',
    token_ttl_seconds: 3600,
    extra_config: '',
    ...given,
  };
}
