import { canonical, type JsonObject, textsIn } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { AccessFacts } from '../access/access-index.ts';
import { protectingFields } from '../controls/control-table.ts';
import type { Posture } from '../controls/control-row.ts';
import { postureIn } from './posture.ts';
import { readAccessIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** The states before and after a plan. */
type BothSides = { readonly before: ProtectionSnapshot; readonly after: ProtectionSnapshot };

/**
 * Returns for each connection the first of those that a plan treats alike in everything that protects: each set of rules needs to be compared once
 * only, however many connections share it. All of them must exist before and after the plan, without a change of their own.
 */
export function firstsOfAlike(ids: readonly ResourceId[], { before, after }: BothSides): ReadonlyMap<ResourceId, ResourceId> {
  const numberOf = createNumbering();
  const firsts = new Map<string, ResourceId>();
  return new Map(
    ids.map((id) => {
      const states = [before, after].map((snapshot) => {
        const spec = snapshot.resources.get(id)?.spec ?? {};
        const facts = readAccessIn(snapshot).lookup(nameOf(id), spec);
        return [
          ruleKey(id, snapshot, numberOf),
          enforcementKey(postureIn(snapshot, id)),
          facts.attributes,
          protectionKey(spec),
          factsKey(facts, numberOf),
        ];
      });
      const key = JSON.stringify(states);
      const first = firsts.get(key) ?? id;
      firsts.set(key, first);
      return [id, first];
    }),
  );
}

/** Gives each value a number, the same one for the same object or text. */
type Numbering = (value: object | string) => number;

function createNumbering(): Numbering {
  const numbers = new Map<object | string, number>();
  return (value) => {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    return number;
  };
}

/** Returns a text that is the same for connections with the same rules, over edges and over attributes. */
function ruleKey(id: ResourceId, { edges, resources }: ProtectionSnapshot, numberOf: Numbering): string {
  const attached = [...(edges.get(id) ?? [])].map(numberOf).toSorted((left, right) => left - right);
  return JSON.stringify([attached, textsIn(resources.get(id)?.spec['attributes']), resources.get(id)?.unknown ?? []]);
}

/** Returns a text that is the same for connections which enforce rules alike, redact the same types, and of which the same is unreadable. */
function enforcementKey(posture: Posture | undefined): string {
  return posture === undefined
    ? ''
    : JSON.stringify([posture.enforcement.key, posture.controls.redaction ?? [], [...posture.incomplete].toSorted()]);
}

function protectionKey(spec: JsonObject): string {
  return canonical(Object.fromEntries(protectingFields.flatMap((field) => (field in spec ? [[field, spec[field] ?? null]] : []))));
}

/** Returns a text that is the same where the gateway decides access by the same objects. */
function factsKey(facts: AccessFacts, numberOf: Numbering): string {
  const { row, granted, isControlled, byAttribute, byName, runbookRules, rulepacks, analyzer, machines, federation } = facts;
  const single = [analyzer, federation].map((one) => (one === undefined ? [] : [one]));
  const lists = [byAttribute, byName, runbookRules ?? [], rulepacks, machines, ...single];
  return JSON.stringify([row, granted, isControlled, runbookRules === undefined, lists.map((list) => list.map(numberOf))]);
}
