import { canonical, compareText, isObject, sortedKeys, type Json, type JsonObject } from '../model/json.ts';
import type { AccessRule } from '../model/live.ts';
import { tokensOf, type Pointer } from '../model/pointer.ts';
import { controlTypes, type ControlType, type RuleEffect } from '../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { attachmentsOn } from './attachments.ts';
import { aspectsOf, ruleAspects } from './direction.ts';
import { objectsOf, requestsOn, textsOf, type Fact, type Scene } from './scene.ts';

/** One thing that protects; in `access`, `schema` and `force` one that opens. */
export type Part = {
  /** What it is within its aspect: a group, a word, an entity type. */
  readonly name: string;
  /** A `word` covers every longer one that it is part of; a `pattern` can be compared with none but itself. */
  readonly form?: 'word' | 'pattern';
  /** What patterns compete for: the custom entity type. */
  readonly of?: string;
  /** Less is stricter: seconds, or the score from which something is masked. */
  readonly limit?: number;
  /** The limit counts from the gateway's own, which nobody can compare with a number. */
  readonly own?: true;
  /** What it is shown as, where that is not its name. */
  readonly text?: string;
  /** The rules that it comes from. */
  readonly rules?: readonly ResourceId[];
};

/** What stands between people and one connection. */
export type Posture = {
  readonly parts: Readonly<Partial<Record<ControlType, readonly Part[]>>>;
  /** How many of the reviewing groups must approve. */
  readonly approvals: number;
  /** Aspects of which there may be more than can be seen. */
  readonly unseen: ReadonlySet<ControlType>;
  readonly tags: JsonObject;
  /** The rules on it, sorted: what each does here, and what attaches it. */
  readonly rules: ReadonlyMap<ResourceId, RuleEffect>;
};

/** What stands before a connection that is not there. */
export const postureOfNothing: Posture = { parts: {}, approvals: 0, unseen: new Set(), tags: {}, rules: new Map() };

const none: readonly Part[] = [];

/** The parts of one aspect. */
export function partsOf({ parts }: Posture, aspect: ControlType): readonly Part[] {
  return parts[aspect] ?? none;
}

/** Postures by connection. */
export type Postures = (connection: ResourceId) => Posture | undefined;

/** Prepares reading the postures of a scene: each rule is read once, and connections with the same rules share what these give. */
export function posturesOf(scene: Scene): Postures {
  const single = new Map<ResourceId, RuleParts>();
  const joint = new Map<string, RuleParts>();
  const ofRule = (id: ResourceId): RuleParts => {
    const parts = single.get(id) ?? partsOfRule(id, scene.facts.get(id));
    single.set(id, parts);
    return parts;
  };
  return (connection) => {
    const fact = scene.facts.get(connection);
    if (fact === undefined) return undefined;
    const attached = attachmentsOn(scene, connection);
    const key = [...attached.keys()].join('\u0000');
    const parts = joint.get(key) ?? together([...attached.keys()].map(ofRule));
    joint.set(key, parts);
    const rules = new Map([...attached].map(([rule, by]) => [rule, { aspects: aspectsIn(ofRule(rule)), by }]));
    return postureOf(fact, { ...parts, rules, requests: requestsOn(scene, connection) }, scene.unseen);
  };
}

type RuleParts = { readonly parts: Posture['parts']; readonly unseen: readonly ControlType[] };

function aspectsIn({ parts }: RuleParts): readonly ControlType[] {
  return controlTypes.filter((aspect) => (parts[aspect] ?? none).length > 0);
}

function together(rules: readonly RuleParts[]): RuleParts {
  const all = (['input', 'output', 'masking'] as const).map((aspect) => [
    aspect,
    merged(rules.flatMap(({ parts }) => parts[aspect] ?? [])),
  ]);
  return { parts: Object.fromEntries(all), unseen: rules.flatMap(({ unseen }) => unseen) };
}

function postureOf(
  { spec, unknown }: Fact,
  rules: RuleParts & Pick<Posture, 'rules'> & { readonly requests: readonly AccessRule[] },
  unseen: ReadonlySet<ControlType>,
): Posture {
  const groups = namesOf(spec['reviewers']);
  const needed = spec['min_review_approvals'];
  const duration = spec['access_max_duration'];
  return {
    parts: {
      ...rules.parts,
      access: namesOf(['connect', 'exec', 'runbooks'].filter((mode) => spec[`access_mode_${mode}`] === 'enabled')),
      review: groups,
      redaction: spec['redact_enabled'] === false ? none : namesOf(spec['redact_types']),
      force: namesOf(spec['force_approve_groups']),
      duration: typeof duration === 'number' ? [{ name: 'session', text: `${duration} s`, limit: duration }] : none,
      schema: spec['access_schema'] === 'enabled' ? [{ name: 'shown' }] : none,
      metadata: namesOf(spec['mandatory_metadata_fields']),
      attributes: namesOf(spec['attributes']),
      requests: rules.requests.map(({ name, text }) => ({ name, text: `${name} (not ours): ${text}` })),
    },
    approvals: Math.min(groups.length, typeof needed === 'number' ? needed : groups.length),
    unseen: unknown.length + rules.unseen.length === 0 ? unseen : new Set([...unseen, ...rules.unseen, ...unknown.flatMap(aspectsAt)]),
    tags: sorted(spec['connection_tags']),
    rules: rules.rules,
  };
}

