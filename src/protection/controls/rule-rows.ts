import { memoizeByObject } from '../../model/collections.ts';
import { asObject, asText, type JsonObject, objectsIn, textsIn } from '../../model/json.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { byBlockedText, byMaskedText, compareEnforced } from './compare-controls.ts';
import { enforcingFields } from './enforcement.ts';
import { controlsOf, type Control, type ControlRow, namesText, quoteName, type PhraseBuilder } from './control-row.ts';

/**
 * Returns what a masking rule masks. A registered type counts from the threshold on. A custom one has one score: it counts if the
 * score reaches the threshold, and relative to the gateway's own threshold if the rule has none.
 */
function maskedTexts(spec: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const threshold = spec['score_threshold'];
  const from = typeof threshold === 'number' ? ` from ${threshold}` : '';
  const limit = (own: number): Pick<Control, 'limit' | 'relativeToGateway'> =>
    typeof threshold === 'number' ? { limit: 0 } : { limit: 0 - own, relativeToGateway: true };
  const custom = objectsIn(spec['custom_entity_types']).flatMap((entity): readonly Control[] => {
    const { name, score, regex } = entity;
    const type = asText(name);
    const own = typeof score === 'number' ? score : 0;
    if (typeof threshold === 'number' && own < threshold) return [];
    const control = (what: string, content: string, form: 'word' | 'pattern'): Control => ({
      name: `${type} ${what}`,
      text: `${type} ${what} at ${own}${from}`,
      form,
      entityType: type,
      content,
      ...limit(own),
      rules,
    });
    const words = textsIn(entity['deny_list']).flatMap((word) => (word === '' ? [] : [control(JSON.stringify(word), word, 'word')]));
    return typeof regex === 'string' && regex !== '' ? [...words, control(`/${regex}/`, regex, 'pattern')] : words;
  });
  const known = typeof threshold === 'number' ? { limit: threshold } : limit(0);
  return [...registeredTypes(spec).map((name): Control => ({ name, text: `${name}${from}`, ...known, rules })), ...custom];
}

/** Lists the registered entity types that the rule uses. */
export function registeredTypes(spec: JsonObject): readonly string[] {
  return objectsIn(spec['supported_entity_types']).flatMap((group) => textsIn(group['entity_types']));
}

/** The flags of the gateway that decide it, too. */
const flags = { FeatureFlag: ['enabled'] };

type Side = 'input' | 'output';

/** What guardrails block in one direction. */
function blockedRow(side: Side, wording: { readonly heading: string; readonly verb: string }): Omit<ControlRow, 'type'> {
  return {
    fields: { Connection: ['attributes'], GuardrailRule: [side, 'attributes'], ...flags },
    conditions: enforcingFields,
    ofRules: {
      kind: 'GuardrailRule',
      read: (spec, rules) => guardrailEntries(spec, side).flatMap((entry) => entryControls(entry, rules)),
      verb: wording.verb,
    },
    compare: compareEnforced(side, byBlockedText),
    weight: 3,
    column: { heading: wording.heading },
    about: 'guardrail patterns',
    enforced: 'guardrails',
    loses: guardrailPhrase('loses', 'no longer blocks'),
    gains: guardrailPhrase('gains', 'now blocks'),
  };
}

/** What guardrails block in the input. */
export const inputRow: Omit<ControlRow, 'type'> = blockedRow('input', { heading: 'blocked input', verb: 'blocks input' });

/** What guardrails block in the output. */
export const outputRow: Omit<ControlRow, 'type'> = blockedRow('output', { heading: 'blocked output', verb: 'blocks output' });

/** Returns the entries of one side of a guardrail in their order. */
export function guardrailEntries(spec: JsonObject, side: Side): readonly JsonObject[] {
  return objectsIn(asObject(spec[side])['rules']);
}

/** Returns the controls of one guardrail entry; its type decides which field counts. An entry of an unknown type protects nothing. */
function entryControls(entry: JsonObject, rules: readonly ResourceId[]): readonly Control[] {
  const { type, words, pattern_regex: pattern } = entry;
  if (type === 'deny_words_list') return textsIn(words).flatMap((name) => (name === '' ? [] : [{ name, form: 'word', rules }]));
  if (type !== 'pattern_match') return [];
  return typeof pattern === 'string' && pattern !== '' ? [{ name: pattern, form: 'pattern', text: `/${pattern}/`, rules }] : [];
}

