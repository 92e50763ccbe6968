import { registry, type LiveResource, type LiveState, type Plan } from '../../src/index.ts';
import { emptyState } from '../../src/model/desired.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { nameOf } from '../../src/model/resource.ts';
import { leftFieldsAfter } from '../../src/reconcile/record-content/left-fields.ts';
import { type AccessLists, requestRule, runbookRule, withAccess } from '../support/access-objects.ts';
import { desiredState } from '../support/desired-state.ts';
import { liveAs } from '../support/risks.ts';
import { reviewOf } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';
import type { AccessConnection, AccessState } from './access-model.ts';
import { type AccessPair, withoutRow } from './access-pairs.ts';
import { accessPools } from './access-pools.ts';
import { connectionOf } from './access-state.ts';
import { storedSecrets } from './declared-state.ts';
import { textsOf } from './gateway-objects.ts';
import { planPair, type PlanOptions } from './run-access-pair.ts';

/** Returns a pair whose gateway has what was applied. */
export function settled(pair: AccessPair): AccessPair {
  return withOwnRows({ ...pair, live: pair.base ?? pair.live });
}

/** Returns a pair with rows as its connections state them, and none while access control is off. */
export function withOwnRows(pair: AccessPair): AccessPair {
  const { rows } = pair.objects;
  const own = (list: readonly Manifest[]): readonly Manifest[] => list.map((one) => withoutRow(one, rows));
  const live = own(pair.live);
  const stated = live.flatMap(({ metadata: { name }, spec }) =>
    spec['access_groups'] === undefined ? [] : [[name, textsOf(spec['access_groups'])] as const],
  );
  const names = new Set(live.map(({ metadata }) => metadata.name));
  const kept = Object.entries(rows ?? {}).filter(([name]) => names.has(name));
  const replacing = pair.manifests.flatMap(({ metadata: { name, replaces } }) =>
    typeof replaces === 'string' && names.has(replaces) ? [[name, replaces] as const] : [],
  );
  return {
    ...pair,
    predecessors: Object.fromEntries(replacing),
    base: pair.base && own(pair.base),
    manifests: own(pair.manifests),
    live,
    objects: { ...pair.objects, rows: rows && Object.fromEntries([...kept, ...stated]) },
  };
}

/** Returns what decides access on the gateway of a settled pair, read from its manifests. */
export function stateBefore({ live, objects }: AccessPair): AccessState {
  return { ...objects, connections: Object.fromEntries(live.map(({ metadata: { name }, spec }) => [name, connectionIn(spec)])) };
}

/** Lists the connections that a plan leaves although no manifest declares them. */
export function remainingOf({ base = [], manifests, live, prune, predecessors }: AccessPair): readonly Manifest[] {
  const kept = new Set(manifests.flatMap(({ metadata: { name } }) => [name, predecessors[name] ?? name]));
  const removed = prune ? base.map(({ metadata }) => metadata.name) : [];
  return live.filter(({ metadata: { name } }) => !kept.has(name) && !removed.includes(name));
}

/** Lists the connections after the plan of a pair: what a manifest leaves out stays, or comes from the predecessor. */
export function appliedOf(pair: AccessPair): readonly Manifest[] {
  const present = new Map(pair.live.map(({ metadata: { name }, spec }) => [name, spec]));
  const written = pair.manifests.map((one) => {
    const { name } = one.metadata;
    return { ...one, spec: { ...(present.get(name) ?? present.get(pair.predecessors[name] ?? name)), ...one.spec } };
  });
  return [...remainingOf(pair), ...written];
}

/** Returns what decides access after the plan of a pair. */
export function stateAfter(pair: AccessPair): AccessState {
  const { predecessors, objects } = pair;
  const names = new Set(pair.live.map(({ metadata }) => metadata.name));
  const applied = appliedOf(pair);
  const rows = applied.flatMap(({ metadata: { name }, spec }) => {
    const kept = objects.rows?.[names.has(name) ? name : (predecessors[name] ?? name)];
    const groups = spec['access_groups'] === undefined ? kept : textsOf(spec['access_groups']);
    return groups === undefined ? [] : [[name, groups] as const];
  });
  return {
    ...objects,
    rows: objects.rows && { ...objects.rows, ...Object.fromEntries(rows) },
    connections: Object.fromEntries(applied.map(({ metadata: { name }, spec }) => [name, connectionIn(spec)])),
  };
}

/** The fields that stay where a manifest leaves them out, whatever somebody makes of them. */
const keptFields = ['access_groups', 'attributes', 'min_review_approvals'];

/** Returns a settled pair whose gateway was changed by hand as the manifests are now; what was not applied they do not begin to state. */
export function acceptedByHand(pair: AccessPair): AccessPair {
  const present = new Map(pair.live.map(({ metadata: { name }, spec }) => [name, spec]));
  const manifests = pair.manifests.map((one) => {
    const had = present.get(one.metadata.name);
    const isStated = (name: string): boolean => had === undefined || !keptFields.includes(name) || had[name] !== undefined;
    return { ...one, spec: Object.fromEntries(Object.entries(one.spec).filter(([name]) => isStated(name))) };
  });
  const accepting = { ...pair, manifests };
  return { ...accepting, live: appliedOf(accepting), objects: { ...pair.objects, rows: stateAfter(accepting).rows } };
}

