import { addToGroup } from '../../model/collections.ts';
import { canonical, compareText, isObject, type Json, type JsonObject, sortedKeys, textsIn } from '../../model/json.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypes, type Attachment, type ControlType } from '../../model/protection/protection.ts';
import { isAttribute } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import type { Control, GatewayAccess, Posture, SampleText } from '../controls/control-row.ts';
import { decidesAccess } from '../access/deciding-kinds.ts';
import { accessOf } from '../access/effective-access.ts';
import { ownApproval } from '../controls/connection-rows.ts';
import { controlRow, controlsOfRuleKind, controlTable, controlTypesOf, ruleControlTypes } from '../controls/control-table.ts';
import { enforcementOf, runsCommands } from '../controls/enforcement.ts';
import { readAccessIn, rulesOn, type ResourceSnapshot, type ProtectionSnapshot } from './protection-snapshot.ts';

const none: readonly Control[] = [];

const connectionRows = controlTable.flatMap(({ type, ofConnection }) => (ofConnection === undefined ? [] : [{ type, ofConnection }]));
const ruleRows = controlTable.filter(({ ofRules }) => ofRules !== undefined);

/** Returns the posture of a connection; undefined when it does not exist. */
export type PostureReader = (connection: ResourceId) => Posture | undefined;

/** One connection with the rules on it, as one moment or one step of a plan has them. */
type ConnectionState = {
  readonly id: ResourceId;
  readonly resource: ResourceSnapshot;
  readonly rules: ReadonlyMap<ResourceId, ResourceSnapshot | undefined>;
  readonly attachments?: ReadonlyMap<ResourceId, readonly Attachment[]>;
  /** What the gateway decides about access, if that is not what the builder knows. */
  readonly access?: GatewayAccess;
};

/** What is the same for all connections of a gateway. */
type PostureContext = Pick<ProtectionSnapshot, 'samples'> & { readonly access: GatewayAccess };

/** Builds the posture of one state of a connection. */
export type PostureBuilder = (state: ConnectionState) => Posture;

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

/** Returns a builder of postures. Each rule is read once, and states with the same rules share their controls. */
export function createPostureBuilder({ access: usual, samples }: PostureContext): PostureBuilder {
  const single = new Map<ResourceId, Map<ResourceSnapshot | undefined, RuleControls>>();
  const joint = new Map<string, Omit<RuleControls, 'key'>>();
  const listed = new Map<string, Posture['rules']>();
  const numbers = new WeakMap<readonly Attachment[], number>();
  let count = 0;
  const numberOf = (list: readonly Attachment[]): number => {
    const found = numbers.get(list);
    if (found !== undefined) return found;
    numbers.set(list, (count += 1));
    return count;
  };
  const ofRule = (id: ResourceId, resource: ResourceSnapshot | undefined): RuleControls => {
    const known = single.get(id) ?? new Map<ResourceSnapshot | undefined, RuleControls>();
    const found = known.get(resource);
    if (found !== undefined) return found;
    const controls = { ...controlsOfRule(id, resource), key: (count += 1) };
    single.set(id, known.set(resource, controls));
    return controls;
  };
  return ({ id, resource, rules, attachments, access = usual }) => {
    const all = new Map<ResourceId, RuleControls>();
    const by = (rule: ResourceId): readonly Attachment[] => attachments?.get(rule) ?? noAttachments;
    let [key, attachedKey] = ['', ''];
    for (const [rule, own] of rules) {
      const one = ofRule(rule, own);
      all.set(rule, one);
      key += `${one.key} `;
      attachedKey += `${numberOf(by(rule))} `;
    }
    const combined = remember(joint, key, () => combineRules(all, samples));
    const effects = remember(listed, `${key}${attachedKey}`, () => effectsOf(all, { rules, by }));
    return postureOf({ id, ...resource }, { ...combined, effects }, access);
  };
}

type AttachedRules = Pick<ConnectionState, 'rules'> & { readonly by: (rule: ResourceId) => readonly Attachment[] };

/** Lists what each rule on a connection does there, and what attaches it. */
function effectsOf(all: ReadonlyMap<ResourceId, RuleControls>, { rules, by }: AttachedRules): Posture['rules'] {
  return new Map(
    [...all]
      .filter(([rule]) => isEffectiveRule(rule, rules.get(rule)))
      .map(([rule, one]) => [
        rule,
        { controls: decidesAccess(kindOf(rule)) ? ruleControlTypes(kindOf(rule)) : controlTypesIn(one), by: by(rule) },
      ]),
  );
}

/** Returns whether an object on a connection may do something: an attribute without groups grants nothing. */
export function isEffectiveRule(id: ResourceId, resource: ResourceSnapshot | undefined): boolean {
  return !isAttribute(id) || textsIn(resource?.spec['access_groups']).length > 0;
}

