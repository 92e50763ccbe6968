import { isObject, type JsonObject, textsIn, objectsIn } from '../../src/model/json.ts';
import { kindOf, type ResourceId } from '../../src/model/resource.ts';
import type { MemoryResource } from './memory-store.ts';

/** The protection of one connection as controls that can be compared one by one; a lower limit is stricter. */
type Posture = { readonly has: ReadonlySet<string>; readonly limits: ReadonlyMap<string, number> };

export type ResourceStates = Readonly<Record<ResourceId, MemoryResource>>;

const modes = ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'] as const;
const allGroups = ['dba', 'sre', 'security'] as const;

/** The thresholds that a gateway may use for a rule without one: none that masks anything, or the strictest. */
const ownThresholds = [2, 0] as const;

/** The protection of a connection: its own and that of every rule attached to it. */
export function postureOf(resources: ResourceStates, id: ResourceId, ownThreshold: number = ownThresholds[0]): Posture | undefined {
  const connection = resources[id];
  if (connection === undefined) return undefined;
  const spec = connection.spec ?? {};
  const has = new Set<string>();
  const limits = new Map<string, number>();
  for (const field of [...modes, 'access_schema']) if (spec[field] === 'disabled') has.add(`closed ${field}`);
  for (const group of textsIn(spec['reviewers'])) has.add(`reviewer ${group}`);
  // Without review every group passes, and a group that is the only reviewer need not force anything.
  const reviewers = textsIn(spec['reviewers']);
  const passes = (group: string): boolean => reviewers.length === 0 || (reviewers.length === 1 && reviewers[0] === group);
  for (const group of allGroups) if (!textsIn(spec['force_approve_groups']).includes(group) && !passes(group)) has.add(`no force ${group}`);
  for (const type of textsIn(spec['redact_types'])) has.add(`redacts ${type}`);
  // The public gateway reads the limit of a connection only where its reviewers approve.
  const isLimited = spec['limited_with'] !== 'reviewers' || reviewers.length > 0;
  const longest = isLimited ? spec['access_max_duration'] : undefined;
  // It limits native sessions alone: none is longer where there are none.
  const isNative = spec['access_mode_connect'] !== 'disabled';
  limits.set('duration', isNative ? (typeof longest === 'number' ? longest : Number.POSITIVE_INFINITY) : 0);
  for (const rule of Object.values(resources)) {
    if (!(rule.edges?.['connection_ids'] ?? []).includes(id)) continue;
    if (kindOf(rule.id) === 'GuardrailRule') addGuardrail(has, rule.spec ?? {});
    else addMasking(limits, rule.spec ?? {}, ownThreshold);
  }
  return { has, limits };
}

/** Returns whether all access modes are closed. */
function isClosed(posture: Posture): boolean {
  return modes.every((mode) => posture.has.has(`closed ${mode}`));
}

/** Lists the controls of `wished` that `found` lacks; empty when `found` protects at least as much. What sessions redact need not be masked. */
export function missingControls(found: Posture, wished: Posture): readonly string[] {
  const parts = [...wished.has].filter((part) => !found.has.has(part));
  const limits = [...wished.limits]
    .filter(([name, limit]) => (found.limits.get(name) ?? Number.POSITIVE_INFINITY) > limit)
    .filter(([name]) => !found.has.has(name.replace(/^masks /, 'redacts ')))
    .map(([name]) => name);
  return [...parts, ...limits];
}

/** Lists the connections that a state protects less than both the state before and the state after. */
export function exposedConnections(state: ResourceStates, before: ResourceStates, after: ResourceStates): readonly string[] {
  const found = ownThresholds.flatMap((ownThreshold) =>
    Object.values(state).flatMap(({ id }) => {
      const sides = [state, before, after].map((one) => postureOf(one, id, ownThreshold));
      return kindOf(id) === 'Connection' ? exposureOf(id, sides) : [];
    }),
  );
  return [...new Set(found)];
}

/** Describes the exposure of one connection; one that does not exist before or after is closed there. */
function exposureOf(id: ResourceId, [now, first, last]: readonly (Posture | undefined)[]): readonly string[] {
  if (now === undefined || isClosed(now)) return [];
  const [before, after] = [first, last].map((side) => side && missingControls(now, side));
  if (before?.length === 0 || after?.length === 0) return [];
  const missing = [
    ...(before === undefined ? [] : [`${before.join(', ')} of before`]),
    ...(after === undefined ? [] : [`${after.join(', ')} of after`]),
  ];
  return [`${id} is open and lacks ${missing.join(', ')}`];
}

function addGuardrail(has: Set<string>, spec: JsonObject): void {
  for (const side of ['input', 'output']) {
    const rules = spec[side];
    for (const rule of isObject(rules) ? objectsIn(rules['rules']) : []) {
      for (const word of textsIn(rule['words'])) has.add(`${side} blocks ${word}`);
      if (rule['pattern_regex'] !== '' && rule['pattern_regex'] !== undefined)
        has.add(`${side} blocks /${JSON.stringify(rule['pattern_regex'])}/`);
    }
  }
}

/** A rule finds an entity from its threshold on; of several rules the strictest counts. */
function addMasking(limits: Map<string, number>, spec: JsonObject, ownThreshold: number): void {
  const threshold = typeof spec['score_threshold'] === 'number' ? spec['score_threshold'] : ownThreshold;
  const add = (entity: string, score = 0): void => {
    limits.set(entity, Math.min(limits.get(entity) ?? Number.POSITIVE_INFINITY, threshold - score));
  };
  // A custom type has one score: it reaches a threshold or it does not, and nothing is stricter than reaching it.
  const addCustom = (entity: string, score: number): void => {
    if (typeof spec['score_threshold'] !== 'number') add(entity, score);
    else if (score >= threshold) limits.set(entity, -1);
  };
  for (const group of objectsIn(spec['supported_entity_types'])) for (const type of textsIn(group['entity_types'])) add(`masks ${type}`);
  for (const custom of objectsIn(spec['custom_entity_types']))
    addCustom(`masks ${JSON.stringify([custom['name'], custom['regex']])}`, typeof custom['score'] === 'number' ? custom['score'] : 0);
}