/** Names the rules that are lost or gained completely, otherwise what they block. */
function guardrailPhrase(whole: 'loses' | 'gains', some: string): PhraseBuilder {
  return (controls, other) => {
    const there = (['input', 'output'] as const).map((side) => rulesOf(controlsOf(other, side)));
    const rules = [...rulesOf(controls)].filter((rule) => there.every((known) => !known.has(rule)));
    if (rules.length > 0) return `${whole} ${namesText('guardrail', rules.map(nameOf).map(quoteName))}`;
    const others = [...controlsOf(other, 'input'), ...controlsOf(other, 'output')];
    const isPart = whole === 'loses' && others.some(({ form }) => form === 'pattern');
    return `${some} ${namesText(
      'text',
      controls.map((one) => blockedName(one, isPart)),
      false,
    )}`;
  };
}

/** Returns a word as it is, in quotes where it is not one word; a pattern between slashes, which another one may cover in part. */
function blockedName({ name, text = name, form }: Control, isPart: boolean): string {
  if (form === 'word') return /^[\w.$-]+$/.test(name) ? name : JSON.stringify(name);
  return isPart ? `all of ${text}` : text;
}

/** Returns the rules of controls, one set for each list: many connections share it. */
const rulesOf = memoizeByObject(
  (controls: readonly Control[]): ReadonlySet<ResourceId> => new Set(controls.flatMap(({ rules }) => rules ?? [])),
);

/** What masking rules mask. */
export const maskingRow: Omit<ControlRow, 'type'> = {
  fields: {
    Connection: ['attributes'],
    DataMaskingRule: ['score_threshold', 'supported_entity_types', 'custom_entity_types', 'attributes'],
    ...flags,
  },
  conditions: enforcingFields,
  ofRules: {
    kind: 'DataMaskingRule',
    read: maskedTexts,
    verb: 'masks',
  },
  compare: compareEnforced('masking', byMaskedText),
  coveredBy: 'redaction',
  weight: 4,
  column: { heading: 'masked' },
  about: 'masking',
  loses: maskingPhrase('loses', 'no longer masks', 'less'),
  gains: maskingPhrase('gains', 'now masks', 'more'),
};

/** Returns the entity type of a control: a custom type has a control for each of its words and its pattern. */
function entityTypeOf({ name, entityType = name }: Control): string {
  return entityType;
}

/** Names the entity types or the texts that the other side does not mask at all, otherwise the score from which it masks them. */
function maskingPhrase(whole: string, some: string, direction: 'less' | 'more'): PhraseBuilder {
  return (controls, other) => {
    const others = controlsOf(other, 'masking');
    const gone = controls.map(entityTypeOf).filter((type) => others.every((one) => entityTypeOf(one) !== type));
    if (others.length === 0) return `${whole} masking of ${namesText('entity type', gone, false)}`;
    if (gone.length > 0) {
      const rest = controls.filter((one) => !gone.includes(entityTypeOf(one)));
      const also = rest.length === 0 ? '' : `, and masks ${scoresText(rest, others, direction)}`;
      return `${some} ${namesText('entity type', gone, false)}${also}`;
    }
    const texts = controls.filter((one) => one.form !== undefined && others.every(({ name }) => name !== one.name));
    if (texts.length === controls.length) return `${some} ${maskedNames(texts, direction === 'less')}`;
    return `masks ${scoresText(controls, others, direction)}`;
  };
}

/** Names entity types with the score from which they are masked, if that is one for all. */
function scoresText(controls: readonly Control[], others: readonly Control[], direction: 'less' | 'more'): string {
  const types = namesText('entity type', controls.map(entityTypeOf), false);
  const otherOf = (one: Control): Control | undefined => others.find(({ name }) => name === one.name);
  const [only = '', ...more] = new Set(controls.map((one) => limitsText(one, otherOf(one), direction)));
  return more.length === 0 && only !== '' ? `${types} ${only}` : `${direction} of ${types}`;
}

/** Returns the words and patterns of custom entity types, with the types that they belong to: `globex as VIP`. */
function maskedNames(controls: readonly Control[], isPart: boolean): string {
  const names = controls.map(({ content = '', form }) =>
    form === 'word' ? blockedName({ name: content, form }, isPart) : blockedName({ name: content, text: `/${content}/` }, isPart),
  );
  return `${namesText('text', names, false)} as ${namesText('entity type', controls.map(entityTypeOf), false)}`;
}

/** Returns `only from a score of 0.7 (was 0.5)` for a registered type. */
function limitsText(own: Control, other: Control | undefined, direction: 'less' | 'more'): string {
  if ([own, other].some((one) => one?.limit === undefined || one.form !== undefined || one.relativeToGateway === true)) return '';
  return direction === 'less'
    ? `only from a score of ${other?.limit} (was ${own.limit})`
    : `already from a score of ${own.limit} (was ${other?.limit})`;
}
