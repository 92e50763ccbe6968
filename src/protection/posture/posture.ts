import { addToGroup, memoizeByObject, onceInEach } from '../../model/collections.ts';
import { compareText, isObject, type Json, type JsonObject, sortedKeys, textsIn } from '../../model/json.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypes, type Attachment, type ControlType } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import type { Control, Posture } from '../controls/control-row.ts';
import { decidesAccess, isEffectiveRule } from '../access/deciding-kinds.ts';
import { controlRow, controlsOfRuleKind, controlTable, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { accessIn, type AccessInState } from './connection-access.ts';
import { rulesOn, type ResourceSnapshot, type ProtectionSnapshot } from './protection-snapshot.ts';

const none: readonly Control[] = [];

const connectionRows = controlTable.flatMap(({ type, ofConnection }) => (ofConnection === undefined ? [] : [{ type, ofConnection }]));
const ruleRows = controlTable.filter(({ ofRules }) => ofRules !== undefined);

/** More sets of rules are not remembered: states that need the same set follow each other. */
const mostSets = 4096;

/** Returns the value of a key, made when it is not known; a full cache starts anew. */
function remember<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (known.size >= mostSets) known.clear();
  known.set(key, made);
  return made;
}

let count = 0;

/** Returns a number that is the same for the same object. */
export const numberOf: (value: object) => number = memoizeByObject(() => (count += 1));

const knownRules = new WeakMap<ResourceSnapshot, { readonly id: ResourceId; readonly controls: RuleControls }>();
const missing = new Map<string, RuleControls>();

/** Returns the controls of a rule, read once for all connections and states that have it. */
function readRule(id: ResourceId, resource: ResourceSnapshot | undefined): RuleControls {
  if (resource === undefined) return remember(missing, id, () => controlsOfRule(id, resource));
  const known = knownRules.get(resource);
  if (known?.id === id) return known.controls;
  const controls = controlsOfRule(id, resource);
  knownRules.set(resource, { id, controls });
  return controls;
}

const joint = new Map<string, RuleControls>();
const listed = new Map<string, Posture['rules']>();

/** Returns the posture of a connection in a state; undefined when it does not exist. States with the same rules share their controls. */
export const postureIn: (state: ProtectionSnapshot, connection: ResourceId) => Posture | undefined = onceInEach(
  (state: ProtectionSnapshot) => (id: ResourceId) => {
    const [resource, access] = [state.resources.get(id), accessIn(state, id)];
    if (resource === undefined || access === undefined) return undefined;
    const rules = [...attachmentsOn(state, id)].map(([rule, by]): AttachedRule => {
      const own = state.resources.get(rule);
      return { rule, by, resource: own, controls: readRule(rule, own) };
    });
    const key = rules.map(({ controls }) => numberOf(controls)).join(' ');
    const combined = remember(joint, key, () => combineRules(rules));
    const effects = remember(listed, `${key} by ${rules.map(({ by }) => numberOf(by)).join(' ')}`, () => effectsOf(rules));
    return postureOf(resource, access, { ...combined, effects, state });
  },
);

/** A rule on a connection, and what attaches it. */
type AttachedRule = {
  readonly rule: ResourceId;
  readonly resource: ResourceSnapshot | undefined;
  readonly by: readonly Attachment[];
  readonly controls: RuleControls;
};

/** Lists what each rule on a connection does there, and what attaches it. */
function effectsOf(rules: readonly AttachedRule[]): Posture['rules'] {
  return new Map(
    rules
      .filter(({ rule, resource }) => isEffectiveRule(rule, resource?.spec))
      .map(({ rule, controls, by }) => [
        rule,
        { controls: decidesAccess(kindOf(rule)) ? ruleControlTypes(kindOf(rule)) : controlTypesIn(controls), by },
      ]),
  );
}

type RuleControls = Pick<Posture, 'controls'> & { readonly incomplete: readonly ControlType[] };

function controlTypesIn({ controls }: RuleControls): readonly ControlType[] {
  return controlTypes.filter((control) => (controls[control] ?? none).length > 0);
}

function combineRules(rules: readonly AttachedRule[]): RuleControls {
  const all = ruleRows.map(({ type }) => [type, mergeControls(rules.flatMap(({ controls: { controls } }) => controls[type] ?? []))]);
  return { controls: Object.fromEntries(all), incomplete: rules.flatMap(({ controls: { incomplete } }) => incomplete) };
}

/** The rules on a connection, and what its state says of all connections. */
type StateOfRules = RuleControls & {
  readonly effects: Posture['rules'];
  readonly state: Pick<ProtectionSnapshot, 'samples' | 'listed'>;
};

