import { equal, type Json, type JsonObject } from '../../model/json.ts';
import type { RiskClass } from '../../model/plan/plan.ts';
import { compareControls, reviewVerdict } from '../posture/compare-postures.ts';
import { guardrailControls, type Posture } from '../posture/posture.ts';
import { riskCodes, type RiskName } from './risk-codes.ts';
import { objectsIn, textsIn, rulesOn, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';

/**
 * Subtypes (and types without a subtype) whose proxy forwards content that it cannot read. The interface calls the first three
 * "forwarding"; the others are the subtypes of the public gateway's runtime that are not databases. The gateway does not
 * report which proxy can evaluate rules. A proxy that cannot refuses every session once a guardrail is attached.
 */
const opaque: ReadonlySet<string> = new Set([
  // The interface: "TCP forwarding", "SSH forwarding", "HTTP forwarding".
  'tcp',
  'ssh',
  'httpproxy',
  // Types of the public gateway: application; git and github are spoken over ssh, kibana and grafana over http.
  'ssh-local',
  'git',
  'github',
  'kibana',
  'grafana',
  'mcpproxy',
  // Types of the public gateway: custom. dynamodb and cloudwatch stand there too, and are commands without a proxy.
  'rdp',
  'aws-ssm',
  'kubernetes',
  'kubernetes-eks',
  'kubernetes-token',
]);

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId, blocks: (spec: JsonObject) => boolean): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || spec['access_mode_connect'] !== 'enabled' || !isOpaque(spec)) return false;
  return [...rulesOn(snapshot, connection)].some(
    (rule) => kindOf(rule) === 'GuardrailRule' && blocks(snapshot.resources.get(rule)?.spec ?? {}),
  );
}

/** Returns whether the proxy cannot read the content; the type httpproxy forwards with every subtype. */
function isOpaque({ type, subtype }: JsonObject): boolean {
  if (type === 'httpproxy') return true;
  const name = typeof subtype === 'string' && subtype !== '' ? subtype : type;
  return typeof name === 'string' && opaque.has(name);
}

/** A risk before it has a position: its name, the path of its field, and its class if that is not the usual one of the code. */
export type RiskDraft = { readonly name: RiskName; readonly fields: readonly string[]; readonly class?: RiskClass };

type Sides = { readonly before: JsonObject; readonly after: JsonObject };

/** Finds the risks of a connection's own fields. */
export function connectionRisks(sides: Sides, postures: { readonly before: Posture; readonly after: Posture }): readonly RiskDraft[] {
  const { before, after } = sides;
  return [
    ...['connect', 'exec', 'runbooks'].flatMap((mode) => switchRisks(sides, `access_mode_${mode}`, ['access-opened', 'access-closed'])),
    ...switchRisks(sides, 'access_schema', ['schema-shown', 'schema-hidden']),
    ...reviewRisks(sides, postures),
    ...setRisks(sides, 'force_approve_groups', ['force-approver-added', 'force-approver-removed']),
    ...limitRisks(sides, 'access_max_duration', ['duration-raised', 'duration-lowered']),
    ...setRisks(sides, 'mandatory_metadata_fields', ['metadata-added', 'metadata-removed']),
    ...setRisks(sides, 'attributes', ['attribute-added', 'attribute-removed']),
    ...membershipRisks(
      redactedTypes(before),
      redactedTypes(after),
      ['redact_types', 'redact_enabled'],
      ['redaction-added', 'redaction-removed'],
    ),
  ];
}

/** Finds the risks of a guardrail's words, patterns and attributes. */
export function guardrailRisks({ before, after }: Sides): readonly RiskDraft[] {
  return [
    ...setRisks({ before, after }, 'attributes', ['attribute-added', 'attribute-removed']),
    ...(['input', 'output'] as const).flatMap((side): readonly RiskDraft[] => {
      const { lost, gained, incomparable } = compareControls(guardrailControls(before)[side], guardrailControls(after)[side]);
      const some = (name: RiskName, found: boolean): readonly RiskDraft[] => (found ? [{ name, fields: [side] }] : []);
      return [
        ...some('word-removed', lost.some(isWord)),
        ...some('word-added', gained.some(isWord)),
        ...some(
          'pattern-removed',
          lost.some((part) => !isWord(part)),
        ),
        ...some(
          'pattern-added',
          gained.some((part) => !isWord(part)),
        ),
        ...some('pattern-changed', incomparable.length > 0),
      ];
    }),
  ];
}

