import { registry } from '../../src/kinds/index.ts';
import { draftPlan, reviewPlan, type DesiredState, type LiveState, type Outcome, type Plan } from '../../src/index.ts';
import type { Consent } from '../../src/reconcile/prepare/prepare.ts';
import { type AccessLists, withAccess } from '../support/access-objects.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { applyPlan, inputOf, reviewOf, testTarget } from '../support/run-pipeline.ts';
import { resourcesIn, type ModelGateway, type ModelState } from './gateway-objects.ts';
import type { Pair } from './pairs.ts';
import { servedLimit } from './pools.ts';

const borrowed = ['Connection.min_review_approvals'];

/** One plan on a gateway in memory, which it was applied to. */
export type Run = { readonly plan: Plan; readonly before: ModelState; readonly after: ModelState; readonly failed: readonly Outcome[] };

function gatewayOf({ dialect, live, resources }: Pair, secrets: 'shown' | 'hidden-kept' = 'shown'): MemoryGateway {
  const keys = new Map(Object.entries(resources).map(([name, values]) => [name, Object.keys(values)]));
  const inherited = secrets === 'shown' ? keys : 'hidden';
  return memoryGateway({ registry, agents: ['default', 'other'], resources: live, secrets, inherited, dialect: { dialect, borrowed } });
}

/** Returns everything that the gateway has; resources belong to it, and a plan never changes them. */
function stateOfGateway(gateway: MemoryGateway, { resources }: Pair): ModelState {
  return { ...gateway.state(), ...resourcesIn(resources) };
}

const loaded = new WeakMap<Pair['manifests'], Map<boolean, DesiredState>>();

/** Loads manifests; a pair that runs twice has the same ones. */
function loadOnce(manifests: Pair['manifests'], resolves: boolean): DesiredState {
  const known = loaded.get(manifests) ?? new Map<boolean, DesiredState>();
  const desired = known.get(resolves) ?? desiredState(manifests, { isUnresolved: !resolves });
  loaded.set(manifests, known.set(resolves, desired));
  return desired;
}

type Planned = { readonly plan: Plan; readonly live: LiveState; readonly desired: DesiredState };

function flagsOf({ ssh, sshInput, rdp }: ModelGateway): NonNullable<AccessLists['feature-flags']> {
  const flags = { 'experimental.ssh_guardrails': ssh, 'experimental.ssh_input_guardrails': sshInput, 'experimental.rdp_pii_guard': rdp };
  return Object.entries(flags).map(([name, enabled]) => ({ id: name, name, enabled }));
}

function serverOf({ isOld, provider }: ModelGateway): NonNullable<LiveState['server']> {
  return { version: isOld ? '1.100.0' : '1.148.0', ...(provider === 'unreported' ? {} : { provider }) };
}

/** Plans a pair as a token with this sight does; undefined when the manifests cannot be planned. */
async function planPair(pair: Pair, gateway: MemoryGateway, { sight, revert }: PlanOptions): Promise<Planned | undefined> {
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('the list is not complete');
  const resources = state.resources.map((one) => (pair.untouched.includes(one.id) ? { ...one, untouched: true } : one));
  const read: LiveState = { ...state, resources, ...(pair.reportsLimit ? { longestAccess: servedLimit } : {}) };
  const lists = pair.readsAccess ? {} : ({ 'access-request-rules': 'unreadable' } as const);
  const live =
    pair.gateway === undefined
      ? read
      : { ...withAccess(read, { ...lists, 'feature-flags': flagsOf(pair.gateway) }), server: serverOf(pair.gateway) };
  const desired = loadOnce(pair.manifests, sight !== 'unresolved');
  const base =
    pair.base === undefined
      ? undefined
      : { commit: 'a'.repeat(40), desired: loadOnce(pair.base, sight !== 'unresolved'), removedIn: new Map() };
  const ids = desired.resources.map(({ id }) => id);
  const consent: Consent = { imports: ids, revert: revert ? ids : [], prune: pair.prune };
  const target = { ...testTarget, dialect: pair.dialect };
  const { value: draft } = draftPlan(inputOf({ desired, live, base, target, consent, borrowed }));
  if (draft === undefined) return undefined;
  const reviewed = reviewPlan(draft, reviewOf({ preflight: await gateway.preflight(draft.preflightRequest) })).value;
  // The prepared manifests of a successor have the secrets of its predecessor.
  return reviewed === undefined ? undefined : { plan: reviewed.plan, live, desired: draft.prepared.desired };
}

type PlanOptions = { readonly sight: Pair['sight']; readonly revert: boolean };

/** Returns the plan that a token which may not read everything makes of a pair. */
export async function previewPair(pair: Pair): Promise<Plan | undefined> {
  return (await planPair(pair, gatewayOf(pair, pair.sight === 'hidden' ? 'hidden-kept' : 'shown'), { sight: pair.sight, revert: false }))
    ?.plan;
}

/** Plans a pair with a token that may read and write everything, and applies the plan; undefined when the manifests cannot be planned. */
export async function runPair(pair: Pair, revert: boolean): Promise<Run | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const gateway = gatewayOf(pair);
  const before = stateOfGateway(gateway, pair);
  const planned = await planPair(pair, gateway, { sight: 'shown', revert });
  if (planned === undefined) return undefined;
  const { outcomes } = await applyPlan({ gateway, ...planned });
  const failed = outcomes.filter(({ status }) => !['done', 'held', 'already', 'blocked'].includes(status));
  return { plan: planned.plan, before, after: stateOfGateway(gateway, pair), failed };
}
