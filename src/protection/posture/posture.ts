import { canonical, compareText, isObject, sortedKeys, type Json, type JsonObject } from '../../model/json.ts';
import type { AccessRule } from '../../model/live.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypes, type ControlType, type RuleEffect } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { attachmentsOn } from './attachments.ts';
import { controlTypesOf, ruleControlTypes } from './control-types.ts';
import { objectsIn, accessRulesOn, textsIn, type ResourceSnapshot, type ProtectionSnapshot } from './protection-snapshot.ts';

/** One thing that protects; in `access`, `schema` and `force` one that opens. */
export type Control = {
  /** What it is within its aspect: a group, a word, an entity type. */
  readonly name: string;
  /** A `word` covers every longer one that it is part of; a `pattern` can be compared with none but itself. */
  readonly form?: 'word' | 'pattern';
  /** What patterns compete for: the custom entity type. */
  readonly entityType?: string;
  /** Less is stricter: seconds, or the score from which something is masked. */
  readonly limit?: number;
  /** The limit counts from the gateway's own, which nobody can compare with a number. */
  readonly relativeToGateway?: true;
  /** What it is shown as, where that is not its name. */
  readonly text?: string;
  /** The rules that it comes from. */
  readonly rules?: readonly ResourceId[];
};

/** What stands between people and one connection. */
export type Posture = {
  readonly controls: Readonly<Partial<Record<ControlType, readonly Control[]>>>;
  /** How many of the reviewing groups must approve. */
  readonly approvals: number;
  /** Aspects of which there may be more than can be seen. */
  readonly incomplete: ReadonlySet<ControlType>;
  readonly tags: JsonObject;
  /** The rules on it, sorted: what each does here, and what attaches it. */
  readonly rules: ReadonlyMap<ResourceId, RuleEffect>;
};

/** What stands before a connection that is not there. */
export const emptyPosture: Posture = { controls: {}, approvals: 0, incomplete: new Set(), tags: {}, rules: new Map() };

const none: readonly Control[] = [];

/** The parts of one aspect. */
export function controlsOf({ controls: parts }: Posture, aspect: ControlType): readonly Control[] {
  return parts[aspect] ?? none;
}

/** Postures by connection. */
export type PostureReader = (connection: ResourceId) => Posture | undefined;

/** Prepares reading the postures of a scene: each rule is read once, and connections with the same rules share what these give. */
export function readPostures(scene: ProtectionSnapshot): PostureReader {
  const single = new Map<ResourceId, RuleControls>();
  const joint = new Map<string, RuleControls>();
  const ofRule = (id: ResourceId): RuleControls => {
    const parts = single.get(id) ?? controlsOfRule(id, scene.resources.get(id));
    single.set(id, parts);
    return parts;
  };
  return (connection) => {
    const fact = scene.resources.get(connection);
    if (fact === undefined) return undefined;
    const attached = attachmentsOn(scene, connection);
    const key = [...attached.keys()].join('\u0000');
    const parts = joint.get(key) ?? combineRules([...attached.keys()].map(ofRule));
    joint.set(key, parts);
    const rules = new Map([...attached].map(([rule, by]) => [rule, { aspects: controlTypesIn(ofRule(rule)), by }]));
    return postureOf(fact, { ...parts, rules, requests: accessRulesOn(scene, connection) }, scene.incomplete);
  };
}

type RuleControls = { readonly parts: Posture['controls']; readonly incomplete: readonly ControlType[] };

function controlTypesIn({ parts }: RuleControls): readonly ControlType[] {
  return controlTypes.filter((aspect) => (parts[aspect] ?? none).length > 0);
}

function combineRules(rules: readonly RuleControls[]): RuleControls {
  const all = (['input', 'output', 'masking'] as const).map((aspect) => [
    aspect,
    mergeControls(rules.flatMap(({ parts }) => parts[aspect] ?? [])),
  ]);
  return { parts: Object.fromEntries(all), incomplete: rules.flatMap(({ incomplete: unseen }) => unseen) };
}

