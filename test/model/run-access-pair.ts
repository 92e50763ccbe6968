import {
  draftPlan,
  reviewPlan,
  type DesiredState,
  type Diagnostic,
  type LiveResource,
  type LiveState,
  type Outcome,
  type Plan,
} from '../../src/index.ts';
import { readableKinds } from '../../src/kinds/watched.ts';
import type { BaseState } from '../../src/model/desired.ts';
import { decidingLists, watchedLists } from '../../src/model/protection/access-objects.ts';
import type { AccessTest } from '../../src/model/protection/access-test.ts';
import type { ApplyEvent } from '../../src/model/result/outcome.ts';
import { kindOf } from '../../src/model/resource.ts';
import { emptyRecord, type Remembered } from '../../src/model/applied-record.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { pendingWritesOf } from '../../src/reconcile/record-content/record-changes.ts';
import { openHoop, scenarioToken } from '../support/hoop-scenario.ts';
import { desiredState } from '../support/desired-state.ts';
import { startHoopModel, type HoopModel } from '../support/hoop/start.ts';
import type { Limits } from '../../src/model/config.ts';
import { applyPlan, inputOf, noLimits, reviewOf } from '../support/run-pipeline.ts';
import { addAccessObjects } from './access-objects.ts';
import type { AccessPair } from './access-pairs.ts';
import type { AccessState } from './access-model.ts';
import { readAccessState, type ReadPath } from './access-state.ts';
import { accessPools } from './access-pools.ts';
import { storedSecrets } from './declared-state.ts';
import { textOf } from './gateway-objects.ts';

/** One plan on a model of the public gateway, which it was applied to. */
export type AccessRun = {
  readonly plan: Plan;
  /** The plan of a token that cannot read one of the lists, if it writes the same. */
  readonly blind: Plan | undefined;
  readonly before: AccessState;
  readonly after: AccessState;
  readonly failed: readonly Outcome[];
};

/** Starts a gateway with the live connections of a pair and everything that decides access on it. */
export async function startAccessGateway(pair: AccessPair): Promise<HoopModel> {
  const model = await startHoopModel({
    licence: pair.objects.license === 'free' ? 'oss' : 'enterprise',
    runbooks: 'none',
    agents: [{ name: 'default' }, { name: 'other' }],
    keys: [{ name: 'ci', token: scenarioToken, groups: ['admin'] }],
    users: accessPools.groups.map((group) => ({ email: `${group}@example.com`, token: `token-${group}`, groups: [group] })),
  });
  for (const { metadata, spec } of pair.live) {
    const { access_groups: _, agent_id: agent, secret, ...own } = spec;
    const agent_id = model.store.agentNamed(textOf(agent))?.id ?? '';
    const sent = { ...own, name: metadata.name, agent_id, secret: storedSecrets(secret) };
    const { status, body } = await model.send('POST', '/connections', scenarioToken, sent);
    if (status !== 201) throw new Error(`${metadata.name}: ${status} ${JSON.stringify(body)}`);
  }
  addAccessObjects(model, pair);
  return model;
}

