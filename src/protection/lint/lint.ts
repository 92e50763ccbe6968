import type { DesiredResource } from '../../model/desired.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { kindOf } from '../../model/resource.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { lintGuardrail, duplicateFindings } from './lint-guardrail.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import { objectsIn, textsIn } from '../posture/protection-snapshot.ts';
import { shortText } from '../short-text.ts';
import { registeredTypes } from '../samples/simulate.ts';
import { harmlessTexts, lintPattern, harmlessFinding } from './lint-pattern.ts';

/** Finds problems of a guardrail or masking rule; returns nothing for other kinds. */
export function lintRule({ id, written, spec }: DesiredResource, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  switch (kindOf(id)) {
    case 'GuardrailRule':
      return lintGuardrail(written ?? spec, patterns);
    case 'DataMaskingRule':
      return lintMasking(written ?? spec, patterns);
    default:
      return [];
  }
}

/** Finds problems of the custom entity types of a masking rule: patterns, words and scores. */
export function lintMasking(spec: JsonObject, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  const entities = objectsIn(spec['custom_entity_types']);
  const words = entities.flatMap(({ deny_list: list }, index) =>
    textsIn(list).map((text, word) => ({ text, at: placeOf(index, 'deny_list') + pointer(String(word)) })),
  );
  const regexes = entities.flatMap(({ regex: text }, index) =>
    typeof text === 'string' && text !== '' ? [{ text, at: placeOf(index, 'regex'), side: 'text' } as const] : [],
  );
  return [
    ...duplicateFindings(words, 'word'),
    ...duplicateFindings(regexes, 'pattern'),
    ...words.flatMap(({ text, at }) =>
      harmlessTexts.text.includes(text) ? [harmlessFinding({ what: `the word ${shortText(text)}`, at, side: 'text' }, text)] : [],
    ),
    ...regexes.flatMap((place) => lintPattern(place, patterns)),
    ...lowScores(spec, entities),
  ];
}

function placeOf(index: number, field: string): Pointer {
  return pointer('spec', 'custom_entity_types', String(index), field);
}

/** Reports entity types whose score is below the threshold; an error when the rule then masks nothing. */
function lowScores(spec: JsonObject, entities: readonly JsonObject[]): readonly DocumentDiagnostic[] {
  const threshold = spec['score_threshold'];
  const low = entities.flatMap((entity, index) => (isTooLow(scoreOf(entity), threshold) ? [{ entity, index }] : []));
  const isIdle = typeof threshold === 'number' && low.length === entities.length && registeredTypes(spec).length === 0;
  return low.map(({ entity, index }): DocumentDiagnostic => {
    const { name, score } = entity;
    const stated = score === undefined ? 'has no score, which is 0' : `has the score ${scoreOf(entity)}`;
    const beside =
      typeof threshold === 'number'
        ? `below the threshold of ${threshold}, so it masks nothing`
        : 'the lowest there is: nothing reaches below';
    return {
      code: 'rule/score-below-threshold',
      severity: isIdle ? 'error' : 'warning',
      pointer: pointer('spec', 'custom_entity_types', String(index), ...(score === undefined ? [] : ['score'])),
      message: `${typeof name === 'string' ? name : 'the entity type'} ${stated}, ${beside}`,
      hint:
        typeof threshold === 'number'
          ? `give it a score of at least ${threshold}`
          : 'give it a score above 0: a gateway may leave out what has none',
    };
  });
}

function scoreOf({ score }: JsonObject): number {
  return typeof score === 'number' ? score : 0;
}

function isTooLow(score: number, threshold: Json | undefined): boolean {
  return typeof threshold === 'number' ? score < threshold : score === 0;
}
