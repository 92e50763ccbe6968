import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSecrets } from '../../src/commands/planning/read-secrets.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import type { ReconcileInput } from '../../src/reconcile/prepare/prepare.ts';
import { verificationKey } from '../../src/reconcile/prepare/verified-secrets.ts';
import { desiredState } from './desired-state.ts';
import { applyPlan, runReconcile } from './run-pipeline.ts';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { readableKinds } from '../../src/kinds/watched.ts';
import { asText, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import type { ConnectionRow } from './hoop/rows.ts';
import { startHoopModel, type HoopModel } from './hoop/start.ts';
import type { MemoryResource } from './memory-store.ts';
import type { ResourceStates } from './posture.ts';
import type { Manifest, Scenario } from './scenario.ts';

/** A scenario whose names the public gateway accepts. */
export function hoopScenario({ manifests, live }: Scenario): Scenario {
  return { manifests: manifests.map((one) => manifestOf(renamed({ ...one }))), live: live.map((one) => resourceOf(one)) };
}

function manifestOf(value: Json): Manifest {
  if (!isObject(value) || !isObject(value['metadata']) || !isObject(value['spec'])) throw new Error('no manifest');
  return { kind: asText(value['kind']), metadata: { ...value['metadata'], name: asText(value['metadata']['name']) }, spec: value['spec'] };
}

function resourceOf(one: MemoryResource): MemoryResource {
  const edges = Object.entries(one.edges ?? {}).map(([field, ids]) => [field, ids.map((id) => renamedId(id))] as const);
  return { ...one, id: renamedId(one.id), edges: Object.fromEntries(edges) };
}

function renamedId(id: ResourceId): ResourceId {
  return resourceId(kindOf(id), renamedText(nameOf(id)));
}

function renamed(value: Json): Json {
  if (typeof value === 'string') return renamedText(value);
  if (Array.isArray(value)) return value.map((entry: Json) => renamed(entry));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, renamed(entry)])) : value;
}

function renamedText(text: string): string {
  return /^c\d$/.test(text) ? `connection-${text}` : text;
}

export const scenarioToken = 'hpk_scenario';
export const scenarioAuditor = 'hpk_scenario_auditor';
export const hiddenRule = 'rp_12345678__hidden';

/** Starts a model with the live state of a scenario, and many objects that no manifest declares. */
export async function hoopWorld({ live }: Scenario, random = 1): Promise<HoopModel> {
  const model = await startHoopModel({
    licence: 'enterprise',
    runbooks: 'none',
    random,
    agents: [{ name: 'default' }, { name: 'other' }],
    keys: [
      { name: 'ci', token: scenarioToken, groups: ['admin'] },
      { name: 'watch', token: scenarioAuditor, groups: ['auditor'] },
    ],
    hidden: { guardrails: [{ name: hiddenRule, input: { rules: [] } }] },
  });
  const uids = new Map<ResourceId, string>();
  const hidden = model.store.guardrailNamed(hiddenRule)?.id ?? '';
  const ends = (ids: readonly ResourceId[] = []): readonly string[] => ids.flatMap((id) => uids.get(id) ?? []);
  for (const kind of ['Connection', 'GuardrailRule', 'DataMaskingRule']) {
    for (const { id, spec = {}, secrets = {}, edges = {} } of live.filter((one) => kindOf(one.id) === kind)) {
      const name = nameOf(id);
      const body =
        kind === 'Connection'
          ? connectionBody(model, name, { spec, secrets, hidden })
          : { ...withMessages(spec), name, connection_ids: ends(edges['connection_ids']), attributes: ['gdpr'] };
      uids.set(id, await post(model, roots[kind] ?? '', body));
    }
  }
  for (const { spec = {}, secrets = {} } of live.filter((one) => kindOf(one.id) === 'RunbookConfiguration')) {
    const values = Object.entries(secrets).map(([path, value]) => [path.slice(1), value] as const);
    await post(model, '/runbooks/configurations', { ...spec, ...Object.fromEntries(values), ssh_known_hosts: 'a host' });
  }
  for (const { id, managedBy } of live) if (managedBy !== undefined) manage(model, id);
  return model;
}