function postureOf({ spec, unknown }: ResourceSnapshot, { facts, access, enforcement }: AccessInState, rules: StateOfRules): Posture {
  // Not a spread: on Node 20, each field added to its result makes another hidden class.
  const controls: Partial<Record<ControlType, readonly Control[]>> = Object.assign({}, rules.controls);
  const { state } = rules;
  const { incomplete } = state.listed;
  for (const { type, ofConnection } of connectionRows) controls[type] = ofConnection(spec, { facts, is: access });
  return {
    controls,
    access,
    enforcement,
    samples: state.samples,
    incomplete:
      unknown.length + rules.incomplete.length === 0
        ? incomplete
        : new Set([...incomplete, ...rules.incomplete, ...unknown.flatMap((path) => controlTypesAt(path, spec))]),
    tags: sortTags(spec['connection_tags']),
    rules: rules.effects,
  };
}

function controlTypesAt(path: Pointer, spec: JsonObject): readonly ControlType[] {
  const types = tokensOf(path).length === 0 ? controlTypes : controlTypesOf('Connection', path);
  return types.filter((type) => controlRow(type).isRead?.(spec) !== true);
}

function sortTags(tags: Json | undefined): JsonObject {
  return isObject(tags) ? Object.fromEntries(sortedKeys(tags).map((key) => [key, tags[key] ?? null])) : {};
}

/** Merges the controls of several rules; equal controls become one with all its rules. */
function mergeControls(controls: readonly Control[]): readonly Control[] {
  if (controls.length < 2) return controls;
  const all = new Map<string, Control>();
  for (const control of controls) {
    const { rules: _, ...rest } = control;
    const key = JSON.stringify(rest);
    const existing = all.get(key);
    all.set(key, existing === undefined ? control : { ...existing, rules: [...(existing.rules ?? []), ...(control.rules ?? [])] });
  }
  return [...all.values()].toSorted((left, right) => compareText(left.name, right.name) || (left.limit ?? 0) - (right.limit ?? 0));
}

/** Reads the controls of a rule. A rule that cannot be read counts as one unknown control of each of its types. */
function controlsOfRule(id: ResourceId, resource: ResourceSnapshot | undefined): RuleControls {
  const kind = kindOf(id);
  if (resource === undefined) {
    const every = controlsOfRuleKind(kind).map(({ type }) => type);
    const control = { name: `(${nameOf(id)})`, rules: [id] };
    return { controls: Object.fromEntries(every.map((type) => [type, [control]])), incomplete: every };
  }
  const { spec, unknown } = resource;
  const incomplete = unknown.flatMap((path) => (tokensOf(path).length === 0 ? ruleControlTypes(kind) : controlTypesOf(kind, path)));
  const controls = Object.fromEntries(controlsOfRuleKind(kind).map(({ type, read }) => [type, read(spec, [id])]));
  return { controls, incomplete };
}

/** The attachment of an edge that no known manifest declares. */
const undeclaredEdge: readonly Attachment[] = [{ how: 'edge' }];
const noAttachments: readonly Attachment[] = [];
const onlyEverywhere: readonly Attachment[] = [{ how: 'every' }];

const listsIn: (snapshot: ProtectionSnapshot) => Map<string, readonly Attachment[]> = memoizeByObject(() => new Map());

/** Returns one list for all equal lists of attachments in a snapshot: most connections get a rule in the same way. */
function sharedList(snapshot: ProtectionSnapshot, list: readonly Attachment[]): readonly Attachment[] {
  return remember(listsIn(snapshot), list.map((one) => `${one.how} ${one.attribute ?? ''}`).join('\u0000'), () => list);
}

/** Lists the rules on a connection with everything that attaches them: edges, as manifests declare them, and shared attributes. */
function attachmentsOn(snapshot: ProtectionSnapshot, connection: ResourceId): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const attached = snapshot.edges.get(connection);
  const attributes =
    snapshot.rulesByAttribute.size === 0 ? [] : textsIn(snapshot.resources.get(connection)?.spec['attributes']).toSorted(compareText);
  const byAttribute = new Map<ResourceId, string[]>();
  for (const attribute of attributes)
    for (const rule of snapshot.rulesByAttribute.get(attribute) ?? []) addToGroup(byAttribute, rule, attribute);
  const attachmentsOf = (rule: ResourceId): readonly Attachment[] => {
    const isNamed = attached?.has(rule) === true;
    const declared = isNamed ? (snapshot.declaredAttachments?.({ rule, connection }) ?? noAttachments) : noAttachments;
    const edges = isNamed && declared.length === 0 ? undeclaredEdge : declared;
    const shared = byAttribute.get(rule);
    if (shared === undefined) return isNamed ? edges : onlyEverywhere;
    return sharedList(snapshot, [...edges, ...shared.map((attribute): Attachment => ({ how: 'attribute', attribute }))]);
  };
  const all = new Map<ResourceId, readonly Attachment[]>();
  for (const rule of [...rulesOn(snapshot, connection)].toSorted()) all.set(rule, attachmentsOf(rule));
  return all;
}
