import { addToGroup, appendAll } from '../../model/collections.ts';
import { asText, compareText, type JsonObject, textsIn } from '../../model/json.ts';
import { type FieldChange, shownValue } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import type { AccessRequestRule } from '../../model/protection/access-objects.ts';
import type { ResourceId } from '../../model/resource.ts';
import { modesOfStep } from './effective-access.ts';

/** What an access-request rule governs: the steps of its type, on the connections that it names and on those with its attributes. */
export type RuleTargets = {
  readonly type: string;
  readonly connections: ReadonlySet<ResourceId>;
  readonly attributes: ReadonlySet<string>;
};

/** A write that lets go of what another rule takes, of all that the rule governs where rules exchange it; without targets it deletes the rule. */
export type RuleRelease = { readonly rule: ResourceId; readonly targets: RuleTargets | undefined; readonly round: number };

/** The releases in their order, and the rules that cannot let go, because they keep what another rule takes at another step. */
export type RuleReleases = { readonly releases: readonly RuleRelease[]; readonly stuck: readonly ResourceId[] };

/** Access-request rules by their ids. */
export type RulesById = ReadonlyMap<ResourceId, RuleTargets>;

/**
 * Finds the writes that make room: the gateway lets one rule of a step name a connection, or have an attribute, so that a rule takes it only
 * after the rule before has let go. What no rule takes stays as it is.
 */
export function findReleases(before: RulesById, after: RulesById): RuleReleases {
  const takers = slotOwners(after);
  const isTaken = (slot: string, rule: ResourceId): boolean => {
    const owners = takers.get(slot) ?? [];
    return !owners.includes(rule) && owners.length > 0;
  };
  const waiting = new Set(
    [...before].flatMap(([rule, targets]) => (slotsOf(targets).some((slot) => isTaken(slot, rule)) ? [rule] : [])).toSorted(compareText),
  );
  const now = new Map(before);
  const releases: RuleRelease[] = [];
  for (let round = 1; waiting.size > 0; round += 1) {
    const held = slotOwners(now);
    const isFree = (slot: string, rule: ResourceId): boolean => (held.get(slot) ?? []).every((owner) => owner === rule);
    const possible = [...waiting].flatMap((rule): readonly RuleRelease[] => {
      const had = before.get(rule);
      const has = after.get(rule);
      if (had === undefined || has === undefined) return [{ rule, targets: undefined, round }];
      const kept = targetsWith(had, isWithin(has.type, had.type) ? has.type : had.type, (slot) => !isTaken(slot, rule));
      const both = inBoth(had, has);
      const forms = [kept, targetsWith(has, has.type, (slot) => isFree(slot, rule))];
      // The change removes nothing that the rule has before and after, as when it changes its type.
      const allowed = forms.filter((form) => both.every((target) => targetList(form).includes(target)));
      const targets = allowed.find((form) => !isEmpty(form)) ?? allowed[0];
      return targets === undefined ? [] : [{ rule, targets, round }];
    });
    const keeping = possible.filter(({ targets }) => targets === undefined || !isEmpty(targets));
    // Of rules that exchange all that they govern, one lets go of all of it, which makes room for the others.
    const ready = keeping.length > 0 ? keeping : possible.slice(0, 1);
    if (ready.length === 0) break;
    for (const { rule, targets } of ready) {
      waiting.delete(rule);
      if (targets === undefined) now.delete(rule);
      else now.set(rule, targets);
    }
    appendAll(releases, ready);
  }
  return { releases, stuck: [...waiting] };
}

/** Returns whether a rule governs, on a connection or an attribute and at a step, what another one governed. */
export function sharesSlot(one: RuleTargets | undefined, other: RuleTargets | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const slots = new Set(slotsOf(one));
  return slotsOf(other).some((slot) => slots.has(slot));
}

/** Returns the steps that the type of a rule governs. */
export function stepsOfType(type: string): readonly string[] {
  return Object.keys(modesOfStep).filter((step) => type === step || type === 'jit_command');
}

/** Returns whether two rules govern a step together. */
export function sharesStep(one: Pick<AccessRequestRule, 'access_type'>, other: Pick<AccessRequestRule, 'access_type'>): boolean {
  const steps = stepsOfType(other.access_type);
  return stepsOfType(one.access_type).some((step) => steps.includes(step));
}

/** Returns whether a type governs a part of the steps of another one. */
function isWithin(type: string, whole: string): boolean {
  return stepsOfType(type).every((step) => stepsOfType(whole).includes(step));
}

function slotsOf(targets: RuleTargets): readonly string[] {
  return stepsOfType(targets.type).flatMap((step) => targetList(targets).map((target) => `${step} ${target}`));
}

function targetList({ connections, attributes }: RuleTargets): readonly string[] {
  return [...connections, ...[...attributes].map(attributeTarget)];
}

function inBoth(one: RuleTargets, other: RuleTargets): readonly string[] {
  const others = new Set(targetList(other));
  return targetList(one).filter((target) => others.has(target));
}

function attributeTarget(attribute: string): string {
  return `attribute ${attribute}`;
}

function slotOwners(rules: RulesById): ReadonlyMap<string, readonly ResourceId[]> {
  const owners = new Map<string, ResourceId[]>();
  for (const [rule, targets] of rules) for (const slot of slotsOf(targets)) addToGroup(owners, slot, rule);
  return owners;
}

/** Returns the targets of a rule of a type whose slots all satisfy a condition. */
function targetsWith({ connections, attributes }: RuleTargets, type: string, matches: (slot: string) => boolean): RuleTargets {
  const keeps = (target: string): boolean => stepsOfType(type).every((step) => matches(`${step} ${target}`));
  return {
    type,
    connections: new Set([...connections].filter((target) => keeps(target))),
    attributes: new Set([...attributes].filter((attribute) => keeps(attributeTarget(attribute)))),
  };
}

function isEmpty({ connections, attributes }: RuleTargets): boolean {
  return connections.size + attributes.size === 0;
}

/** Returns what an access-request rule governs. */
export function targetsOf(spec: JsonObject, connections: Iterable<ResourceId>): RuleTargets {
  return { type: asText(spec['access_type']), connections: new Set(connections), attributes: new Set(textsIn(spec['attributes'])) };
}

/** Returns whether a field of a rule's change leads to the targets of its release. */
export function isReleased({ path, before, after, held }: FieldChange, { type, attributes }: RuleTargets): boolean {
  const [field] = tokensOf(path);
  const [had, has] = [shownValue(before), shownValue(after)];
  if (held === true) return false;
  if (field === 'access_type') return has === type;
  if (field !== 'attributes') return false;
  return typeof has === 'string' ? attributes.has(has) : typeof had === 'string' && !attributes.has(had);
}
