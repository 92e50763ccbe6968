import { canonical, type JsonObject } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { AccessFacts } from '../access/access-index.ts';
import { protectingFields } from '../controls/control-table.ts';
import { accessIn } from './connection-access.ts';
import { numberOf, postureIn } from './posture.ts';
import { lookupIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** The states before and after a plan. */
type BothSides = { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };

/**
 * Returns for each connection the first of those that a plan treats alike in everything that protects: each set of rules needs to be compared once
 * only, however many connections share it. All of them must exist before and after the plan, without a change of their own.
 */
export function firstsOfAlike(ids: readonly ResourceId[], { before, after }: BothSides): ReadonlyMap<ResourceId, ResourceId> {
  const firsts = new Map<string, ResourceId>();
  return new Map(
    ids.map((id) => {
      const key = JSON.stringify([sideKey(before, id), sideKey(after, id)]);
      const first = firsts.get(key) ?? id;
      firsts.set(key, first);
      return [id, first];
    }),
  );
}

/** Returns what is the same for connections with the same rules that enforce them alike, of which the same protects and is unreadable. */
function sideKey(state: ProtectionSnapshot, id: ResourceId): readonly unknown[] {
  const [posture, access] = [postureIn(state, id), accessIn(state, id)];
  // Rules may name a connection that no list shows.
  if (posture === undefined || access === undefined)
    return [[...(state.edges.get(id) ?? [])].toSorted(), factsKey(lookupIn(state)(nameOf(id), {}))];
  const { spec = {}, unknown = [] } = state.resources.get(id) ?? {};
  return [
    numberOf(posture.rules),
    unknown,
    posture.enforcement.key,
    posture.controls.redaction,
    [...posture.incomplete].toSorted(),
    protectionKey(spec),
    factsKey(access.facts),
  ];
}

function protectionKey(spec: JsonObject): string {
  return canonical(Object.fromEntries(protectingFields.flatMap((field) => (field in spec ? [[field, spec[field] ?? null]] : []))));
}

/** Returns what is the same where the gateway decides access by the same objects. */
function factsKey(facts: AccessFacts): readonly unknown[] {
  const { attributes, row, granted, isControlled, byAttribute, byName, runbookRules, rulepacks, analyzer, machines, federation } = facts;
  const single = [analyzer, federation].map((one) => (one === undefined ? [] : [one]));
  const lists = [byAttribute, byName, runbookRules ?? [], rulepacks, machines, ...single];
  return [attributes, row, granted, isControlled, runbookRules === undefined, lists.map((list) => list.map(numberOf))];
}
