import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { RiskClass } from '../../model/plan/plan.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { compareSets } from '../controls/compare-sets.ts';
import type { Control } from '../controls/control.ts';
import { byBlockedText } from '../controls/coverage-rules.ts';
import { enforcementOf, isSameEnforcement } from '../controls/enforcement.ts';
import { guardrailControls } from '../posture/posture.ts';
import type { RiskName } from './risk-codes.ts';
import { objectsIn, textsIn, rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || enforcementOf(spec).kind !== 'forwards') return false;
  return [...rulesOn(snapshot, connection)].some(
    (rule) => kindOf(rule) === 'GuardrailRule' && blocksAnything(snapshot.resources.get(rule)?.spec ?? {}),
  );
}

/**
 * What a changed field does, as a reason for the risk of its change. The comparison of protection alone decides the class; the
 * usual class of the code only says which reason explains which effect.
 */
export type Reason = {
  readonly name: RiskName;
  readonly fields: readonly string[];
  /** The control types in which it may have an effect. */
  readonly aspects: readonly ControlType[];
  /** The connections whose edges are the reason, and the position of the first edge. */
  readonly connections?: readonly ResourceId[];
  readonly place?: string;
};

/** A risk before it has a position: its name, the path of its field, and its class if that is not the usual one of the code. */
export type RiskDraft = { readonly name: RiskName; readonly fields: readonly string[]; readonly class?: RiskClass };

type Sides = { readonly before: JsonObject; readonly after: JsonObject };

/** Finds what the changed fields of an object do. */
export function fieldReasons(kind: string, sides: Sides): readonly Reason[] {
  if (kind === 'Connection') return connectionReasons(sides);
  if (kind === 'GuardrailRule') return guardrailReasons(sides);
  return kind === 'DataMaskingRule' ? maskingReasons(sides) : [];
}

function connectionReasons(sides: Sides): readonly Reason[] {
  const { before, after } = sides;
  return [
    ...['connect', 'exec', 'runbooks'].flatMap((mode) =>
      reasonsFor(['access'], switchDrafts(sides, `access_mode_${mode}`, ['access-opened', 'access-closed'])),
    ),
    ...reasonsFor(['schema'], switchDrafts(sides, 'access_schema', ['schema-shown', 'schema-hidden'])),
    ...reasonsFor(['review'], setDrafts(sides, 'reviewers', ['reviewer-added', 'reviewer-removed'])),
    ...reasonsFor(['review'], limitDrafts(sides, 'min_review_approvals', ['approvals-raised', 'approvals-lowered'])),
    ...reasonsFor(['force'], setDrafts(sides, 'force_approve_groups', ['force-approver-added', 'force-approver-removed'])),
    ...reasonsFor(['duration'], durationDrafts(sides)),
    ...reasonsFor(['metadata'], setDrafts(sides, 'mandatory_metadata_fields', ['metadata-added', 'metadata-removed'])),
    ...attributeReasons(sides, ['attributes', 'requests', 'input', 'output', 'masking']),
    ...reasonsFor(
      ['redaction'],
      membershipDrafts(
        redactedTypes(before),
        redactedTypes(after),
        ['redact_types', 'redact_enabled'],
        ['redaction-added', 'redaction-removed'],
      ),
    ),
    ...enforcementReasons(sides),
  ];
}

function reasonsFor(aspects: readonly ControlType[], drafts: readonly RiskDraft[]): readonly Reason[] {
  return drafts.map(({ name, fields }) => ({ name, fields, aspects }));
}

function attributeReasons(sides: Sides, aspects: readonly ControlType[]): readonly Reason[] {
  return reasonsFor(aspects, setDrafts(sides, 'attributes', ['attribute-added', 'attribute-removed']));
}

/** Finds the fields that change how a type enforces rules. */
function enforcementReasons({ before, after }: Sides): readonly Reason[] {
  if (isSameEnforcement(enforcementOf(before), enforcementOf(after))) return [];
  const fields = ['type', 'subtype', 'access_mode_connect'].filter((field) => !equal(before[field] ?? null, after[field] ?? null));
  return reasonsFor(
    ['input', 'output', 'masking'],
    fields.slice(0, 1).map((field) => ({ name: 'enforcement-changed', fields: [field] })),
  );
}

/** Compares the limits of access; null is the gateway's own, which may be shorter or longer. */
function durationDrafts(sides: Sides): readonly RiskDraft[] {
  const [before, after] = [sides.before['access_max_duration'] ?? null, sides.after['access_max_duration'] ?? null];
  if (before === null && after !== null) return [{ name: 'duration-changed', fields: ['access_max_duration'] }];
  if (before !== null && after === null) return [{ name: 'duration-changed', fields: ['access_max_duration'] }];
  return limitDrafts(sides, 'access_max_duration', ['duration-raised', 'duration-lowered']);
}

function guardrailReasons(sides: Sides): readonly Reason[] {
  const [before, after] = [guardrailControls(sides.before), guardrailControls(sides.after)];
  return [
    ...attributeReasons(sides, ['input', 'output']),
    ...(['input', 'output'] as const).flatMap((side): readonly Reason[] => {
      const { lost, gained, incomparable } = compareSets(before[side], after[side], byBlockedText);
      const some = (name: RiskName, controls: readonly Control[]): readonly Reason[] =>
        controls.length > 0 ? [{ name, fields: [side], aspects: [side] }] : [];
      return [
        ...some('word-removed', lost.filter(isWord)),
        ...some('word-added', gained.filter(isWord)),
        ...some(
          'pattern-removed',
          lost.filter((control) => !isWord(control)),
        ),
        ...some(
          'pattern-added',
          gained.filter((control) => !isWord(control)),
        ),
        ...some('pattern-changed', incomparable),
      ];
    }),
  ];
}

