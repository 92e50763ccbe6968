import { asText, type JsonObject, objectsIn } from '../../src/model/json.ts';
import { resourceId, type ResourceId } from '../../src/model/resource.ts';
import { uuidOf } from '../support/hoop/random.ts';
import type { LiveCall } from './live.ts';
import { resolveIds, strictly } from './strict-requests.ts';

/**
 * One object of a gateway whose fields are changed by hand, all at once. Other names than those of its own objects are not touched.
 * `OSTIARY_LIVE_URL=http://127.0.0.1:8009 OSTIARY_LIVE_KEY=… npx vitest run test/hoop/every-field.test.ts` runs it on a gateway, and prints a table.
 */
export type ChangedObject = {
  /** The kind and the name, as reports have them. */
  readonly id: ResourceId;
  /** Makes it, and returns what removes it. */
  readonly make: () => Promise<() => Promise<unknown>>;
  /** Changes it. */
  readonly change: () => Promise<unknown>;
  /** What the change touches: by the gateway's field, the path by which a report shows it. */
  readonly fields: Readonly<Record<string, string>>;
};

const prefix = 'every-field';
const named = (name: string): string => `${prefix}-${name}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Returns the path of a field that manifests and the gateway call the same. */
function own(field: string): Record<string, string> {
  return { [field]: `/${field}` };
}

function all(names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, `/${name}`]));
}

/** Returns one object of every kind that manifests declare or Ostiary watches, in an order in which they can be made. */
export function everyObject(call: LiveCall, agent: string): readonly ChangedObject[] {
  const send = strictly(call);
  const idOf = new Map<string, string>([['agent', agent]]);
  const object = ({ id, root, body, changed, fields, byName = false }: PlainObject): ChangedObject => {
    const pathOf = (): string => `${root}/${encodeURIComponent(byName ? asText(body['name']) : (idOf.get(id) ?? ''))}`;
    return {
      id,
      make: async () => {
        const made = await send('POST', root, resolveIds(body, idOf));
        idOf.set(id, asText(made['id']));
        return () => send('DELETE', pathOf());
      },
      change: () => send('PUT', pathOf(), resolveIds({ ...body, ...changed }, idOf)),
      fields,
    };
  };
  const connection = resourceId('Connection', named('db'));
  const bigquery = resourceId('Connection', named('bq'));
  const federation = { hook_source: 'builtin', builtin_provider: 'gcp_oauth', identity_source_attribute: '$.user.email' };
  const federated = { ...federation, identity_target_template: '{user.email}', fallback_policy: 'deny', token_ttl_seconds: 3600 };
  const modes = ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks', 'access_schema'];
  const opened = Object.fromEntries(modes.map((field) => [field, 'enabled']));
  const closed = Object.fromEntries(modes.map((field) => [field, 'disabled']));
  const rule = { type: 'deny_words_list', words: ['DROP'], pattern_regex: '', name: 'no-drop', message: 'ask the team' };
  const request = { access_type: 'jit', attributes: [], connection_names: [named('db')], reviewers_groups: ['dba', 'sre'] };
  const repository = { git_url: `https://git.example.com/${named('ops')}.git` };
  const risks = { low_risk: { action: 'allow_execution' }, medium_risk: { action: 'allow_execution' } };
  const setting = (
    id: ResourceId,
    path: string,
    bodies: readonly [JsonObject, JsonObject],
    fields: Record<string, string>,
  ): ChangedObject => ({
    id,
    make: async () => {
      await send('PUT', path, bodies[0]);
      return () => call('PUT', path, bodies[0]);
    },
    change: () => send('PUT', path, bodies[1]),
    fields,
  });
  const bearer = (kind: string, root: string): ChangedObject => {
    const path = `${root}/${named('bearer')}`;
    return {
      id: resourceId(kind, named('bearer')),
      make: async () => {
        // A revoked one stays, and keeps its name.
        if ((await call('POST', root, { name: named('bearer'), groups: ['admin'] })).status >= 300) {
          await call('POST', `${path}/reactivate`);
          await send('PUT', path, { groups: ['admin'] });
        }
        return () => send('DELETE', path);
      },
      change: () => send('PUT', path, { groups: ['auditor'] }),
      fields: { groups: '/roles' },
    };
  };
  return [
    object({
      id: `Attribute/${named('label')}`,
      root: '/attributes',
      byName: true,
      body: { name: named('label'), description: 'a', access_control_group_names: ['dba'] },
      changed: { description: 'b', access_control_group_names: ['sre'] },
      fields: { description: '/description', access_control_group_names: '/access_groups' },
    }),
    {
      id: connection,
      make: async () => {
        await send('POST', '/agents', { name: named('agent') });
        const made = objectsIn((await call('GET', '/agents')).body).find(({ name }) => name === named('agent'));
        idOf.set('other agent', asText(made?.['id']));
        return () => send('DELETE', `/agents/${named('agent')}`);
      },
      change: async () => undefined,
      fields: {},
    },
    object({
      id: connection,
      root: '/connections',
      byName: true,
      body: {
        name: named('db'),
        type: 'database',
        subtype: 'postgres',
        agent_id: '@agent',
        ...opened,
        command: ['psql'],
        secret: { 'envvar:HOST': base64('10.0.0.5'), 'envvar:PASS': base64('one') },
        connection_tags: { env: 'prod' },
        attributes: [named('label')],
        redact_enabled: true,
        redact_types: ['EMAIL_ADDRESS'],
        reviewers: ['dba'],
      },
      changed: {
        type: 'custom',
        subtype: 'mysql',
        agent_id: '@other agent',
        ...closed,
        command: ['mysql'],
        secret: { 'envvar:HOST': base64('10.0.0.6'), 'envvar:USER': base64('two') },
        connection_tags: { env: 'test' },
        attributes: [],
        // The gateway redacts where there are types.
        redact_enabled: false,
        redact_types: [],
        reviewers: ['sre'],
        force_approve_groups: ['oncall'],
        access_max_duration: 3600,
        min_review_approvals: 1,
        mandatory_metadata_fields: ['ticket'],
        resource_name: named('other'),
      },
      fields: {
        ...all('type subtype agent_id command secret connection_tags attributes redact_enabled redact_types reviewers'),
        ...all(modes.join(' ')),
        'secret, a key less': '/secret/envvar:PASS',
        'secret, a key more': '/secret/envvar:USER',
        ...all('force_approve_groups access_max_duration min_review_approvals mandatory_metadata_fields resource_name'),
      },
    }),
    {
      id: connection,
      make: async () => {
        // The rows of a connection go with it.
        await call('POST', '/plugins', { name: 'slack', connections: [] });
        return async () => undefined;
      },
      change: () => send('PUT', `/plugins/slack/conn/${idOf.get(connection) ?? ''}`, { config: ['C0EVERY'] }),
      fields: { config: '/slack_channels' },
    },
    object({
      id: `GuardrailRule/${named('words')}`,
      root: '/guardrails',
      body: { name: named('words'), description: 'a', connection_ids: [`@${connection}`], input: { rules: [rule] }, output: { rules: [] } },
      changed: {
        description: 'b',
        connection_ids: [],
        input: { rules: [{ ...rule, words: ['TRUNCATE'], message: 'ask others' }] },
        output: { rules: [{ ...rule, type: 'pattern_match', words: [], pattern_regex: 'x+' }] },
      },
      fields: {
        ...all('description output'),
        'input.rules[].words': '/input/rules/no-drop/words',
        'input.rules[].message': '/input/rules/no-drop/message',
        connection_ids: 'edges',
      },
    }),
    object({
      id: `DataMaskingRule/${named('mask')}`,
      root: '/datamasking-rules',
      body: {
        name: named('mask'),
        description: 'a',
        connection_ids: [`@${connection}`],
        score_threshold: 0.5,
        // The free license takes one of both sorts.
        supported_entity_types: [],
        custom_entity_types: [{ name: 'EMP', regex: 'E[0-9]+', score: 0.5, deny_list: [] }],
      },
      changed: {
        description: 'b',
        connection_ids: [],
        score_threshold: 0.7,
        supported_entity_types: [],
        custom_entity_types: [{ name: 'EMP', regex: 'F[0-9]+', score: 0.6, deny_list: [] }],
      },
      fields: {
        ...all('description score_threshold'),
        'custom_entity_types[].regex': '/custom_entity_types/EMP/regex',
        'custom_entity_types[].score': '/custom_entity_types/EMP/score',
        connection_ids: 'edges',
      },
    }),
    object({
      id: `AccessRequestRule/${named('jit')}`,
      root: '/access-requests/rules',
      byName: true,
      body: {
        ...request,
        name: named('jit'),
        description: 'a',
        approval_required_groups: ['dev'],
        force_approval_groups: [],
        skip_review_groups: [],
        min_approvals: 2,
      },
      changed: {
        description: 'b',
        access_type: 'command',
        approval_required_groups: [],
        reviewers_groups: ['dba', 'sec'],
        force_approval_groups: ['oncall'],
        skip_review_groups: ['root'],
        min_approvals: 1,
        access_max_duration: 3600,
      },
      fields: {
        ...all(
          'description access_type approval_required_groups reviewers_groups force_approval_groups skip_review_groups min_approvals access_max_duration',
        ),
      },
    }),
    object({
      id: `RunbookRule/${named('nightly')}`,
      root: '/runbooks/rules',
      body: {
        name: named('nightly'),
        description: 'a',
        runbooks: [{ repository: 'git.example.com/ops', name: 'a/' }],
        connections: [named('db')],
        user_groups: ['dba'],
      },
      changed: {
        description: 'b',
        runbooks: [{ repository: 'git.example.com/ops', name: 'b/' }],
        connections: [named('bq')],
        user_groups: ['sre'],
      },
      fields: { ...all('description runbooks user_groups'), connections: 'edges' },
    }),
    {
      id: resourceId('RunbookConfiguration', named('ops')),
      make: async () => {
        await send('POST', '/runbooks/configurations', { ...repository, git_user: 'a', git_password: 'one', git_hook_ttl: 10 });
        return () => send('DELETE', `/runbooks/configurations/${uuidOf(repository.git_url)}`);
      },
      change: () =>
        send('PUT', `/runbooks/configurations/${uuidOf(repository.git_url)}`, {
          ...repository,
          git_user: 'b',
          git_password: 'two',
          git_hook_ttl: 20,
        }),
      // The manifests of a pull keep passwords as they are, whatever they are.
      fields: all('git_user git_hook_ttl'),
    },
    object({
      id: bigquery,
      root: '/connections',
      byName: true,
      body: { name: named('bq'), type: 'custom', subtype: 'bigquery', agent_id: '@agent', ...opened, command: ['bq', 'query'], secret: {} },
      changed: { access_mode_exec: 'disabled' },
      fields: own('access_mode_exec'),
    }),
    {
      id: `Federation/${named('bq')}`,
      make: async () => {
        await send('PUT', `/connections/${named('bq')}/federation`, {
          ...federated,
          admin_credentials_json: '{"client_id":"a","client_secret":"b"}',
        });
        return () => send('DELETE', `/connections/${named('bq')}/federation`);
      },
      change: () =>
        send('PUT', `/connections/${named('bq')}/federation`, {
          ...federation,
          builtin_provider: 'gcp_iam',
          identity_source_attribute: '$.user.id',
          identity_target_template: 'x@example.com',
          fallback_policy: 'static',
          token_ttl_seconds: 60,
          extra_config: { project_id: 'p' },
        }),
      fields: {
        ...all('builtin_provider identity_source_attribute identity_target_template fallback_policy token_ttl_seconds extra_config'),
      },
    },
    object({
      id: `AnalyzerRule/${named('risky')}`,
      root: '/ai/session-analyzer/rules',
      byName: true,
      body: {
        name: named('risky'),
        connection_names: [named('db')],
        custom_prompt: 'a',
        risk_evaluation: { ...risks, high_risk: { action: 'block_execution' } },
      },
      changed: {
        custom_prompt: 'b',
        connection_names: [named('bq')],
        risk_evaluation: {
          low_risk: { action: 'block_execution' },
          medium_risk: { action: 'block_execution' },
          high_risk: { action: 'allow_execution' },
        },
      },
      fields: {
        connection_names: '/connections',
        custom_prompt: '/prompt',
        'risk_evaluation.low_risk': '/low_risk',
        'risk_evaluation.medium_risk': '/medium_risk',
        'risk_evaluation.high_risk': '/high_risk',
      },
    }),
    object({
      id: `MachineIdentity/${named('machine')}`,
      root: '/machineidentities',
      byName: true,
      body: { name: named('machine'), connection_names: [], attributes: [] },
      changed: { attributes: [named('label')] },
      fields: own('attributes'),
    }),
    {
      ...object({
        id: resourceId('User', `${named('ana')}@example.com`),
        root: '/users',
        body: {},
        changed: {},
        fields: { groups: '/roles' },
      }),
      make: async () => {
        const path = `/users/${named('ana')}@example.com`;
        await call('DELETE', path);
        await send('POST', '/users', { email: `${named('ana')}@example.com`, name: 'Ana', groups: ['admin'], password: 'Passw0rd!x' });
        return () => send('DELETE', path);
      },
      change: () =>
        send('PUT', `/users/${named('ana')}@example.com`, {
          email: `${named('ana')}@example.com`,
          name: 'Ana',
          status: 'active',
          groups: ['auditor'],
        }),
    },
    bearer('ApiKey', '/api-keys'),
    bearer('AiAgent', '/ai-agents'),
    {
      id: `ServiceAccount/${named('svc')}`,
      make: async () => {
        const body = { subject: named('svc'), name: 'S', status: 'active', groups: ['admin'] };
        // Nothing deletes one.
        if ((await call('POST', '/serviceaccounts', body)).status >= 300) await send('PUT', `/serviceaccounts/${named('svc')}`, body);
        return () => call('PUT', `/serviceaccounts/${named('svc')}`, { ...body, groups: [], status: 'inactive' });
      },
      change: () =>
        send('PUT', `/serviceaccounts/${named('svc')}`, { subject: named('svc'), name: 'S', status: 'active', groups: ['auditor'] }),
      fields: { groups: '/roles' },
    },
    object({
      id: `SpiffeMapping/spiffe://${prefix}.example/a`,
      root: '/spiffe-mappings',
      body: { name: '', trust_domain: `${prefix}.example`, spiffe_id: `spiffe://${prefix}.example/a`, agent_id: '@agent', groups: ['a'] },
      changed: { trust_domain: 'other.example', agent_id: '', agent_template: '{{.WorkloadIdentifier}}', groups: ['b'] },
      fields: { ...all('trust_domain agent_template groups'), agent_id: '/agent' },
    }),
    setting(
      'FeatureFlag/experimental.ssh_guardrails',
      '/feature-flags/experimental.ssh_guardrails',
      [{ enabled: false }, { enabled: true }],
      own('enabled'),
    ),
    setting('OrganizationSetting/hide_role_info', '/orgs/hide-role-info', [{ hide_role_info: false }, { hide_role_info: true }], {
      hide_role_info: '/value',
    }),
    setting(
      'AuthSetting/auditor_role_name',
      '/serverconfig/auth',
      [
        { auth_method: 'local', webapp_users_management_status: 'active' },
        { auth_method: 'local', webapp_users_management_status: 'active', auditor_role_name: named('readers') },
      ],
      { auditor_role_name: '/value' },
    ),
  ];
}

type PlainObject = {
  readonly id: ResourceId;
  readonly root: string;
  readonly body: JsonObject;
  readonly changed: JsonObject;
  readonly fields: Readonly<Record<string, string>>;
  /** The gateway knows it by its name. */
  readonly byName?: boolean;
};
