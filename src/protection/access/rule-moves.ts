import { asText, type JsonObject, textsIn } from '../../model/json.ts';
import type { AccessRequestRule } from '../../model/protection/access-objects.ts';
import type { ResourceId } from '../../model/resource.ts';
import { modesOfStep } from './effective-access.ts';

/** What an access-request rule governs: the steps of its type, on the connections that it names and on those with its attributes. */
export type RuleTargets = {
  readonly type: string;
  readonly connections: ReadonlySet<ResourceId>;
  readonly attributes: ReadonlySet<string>;
};

/** Lists what a rule governs, step by step: the gateway lets one rule of a step name a connection, or have an attribute. */
export function slotsOf({ type, connections, attributes }: RuleTargets): readonly string[] {
  const all = [...connections, ...[...attributes].map((name) => `attribute ${name}`)];
  return stepsOfType(type).flatMap((step) => all.map((target) => `${step} ${target}`));
}

/** Returns whether a rule governs, on a connection or an attribute and at a step, what another one governed. */
export function sharesSlot(one: RuleTargets, other: RuleTargets): boolean {
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

/** Returns what an access-request rule governs. */
export function targetsOf(spec: JsonObject, connections: Iterable<ResourceId>): RuleTargets {
  return { type: asText(spec['access_type']), connections: new Set(connections), attributes: new Set(textsIn(spec['attributes'])) };
}