function isWord({ form }: { readonly form?: string }): boolean {
  return form === 'word';
}

/** Finds what changed in a masking rule's entity types, scores (0 to 1) and threshold. */
function maskingReasons(sides: Sides): readonly Reason[] {
  const { before, after } = sides;
  const [had, has] = [customEntities(before), customEntities(after)];
  const fields = ['supported_entity_types', 'custom_entity_types'];
  const drafts = [
    ...membershipDrafts(entityTypes(before, had), entityTypes(after, has), fields, ['entity-type-added', 'entity-type-removed']),
    ...thresholdDrafts(before['score_threshold'], after['score_threshold']),
    ...[...had].flatMap(([name, entity]) => customDrafts(entity, has.get(name))),
  ];
  return [...attributeReasons(sides, ['masking']), ...reasonsFor(['masking'], drafts)];
}

type RiskNames = readonly [more: RiskName, less: RiskName];

function switchDrafts({ before, after }: Sides, field: string, [opened, closed]: RiskNames): readonly RiskDraft[] {
  const [wasEnabled, isEnabled] = [before[field] === 'enabled', after[field] === 'enabled'];
  return wasEnabled === isEnabled ? [] : [{ name: isEnabled ? opened : closed, fields: [field] }];
}

function setDrafts({ before, after }: Sides, field: string, names: RiskNames): readonly RiskDraft[] {
  return membershipDrafts(textsIn(before[field]), textsIn(after[field]), [field], names);
}

function membershipDrafts(
  had: readonly string[],
  has: readonly string[],
  fields: readonly string[],
  [added, removed]: RiskNames,
): readonly RiskDraft[] {
  const [first, last] = [new Set(had), new Set(has)];
  return [
    ...(had.some((name) => !last.has(name)) ? [{ name: removed, fields }] : []),
    ...(has.some((name) => !first.has(name)) ? [{ name: added, fields }] : []),
  ];
}

/** Compares numeric limits; null means no limit, which is the highest. */
function limitDrafts({ before, after }: Sides, field: string, [raised, lowered]: RiskNames): readonly RiskDraft[] {
  const [previous, current] = [limitOf(before[field]), limitOf(after[field])];
  return previous === current ? [] : [{ name: current > previous ? raised : lowered, fields: [field] }];
}

function limitOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

function redactedTypes(spec: JsonObject): readonly string[] {
  return spec['redact_enabled'] === false ? [] : textsIn(spec['redact_types']);
}

type Entity = { readonly score: number; readonly regex: string; readonly words: readonly string[] };

/** Indexes custom entity types by name; entries with the same name are merged with the highest score. */
function customEntities(spec: JsonObject): ReadonlyMap<string, Entity> {
  const all = new Map<string, Entity>();
  for (const { name, score, regex, deny_list: words } of objectsIn(spec['custom_entity_types'])) {
    const key = typeof name === 'string' ? name : '';
    const existing = all.get(key);
    const own = { score: typeof score === 'number' ? score : 0, regex: typeof regex === 'string' ? regex : '', words: textsIn(words) };
    all.set(key, existing === undefined ? own : mergeEntities(existing, own));
  }
  return all;
}

function mergeEntities(one: Entity, other: Entity): Entity {
  const regex = [one.regex, other.regex].filter((text) => text !== '').join('\n');
  return { score: Math.max(one.score, other.score), regex, words: [...one.words, ...other.words] };
}

/** Lists entity types; a registered type and a custom one of the same name are different. */
function entityTypes(spec: JsonObject, custom: ReadonlyMap<string, Entity>): readonly string[] {
  const registered = objectsIn(spec['supported_entity_types']).flatMap((group) => textsIn(group['entity_types']));
  return [...registered.map((name) => `registered ${name}`), ...[...custom.keys()].map((name) => `custom ${name}`)];
}

/** Compares thresholds; a number cannot be compared with the gateway's own threshold (null). */
function thresholdDrafts(before: Json | undefined, after: Json | undefined): readonly RiskDraft[] {
  const fields = ['score_threshold'];
  if (equal(before ?? null, after ?? null)) return [];
  if (typeof before !== 'number' || typeof after !== 'number') return [{ name: 'threshold-changed', fields }];
  return [{ name: after > before ? 'threshold-raised' : 'threshold-lowered', fields }];
}

function customDrafts(before: Entity, after: Entity | undefined): readonly RiskDraft[] {
  if (after === undefined) return [];
  const fields = ['custom_entity_types'];
  const pattern: readonly RiskDraft[] = before.regex === after.regex ? [] : [{ name: patternRisk(before.regex, after.regex), fields }];
  const isHigher = after.score > before.score;
  const score: readonly RiskDraft[] = before.score === after.score ? [] : [{ name: isHigher ? 'score-raised' : 'score-lowered', fields }];
  return [...pattern, ...score, ...membershipDrafts(before.words, after.words, fields, ['word-added', 'word-removed'])];
}

function patternRisk(before: string, after: string): RiskName {
  if (before === '') return 'pattern-added';
  return after === '' ? 'pattern-removed' : 'pattern-changed';
}

/** Returns whether a guardrail has an entry that blocks something. */
function blocksAnything(spec: JsonObject): boolean {
  const { input, output } = guardrailControls(spec);
  return input.length + output.length > 0;
}
