import { addToGroup, groupBy, onFirstUse } from '../../model/collections.ts';
import { type DesiredResource, type DesiredState, desiredById, formerIdOf, isSameManifest } from '../../model/desired.ts';
import { compareText, type Json, type JsonObject, distinctSorted } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type InheritedKeys, type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import {
  fieldPosition,
  isWritten,
  liveKeyOf,
  type Change,
  type EdgeChange,
  type FieldChange,
  riskClasses,
  type Risk,
  type UnwrittenRisks,
} from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { hiddenPhrase } from '../controls/access-rows.ts';
import { controlTypesOf } from '../controls/control-table.ts';
import { type RiskDraft, unreviewedModes } from '../controls/control-row.ts';
import { isFirstOpening, type PlanSnapshots, type PlannedWrites } from '../posture/diff-postures.ts';
import { effectsOfChanges } from './change-effects.ts';
import { refusesSessions } from '../controls/control-row.ts';
import type { DestinationGains } from '../compare/destinations.ts';
import { deciderKey } from '../compare/compare.ts';
import type { PlanCauses } from '../compare/plan-causes.ts';
import type { PlanDifferences } from '../compare/plan-differences.ts';
import { destinationRisks, programRisks } from './destination-risks.ts';
import { controlRisk, riskCode, riskOf } from './risk-codes.ts';
import { isOtherRepository, leftRisks, manifestRisks, repositoryRisks, rerouteRisks, sourceRisks, sourceUsers } from './secret-risks.ts';
import { postureIn } from '../posture/posture.ts';
import { connectionsByRule, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** The input of the risk assessment: the plan, the snapshots before and after it, and the manifests now and at the base. */
type RiskInput = PlanSnapshots & {
  readonly plan: PlannedWrites;
  readonly live: LiveState;
  readonly desired: DesiredState;
  /** The manifests that were last applied. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
  readonly causes: PlanCauses;
  readonly inherited: InheritedKeys | undefined;
  readonly destinations: DestinationGains;
  readonly differences: PlanDifferences;
};

/** The risks of every change by the id of its live object (one name of a runbook configuration can be two of them), and the risks of manifests that differ from the base without writing anything. */
type Risks = { readonly byChange: ReadonlyMap<ResourceId, readonly Risk[]>; readonly unwritten: readonly UnwrittenRisks[] };

/** Finds the risks of a plan. A change that is not written has none. */
export function findRisks(input: RiskInput): Risks {
  const { plan, desired, base } = input;
  const context = createContext(input);
  const byChange = new Map<ResourceId, readonly Risk[]>();
  for (const change of plan.changes) byChange.set(liveKeyOf(change), isWritten(change) ? risksOfChange(change, context) : []);
  const unwritten = (base === undefined ? [] : desired.resources).flatMap((resource): readonly UnwrittenRisks[] => {
    if ((byChange.get(resource.key) ?? []).length > 0) return [];
    const risks = placeRisks(statedRisks(resource, context), { resource, connections: context.connectionsOf(resource.key) });
    return risks.length === 0 && !isUnwritten(resource, context) ? [] : [{ id: resource.id, risks }];
  });
  return { byChange, unwritten };
}

/** Returns whether a manifest changed since the base, and the plan writes nothing for it. */
function isUnwritten(resource: DesiredResource, { baseResources, liveResources, plan }: RiskContext): boolean {
  const applied = baseResources.get(resource.id);
  if (applied === undefined || !liveResources.has(resource.key) || isSameManifest(resource, applied)) return false;
  const { key } = resource;
  return (
    !plan.changes.some((change) => liveKeyOf(change) === key) &&
    !plan.edges.some(({ rule, connection }) => rule === key || connection === key)
  );
}

type RiskContext = RiskInput & {
  readonly resources: ReadonlyMap<ResourceId, DesiredResource>;
  readonly baseResources: ReadonlyMap<string, DesiredResource>;
  readonly liveResources: ReadonlyMap<ResourceId, LiveResource>;
  readonly edgesBy: ReadonlyMap<ResourceId, readonly EdgeChange[]>;
  readonly connectionsOf: (rule: ResourceId) => readonly ResourceId[] | undefined;
  readonly effects: ReturnType<typeof effectsOfChanges>;
  readonly usersOf: ReturnType<typeof sourceUsers>;
  readonly resourceNames: () => ReadonlySet<Json | undefined>;
};

function createContext(input: RiskInput): RiskContext {
  const { plan, live, desired, base, before, after } = input;
  const edgesBy = new Map<ResourceId, EdgeChange[]>();
  for (const edge of plan.edges) {
    if (edge.by === undefined || (edge.action !== 'attach' && edge.action !== 'detach')) continue;
    addToGroup(edgesBy, edge.by, edge);
  }
  const baseResources = desiredById(base?.resources ?? []);
  const byRule = onFirstUse(() => connectionsByRule(before, after));
  return {
    ...input,
    resources: desiredById(desired.resources),
    baseResources,
    liveResources: liveById(live.resources),
    edgesBy,
    effects: effectsOfChanges(plan, input.differences, input.causes),
    // Only where nothing was applied do the manifests of this change show who used a source before.
    usersOf: sourceUsers(() => [
      ...(base?.resources ?? []),
      ...desired.resources.filter(({ id, key }) => before.resources.has(key) && !baseResources.has(id)),
    ]),
    resourceNames: onFirstUse(() => new Set(live.resources.map(({ spec }) => spec['resource_name']))),
    connectionsOf: (rule) => {
      return kindOf(rule) === 'Connection' ? undefined : [...(byRule().get(rule) ?? [])].toSorted(compareText);
    },
  };
}

function risksOfChange(change: Change, context: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  const resource = change.action === 'delete' ? undefined : context.resources.get(change.id);
  const placing = { change, resource, connections: context.connectionsOf(key) };
  const risks = [
    ...controlRisks(placing, context),
    ...placeRisks([...ownDrafts(change, context), ...(resource === undefined ? [] : statedRisks(resource, context))], placing),
    ...unenforceableRisks(change, context),
    ...runbookRisks(placing, context),
  ];
  if (risks.length > 0) return sortRisks(risks);
  return placeRisks([riskOf(change.action === 'create' || change.unfinished === true ? 'created' : 'neutral')], placing);
}

/** Returns one risk for each effect of a change on a control: the differences that it causes decide the class. */
function controlRisks(placing: PlacingInput & { readonly change: Change }, { causes, effects }: RiskContext): readonly Risk[] {
  const key = liveKeyOf(placing.change);
  const groups = groupBy(effects.get(key) ?? [], ({ control, effect }) => `${control} ${effect}`);
  return [...groups.values()].flatMap((group): readonly Risk[] => {
    const [{ control, effect: one }] = group;
    const deciders = new Map(group.map(({ decider }) => [deciderKey(decider), decider]));
    const found = causes.causesOf([...deciders.values()]);
    const fields = found.filter(({ edge }) => edge === undefined);
    const forming = fields.filter(({ path = '' }) => controlTypesOf(kindOf(key), path).includes(control));
    const own = forming.length > 0 ? forming : fields;
    const connections = distinctSorted(group.flatMap((effect) => effect.connections));
    const [first] = found;
    if (own.length === 0) {
      return [{ code: riskCode({ name: control }), class: one, connections, place: first?.place }];
    }
    const drafts = own.map(({ path = '' }): RiskDraft => ({
      code: controlRisk(control),
      fields: tokensOf(path).slice(0, 1),
      class: one,
    }));
    return placeRisks(drafts, { ...placing, connections: kindOf(key) === 'Connection' ? undefined : connections });
  });
}

/** Finds risks that are no effects on protection: credentials that move, hidden values, deletions, and new access. */
function ownDrafts(change: Change, context: RiskContext): readonly RiskDraft[] {
  const { before, after: planned, liveResources, resources, predecessors, baseResources, destinations } = context;
  const key = liveKeyOf(change);
  const isConnection = kindOf(key) === 'Connection';
  if (change.action === 'delete') return isConnection ? [riskOf('deleted')] : [];
  const predecessor = predecessors.get(key);
  const owners = {
    ...context,
    owner: liveResources.get(key) ?? (predecessor === undefined ? undefined : liveResources.get(predecessor)),
    isNew: !liveResources.has(key),
    desired: resources.get(change.id),
    after: specIn(planned, key),
    applied: baseResources.get(change.id) ?? (predecessor === undefined ? undefined : baseResources.get(predecessor)),
  };
  const moved = isConnection ? rerouteRisks(change, owners) : repositoryRisks(change, owners);
  const after = isConnection ? postureIn(planned, key) : undefined;
  const program = moved.length > 0 ? [] : programRisks(change, after, destinations.bare.has(key));
  const reroutes = [...moved, ...program, ...destinationRisks(key, destinations)];
  const had = isConnection ? postureIn(before, key) : undefined;
  const hadAccess = predecessor === undefined ? had : postureIn(before, predecessor);
  const isHidden =
    after !== undefined && hiddenPhrase(after) !== undefined && (hadAccess === undefined || hiddenPhrase(hadAccess) === undefined);
  const hiding = isHidden ? [riskOf('hidden')] : [];
  if (isConnection && isFirstOpening(change, had !== undefined)) {
    const isExposed = after !== undefined && !predecessors.has(key) && unreviewedModes(after).length > 0;
    return [...reroutes, ...hiding, ...(isExposed ? [riskOf('exposed')] : [])];
  }
  const unseen = change.fields.flatMap((field): readonly RiskDraft[] => {
    const hidden = field.held !== true && ('unknown' in field.before || 'unknown' in field.after);
    return hidden && controlTypesOf(kindOf(key), field.path).length > 0 ? [riskOf('unknown', tokensOf(field.path).slice(0, 1))] : [];
  });
  const closing = change.closed === 'between' && (had?.access.open.size ?? 0) > 0 ? [riskOf('closed-between')] : [];
  return [...reroutes, ...hiding, ...closing, ...(change.action === 'create' ? [] : unseen)];
}

function specIn(snapshot: ProtectionSnapshot, id: ResourceId): JsonObject {
  return snapshot.resources.get(id)?.spec ?? {};
}

/** Finds risks in the manifest alone: secret sources, selectors and ignored fields that differ from the base. */
function statedRisks(resource: DesiredResource, { baseResources, liveResources, registry, base }: RiskContext): readonly RiskDraft[] {
  const applied = baseResources.get(resource.id);
  if (applied === resource) return [];
  const kind = registry.get(kindOf(resource.id));
  const isCompared = base === undefined || applied !== undefined;
  const live = liveResources.get(resource.key);
  const sources = isCompared ? sourceRisks(resource, { base: applied, live }) : [];
  // A successor states what its predecessor stated, or gives it up.
  const former = applied ?? baseResources.get(formerIdOf(resource) ?? resource.id);
  const stated = kind === undefined || former === undefined ? [] : manifestRisks(kind, resource, former);
  return [...sources, ...stated, ...(applied === undefined || live === undefined ? [] : leftRisks(resource, applied, live))];
}

/** Finds guardrails that are attached to connections whose proxy cannot enforce them and therefore refuses every session. */
function unenforceableRisks(change: Change, { before, after, edgesBy, connectionsOf }: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  if (change.action === 'delete') return [];
  const own = kindOf(key) === 'Connection' ? [key] : kindOf(key) === 'GuardrailRule' ? (connectionsOf(key) ?? []) : [];
  const ids = new Set([
    ...own,
    ...(edgesBy.get(key) ?? []).filter(({ rule }) => kindOf(rule) === 'GuardrailRule').map(({ connection }) => connection),
  ]);
  const connections = [...ids].filter((id) => refusesSessions(postureIn(after, id)) && !refusesSessions(postureIn(before, id)));
  if (connections.length === 0) return [];
  const place = change.at && formatPosition(change.at);
  return [{ code: riskCode({ name: 'unenforceable' }), class: 'availability', connections: connections.toSorted(compareText), place }];
}

/** Finds the connections on which runbooks from another repository can be run: with their credentials, and with content that no plan shows. */
function runbookRisks(
  { change, resource }: PlacingInput & { readonly change: Change },
  { before, after, liveResources }: RiskContext,
): readonly Risk[] {
  const key = liveKeyOf(change);
  if (!isOtherRepository(liveResources.get(key), specIn(after, key))) return [];
  const connections = [...after.resources.keys()].filter((id) =>
    [before, after].every((snapshot) => specIn(snapshot, id)['access_mode_runbooks'] === 'enabled'),
  );
  if (connections.length === 0) return [];
  return placeRisks([riskOf('runbooks-rerouted', ['git_url'])], {
    change,
    resource,
    connections: connections.toSorted(compareText),
  });
}

type PlacingInput = {
  readonly change?: Change;
  readonly resource: DesiredResource | undefined;
  readonly connections: readonly ResourceId[] | undefined;
};

/** Adds code, class and position to drafts. Several fields with the same risk become one risk at their common path, but each ignored one stays itself. */
function placeRisks(drafts: readonly RiskDraft[], { change, resource, connections }: PlacingInput): readonly Risk[] {
  const groups = groupBy(drafts, (draft) => {
    // Each field that is no longer watched is named.
    const isApart = isIgnore(draft) || draft.code.name === 'field-left';
    return [draft.code.name, draft.class ?? '', ...(isApart ? draft.fields : [])].join(' ');
  });
  return [...groups.values()].map((group): Risk => {
    const [first] = group;
    const path = pathOf(group, change);
    const place = path === '' ? pointer(...first.fields.slice(0, 1)) : path;
    const field = place === '' ? undefined : change?.fields.find((one) => one.held !== true && isAt(one, place));
    const own = change === undefined || field === undefined ? undefined : fieldPosition(change, field);
    const stated = isIgnore(first) ? resource?.locateIgnore() : resource?.locate(path);
    const at = (isIgnore(first) ? stated : (own ?? stated)) ?? change?.at;
    return {
      code: riskCode(first.code),
      class: first.class ?? first.code.class,
      path: path === '' ? undefined : path,
      connections,
      place: at && formatPosition(at),
    };
  });
}

function isAt({ path }: FieldChange, place: string): boolean {
  return path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`);
}

/** `metadata.ignore` is the cause, not the fields. */
function isIgnore({ code }: RiskDraft): boolean {
  return code.name.startsWith('ignore-');
}

/** Returns the path of the only field, or the common prefix of all fields. */
function pathOf(drafts: readonly RiskDraft[], change: Change | undefined): string {
  const names = drafts.map(({ fields }) => fields);
  const written = (change?.fields ?? []).filter(({ held }) => held !== true).map(({ path }) => tokensOf(path));
  const paths = names.flatMap((tokens) => {
    const [top] = tokens;
    const below = tokens.length > 1 ? [] : written.filter(([first]) => first === top);
    return below.length > 0 ? below : [tokens];
  });
  return pointer(...commonPrefix(paths));
}

function commonPrefix([first = [], ...rest]: readonly (readonly string[])[]): readonly string[] {
  let length = first.length;
  for (const tokens of rest) {
    let same = 0;
    while (same < length && tokens[same] === first[same]) same += 1;
    length = same;
  }
  return first.slice(0, length);
}

function rank({ class: one }: Risk): number {
  return -riskClasses.indexOf(one);
}

function sortRisks(risks: readonly Risk[]): readonly Risk[] {
  return risks.toSorted(
    (left, right) => rank(left) - rank(right) || compareText(left.code, right.code) || compareText(left.path ?? '', right.path ?? ''),
  );
}
