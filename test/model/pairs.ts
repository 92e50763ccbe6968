import type * as fc from 'fast-check';
import type { MemoryResource } from '../support/memory-store.ts';
import type { Manifest } from '../support/scenario.ts';
import { stateOf } from './declared-state.ts';
import { connectionNames, drawing, isGuardrail, ruleNames, unmanagedNames, type Drawing } from './drawing.ts';
import type { ModelGateway } from './gateway-objects.ts';
import type { Side } from './pair-fields.ts';
import { connectionManifest, replaces, replacesMasking, ruleManifest } from './side-manifests.ts';

/** The manifests that were applied, the manifests now, and the gateway, which may have drifted. */
export type Pair = {
  readonly dialect: 'interface' | 'hoop';
  /** What a public gateway reports of itself. */
  readonly gateway?: ModelGateway;
  /** What the token of a pull request sees of secrets: all, no live values, or no values from outside the manifests. */
  readonly sight: 'shown' | 'hidden' | 'unresolved';
  /** Absent where nothing is known about earlier applies. */
  readonly base: readonly Manifest[] | undefined;
  readonly manifests: readonly Manifest[];
  readonly live: readonly MemoryResource[];
  readonly prune: boolean;
  /** Whether the gateway reports its own longest access, as `ostiary serve` does. */
  readonly reportsLimit: boolean;
  /** Whether the token can read that the gateway has no access-request rules; `access-pairs.ts` has pairs with such rules. */
  readonly readsAccess: boolean;
  /** The secrets of resources in base64, by the name of the resource; its connections inherit them. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Connections that the gateway reports as unwritten since their creation, by `Connection/name`. */
  readonly untouched: readonly string[];
  /** The predecessor of each successor, by id. */
  readonly predecessors: Readonly<Record<string, string>>;
  /** The objects that no manifest ever declared. */
  readonly unmanaged: readonly string[];
};

/** Generates projects of one to three connections and up to three rules, with changes in the manifests, on the gateway, or both. */
export const pairs: fc.Arbitrary<Pair> = drawing.map(pairOf);

function pairOf(drawn: Drawing): Pair {
  const exists = (name: string, index: number, count: number): boolean =>
    unmanagedNames.includes(name) ? drawn.unmanaged.includes(name) : index < count;
  const connections = drawn.connections
    .map((one, index) => ({ ...one, name: connectionNames[index] ?? '' }))
    .filter(({ name }, index) => exists(name, index, drawn.count));
  const rules = drawn.rules
    .map((one, index) => ({ ...one, name: ruleNames[index] ?? '' }))
    .filter(({ name }, index) => exists(name, index, drawn.ruleCount));
  const objectsOn = (side: Side): readonly Manifest[] => [
    ...connections.flatMap((one) => connectionManifest(one, rules, { side, drawn })),
    ...rules.flatMap((one) => ruleManifest(one, connections, { side, drawn })),
  ];
  const applied = objectsOn('base');
  const unfinished = drawn.interrupted === true ? [`Connection/${connectionNames[drawn.count - 1] ?? ''}`] : [];
  const live = stateOf(objectsOn('live')).map((one) => {
    const name = one.id.slice(one.id.indexOf('/') + 1);
    const found = unfinished.includes(one.id) ? closed(one) : one;
    return drawn.managed.includes(name) ? { ...found, managedBy: 'platform' } : found;
  });
  const isLive = (name: string): boolean => live.some(({ id }) => id === name);
  return {
    dialect: drawn.dialect,
    ...(drawn.dialect === 'hoop' ? { gateway: drawn.gateway } : {}),
    sight: drawn.sight,
    base: drawn.scenario === 'first' || applied.length === 0 ? undefined : applied,
    manifests: objectsOn('desired'),
    live,
    resources: drawn.resources,
    untouched: unfinished,
    prune: drawn.prune,
    reportsLimit: drawn.dialect === 'interface' && drawn.reportsLimit,
    readsAccess: drawn.dialect === 'interface' || drawn.readsAccess,
    predecessors: {
      ...(replaces(drawn) && isLive('Connection/c0') ? { 'Connection/successor': 'Connection/c0' } : {}),
      ...(replacesMasking(drawn) && isLive('DataMaskingRule/m0') ? { 'DataMaskingRule/mask-next': 'DataMaskingRule/m0' } : {}),
    },
    unmanaged: [...connections, ...rules].flatMap(({ name }) => (unmanagedNames.includes(name) ? [idOf(name)] : [])),
  };
}

function idOf(name: string): string {
  if (connectionNames.some((one) => one === name)) return `Connection/${name}`;
  return `${isGuardrail(name) ? 'GuardrailRule' : 'DataMaskingRule'}/${name}`;
}

function closed(one: MemoryResource): MemoryResource {
  return { ...one, spec: { ...one.spec, access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' } };
}