function postureOf(
  { spec, unknown }: ResourceSnapshot,
  rules: RuleControls & Pick<Posture, 'rules'> & { readonly requests: readonly AccessRule[] },
  unseen: ReadonlySet<ControlType>,
): Posture {
  const groups = controlsNamed(spec['reviewers']);
  const needed = spec['min_review_approvals'];
  const duration = spec['access_max_duration'];
  return {
    controls: {
      ...rules.parts,
      access: controlsNamed(['connect', 'exec', 'runbooks'].filter((mode) => spec[`access_mode_${mode}`] === 'enabled')),
      review: groups,
      redaction: spec['redact_enabled'] === false ? none : controlsNamed(spec['redact_types']),
      force: controlsNamed(spec['force_approve_groups']),
      duration: typeof duration === 'number' ? [{ name: 'session', text: `${duration} s`, limit: duration }] : none,
      schema: spec['access_schema'] === 'enabled' ? [{ name: 'shown' }] : none,
      metadata: controlsNamed(spec['mandatory_metadata_fields']),
      attributes: controlsNamed(spec['attributes']),
      requests: rules.requests.map(({ name, text }) => ({ name, text: `${name} (not ours): ${text}` })),
    },
    approvals: Math.min(groups.length, typeof needed === 'number' ? needed : groups.length),
    incomplete:
      unknown.length + rules.incomplete.length === 0
        ? unseen
        : new Set([...unseen, ...rules.incomplete, ...unknown.flatMap(controlTypesAt)]),
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

/** Parts of several rules as one list: what is the same stands once, with all its rules. */
function mergeControls(parts: readonly Control[]): readonly Control[] {
  const all = new Map<string, Control>();
  for (const part of parts) {
    const { rules: _, ...rest } = part;
    const key = canonical({ ...rest });
    const earlier = all.get(key);
    all.set(key, earlier === undefined ? part : { ...earlier, rules: [...(earlier.rules ?? []), ...(part.rules ?? [])] });
  }
  return [...all.values()].toSorted((left, right) => compareText(left.name, right.name) || (left.limit ?? 0) - (right.limit ?? 0));
}

/** A rule that nobody can read protects in a way that nobody can see. */
function controlsOfRule(id: ResourceId, fact: ResourceSnapshot | undefined): RuleControls {
  const kind = kindOf(id);
  if (fact === undefined) {
    const every = ruleControlTypes(kind);
    const part = { name: `(${nameOf(id)})`, rules: [id] };
    return { parts: Object.fromEntries(every.map((aspect) => [aspect, [part]])), incomplete: every };
  }
  const { spec, unknown } = fact;
  const unseen = unknown.flatMap((path) => (tokensOf(path).length === 0 ? ruleControlTypes(kind) : controlTypesOf(kind, path)));
  const rules = [id];
  if (kind === 'GuardrailRule') return { parts: guardrailControls(spec, rules), incomplete: unseen };
  return { parts: { masking: kind === 'DataMaskingRule' ? maskingControls(spec, rules) : [] }, incomplete: unseen };
}

/** What a guardrail blocks on either side. */
export function guardrailControls(
  spec: JsonObject,
  rules: readonly ResourceId[] = [],
): { readonly [side in 'input' | 'output']: readonly Control[] } {
  const side = (value: Json | undefined): readonly Control[] =>
    objectsIn(isObject(value) ? value['rules'] : undefined).flatMap((entry) => entryControls(entry, rules));
  return { input: side(spec['input']), output: side(spec['output']) };
}

/** What one entry of a guardrail blocks: its type says which of its fields counts. */
function entryControls(entry: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const { type, words, pattern_regex: pattern } = entry;
  if (type === 'deny_words_list') return textsIn(words).map((name) => ({ name, form: 'word', rules }));
  if (type !== 'pattern_match') return [{ name: canonical(entry), form: 'pattern', rules }];
  return typeof pattern === 'string' && pattern !== '' ? [{ name: pattern, form: 'pattern', text: `/${pattern}/`, rules }] : [];
}

/** What a rule masks, and from which score on; a custom type brings a score of its own. */
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
    const part = (what: string): Control => ({ name: `${type} ${what}`, text: `${type} ${what} at ${own}${from}`, ...limit(own), rules });
    const words = textsIn(entity['deny_list']).map((word) => part(JSON.stringify(word)));
    return typeof regex === 'string' && regex !== '' ? [...words, { ...part(`/${regex}/`), form: 'pattern', entityType: type }] : words;
  });
  return [...registered.map((name): Control => ({ name, text: `${name}${from}`, ...limit(0), rules })), ...custom];
}

/** Differences of scores without the noise of their binary form. */
function roundScore(score: number): number {
  return Math.round(score * 1e9) / 1e9;
}
