import { canonical, compareText, isObject, sortedKeys, type Json, type JsonObject } from '../../model/json.ts';
import type { AccessRule } from '../../model/live.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import {
  controlTypes,
  type Attachment,
  type ControlType,
  type RuleEffect,
  type ProtectionVerdict,
} from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { objectsIn, rulesOn, accessRulesOn, textsIn, type ResourceSnapshot, type ProtectionSnapshot } from './protection-snapshot.ts';
import { directionOf, verdictOf } from '../../model/spec/direction.ts';
import type { Kind } from '../../model/kind.ts';
import type { FieldChange } from '../../model/plan/plan.ts';

/** Returns the verdict of one changed field of a kind. */
export function fieldVerdict(kind: Kind, field: Pick<FieldChange, 'path' | 'before' | 'after'>): ProtectionVerdict {
  return verdictOf(directionOf(kind.fields, field));
}

const ruleFields: readonly ControlType[] = ['input', 'output', 'masking'];
const connectionFields: Readonly<Record<string, readonly ControlType[]>> = {
  access_mode_connect: ['access'],
  access_mode_exec: ['access'],
  access_mode_runbooks: ['access'],
  reviewers: ['review'],
  min_review_approvals: ['review'],
  redact_enabled: ['redaction'],
  redact_types: ['redaction'],
  force_approve_groups: ['force'],
  access_max_duration: ['duration'],
  access_schema: ['schema'],
  mandatory_metadata_fields: ['metadata'],
  attributes: ['attributes', 'requests', ...ruleFields],
};
const guardrail: Readonly<Record<string, readonly ControlType[]>> = {
  input: ['input'],
  output: ['output'],
  attributes: ['input', 'output'],
};
const masking: Readonly<Record<string, readonly ControlType[]>> = {
  score_threshold: ['masking'],
  supported_entity_types: ['masking'],
  custom_entity_types: ['masking'],
  attributes: ['masking'],
};
const controlTypesByKind: Readonly<Record<string, Readonly<Record<string, readonly ControlType[]>>>> = {
  Connection: connectionFields,
  GuardrailRule: guardrail,
  DataMaskingRule: masking,
};

/** Lists the control types that a field of a kind affects; empty when it protects nothing. */
export function controlTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  const [name = ''] = tokensOf(path);
  return controlTypesByKind[kind]?.[name] ?? [];
}

/** Lists the fields of a connection that form a control; `approvals` is part of the review. */
export function fieldsOfControl(control: string): readonly string[] {
  const type = control === 'approvals' ? 'review' : control;
  return Object.entries(connectionFields).flatMap(([name, types]) => (types.some((one) => one === type) ? [name] : []));
}

/** Lists all control types that a rule of the kind affects. */
export function ruleControlTypes(kind: string): readonly ControlType[] {
  if (kind === 'GuardrailRule') return ['input', 'output'];
  return kind === 'DataMaskingRule' ? ['masking'] : [];
}

/** One control between people and a connection. In `access`, `schema` and `force` it grants access instead. */
export type Control = {
  /** The identity within its control type: a group, a word, an entity type. */
  readonly name: string;
  /** A `word` covers every longer word that contains it; a `pattern` can only be compared with itself. */
  readonly form?: 'word' | 'pattern';
  /** The custom entity type that a pattern defines. */
  readonly entityType?: string;
  /** Lower is stricter: seconds, or the score (0 to 1) from which something is masked. */
  readonly limit?: number;
  /** The limit is relative to the gateway's own threshold, which cannot be compared with a number. */
  readonly relativeToGateway?: true;
  /** The text in reports, if that is not the name. */
  readonly text?: string;
  /** The rules that contribute it. */
  readonly rules?: readonly ResourceId[];
};

/** Everything between people and one connection. */
export type Posture = {
  readonly controls: Readonly<Partial<Record<ControlType, readonly Control[]>>>;
  /** The number of reviewer groups that must approve. */
  readonly approvals: number;
  /** Control types that may have more controls than can be read. */
  readonly incomplete: ReadonlySet<ControlType>;
  readonly tags: JsonObject;
  /** The rules on the connection, sorted by id: their control types and attachments. */
  readonly rules: ReadonlyMap<ResourceId, RuleEffect>;
};

/** The posture of a connection that does not exist. */
export const emptyPosture: Posture = { controls: {}, approvals: 0, incomplete: new Set(), tags: {}, rules: new Map() };

const none: readonly Control[] = [];