const roots: Readonly<Record<string, string>> = {
  Connection: '/connections',
  GuardrailRule: '/guardrails',
  DataMaskingRule: '/datamasking-rules',
};

type Seed = { readonly spec: JsonObject; readonly secrets: NonNullable<MemoryResource['secrets']>; readonly hidden: string };

function connectionBody(model: HoopModel, name: string, { spec, secrets, hidden }: Seed): JsonObject {
  const { agent_id: agent, reviewers, ...rest } = spec;
  const groups = Array.isArray(reviewers) ? reviewers : [];
  return {
    ...rest,
    name,
    agent_id: model.store.agentNamed(asText(agent))?.id ?? '',
    // Duplicate and unordered entries: they are no change and must stay as they are.
    reviewers: [...groups.toReversed(), ...groups.slice(0, 1)],
    resource_name: `resource of ${name}`,
    guardrail_rules: [hidden],
    attributes: ['pci', 'sox'],
    mandatory_metadata_fields: ['ticket'],
    min_review_approvals: 1,
    secret: Object.fromEntries(Object.entries(secrets).map(([path, value]) => [path.replace('/secret/', ''), value])),
  };
}

/** Returns entries with a key that is in no schema. */
function withMessages(spec: JsonObject): JsonObject {
  const sides = ['input', 'output'].flatMap((side) => {
    const value = spec[side];
    const rules = isObject(value) && Array.isArray(value['rules']) ? value['rules'] : undefined;
    return rules === undefined
      ? []
      : [[side, { rules: rules.map((rule: Json) => (isObject(rule) ? { ...rule, message: 'no' } : rule)) }] as const];
  });
  return { ...spec, ...Object.fromEntries(sides) };
}