function connectionIn(spec: JsonObject): AccessConnection {
  return connectionOf({ ...spec, secret: storedSecrets(spec['secret']) });
}

/** What a token sees of secrets: all, no values, not even which a connection has; or no source outside the manifests is resolved. */
export type SecretSight = 'shown' | 'hidden' | 'unlisted' | 'unresolved';

type SettledOptions = Pick<PlanOptions, 'limits' | 'accessTests' | 'left'> & { readonly sight: SecretSight };

/** Plans a pair with own rows; undefined where its manifests cannot be planned. */
export async function planSettled(pair: AccessPair, options: SettledOptions): Promise<Plan | undefined> {
  return (await plannedPair(pair, options))?.plan;
}

async function plannedPair(pair: AccessPair, { sight, ...options }: SettledOptions): ReturnType<typeof planPair> {
  const gateway = { preflight: () => Promise.resolve(reviewOf().preflight) };
  const planned = await planPair(pair, liveIn(pair, sight), gateway, { ...options, isUnresolved: sight === 'unresolved' });
  return planned?.diagnostics.some(({ severity }) => severity === 'error') === true ? undefined : planned;
}

/** Returns what the record keeps of the fields that the manifests of a pair leave to the gateway, after its plan is applied; undefined without a plan. */
export async function recordedFields(pair: AccessPair): Promise<PlanOptions['left']> {
  const planned = await plannedPair(pair, { sight: 'shown' });
  if (planned === undefined) return undefined;
  const base = { commit: '', desired: desiredState(pair.base ?? []), removedIn: new Map() };
  const fields = leftFieldsAfter({ ...planned, live: liveIn(pair, 'shown'), base, remembered: undefined, registry });
  return new Map(fields.map((one) => [one.id, one.fields]));
}

/** Returns the live state of a settled pair as the dialect of the public gateway reads it. */
function liveIn(pair: AccessPair, sight: SecretSight): LiveState {
  const { rows, license } = pair.objects;
  const { resources, lookups } = liveAs(pair.live.length === 0 ? emptyState : desiredState(pair.live));
  const live = {
    lookups,
    resources: resources.map((one) => {
      const { secrets, unknown } = seenSecrets(one, sight);
      return { ...one, secrets, unknown, spec: { ...one.spec, access_groups: rows === undefined ? null : (rows[nameOf(one.id)] ?? []) } };
    }),
    groups: ['admin', 'auditor', ...accessPools.groups],
    longestAccess: 172_800,
    accessLimits: license === 'free' ? 'none' : 'reviewed',
    rowFields: { 'Connection.access_groups': rows === undefined ? 'off' : 'on' },
  } as const;
  return withAccess(live, listedIn(pair));
}

function seenSecrets({ secrets }: LiveResource, sight: SecretSight): Pick<LiveResource, 'secrets' | 'unknown'> {
  if (sight === 'unlisted') return { secrets: {}, unknown: ['/secret'] };
  if (sight !== 'hidden') return { secrets, unknown: [] };
  const paths = Object.keys(secrets);
  return { secrets: Object.fromEntries(paths.map((path) => [path, { state: 'hidden', source: 'live' }])), unknown: paths };
}

function listedIn({ live, objects: { rows, granted, rules, runbookRules, analyzers, machines } }: AccessPair): AccessLists {
  const having = (attribute: string): readonly string[] =>
    live.flatMap(({ metadata, spec }) => (textsOf(spec['attributes']).includes(attribute) ? [metadata.name] : []));
  return {
    'access-control': rows === undefined ? 'off' : Object.entries(rows).map(([name, groups]) => ({ id: `uid-${name}`, name, groups })),
    attributes: accessPools.attributes.map((name) => ({
      id: name,
      name,
      connections: having(name),
      groups: granted[name] ?? [],
      access_request_rules: rules.flatMap((rule) => (rule.attributes.includes(name) ? [rule.name] : [])),
      guardrail_rules: [],
      masking_rules: [],
      managed_by: '',
    })),
    'access-request-rules': rules.map((rule) => {
      const count = rule.reviewers.length;
      const least = Math.min(count, rule.minApprovals ?? count);
      return requestRule(rule.name, {
        id: rule.id,
        access_type: rule.type,
        connections: rule.connections,
        attributes: rule.attributes,
        approval_required_groups: rule.required,
        reviewers_groups: rule.reviewers,
        approvals: rule.mustAllApprove ? count : least,
        // A credential counts the minimum although all must approve a session.
        ...(rule.mustAllApprove && least < count ? { credential_approvals: least } : {}),
        force_approval_groups: rule.forcing,
        skip_review_groups: rule.skipped,
        access_max_duration: rule.longest,
      });
    }),
    'runbook-rules': runbookRules.map(({ groups, connections, files }, index) =>
      runbookRule(`books-${index}`, { groups, connections, runbooks: files }),
    ),
    rulepacks: [],
    'analyzer-rules': analyzers.map(({ id, connections, risk }) => {
      const action = ({ action: own, rule }: typeof risk.low): string => (rule === null ? own : `${own}:${rule}`);
      return {
        id,
        name: id,
        connections,
        low_risk: action(risk.low),
        medium_risk: action(risk.medium),
        high_risk: action(risk.high),
        managed_by: '',
      };
    }),
    'machine-identities': machines.map(({ name, connections, attributes }) => ({ id: name, name, connections, attributes })),
  };
}
