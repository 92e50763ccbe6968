import { type DesiredResource, type DesiredState, desiredById } from '../../model/desired.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type EdgeChange, type FieldChange, type Plan } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { riskClasses, type Risk, type UnwrittenRisks } from '../../model/plan/risk.ts';
import { edgeCauses, positionText, type SelectorLookup } from '../posture/causes.ts';
import { controlTypesOf } from '../posture/control-types.ts';
import type { PlanSnapshots } from '../posture/diff-postures.ts';
import { emptyPosture } from '../posture/posture.ts';
import { riskCode, riskCodes, type RiskName } from './risk-codes.ts';
import { blocksAnything, connectionRisks, guardrailRisks, maskingRisks, type RiskDraft } from './field-risks.ts';
import { baseline, manifestRisks } from './manifest-risks.ts';
import { rerouteRisks, sourceRisks } from './secret-risks.ts';
import { refusesSessions } from './enforcement.ts';
import { rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** All that risks follow from: what a plan writes, what is there before and after, and what manifests say now and said. */
export type RiskInput = PlanSnapshots & {
  readonly plan: Pick<Plan, 'changes' | 'edges'>;
  readonly live: LiveState;
  readonly desired: DesiredState;
  /** The manifests that were last applied, where they said something else. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
  readonly selectorOf: SelectorLookup;
};

/** What every change may do, by its id, and what manifests without a change say otherwise than the base's. */
export type Risks = { readonly byChange: ReadonlyMap<ResourceId, readonly Risk[]>; readonly unwritten: readonly UnwrittenRisks[] };

/** Works out the risks of a plan; what is not written has none. */
export function findRisks(input: RiskInput): Risks {
  const { plan, desired, base } = input;
  const found = createContext(input);
  const byChange = new Map<ResourceId, readonly Risk[]>();
  for (const change of plan.changes) byChange.set(change.id, isWritten(change) ? risksOfChange(change, found) : []);
  const unwritten = (base === undefined ? [] : desired.resources).flatMap((resource): readonly UnwrittenRisks[] => {
    if ((byChange.get(resource.id) ?? []).length > 0) return [];
    const risks = placeRisks(statedRisks(resource, found), { resource, reach: found.reach(resource.key), found });
    return risks.length === 0 ? [] : [{ id: resource.id, risks }];
  });
  return { byChange, unwritten };
}

type RiskContext = RiskInput & {
  readonly resources: ReadonlyMap<ResourceId, DesiredResource>;
  readonly earlier: ReadonlyMap<string, DesiredResource>;
  readonly found: ReadonlyMap<ResourceId, LiveResource>;
  readonly edgesBy: ReadonlyMap<ResourceId, readonly EdgeChange[]>;
  readonly reach: (rule: ResourceId) => readonly ResourceId[] | undefined;
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
  let reached: ReadonlyMap<ResourceId, readonly ResourceId[]> | undefined;
  return {
    ...input,
    resources: desiredById(desired.resources),
    earlier: baseline(base),
    found: liveById(live.resources),
    edgesBy,
    causesOfEdge: edgeCauses(plan.changes, input.selectorOf),
    reach: (rule) => {
      if (kindOf(rule) === 'Connection') return undefined;
      reached ??= connectionsByRule(before, after);
      return reached.get(rule) ?? [];
    },
  };
}

/** The connections that each rule is on, before or after. */
function connectionsByRule(...scenes: readonly ProtectionSnapshot[]): ReadonlyMap<ResourceId, readonly ResourceId[]> {
  const reach = new Map<ResourceId, Set<ResourceId>>();
  for (const scene of scenes) {
    for (const id of scene.resources.keys()) {
      if (kindOf(id) !== 'Connection') continue;
      for (const rule of rulesOn(scene, id)) {
        const ids = reach.get(rule);
        if (ids === undefined) reach.set(rule, new Set([id]));
        else ids.add(id);
      }
    }
  }
  return new Map([...reach].map(([rule, ids]) => [rule, [...ids].toSorted(compareText)]));
}

function risksOfChange(change: Change, found: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  const resource = found.resources.get(change.id);
  const drafts = [...ownRisks(change, found), ...(resource === undefined ? [] : statedRisks(resource, found))];
  const placing = { change, resource, reach: found.reach(key), found };
  const risks = [...placeRisks(drafts, placing), ...edgeRisks(change, found), ...unenforceableRisks(change, found)];
  if (risks.length > 0) return sortRisks(risks);
  return placeRisks(
    [{ name: change.action === 'create' || change.reasons.includes('unfinished') ? 'created' : 'neutral', fields: [] }],
    placing,
  );
}

function ownRisks(
  change: Change,
  { before, after, found, resources, postureBefore: had, postureAfter: has, reach }: RiskContext,
): readonly RiskDraft[] {
  const key = liveKeyOf(change);
  const isConnection = kindOf(key) === 'Connection';
  const reroutes =
    isConnection && change.action !== 'delete'
      ? rerouteRisks(change, { live: found, subject: found.get(key), desired: resources.get(change.id) })
      : [];
  if (change.action === 'create') return reroutes;
  if (change.action === 'delete') return isConnection ? [{ name: 'deleted', fields: [] }] : detachments(change, reach(key) ?? []);
  // Opening what was created closed takes nothing away that anybody had.
  if (change.reasons.includes('unfinished')) return [];
  const sides = { before: specIn(before, key), after: specIn(after, key) };
  const unseen = change.fields.flatMap((field): readonly RiskDraft[] => {
    const hidden = field.held !== true && ('unknown' in field.before || 'unknown' in field.after);
    return hidden && controlTypesOf(kindOf(key), field.path).length > 0
      ? [{ name: 'unknown', fields: tokensOf(field.path).slice(0, 1) }]
      : [];
  });
  if (isConnection) {
    const postures = { before: had(key) ?? emptyPosture, after: has(key) ?? emptyPosture };
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

function specIn(scene: ProtectionSnapshot, id: ResourceId): JsonObject {
  return scene.resources.get(id)?.spec ?? {};
}

/** What the manifest alone says otherwise than before. */
function statedRisks(resource: DesiredResource, { earlier: applied, found, registry, base }: RiskContext): readonly RiskDraft[] {
  const earlier = applied.get(resource.id);
  const kind = registry.get(kindOf(resource.id));
  const isTold = base === undefined || earlier !== undefined;
  const sources = isTold ? sourceRisks(resource, { base: earlier, live: found.get(resource.key) }) : [];
  return [...sources, ...(kind === undefined || earlier === undefined ? [] : manifestRisks(kind, resource, earlier))];
}

/** Edges are risks of whoever writes them; those of a rule that is deleted are its own. */
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

/** Guardrails that come to connections whose proxy cannot enforce any: it refuses every session. */
function unenforceableRisks(change: Change, { before, after, edgesBy, reach }: RiskContext): readonly Risk[] {
  const key = liveKeyOf(change);
  if (change.action === 'delete') return [];
  const own = kindOf(key) === 'Connection' ? [key] : kindOf(key) === 'GuardrailRule' ? (reach(key) ?? []) : [];
  const ids = new Set([
    ...own,
    ...(edgesBy.get(key) ?? []).filter(({ rule }) => kindOf(rule) === 'GuardrailRule').map(({ connection }) => connection),
  ]);
  const connections = [...ids].filter((id) => refusesSessions(after, id, blocksAnything) && !refusesSessions(before, id, blocksAnything));
  if (connections.length === 0) return [];
  const place = change.at === undefined ? {} : { place: positionText(change.at) };
  return [{ code: riskCode('unenforceable'), class: 'availability', connections: connections.toSorted(compareText), ...place }];
}

type PlacingInput = {
  readonly change?: Change;
  readonly resource: DesiredResource | undefined;
  readonly reach: readonly ResourceId[] | undefined;
  readonly found: RiskContext;
};

/** Gives drafts their code, class and place; what several fields do is told once, at what they have in common. */
function placeRisks(drafts: readonly RiskDraft[], { change, resource, reach }: PlacingInput): readonly Risk[] {
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
        ...(reach === undefined ? {} : { connections: reach }),
        ...(at === undefined ? {} : { place: positionText(at) }),
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

/** The one field, or the beginning that all of them share. */
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
