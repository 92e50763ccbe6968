import { desiredById, type DesiredResource, type DesiredState, type OverriddenLayer } from '../../model/desired.ts';
import { isWritten, liveKeyOf, type Change } from '../../model/plan/plan.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { compareProtection } from '../controls/compare-protection.ts';
import { controlRow, controlTypesOf } from '../controls/control-table.ts';
import type { PlannedWrites, PlanSnapshots } from '../posture/diff-postures.ts';
import { rulesOn } from '../posture/protection-snapshot.ts';
import { fieldReasons } from './contributions.ts';
import { manifestRisks } from './secret-risks.ts';
import { pointer } from '../../model/pointer.ts';

/** Protection that a layer of a new object's manifest gives, and that a layer above it takes away. */
export type GivenUp = {
  /** The file of the layer that gives it. */
  readonly file: string;
  /** What is given up, as headlines print it. */
  readonly what: string;
  readonly class: 'weakens' | 'unknown';
  readonly fields: readonly string[];
};

type GivenUpInput = PlanSnapshots & { readonly plan: PlannedWrites; readonly desired: DesiredState; readonly registry: Registry };

/** Finds what new objects give up, by the live key of their change. */
export function findGivenUp(input: GivenUpInput): ReadonlyMap<ResourceId, readonly GivenUp[]> {
  const resources = desiredById(input.desired.resources);
  const found = new Map<ResourceId, readonly GivenUp[]>();
  for (const change of input.plan.changes) {
    const resource = isNew(change) ? resources.get(change.id) : undefined;
    const kind = input.registry.get(kindOf(change.id));
    if (resource?.overridden === undefined || kind === undefined) continue;
    const all = resource.overridden.flatMap((layer) => givenUpOf(layer, { resource, kind, key: liveKeyOf(change) }, input));
    if (all.length > 0) found.set(liveKeyOf(change), all);
  }
  return found;
}

function isNew(change: Change): boolean {
  return isWritten(change) && (change.action === 'create' || change.reasons.includes('unfinished'));
}

type NewObject = { readonly resource: DesiredResource; readonly kind: Kind; readonly key: ResourceId };

function givenUpOf(layer: OverriddenLayer, created: NewObject, input: GivenUpInput): readonly GivenUp[] {
  const { file } = layer;
  const lost = kindOf(created.key) === 'Connection' ? lostControls(layer, created, input) : lostFields(layer, created);
  return [...lost, ...lostEdges(layer, created, input), ...lostSelector(layer, created)].map((one) => ({ ...one, file }));
}

type Loss = Omit<GivenUp, 'file'>;

/** Compares the connection with what it would be if the layer decided. */
function lostControls(layer: OverriddenLayer, { key }: NewObject, { after, postureAfter, build, compared }: GivenUpInput): readonly Loss[] {
  const [resource, has] = [after.resources.get(key), postureAfter(key)];
  if (resource === undefined || has === undefined) return [];
  const given = { ...resource, spec: { ...resource.spec, ...layer.spec } };
  const rules = new Map([...rulesOn(after, key)].map((id) => [id, after.resources.get(id)] as const));
  const had = build({ id: key, resource: given, rules });
  return compareProtection(had, has, { ...compared, ofPostures: new Map() }).flatMap(({ control, lost, incomparable }): readonly Loss[] => {
    const fields = (controlRow(control).fields['Connection'] ?? []).filter((name) => layer.spec[name] !== undefined).slice(0, 1);
    if (lost.length > 0) return [{ what: wordsOf(control), class: 'weakens', fields }];
    return incomparable.length > 0 ? [{ what: wordsOf(control), class: 'unknown', fields }] : [];
  });
}

const granted: ReadonlySet<ControlType> = new Set(['access', 'who', 'force', 'duration', 'schema']);

function wordsOf(type: ControlType): string {
  return `${granted.has(type) ? 'limits on ' : ''}${controlRow(type).about}`;
}

/** Finds what a rule does less than if the layer decided. */
function lostFields(layer: OverriddenLayer, { resource: { spec }, key }: NewObject): readonly Loss[] {
  const reasons = fieldReasons(kindOf(key), { before: { ...spec, ...layer.spec }, after: spec });
  return reasons.flatMap(({ code, fields }): readonly Loss[] => {
    if (code.class !== 'weakens' && code.class !== 'unknown') return [];
    const [type] = controlTypesOf(kindOf(key), pointer(...fields));
    return [{ what: type === undefined ? 'protection' : wordsOf(type), class: code.class, fields: fields.slice(0, 1) }];
  });
}

/** Finds attachments that the layer declares and nothing else does. */
function lostEdges({ edges }: OverriddenLayer, { kind, key }: NewObject, { after }: GivenUpInput): readonly Loss[] {
  return kind.fields.flatMap(({ name, edge, refers = '' }): readonly Loss[] => {
    const isAttached = (text: string): boolean => {
      const end = resourceId(refers, text);
      return edge === 'rule' ? after.edges.get(end)?.has(key) === true : after.edges.get(key)?.has(end) === true;
    };
    const isLost = (edges[name] ?? []).some((text) => !isAttached(text));
    return isLost ? [{ what: edge === 'rule' ? 'connections' : 'guardrails', class: 'weakens', fields: [name] }] : [];
  });
}

/** Finds connections that the selector of the layer matches and that of the manifest does not. */
function lostSelector({ selector }: OverriddenLayer, { resource, kind }: NewObject): readonly Loss[] {
  if (selector === undefined) return [];
  return manifestRisks(kind, resource, { ...resource, selector }).flatMap(({ code, fields }): readonly Loss[] =>
    code.class === 'weakens' ? [{ what: 'connections', class: 'weakens', fields }] : [],
  );
}