function isWord({ form }: { readonly form?: string }): boolean {
  return form === 'word';
}

/** Finds the risks of a masking rule's entity types, scores (0 to 1) and threshold. */
export function maskingRisks(sides: Sides): readonly RiskDraft[] {
  const { before, after } = sides;
  const [had, has] = [customEntities(before), customEntities(after)];
  const fields = ['supported_entity_types', 'custom_entity_types'];
  return [
    ...setRisks(sides, 'attributes', ['attribute-added', 'attribute-removed']),
    ...membershipRisks(entityTypes(before, had), entityTypes(after, has), fields, ['entity-type-added', 'entity-type-removed']),
    ...thresholdRisks(before['score_threshold'], after['score_threshold']),
    ...[...had].flatMap(([name, entity]) => customRisks(entity, has.get(name))),
  ];
}

type RiskNames = readonly [more: RiskName, less: RiskName];

function switchRisks({ before, after }: Sides, field: string, [opened, closed]: RiskNames): readonly RiskDraft[] {
  const [wasEnabled, isEnabled] = [before[field] === 'enabled', after[field] === 'enabled'];
  return wasEnabled === isEnabled ? [] : [{ name: isEnabled ? opened : closed, fields: [field] }];
}

function setRisks({ before, after }: Sides, field: string, names: RiskNames): readonly RiskDraft[] {
  return membershipRisks(textsIn(before[field]), textsIn(after[field]), [field], names);
}

function membershipRisks(
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
function limitRisks({ before, after }: Sides, field: string, [raised, lowered]: RiskNames): readonly RiskDraft[] {
  const [previous, current] = [limitOf(before[field]), limitOf(after[field])];
  return previous === current ? [] : [{ name: current > previous ? raised : lowered, fields: [field] }];
}

function limitOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

function redactedTypes(spec: JsonObject): readonly string[] {
  return spec['redact_enabled'] === false ? [] : textsIn(spec['redact_types']);
}

/**
 * Finds the risks of review. When only some groups must approve, an additional group may make approval easier. So the
 * comparison of the whole review decides the class; each field has its usual class only when the whole is mixed. A mixed whole
 * always has a risk that weakens and one that strengthens.
 */
function reviewRisks(sides: Sides, { before, after }: { readonly before: Posture; readonly after: Posture }): readonly RiskDraft[] {
  const groups = setRisks(sides, 'reviewers', ['reviewer-added', 'reviewer-removed']);
  const counts = limitRisks(sides, 'min_review_approvals', ['approvals-raised', 'approvals-lowered']);
  const found = [...groups, ...counts];
  if (found.length === 0) return [];
  const way = reviewVerdict(before, after);
  if (way === 'both') {
    const missing = (['weakens', 'strengthens'] as const).filter((side) => !found.some(({ name }) => riskCodes[name].class === side));
    return [...found, ...missing.flatMap((side) => found.slice(0, 1).map((draft) => ({ ...draft, class: side })))];
  }
  return found.map((draft) => ({ ...draft, class: way === 'weakens' || way === 'strengthens' ? way : 'neutral' }));
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
function thresholdRisks(before: Json | undefined, after: Json | undefined): readonly RiskDraft[] {
  const fields = ['score_threshold'];
  if (equal(before ?? null, after ?? null)) return [];
  if (typeof before !== 'number' || typeof after !== 'number') return [{ name: 'threshold-changed', fields }];
  return [{ name: after > before ? 'threshold-raised' : 'threshold-lowered', fields }];
}

function customRisks(before: Entity, after: Entity | undefined): readonly RiskDraft[] {
  if (after === undefined) return [];
  const fields = ['custom_entity_types'];
  const pattern: readonly RiskDraft[] = before.regex === after.regex ? [] : [{ name: patternRisk(before.regex, after.regex), fields }];
  const isHigher = after.score > before.score;
  const score: readonly RiskDraft[] = before.score === after.score ? [] : [{ name: isHigher ? 'score-raised' : 'score-lowered', fields }];
  return [...pattern, ...score, ...membershipRisks(before.words, after.words, fields, ['word-added', 'word-removed'])];
}

function patternRisk(before: string, after: string): RiskName {
  if (before === '') return 'pattern-added';
  return after === '' ? 'pattern-removed' : 'pattern-changed';
}

/** Returns whether a guardrail has an entry that blocks something. */
export function blocksAnything(spec: JsonObject): boolean {
  const { input, output } = guardrailControls(spec);
  return input.length + output.length > 0;
}
