import { addToGroup } from '../../model/collections.ts';
import { canonical, type JsonObject, textsIn } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { AccessFacts } from '../access/access-index.ts';
import { protectingFields } from '../controls/control-table.ts';
import type { Posture } from '../controls/control-row.ts';
import type { PostureReader } from './posture.ts';
import { readAccessIn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** Connections on which the same rules have the same effect, before and after a plan. */
export type AlikeConnections = {
  /** The connections, in the order in which they were given. */
  readonly members: readonly ResourceId[];
  /** The same connections: in one list are those that the plan treats alike in everything that protects. */
  readonly alike: readonly (readonly ResourceId[])[];
};

/** The change that writes each attached or detached edge of a connection, by rule. */
export type EdgeWriters = ReadonlyMap<ResourceId, ResourceId>;

/** The protection before and after a plan, with readers of the postures. */
type BothSides = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly postureBefore: PostureReader;
  readonly postureAfter: PostureReader;
};

type AlikeInput = {
  readonly snapshots: BothSides;
  readonly isChanged: (connection: ResourceId) => boolean;
  readonly writersOf: (connection: ResourceId) => EdgeWriters | undefined;
};

/**
 * Groups connections by everything that decides what a plan does to them: each set of rules needs to be compared once only,
 * however many connections share it. All of them must exist before and after the plan.
 */
export function groupAlike(ids: readonly ResourceId[], { snapshots, isChanged, writersOf }: AlikeInput): readonly AlikeConnections[] {
  const { before, after, postureBefore, postureAfter } = snapshots;
  const numberOf = createNumbering();
  const sides = [
    { snapshot: before, lookup: readAccessIn(before).lookup, read: postureBefore },
    { snapshot: after, lookup: readAccessIn(after).lookup, read: postureAfter },
  ];
  const groups = new Map<string, { readonly members: ResourceId[]; readonly alike: Map<string, ResourceId[]> }>();
  for (const id of ids) {
    const writers = [...(writersOf(id) ?? [])].map(([rule, by]) => `${numberOf(rule)} ${by === id ? 'own' : numberOf(by)}`);
    const states = sides.map(({ snapshot, lookup, read }) => {
      const spec = snapshot.resources.get(id)?.spec ?? {};
      return { rules: ruleKey(id, snapshot, numberOf), enforced: enforcementKey(read(id)), spec, facts: lookup(nameOf(id), spec) };
    });
    const shared = [isChanged(id), writers.toSorted(), states.map(({ rules, enforced, facts }) => [rules, enforced, facts.attributes])];
    const group = getOrAdd(groups, JSON.stringify(shared), () => ({ members: [], alike: new Map<string, ResourceId[]>() }));
    group.members.push(id);
    const own = states.map(({ spec, facts }) => `${protectionKey(spec)} ${factsKey(facts, numberOf)}`);
    addToGroup(group.alike, own.join('\u0000'), id);
  }
  return [...groups.values()].map(({ members, alike }) => ({ members, alike: [...alike.values()] }));
}

function getOrAdd<Value>(groups: Map<string, Value>, key: string, make: () => Value): Value {
  const value = groups.get(key) ?? make();
  groups.set(key, value);
  return value;
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
    : JSON.stringify([posture.enforcement, posture.controls.redaction ?? [], [...posture.incomplete].toSorted()]);
}

function protectionKey(spec: JsonObject): string {
  return canonical(Object.fromEntries(protectingFields.flatMap((field) => (field in spec ? [[field, spec[field] ?? null]] : []))));
}

/** Returns a text that is the same where the gateway decides access by the same objects. */
function factsKey(facts: AccessFacts, numberOf: Numbering): string {
  const { row, granted, isControlled, byAttribute, byName, runbookRules, rulepacks, analyzer, machines } = facts;
  const lists = [byAttribute, byName, runbookRules ?? [], rulepacks, machines, analyzer === undefined ? [] : [analyzer]];
  return JSON.stringify([row, granted, isControlled, runbookRules === undefined, lists.map((list) => list.map(numberOf))]);
}
