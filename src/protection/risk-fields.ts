import { equal, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { RiskClass } from '../model/plan/risk.ts';
import { comparePart, reviewWay } from './compare.ts';
import { sidesOf, type Posture } from './posture.ts';
import type { RiskName } from './risk-codes.ts';
import { objectsOf, textsOf } from './scene.ts';

/** A risk before it has a place: its reason, the fields that it comes from, and its class where that is not the usual one. */
export type RiskDraft = { readonly name: RiskName; readonly fields: readonly string[]; readonly class?: RiskClass };

type Sides = { readonly before: JsonObject; readonly after: JsonObject };

/** What becomes of a connection's own protection. */
export function connectionRisks(sides: Sides, postures: { readonly before: Posture; readonly after: Posture }): readonly RiskDraft[] {
  const { before, after } = sides;
  return [
    ...['connect', 'exec', 'runbooks'].flatMap((mode) => switched(sides, `access_mode_${mode}`, ['access-opened', 'access-closed'])),
    ...switched(sides, 'access_schema', ['schema-shown', 'schema-hidden']),
    ...reviewRisks(sides, postures),
    ...setRisks(sides, 'force_approve_groups', ['force-approver-added', 'force-approver-removed']),
    ...limitRisks(sides, 'access_max_duration', ['duration-raised', 'duration-lowered']),
    ...setRisks(sides, 'mandatory_metadata_fields', ['metadata-added', 'metadata-removed']),
    ...setRisks(sides, 'attributes', ['attribute-added', 'attribute-removed']),
    ...moved(redacted(before), redacted(after), ['redact_types', 'redact_enabled'], ['redaction-added', 'redaction-removed']),
  ];
}

/** What becomes of what a guardrail blocks. */
export function guardrailRisks({ before, after }: Sides): readonly RiskDraft[] {
  return [
    ...setRisks({ before, after }, 'attributes', ['attribute-added', 'attribute-removed']),
    ...(['input', 'output'] as const).flatMap((side): readonly RiskDraft[] => {
      const { lost, gained, untold } = comparePart(sidesOf(before)[side], sidesOf(after)[side]);
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
        ...some('pattern-changed', untold.length > 0),
      ];
    }),
  ];
}

function isWord({ form }: { readonly form?: string }): boolean {
  return form === 'word';
}

/** What becomes of what a masking rule masks, and from which score on. */
export function maskingRisks(sides: Sides): readonly RiskDraft[] {
  const { before, after } = sides;
  const [had, has] = [customOf(before), customOf(after)];
  const fields = ['supported_entity_types', 'custom_entity_types'];
  return [
    ...setRisks(sides, 'attributes', ['attribute-added', 'attribute-removed']),
    ...moved(typesOf(before, had), typesOf(after, has), fields, ['entity-type-added', 'entity-type-removed']),
    ...thresholdRisks(before['score_threshold'], after['score_threshold']),
    ...[...had].flatMap(([name, entity]) => customRisks(entity, has.get(name))),
  ];
}

type Names = readonly [more: RiskName, less: RiskName];

function switched({ before, after }: Sides, field: string, [opened, closed]: Names): readonly RiskDraft[] {
  const [was, is] = [before[field] === 'enabled', after[field] === 'enabled'];
  return was === is ? [] : [{ name: is ? opened : closed, fields: [field] }];
}

function setRisks({ before, after }: Sides, field: string, names: Names): readonly RiskDraft[] {
  return moved(textsOf(before[field]), textsOf(after[field]), [field], names);
}

function moved(had: readonly string[], has: readonly string[], fields: readonly string[], [added, removed]: Names): readonly RiskDraft[] {
  const [first, last] = [new Set(had), new Set(has)];
  return [
    ...(had.some((name) => !last.has(name)) ? [{ name: removed, fields }] : []),
    ...(has.some((name) => !first.has(name)) ? [{ name: added, fields }] : []),
  ];
}

