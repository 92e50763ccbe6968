import { type DesiredResource, type DesiredState, desiredById } from '../../model/desired.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import {
  isWritten,
  liveKeyOf,
  type Change,
  type EdgeChange,
  type FieldChange,
  type Diff,
  riskClasses,
  type Risk,
  type UnwrittenRisks,
} from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { edgeCauses, type SelectorLookup, type PlanSnapshots } from '../posture/diff-postures.ts';
import { controlTypesOf, emptyPosture } from '../posture/posture.ts';
import { riskCode, riskCodes, type RiskName } from './risk-codes.ts';
import { blocksAnything, connectionRisks, guardrailRisks, maskingRisks, type RiskDraft, refusesSessions } from './field-risks.ts';
import { manifestRisks, rerouteRisks, sourceRisks } from './secret-risks.ts';
import { rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** The input of the risk assessment: the plan, the snapshots before and after it, and the manifests now and at the base. */
export type RiskInput = PlanSnapshots & {
  readonly plan: Pick<Diff, 'changes' | 'edges'>;
  readonly live: LiveState;
  readonly desired: DesiredState;
  /** The manifests that were last applied, if they differ from the current ones. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
  readonly selectorOf: SelectorLookup;
};

/** The risks of every change by its id, and the risks of manifests that differ from the base without writing anything. */
export type Risks = { readonly byChange: ReadonlyMap<ResourceId, readonly Risk[]>; readonly unwritten: readonly UnwrittenRisks[] };

/** Finds the risks of a plan. A change that is not written has none. */
export function findRisks(input: RiskInput): Risks {
  const { plan, desired, base } = input;
  const context = createContext(input);
  const byChange = new Map<ResourceId, readonly Risk[]>();
  for (const change of plan.changes) byChange.set(change.id, isWritten(change) ? risksOfChange(change, context) : []);
  const unwritten = (base === undefined ? [] : desired.resources).flatMap((resource): readonly UnwrittenRisks[] => {
    if ((byChange.get(resource.id) ?? []).length > 0) return [];
    const risks = placeRisks(statedRisks(resource, context), { resource, connections: context.connectionsOf(resource.key) });
    return risks.length === 0 ? [] : [{ id: resource.id, risks }];
  });
  return { byChange, unwritten };
}

type RiskContext = RiskInput & {
  readonly resources: ReadonlyMap<ResourceId, DesiredResource>;
  readonly baseResources: ReadonlyMap<string, DesiredResource>;
  readonly liveResources: ReadonlyMap<ResourceId, LiveResource>;
  readonly edgesBy: ReadonlyMap<ResourceId, readonly EdgeChange[]>;
  readonly connectionsOf: (rule: ResourceId) => readonly ResourceId[] | undefined;
  readonly causesOfEdge: ReturnType<typeof edgeCauses>;
};

function createContext(input: RiskInput): RiskContext {
  const { plan, live, desired, base, before, after } = input;
  const edgesBy = new Map<ResourceId, EdgeChange[]>();
  for (const edge of plan.edges) {
    if (edge.by === undefined || (edge.action !== 'attach' && edge.action !== 'detach')) continue;
    const group = edgesBy.get(edge.by);
    if (group === undefined) edgesBy.set(edge.by, [edge]);
    else group.push(edge);
  }
  let byRule: ReadonlyMap<ResourceId, readonly ResourceId[]> | undefined;
  return {
    ...input,
    resources: desiredById(desired.resources),
    baseResources: desiredById(base?.resources ?? []),
    liveResources: liveById(live.resources),
    edgesBy,
    causesOfEdge: edgeCauses(plan.changes, input.selectorOf),
    connectionsOf: (rule) => {
      if (kindOf(rule) === 'Connection') return undefined;
      byRule ??= connectionsByRule(before, after);
      return byRule.get(rule) ?? [];
    },
  };
}

/** Lists for each rule the connections that it is attached to before or after the plan. */
function connectionsByRule(...snapshots: readonly ProtectionSnapshot[]): ReadonlyMap<ResourceId, readonly ResourceId[]> {
  const byRule = new Map<ResourceId, Set<ResourceId>>();
  for (const snapshot of snapshots) {
    for (const id of snapshot.resources.keys()) {
      if (kindOf(id) !== 'Connection') continue;
      for (const rule of rulesOn(snapshot, id)) {
        const ids = byRule.get(rule);
        if (ids === undefined) byRule.set(rule, new Set([id]));
        else ids.add(id);
      }
    }
  }
  return new Map([...byRule].map(([rule, ids]) => [rule, [...ids].toSorted(compareText)]));
}

function risksOfChange(change: Change, context: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  const resource = context.resources.get(change.id);
  const drafts = [...ownRisks(change, context), ...(resource === undefined ? [] : statedRisks(resource, context))];
  const placing = { change, resource, connections: context.connectionsOf(key) };
  const risks = [...placeRisks(drafts, placing), ...edgeRisks(change, context), ...unenforceableRisks(change, context)];
  if (risks.length > 0) return sortRisks(risks);
  return placeRisks(
    [{ name: change.action === 'create' || change.reasons.includes('unfinished') ? 'created' : 'neutral', fields: [] }],
    placing,
  );
}

function ownRisks(
  change: Change,
  { before, after, liveResources, resources, postureBefore, postureAfter, connectionsOf }: RiskContext,
): readonly RiskDraft[] {
  const key = liveKeyOf(change);
  const isConnection = kindOf(key) === 'Connection';
  const reroutes =
    isConnection && change.action !== 'delete'
      ? rerouteRisks(change, { live: liveResources, subject: liveResources.get(key), desired: resources.get(change.id) })
      : [];
  if (change.action === 'create') return reroutes;
  if (change.action === 'delete') return isConnection ? [{ name: 'deleted', fields: [] }] : detachments(change, connectionsOf(key) ?? []);
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  if (change.reasons.includes('unfinished')) return [];
  const sides = { before: specIn(before, key), after: specIn(after, key) };
  const unseen = change.fields.flatMap((field): readonly RiskDraft[] => {
    const hidden = field.held !== true && ('unknown' in field.before || 'unknown' in field.after);
    return hidden && controlTypesOf(kindOf(key), field.path).length > 0
      ? [{ name: 'unknown', fields: tokensOf(field.path).slice(0, 1) }]
      : [];
  });
  if (isConnection) {
    const postures = { before: postureBefore(key) ?? emptyPosture, after: postureAfter(key) ?? emptyPosture };
    return [...reroutes, ...unseen, ...connectionRisks(sides, postures)];
  }
  if (kindOf(key) === 'GuardrailRule') return [...unseen, ...guardrailRisks(sides)];
  return kindOf(key) === 'DataMaskingRule' ? [...unseen, ...maskingRisks(sides)] : [];
}

/** A rule that goes is off every connection that it was on. */
function detachments(change: Change, connections: readonly ResourceId[]): readonly RiskDraft[] {
  if (connections.length === 0) return [];
  const kind = kindOf(change.id);
  if (kind === 'GuardrailRule') return [{ name: 'guardrail-detached', fields: [] }];
  return kind === 'DataMaskingRule' ? [{ name: 'masking-detached', fields: [] }] : [];
}

function specIn(snapshot: ProtectionSnapshot, id: ResourceId): JsonObject {
  return snapshot.resources.get(id)?.spec ?? {};
}

/** Finds risks in the manifest alone: secret sources, selectors and ignored fields that differ from the base. */
function statedRisks(resource: DesiredResource, { baseResources, liveResources, registry, base }: RiskContext): readonly RiskDraft[] {
  const applied = baseResources.get(resource.id);
  const kind = registry.get(kindOf(resource.id));
  const isCompared = base === undefined || applied !== undefined;
  const sources = isCompared ? sourceRisks(resource, { base: applied, live: liveResources.get(resource.key) }) : [];
  return [...sources, ...(kind === undefined || applied === undefined ? [] : manifestRisks(kind, resource, applied))];
}

/** Finds the risks of attachments at the change that writes them. A deleted rule reports its own detachments. */
function edgeRisks(change: Change, { edgesBy, causesOfEdge }: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  const groups = new Map<RiskName, EdgeChange[]>();
  for (const edge of change.action === 'delete' ? [] : (edgesBy.get(key) ?? [])) {
    const masks = kindOf(edge.rule) === 'DataMaskingRule';
    const verb = edge.action === 'attach' ? 'attached' : 'detached';
    const name: RiskName = masks ? `masking-${verb}` : `guardrail-${verb}`;
    groups.set(name, [...(groups.get(name) ?? []), edge]);
  }
  return [...groups].map(([name, edges]): Risk => {
    const [first] = edges;
    const place = first === undefined ? undefined : causesOfEdge(first)[0]?.place;
    return {
      code: riskCode(name),
      class: riskCodes[name].class,
      connections: [...new Set(edges.map(({ connection }) => connection))].toSorted(compareText),
      ...(place === undefined ? {} : { place }),
    };
  });
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
  const connections = [...ids].filter((id) => refusesSessions(after, id, blocksAnything) && !refusesSessions(before, id, blocksAnything));
  if (connections.length === 0) return [];
  const place = change.at === undefined ? {} : { place: formatPosition(change.at) };
  return [{ code: riskCode('unenforceable'), class: 'availability', connections: connections.toSorted(compareText), ...place }];
}

type PlacingInput = {
  readonly change?: Change;
  readonly resource: DesiredResource | undefined;
  readonly connections: readonly ResourceId[] | undefined;
};

/** Adds code, class and position to drafts. Several fields with the same risk become one risk at their common path. */
function placeRisks(drafts: readonly RiskDraft[], { change, resource, connections }: PlacingInput): readonly Risk[] {
  const groups = new Map<string, RiskDraft[]>();
  for (const draft of drafts) {
    const key = `${draft.name} ${draft.class ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), draft]);
  }
  return [...groups.values()].flatMap((group): readonly Risk[] => {
    const [first] = group;
    if (first === undefined) return [];
    const whole = riskCodes[first.name];
    const path = pathOf(group, change);
    const at =
      change?.fields.find((field) => path !== '' && field.held !== true && isAt(field, path))?.at ?? placeIn(resource, path) ?? change?.at;
    return [
      {
        code: riskCode(first.name),
        class: first.class ?? whole.class,
        ...(path === '' ? {} : { path }),
        ...(connections === undefined ? {} : { connections }),
        ...(at === undefined ? {} : { place: formatPosition(at) }),
      },
    ];
  });
}

function isAt({ path }: FieldChange, place: string): boolean {
  return path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`);
}

function placeIn(resource: DesiredResource | undefined, path: string): ReturnType<DesiredResource['locate']> | undefined {
  return resource === undefined ? undefined : resource.locate(path);
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