/** Returns the controls of one type. */
export function controlsOf({ controls }: Posture, aspect: ControlType): readonly Control[] {
  return controls[aspect] ?? none;
}

/** Returns the posture of a connection; undefined when it does not exist. */
export type PostureReader = (connection: ResourceId) => Posture | undefined;

/** Returns a reader of postures. Each rule is read once, and connections with the same rules share their controls. */
export function readPostures(snapshot: ProtectionSnapshot): PostureReader {
  const single = new Map<ResourceId, RuleControls>();
  const joint = new Map<string, RuleControls>();
  const ofRule = (id: ResourceId): RuleControls => {
    const controls = single.get(id) ?? controlsOfRule(id, snapshot.resources.get(id));
    single.set(id, controls);
    return controls;
  };
  return (connection) => {
    const resource = snapshot.resources.get(connection);
    if (resource === undefined) return undefined;
    const attached = attachmentsOn(snapshot, connection);
    const key = [...attached.keys()].join('\u0000');
    const controls = joint.get(key) ?? combineRules([...attached.keys()].map(ofRule));
    joint.set(key, controls);
    const rules = new Map([...attached].map(([rule, by]) => [rule, { aspects: controlTypesIn(ofRule(rule)), by }]));
    return postureOf(resource, { ...controls, rules, accessRules: accessRulesOn(snapshot, connection) }, snapshot.incomplete);
  };
}

type RuleControls = { readonly controls: Posture['controls']; readonly incomplete: readonly ControlType[] };

function controlTypesIn({ controls }: RuleControls): readonly ControlType[] {
  return controlTypes.filter((aspect) => (controls[aspect] ?? none).length > 0);
}

function combineRules(rules: readonly RuleControls[]): RuleControls {
  const all = (['input', 'output', 'masking'] as const).map((aspect) => [
    aspect,
    mergeControls(rules.flatMap(({ controls }) => controls[aspect] ?? [])),
  ]);
  return { controls: Object.fromEntries(all), incomplete: rules.flatMap(({ incomplete }) => incomplete) };
}

function postureOf(
  { spec, unknown }: ResourceSnapshot,
  rules: RuleControls & Pick<Posture, 'rules'> & { readonly accessRules: readonly AccessRule[] },
  incomplete: ReadonlySet<ControlType>,
): Posture {
  const groups = controlsNamed(spec['reviewers']);
  const needed = spec['min_review_approvals'];
  const duration = spec['access_max_duration'];
  return {
    controls: {
      ...rules.controls,
      access: controlsNamed(['connect', 'exec', 'runbooks'].filter((mode) => spec[`access_mode_${mode}`] === 'enabled')),
      review: groups,
      redaction: spec['redact_enabled'] === false ? none : controlsNamed(spec['redact_types']),
      force: controlsNamed(spec['force_approve_groups']),
      duration: typeof duration === 'number' ? [{ name: 'session', text: `${duration} s`, limit: duration }] : none,
      schema: spec['access_schema'] === 'enabled' ? [{ name: 'shown' }] : none,
      metadata: controlsNamed(spec['mandatory_metadata_fields']),
      attributes: controlsNamed(spec['attributes']),
      requests: rules.accessRules.map(({ name, text }) => ({ name, text: `${name} (not ours): ${text}` })),
    },
    approvals: Math.min(groups.length, typeof needed === 'number' ? needed : groups.length),
    incomplete:
      unknown.length + rules.incomplete.length === 0
        ? incomplete
        : new Set([...incomplete, ...rules.incomplete, ...unknown.flatMap(controlTypesAt)]),
    tags: sortTags(spec['connection_tags']),
    rules: rules.rules,
  };
}

function controlTypesAt(path: Pointer): readonly ControlType[] {
  return tokensOf(path).length === 0 ? controlTypes : controlTypesOf('Connection', path);
}

function sortTags(tags: Json | undefined): JsonObject {
  return isObject(tags) ? Object.fromEntries(sortedKeys(tags).map((key) => [key, tags[key] ?? null])) : {};
}

function controlsNamed(value: Json | undefined): readonly Control[] {
  const names = textsIn(value);
  return names.length === 0 ? none : names.map((name) => ({ name }));
}