async function post(model: HoopModel, path: string, body: JsonObject): Promise<string> {
  const { status, body: made } = await model.send('POST', path, scenarioToken, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`);
  return isObject(made) ? asText(made['id']) : '';
}

function manage({ store }: HoopModel, id: ResourceId): void {
  const name = nameOf(id);
  const connection = kindOf(id) === 'Connection' ? store.findConnection(name) : undefined;
  const guardrail = kindOf(id) === 'GuardrailRule' ? store.guardrailNamed(name) : undefined;
  const masking = kindOf(id) === 'DataMaskingRule' ? store.maskingNamed(name) : undefined;
  if (connection !== undefined) store.saveConnection({ ...connection, managedBy: 'hoopagent' });
  if (guardrail !== undefined) store.guardrails.set(guardrail.id, { ...guardrail, managedBy: 'hoop' });
  if (masking !== undefined) store.maskings.set(masking.id, { ...masking, managedBy: 'hoop' });
}

/** Opens the model through the dialect, without a rate limit. */
export function openHoop(model: HoopModel, token: string = scenarioToken): Promise<Gateway> {
  return openGateway({
    url: `${model.url}/api`,
    transport: model.transport,
    token,
    auth: 'auto',
    dialect: 'auto',
    registry: readableKinds,
    sleep: async () => {},
  });
}

const folder = join(tmpdir(), 'ostiary-hoop-scenarios');

/** Reads the live state, with the secrets that the manifests state, and plans. Throws when planning finds an error. */
export async function planHoop(
  gateway: Gateway,
  desired: DesiredState,
  pruned: Partial<ReconcileInput> = {},
): Promise<{ readonly plan: Plan; readonly live: LiveState }> {
  const { value, diagnostics } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const { url } = await gateway.identify();
  const { live } = await withSecrets(value, desired, {
    gateway,
    concurrency: 16,
    track: (_, work) => work(() => undefined),
    key: verificationKey(scenarioToken, url, undefined),
    folder,
  });
  const target = { name: 'test', url: 'http://hoop.test', dialect: 'hoop' };
  const checked = runReconcile({ target, desired, live, ...pruned });
  if (checked.value === undefined) throw new Error(checked.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return { plan: checked.value, live };
}

/** Returns the state of the model in the form that `postureOf` reads; an attribute counts as a type of redaction. */
export function scenarioWorld({ store }: HoopModel): ResourceStates {
  const names = new Map([...store.connections.values()].map((row) => [row.id, resourceId('Connection', row.name)]));
  const ends = (ids: readonly string[]): readonly ResourceId[] => ids.flatMap((id) => names.get(id) ?? []).toSorted();
  const all: readonly MemoryResource[] = [
    ...[...store.connections.values()].map((row) => connectionOf(row, store.connectionAttributes.leftsOf(row.name))),
    ...[...store.guardrails.values()]
      .filter((row) => !row.hidden)
      .map(({ id, name, description, input, output }) => ({
        id: resourceId('GuardrailRule', name),
        spec: { description, input: { ...input }, output: { ...output } },
        edges: { connection_ids: ends(store.guardrailLinks.rightsOf(id)) },
      })),
    ...[...store.maskings.values()].map((row) => ({
      id: resourceId('DataMaskingRule', row.name),
      spec: {
        description: row.description,
        score_threshold: row.score,
        supported_entity_types: [...row.supported],
        custom_entity_types: [...row.custom],
      },
      edges: { connection_ids: ends(store.maskingLinks.rightsOf(row.id)) },
    })),
  ];
  return Object.fromEntries(all.map((one) => [one.id, one]));
}

function connectionOf(row: ConnectionRow, attributes: readonly string[]): MemoryResource {
  return {
    id: resourceId('Connection', row.name),
    spec: {
      access_mode_connect: row.connect,
      access_mode_exec: row.exec,
      access_mode_runbooks: row.runbooks,
      access_schema: row.schema,
      access_max_duration: row.accessMaxDuration,
      limited_with: 'reviewers',
      reviewers: [...new Set(row.reviewers)].toSorted(),
      force_approve_groups: [...(row.forceApproveGroups ?? [])].toSorted(),
      redact_types: [...row.redactTypes, ...attributes.map((name) => `attribute ${name}`)].toSorted(),
      type: row.type,
      subtype: row.subtype,
      command: row.command,
      resource_name: row.resourceName,
      connection_tags: row.connectionTags,
      secret: row.secret,
      min_review_approvals: row.minReviewApprovals,
      // NULL reads as [].
      mandatory_metadata_fields: row.mandatoryMetadataFields ?? [],
    },
  };
}

/** Runs the work on a model that is starting, then stops the model. */
export async function onModel<T>(starting: Promise<HoopModel>, work: (model: HoopModel) => Promise<T>): Promise<T> {
  const model = await starting;
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}

/** Runs the work on a model with the live objects of a scenario. */
export function onHoopWorld<T>(one: Scenario, work: (model: HoopModel) => Promise<T>): Promise<T> {
  return onModel(hoopWorld(one), work);
}

/** Plans with all secrets, and applies; returns the outcomes that are not done. */
export async function applyHoop(model: HoopModel, one: Scenario, concurrency = 8): Promise<readonly string[]> {
  const gateway = await openHoop(model);
  try {
    const desired = desiredState(one.manifests);
    const { plan, live } = await planHoop(gateway, desired);
    const { outcomes } = await applyPlan({ gateway, plan, live, desired, concurrency });
    return outcomes.filter(({ status }) => status !== 'done' && status !== 'blocked').map((outcome) => JSON.stringify(outcome));
  } finally {
    await gateway.close();
  }
}

/** Loses every request from the n-th on; the n-th itself before or after the model has done what it asks. */
export function stopAt({ log, setFault }: HoopModel, stop: number, when: 'before' | 'after' = 'after'): void {
  const at = log.count() + stop;
  setFault(({ index }) => (index < at ? undefined : { kind: 'lost', when: index === at ? when : 'before' }));
}
