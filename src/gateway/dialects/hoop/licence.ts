import type { Diagnostic } from '../../../model/diagnostic.ts';
import { isObject, type Json } from '../../../model/json.ts';
import type { LiveState } from '../../../model/live.ts';
import { kindOf } from '../../../model/resource.ts';
import { tell, type Draft } from '../draft.ts';
import { listOf } from '../rest.ts';

const hint = 'the gateway has the free licence; an enterprise licence has no such limit';

/** What the free licence refuses: a second rule of a kind, and rules with more than one entry. */
export function licenceProblems(drafts: readonly Draft[], live: LiveState): readonly Diagnostic[] {
  return [
    ...tooMany('GuardrailRule', drafts, live),
    ...tooMany('DataMaskingRule', drafts, live),
    ...drafts.flatMap((draft) => entryProblems(draft)),
  ];
}

/** Too many entries; those that stand beside each other only while a rule is written twice are told as that. */
function entryProblems(draft: Draft): readonly Diagnostic[] {
  const wrong = [...guardrailEntries(draft), ...maskingEntries(draft)];
  if (wrong.length > 0 || draft.joined === undefined) return wrong;
  const between = { ...draft, spec: draft.joined };
  const [first] = [...guardrailEntries(between), ...maskingEntries(between)];
  if (first === undefined) return [];
  const message =
    'the rule is written twice, so that nothing is less protected in between, and the free licence does not allow both at once';
  return [{ ...first, message, hint: `apply this rule apart from the others: ostiary apply --only ${draft.resource.id}` }];
}

function tooMany(kind: string, drafts: readonly Draft[], live: LiveState): readonly Diagnostic[] {
  const present = live.resources.filter(({ id }) => kindOf(id) === kind).length;
  const created = drafts.filter((draft) => draft.kind === kind && draft.creates);
  return created
    .slice(Math.max(0, 1 - present))
    .map((draft) => limited(draft, '', `the free licence allows one ${kind}, and ${present + created.length} would be there`));
}

function guardrailEntries(draft: Draft): readonly Diagnostic[] {
  if (draft.kind !== 'GuardrailRule') return [];
  return ['input', 'output'].flatMap((side) => {
    const value = draft.spec[side];
    const { length } = isObject(value) ? listOf(value['rules']) : [];
    return length > 1 ? [limited(draft, `/${side}`, `the free licence allows one entry of ${side} rules, and there are ${length}`)] : [];
  });
}

function maskingEntries(draft: Draft): readonly Diagnostic[] {
  if (draft.kind !== 'DataMaskingRule') return [];
  const supported = listOf(draft.spec['supported_entity_types']);
  const custom = listOf(draft.spec['custom_entity_types']);
  const at = { supported: '/supported_entity_types', custom: '/custom_entity_types' };
  const types = supported.reduce((count: number, entry) => count + lengthOf(entry, 'entity_types'), 0);
  const both = custom.some((entry) => lengthOf(entry, 'deny_list') > 0 && isObject(entry) && (entry['regex'] ?? '') !== '');
  return [
    ...(supported.length > 0 && custom.length > 0
      ? [limited(draft, at.custom, 'the free licence allows supported_entity_types or custom_entity_types, not both')]
      : []),
    ...(supported.length > 1 || types > 1
      ? [limited(draft, at.supported, `the free licence allows one supported entity type, and there are ${types}`)]
      : []),
    ...(custom.length > 1
      ? [limited(draft, at.custom, `the free licence allows one custom entity type, and there are ${custom.length}`)]
      : []),
    ...(custom.some((entry) => lengthOf(entry, 'deny_list') > 1)
      ? [limited(draft, at.custom, 'the free licence allows one entry in a deny_list')]
      : []),
    ...(both ? [limited(draft, at.custom, 'the free licence allows a regex or a deny_list, not both')] : []),
  ];
}

function lengthOf(entry: Json, field: string): number {
  return isObject(entry) ? listOf(entry[field]).length : 0;
}

function limited(draft: Draft, at: string, message: string): Diagnostic {
  return tell(draft, at, { code: 'hoop/licence', message, hint });
}