/** Returns a reader of postures. Readers with the same builder share what they read. */
export function readPostures(
  snapshot: ProtectionSnapshot,
  shared?: PostureBuilder,
  access: GatewayAccess = readAccessIn(snapshot),
): PostureReader {
  const build = shared ?? createPostureBuilder({ access, samples: snapshot.samples });
  return (connection) => {
    const resource = snapshot.resources.get(connection);
    if (resource === undefined) return undefined;
    const attachments = attachmentsOn(snapshot, connection);
    const rules = new Map<ResourceId, ResourceSnapshot | undefined>();
    for (const id of attachments.keys()) rules.set(id, snapshot.resources.get(id));
    return build({ id: connection, resource, rules, attachments, access });
  };
}

type RuleControls = Pick<Posture, 'controls' | 'samples'> & { readonly incomplete: readonly ControlType[]; readonly key: number };

function controlTypesIn({ controls }: Pick<RuleControls, 'controls'>): readonly ControlType[] {
  return controlTypes.filter((control) => (controls[control] ?? none).length > 0);
}

function combineRules(byRule: ReadonlyMap<ResourceId, RuleControls>, samples: ProtectionSnapshot['samples']): Omit<RuleControls, 'key'> {
  const rules = [...byRule];
  const all = ruleRows.map(({ type }) => [type, mergeControls(rules.flatMap(([, { controls }]) => controls[type] ?? []))]);
  return {
    controls: Object.fromEntries(all),
    incomplete: rules.flatMap(([, { incomplete }]) => incomplete),
    samples: samples === undefined ? noSamples : rules.flatMap(([id]) => samples.get(id) ?? noSamples),
  };
}

const noSamples: readonly SampleText[] = [];

type StateOfRules = Omit<RuleControls, 'key'> & { readonly effects: Posture['rules'] };

function postureOf(
  { id, spec, unknown }: ResourceSnapshot & { readonly id: ResourceId },
  rules: StateOfRules,
  { lookup, license, longestAccess: longest, incomplete, enforcing }: GatewayAccess,
): Posture {
  const own = ownApproval(spec);
  const facts = lookup(nameOf(id), spec);
  const enforcement = enforcementOf(spec, enforcing);
  const access = accessOf({ spec, runsCommands: runsCommands(enforcement), own, facts, license, longest });
  // Not a spread: on Node 20, each field added to its result makes another hidden class.
  const controls: Partial<Record<ControlType, readonly Control[]>> = Object.assign({}, rules.controls);
  for (const { type, ofConnection } of connectionRows) controls[type] = ofConnection(spec, { facts, is: access });
  return {
    controls,
    approvals: own?.needed ?? 0,
    access,
    enforcement,
    samples: rules.samples,
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
    const key = canonical({ ...rest });
    const existing = all.get(key);
    all.set(key, existing === undefined ? control : { ...existing, rules: [...(existing.rules ?? []), ...(control.rules ?? [])] });
  }
  return [...all.values()].toSorted((left, right) => compareText(left.name, right.name) || (left.limit ?? 0) - (right.limit ?? 0));
}

/** Reads the controls of a rule. A rule that cannot be read counts as one unknown control of each of its types. */
function controlsOfRule(id: ResourceId, resource: ResourceSnapshot | undefined): Omit<RuleControls, 'key'> {
  const kind = kindOf(id);
  if (resource === undefined) {
    const every = controlsOfRuleKind(kind).map(({ type }) => type);
    const control = { name: `(${nameOf(id)})`, rules: [id] };
    return { controls: Object.fromEntries(every.map((type) => [type, [control]])), incomplete: every, samples: noSamples };
  }
  const { spec, unknown } = resource;
  const incomplete = unknown.flatMap((path) => (tokensOf(path).length === 0 ? ruleControlTypes(kind) : controlTypesOf(kind, path)));
  const controls = Object.fromEntries(controlsOfRuleKind(kind).map(({ type, read }) => [type, read(spec, [id])]));
  return { controls, incomplete, samples: noSamples };
}

/** The attachment of an edge that no known manifest declares. */
const undeclaredEdge: readonly Attachment[] = [{ how: 'edge' }];
const noAttachments: readonly Attachment[] = [];
const onlyEverywhere: readonly Attachment[] = [{ how: 'every' }];

const knownLists = new WeakMap<ProtectionSnapshot, Map<string, readonly Attachment[]>>();

/** Returns one list for all equal lists of attachments in a snapshot: most connections get a rule in the same way. */
function sharedList(snapshot: ProtectionSnapshot, list: readonly Attachment[]): readonly Attachment[] {
  const lists = knownLists.get(snapshot) ?? new Map<string, readonly Attachment[]>();
  knownLists.set(snapshot, lists);
  return remember(lists, list.map((one) => `${one.how} ${one.attribute ?? ''}`).join('\u0000'), () => list);
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