/** No limit is the highest one. */
function limitRisks({ before, after }: Sides, field: string, [raised, lowered]: Names): readonly RiskDraft[] {
  const [was, is] = [limitOf(before[field]), limitOf(after[field])];
  return was === is ? [] : [{ name: is > was ? raised : lowered, fields: [field] }];
}

function limitOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

function redacted(spec: JsonObject): readonly string[] {
  return spec['redact_enabled'] === false ? [] : textsOf(spec['redact_types']);
}

/**
 * Where some of the groups are enough, one more is one more that may be: what the whole review gains or loses decides,
 * and each part speaks for itself only where the whole does both.
 */
function reviewRisks(sides: Sides, { before, after }: { readonly before: Posture; readonly after: Posture }): readonly RiskDraft[] {
  const groups = setRisks(sides, 'reviewers', ['reviewer-added', 'reviewer-removed']);
  const counts = limitRisks(sides, 'min_review_approvals', ['approvals-raised', 'approvals-lowered']);
  const found = [...groups, ...counts];
  if (found.length === 0) return [];
  const way = reviewWay(before, after);
  if (way === 'both') return found;
  return found.map((draft) => ({ ...draft, class: way === 'weakens' || way === 'strengthens' ? way : 'neutral' }));
}

type Entity = { readonly score: number; readonly regex: string; readonly words: readonly string[] };

/** Custom types by name; of several with one name, all that they find, as sure as the surest. */
function customOf(spec: JsonObject): ReadonlyMap<string, Entity> {
  const all = new Map<string, Entity>();
  for (const { name, score, regex, deny_list: words } of objectsOf(spec['custom_entity_types'])) {
    const key = typeof name === 'string' ? name : '';
    const earlier = all.get(key);
    const own = { score: typeof score === 'number' ? score : 0, regex: typeof regex === 'string' ? regex : '', words: textsOf(words) };
    all.set(key, earlier === undefined ? own : joined(earlier, own));
  }
  return all;
}

function joined(one: Entity, other: Entity): Entity {
  const regex = [one.regex, other.regex].filter((text) => text !== '').join('\n');
  return { score: Math.max(one.score, other.score), regex, words: [...one.words, ...other.words] };
}

function typesOf(spec: JsonObject, custom: ReadonlyMap<string, Entity>): readonly string[] {
  return [...objectsOf(spec['supported_entity_types']).flatMap((group) => textsOf(group['entity_types'])), ...custom.keys()];
}

/** Nobody can compare a number with the gateway's own threshold. */
function thresholdRisks(before: Json | undefined, after: Json | undefined): readonly RiskDraft[] {
  const fields = ['score_threshold'];
  if (equal(before ?? null, after ?? null)) return [];
  if (typeof before !== 'number' || typeof after !== 'number') return [{ name: 'threshold-changed', fields }];
  return [{ name: after > before ? 'threshold-raised' : 'threshold-lowered', fields }];
}

function customRisks(before: Entity, after: Entity | undefined): readonly RiskDraft[] {
  if (after === undefined) return [];
  const fields = ['custom_entity_types'];
  const pattern: readonly RiskDraft[] = before.regex === after.regex ? [] : [{ name: patternMove(before.regex, after.regex), fields }];
  const isSurer = after.score > before.score;
  const score: readonly RiskDraft[] = before.score === after.score ? [] : [{ name: isSurer ? 'score-raised' : 'score-lowered', fields }];
  return [...pattern, ...score, ...moved(before.words, after.words, fields, ['word-added', 'word-removed'])];
}

function patternMove(before: string, after: string): RiskName {
  if (before === '') return 'pattern-added';
  return after === '' ? 'pattern-removed' : 'pattern-changed';
}

/** Tells whether a guardrail blocks anything. */
export function blocksAnything(spec: JsonObject): boolean {
  return ['input', 'output'].some((side) => {
    const value = spec[side];
    return isObject(value) && objectsOf(value['rules']).length > 0;
  });
}