function aspectsAt(path: Pointer): readonly ControlType[] {
  return tokensOf(path).length === 0 ? controlTypes : aspectsOf('Connection', path);
}

function sorted(tags: Json | undefined): JsonObject {
  return isObject(tags) ? Object.fromEntries(sortedKeys(tags).map((key) => [key, tags[key] ?? null])) : {};
}

function namesOf(value: Json | undefined): readonly Part[] {
  const names = textsOf(value);
  return names.length === 0 ? none : names.map((name) => ({ name }));
}

/** Parts of several rules as one list: what is the same stands once, with all its rules. */
function merged(parts: readonly Part[]): readonly Part[] {
  const all = new Map<string, Part>();
  for (const part of parts) {
    const { rules: _, ...rest } = part;
    const key = canonical({ ...rest });
    const earlier = all.get(key);
    all.set(key, earlier === undefined ? part : { ...earlier, rules: [...(earlier.rules ?? []), ...(part.rules ?? [])] });
  }
  return [...all.values()].toSorted((left, right) => compareText(left.name, right.name) || (left.limit ?? 0) - (right.limit ?? 0));
}

/** A rule that nobody can read protects in a way that nobody can see. */
function partsOfRule(id: ResourceId, fact: Fact | undefined): RuleParts {
  const kind = kindOf(id);
  if (fact === undefined) {
    const every = ruleAspects(kind);
    const part = { name: `(${nameOf(id)})`, rules: [id] };
    return { parts: Object.fromEntries(every.map((aspect) => [aspect, [part]])), unseen: every };
  }
  const { spec, unknown } = fact;
  const unseen = unknown.flatMap((path) => (tokensOf(path).length === 0 ? ruleAspects(kind) : aspectsOf(kind, path)));
  const rules = [id];
  if (kind === 'GuardrailRule') return { parts: sidesOf(spec, rules), unseen };
  return { parts: { masking: kind === 'DataMaskingRule' ? masked(spec, rules) : [] }, unseen };
}

/** What a guardrail blocks on either side. */
export function sidesOf(spec: JsonObject, rules: readonly ResourceId[] = []): { readonly [side in 'input' | 'output']: readonly Part[] } {
  const side = (value: Json | undefined): readonly Part[] =>
    objectsOf(isObject(value) ? value['rules'] : undefined).flatMap((entry) => blocked(entry, rules));
  return { input: side(spec['input']), output: side(spec['output']) };
}

/** What one entry of a guardrail blocks: its type says which of its fields counts. */
function blocked(entry: JsonObject, rules: readonly ResourceId[]): readonly Part[] {
  const { type, words, pattern_regex: pattern } = entry;
  if (type === 'deny_words_list') return textsOf(words).map((name) => ({ name, form: 'word', rules }));
  if (type !== 'pattern_match') return [{ name: canonical(entry), form: 'pattern', rules }];
  return typeof pattern === 'string' && pattern !== '' ? [{ name: pattern, form: 'pattern', text: `/${pattern}/`, rules }] : [];
}

/** What a rule masks, and from which score on; a custom type brings a score of its own. */
function masked(spec: JsonObject, rules: readonly ResourceId[]): readonly Part[] {
  const threshold = spec['score_threshold'];
  const from = typeof threshold === 'number' ? ` from ${threshold}` : '';
  const limit = (score: number): Pick<Part, 'limit' | 'own'> =>
    typeof threshold === 'number' ? { limit: rounded(threshold - score) } : { limit: rounded(-score), own: true };
  const registered = objectsOf(spec['supported_entity_types']).flatMap((group) => textsOf(group['entity_types']));
  const custom = objectsOf(spec['custom_entity_types']).flatMap((entity): readonly Part[] => {
    const { name, score, regex } = entity;
    const type = typeof name === 'string' ? name : '';
    const own = typeof score === 'number' ? score : 0;
    const part = (what: string): Part => ({ name: `${type} ${what}`, text: `${type} ${what} at ${own}${from}`, ...limit(own), rules });
    const words = textsOf(entity['deny_list']).map((word) => part(JSON.stringify(word)));
    return typeof regex === 'string' && regex !== '' ? [...words, { ...part(`/${regex}/`), form: 'pattern', of: type }] : words;
  });
  return [...registered.map((name): Part => ({ name, text: `${name}${from}`, ...limit(0), rules })), ...custom];
}

/** Differences of scores without the noise of their binary form. */
function rounded(score: number): number {
  return Math.round(score * 1e9) / 1e9;
}