/** Merges the controls of several rules; equal controls become one with all its rules. */
function mergeControls(controls: readonly Control[]): readonly Control[] {
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
function controlsOfRule(id: ResourceId, resource: ResourceSnapshot | undefined): RuleControls {
  const kind = kindOf(id);
  if (resource === undefined) {
    const every = ruleControlTypes(kind);
    const control = { name: `(${nameOf(id)})`, rules: [id] };
    return { controls: Object.fromEntries(every.map((aspect) => [aspect, [control]])), incomplete: every };
  }
  const { spec, unknown } = resource;
  const incomplete = unknown.flatMap((path) => (tokensOf(path).length === 0 ? ruleControlTypes(kind) : controlTypesOf(kind, path)));
  const rules = [id];
  if (kind === 'GuardrailRule') return { controls: guardrailControls(spec, rules), incomplete };
  return { controls: { masking: kind === 'DataMaskingRule' ? maskingControls(spec, rules) : [] }, incomplete };
}

/** Returns what a guardrail blocks in the input and in the output. */
export function guardrailControls(
  spec: JsonObject,
  rules: readonly ResourceId[] = [],
): { readonly [side in 'input' | 'output']: readonly Control[] } {
  const side = (value: Json | undefined): readonly Control[] =>
    objectsIn(isObject(value) ? value['rules'] : undefined).flatMap((entry) => entryControls(entry, rules));
  return { input: side(spec['input']), output: side(spec['output']) };
}

/** Returns the controls of one guardrail entry; its type decides which field counts. An entry of an unknown type protects nothing. */
function entryControls(entry: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const { type, words, pattern_regex: pattern } = entry;
  if (type === 'deny_words_list') return textsIn(words).map((name) => ({ name, form: 'word', rules }));
  if (type !== 'pattern_match') return [];
  return typeof pattern === 'string' && pattern !== '' ? [{ name: pattern, form: 'pattern', text: `/${pattern}/`, rules }] : [];
}

/** Returns what a masking rule masks and from which score on; a custom entity type has its own score. */
function maskingControls(spec: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const threshold = spec['score_threshold'];
  const from = typeof threshold === 'number' ? ` from ${threshold}` : '';
  const limit = (score: number): Pick<Control, 'limit' | 'relativeToGateway'> =>
    typeof threshold === 'number' ? { limit: roundScore(threshold - score) } : { limit: roundScore(-score), relativeToGateway: true };
  const registered = objectsIn(spec['supported_entity_types']).flatMap((group) => textsIn(group['entity_types']));
  const custom = objectsIn(spec['custom_entity_types']).flatMap((entity): readonly Control[] => {
    const { name, score, regex } = entity;
    const type = typeof name === 'string' ? name : '';
    const own = typeof score === 'number' ? score : 0;
    const control = (what: string): Control => ({
      name: `${type} ${what}`,
      text: `${type} ${what} at ${own}${from}`,
      ...limit(own),
      rules,
    });
    const words = textsIn(entity['deny_list']).map((word) => control(JSON.stringify(word)));
    return typeof regex === 'string' && regex !== '' ? [...words, { ...control(`/${regex}/`), form: 'pattern', entityType: type }] : words;
  });
  return [...registered.map((name): Control => ({ name, text: `${name}${from}`, ...limit(0), rules })), ...custom];
}

/** Rounds a difference of scores to nine digits, so that binary fractions compare equal. */
function roundScore(score: number): number {
  return Math.round(score * 1e9) / 1e9;
}

/** The attachment of an edge that no known manifest declares. */
const undeclaredEdge: readonly Attachment[] = [{ how: 'edge' }];
const noAttachments: readonly Attachment[] = [];

/** Lists the rules on a connection with everything that attaches them: edges, as manifests declare them, and shared attributes. */
function attachmentsOn(snapshot: ProtectionSnapshot, connection: ResourceId): ReadonlyMap<ResourceId, readonly Attachment[]> {
  const attached = snapshot.edges.get(connection);
  const attributes =
    snapshot.rulesByAttribute.size === 0 ? [] : textsIn(snapshot.resources.get(connection)?.spec['attributes']).toSorted(compareText);
  return new Map(
    [...rulesOn(snapshot, connection)].toSorted().map((rule) => {
      const declared =
        attached?.has(rule) === true ? (snapshot.declaredAttachments?.({ rule, connection }) ?? noAttachments) : noAttachments;
      const edges = attached?.has(rule) === true && declared.length === 0 ? undeclaredEdge : declared;
      const shared = attributes.filter((attribute) => snapshot.rulesByAttribute.get(attribute)?.has(rule) === true);
      return [rule, [...edges, ...shared.map((attribute): Attachment => ({ how: 'attribute', attribute }))]] as const;
    }),
  );
}