/** Returns a reader of the API of a model. */
export function readerOf({ send }: HoopModel): ReadPath {
  return async (path) => {
    const { status, body } = await send('GET', path, scenarioToken);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
}

type HoopGateway = Awaited<ReturnType<typeof openHoop>>;

/** Reads all objects of a gateway, and what decides access there. */
export async function readLive(gateway: HoopGateway): Promise<LiveState> {
  const { value: listed } = await gateway.readAll([...readableKinds.keys()]);
  if (listed === undefined) throw new Error('the list is not complete');
  return listed;
}

/** Reads all objects of a gateway with the secrets of each connection, which no list shows. */
export async function readWithSecrets(gateway: HoopGateway): Promise<LiveState> {
  const live = await readLive(gateway);
  const read = async (one: LiveResource): Promise<LiveResource> => {
    const detail = kindOf(one.id) === 'Connection' ? await gateway.readOne(one) : undefined;
    return detail === undefined ? one : { ...detail, spec: one.spec };
  };
  return { ...live, resources: await Promise.all(live.resources.map(read)) };
}

type Planned = { readonly plan: Plan; readonly desired: DesiredState; readonly diagnostics: readonly Diagnostic[] };

export type PlanOptions = {
  readonly limits?: Limits;
  readonly revert?: boolean;
  /** The plan of an apply that did not complete, as the record keeps it. */
  readonly interrupted?: Plan | undefined;
  /** Sources of secrets stay unresolved. */
  readonly isUnresolved?: boolean;
  /** Access tests that were applied and are in the manifests. */
  readonly accessTests?: readonly AccessTest[];
  /** What the record keeps of the fields that the applied manifests leave to the gateway. */
  readonly left?: BaseState['left'];
};

/** Plans a pair from a live state; undefined when its manifests cannot be planned. */
export async function planPair(
  pair: AccessPair,
  live: LiveState,
  gateway: Pick<HoopGateway, 'preflight'>,
  { revert = false, limits = noLimits, interrupted, isUnresolved = false, accessTests = [], left = new Map() }: PlanOptions = {},
): Promise<Planned | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const load = (manifests: AccessPair['manifests']): DesiredState => ({ ...desiredState(manifests, { isUnresolved }), accessTests });
  const desired = load(pair.manifests);
  const base = pair.base === undefined ? undefined : { commit: 'a'.repeat(40), desired: load(pair.base), removedIn: new Map(), left };
  const target = { name: 'test', url: 'http://hoop.test', dialect: 'hoop' } as const;
  const ids = desired.resources.map(({ id }) => id);
  const consent = { imports: ids, revert: revert ? ids : [], prune: pair.prune };
  const remembered = interrupted === undefined ? {} : { remembered: rememberedOf(interrupted, desired) };
  const { value: draft } = draftPlan(inputOf({ desired, live, base, target, consent, limits, ...remembered }));
  if (draft === undefined) return undefined;
  const preflight = await gateway.preflight(draft.preflightRequest);
  const { value: reviewed, diagnostics } = reviewPlan(draft, reviewOf({ preflight }));
  return reviewed === undefined ? undefined : { plan: reviewed.plan, desired: draft.prepared.desired, diagnostics };
}

/** Returns what the record knows of an apply that did not complete. */
function rememberedOf(plan: Plan, desired: DesiredState): Remembered {
  const commit = 'b'.repeat(40);
  const record = { ...emptyRecord, pending: [{ commit, ...pendingWritesOf({ plan, steps: [] }) }] };
  return recallObjects(record, new Map([[commit, desired]]));
}

/** Applies a plan; returns what is not done. */
export async function applyPlanned(
  planned: Planned,
  live: LiveState,
  gateway: HoopGateway,
  observe?: (event: ApplyEvent) => void,
): Promise<readonly Outcome[]> {
  const { outcomes } = await applyPlan({ gateway, live, ...planned, ...(observe === undefined ? {} : { observe }) });
  return outcomes.filter(({ status }) => !['done', 'held', 'already', 'blocked'].includes(status));
}

/** Plans a pair and applies the plan; undefined when the manifests cannot be planned. */
export async function runAccessPair(pair: AccessPair, revert: boolean): Promise<AccessRun | undefined> {
  const model = await startAccessGateway(pair);
  const gateway = await openHoop(model);
  try {
    const before = await readAccessState(readerOf(model));
    const live = await readLive(gateway);
    const planned = await planPair(pair, live, gateway, { revert });
    if (planned === undefined) return undefined;
    const blind = pair.unread === undefined || revert ? undefined : await planPair(pair, withoutList(live, pair.unread), gateway);
    const failed = await applyPlanned(planned, live, gateway);
    const writesSame = blind !== undefined && writesOf(blind.plan) === writesOf(planned.plan);
    const after = await readAccessState(readerOf(model));
    return { plan: planned.plan, blind: writesSame ? blind.plan : undefined, before, after, failed };
  } finally {
    await gateway.close();
    await model.close();
  }
}

/** Returns the live state of a token that cannot read a list. */
function withoutList(live: LiveState, list: AccessPair['unread']): LiveState {
  const kind = Object.entries({ ...decidingLists, ...watchedLists }).find(([, name]) => name === list)?.[0];
  if (kind !== undefined) {
    const isRead = ({ id }: LiveResource): boolean => kindOf(id) !== kind;
    const { resources, namesakes = [], watched = [], unread = [] } = live;
    return {
      ...live,
      resources: resources.filter(isRead),
      namesakes: namesakes.filter(isRead),
      watched: watched.filter(isRead),
      unread: [...unread, { kind }],
    };
  }
  const resources = live.resources.map((one) => ({
    ...one,
    spec: { ...one.spec, access_groups: null },
    unknown: [...one.unknown, '/access_groups'] as const,
  }));
  return { ...live, resources, rowFields: { 'Connection.access_groups': 'unreadable' } };
}

function writesOf({ changes }: Plan): string {
  return JSON.stringify(changes.map(({ id, action, fields }) => [id, action, fields.map(({ path, held }) => [path, held])]));
}
