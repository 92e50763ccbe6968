import { isObject, type JsonObject } from '../../model/json.ts';
import type { ResourceId } from '../../model/resource.ts';
import { objectsIn, textsIn } from '../posture/protection-snapshot.ts';
import { compareEnforced } from './compare-controls.ts';
import { compareSets } from './compare-sets.ts';
import { controlsOf, type Control, type Posture } from './control.ts';
import { strengthening, verbPhrase, weakening, type ControlRow, type FieldRisks, type PhraseBuilder } from './control-row.ts';
import { byBlockedText, byMaskedText } from './coverage-rules.ts';
import { attributeRisks, enforcementRisks } from './field-risks.ts';
import { contentCodes, maskedTexts, maskingRisks } from './masked-texts.ts';

const enforcing = ['type', 'subtype', 'access_mode_connect'];
const onConnection = [attributeRisks, enforcementRisks(enforcing)];

type Side = 'input' | 'output';

/** What guardrails block in one direction. */
function blockedRow(side: Side, wording: { readonly heading: string; readonly verb: string }): Omit<ControlRow, 'type'> {
  return {
    fields: { Connection: ['attributes'], GuardrailRule: [side, 'attributes'] },
    conditions: enforcing,
    ofRules: {
      kind: 'GuardrailRule',
      read: (spec, rules) => blockedTexts(side, spec, rules),
      verb: wording.verb,
      detached: weakening('guardrail-detached', 'a guardrail is detached from a connection'),
      attached: strengthening('guardrail-attached', 'a guardrail is attached to a connection'),
    },
    compare: compareEnforced(side, byBlockedText),
    risks: { Connection: onConnection, GuardrailRule: [attributeRisks, blockedTextRisks(side)] },
    weight: 2,
    column: { heading: wording.heading },
    about: 'guardrail patterns',
    enforced: 'guardrails',
    loses: guardrailPhrase('loses', 'lose'),
    gains: guardrailPhrase('gains', 'gain'),
  };
}

/** What guardrails block in the input. */
export const inputRow: Omit<ControlRow, 'type'> = blockedRow('input', { heading: 'blocked input', verb: 'blocks input' });

/** What guardrails block in the output. */
export const outputRow: Omit<ControlRow, 'type'> = blockedRow('output', { heading: 'blocked output', verb: 'blocks output' });

/** Returns what a guardrail blocks on one side. */
function blockedTexts(side: Side, spec: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const value = spec[side];
  return objectsIn(isObject(value) ? value['rules'] : undefined).flatMap((entry) => entryControls(entry, rules));
}

/** Returns the controls of one guardrail entry; its type decides which field counts. An entry of an unknown type protects nothing. */
function entryControls(entry: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const { type, words, pattern_regex: pattern } = entry;
  if (type === 'deny_words_list') return textsIn(words).flatMap((name) => (name === '' ? [] : [{ name, form: 'word', rules }]));
  if (type !== 'pattern_match') return [];
  return typeof pattern === 'string' && pattern !== '' ? [{ name: pattern, form: 'pattern', text: `/${pattern}/`, rules }] : [];
}

/** Finds the words and patterns of a guardrail that were added, removed or replaced. */
function blockedTextRisks(side: Side): FieldRisks {
  const { word, pattern, patternChanged } = contentCodes;
  return {
    codes: [word.removed, word.added, pattern.removed, pattern.added, patternChanged],
    find: ({ before, after }) => {
      const found = compareSets(blockedTexts(side, before, []), blockedTexts(side, after, []), byBlockedText);
      return [
        ...(hasWord(found.lost) ? [word.removed] : []),
        ...(hasWord(found.gained) ? [word.added] : []),
        ...(hasPattern(found.lost) ? [pattern.removed] : []),
        ...(hasPattern(found.gained) ? [pattern.added] : []),
        ...(found.incomparable.length > 0 ? [patternChanged] : []),
      ].map((code) => ({ code, fields: [side] }));
    },
  };
}

function hasWord(controls: readonly Control[]): boolean {
  return controls.some(({ form }) => form === 'word');
}

function hasPattern(controls: readonly Control[]): boolean {
  return controls.some(({ form }) => form !== 'word');
}

function guardrailPhrase(one: string, many: string): PhraseBuilder {
  return (controls, other) => verbPhrase(one, many, isWholeRule(controls, other) ? 'a guardrail' : 'guardrail checks');
}

/** Returns whether one of the rules is missing completely from the other posture. */
function isWholeRule(controls: readonly Control[], other: Posture): boolean {
  const rules = new Set(controls.flatMap((control) => control.rules ?? []));
  const isThere = (rule: ResourceId): boolean =>
    (['input', 'output'] as const).some((side) => controlsOf(other, side).some((control) => control.rules?.includes(rule)));
  return [...rules].some((rule) => !isThere(rule));
}

/** What masking rules mask. */
export const maskingRow: Omit<ControlRow, 'type'> = {
  fields: {
    Connection: ['attributes'],
    DataMaskingRule: ['score_threshold', 'supported_entity_types', 'custom_entity_types', 'attributes'],
  },
  conditions: enforcing,
  ofRules: {
    kind: 'DataMaskingRule',
    read: maskedTexts,
    verb: 'masks',
    detached: weakening('masking-detached', 'a masking rule is detached from a connection'),
    attached: strengthening('masking-attached', 'a masking rule is attached to a connection'),
  },
  compare: compareEnforced('masking', byMaskedText),
  risks: { Connection: onConnection, DataMaskingRule: [attributeRisks, ...maskingRisks] },
  weight: 3,
  column: { heading: 'masked' },
  about: 'masking',
  loses: (_, other) => (isNone(other) ? verbPhrase('loses', 'lose', 'masking') : verbPhrase('masks', 'mask', 'less')),
  gains: (_, other) => (isNone(other) ? verbPhrase('gains', 'gain', 'masking') : verbPhrase('masks', 'mask', 'more')),
};

function isNone(posture: Posture): boolean {
  return controlsOf(posture, 'masking').length === 0;
}
