import { isObject, type Json } from '../../../../model/json.ts';
import type { LiveState } from '../../../../model/live.ts';
import type { Refusal } from '../../../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../../../model/resource.ts';
import { refusalAt, type ProposedWrite } from '../../shared/proposed-writes.ts';
import { asArray } from '../../shared/rest.ts';

const hint = 'the gateway has the free licence; an enterprise licence has no such limit';

/** What the free licence refuses: a second rule of a kind, and rules with more than one entry. */
export function licenseRefusals(drafts: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  return [
    ...tooMany('GuardrailRule', drafts, live),
    ...tooMany('DataMaskingRule', drafts, live),
    ...drafts.flatMap((draft) => entryRefusals(draft)),
  ];
}

/** The rules that the free licence takes as they are to be, and not with what they are joined to it; and why. */
export function findIndivisible(drafts: readonly ProposedWrite[]): ReadonlyMap<ResourceId, string> {
  return new Map(
    drafts.flatMap((draft) => {
      if (draft.joined === undefined || entryRefusals(draft).length > 0) return [];
      const [first] = entryRefusals({ ...draft, spec: draft.joined });
      return first === undefined ? [] : [[draft.resource.id, first.message] as const];
    }),
  );
}

function entryRefusals(draft: ProposedWrite): readonly Refusal[] {
  return [...guardrailEntries(draft), ...maskingEntries(draft)];
}

function tooMany(kind: string, drafts: readonly ProposedWrite[], live: LiveState): readonly Refusal[] {
  const present = live.resources.filter(({ id }) => kindOf(id) === kind).length;
  const created = drafts.filter((draft) => draft.kind === kind && draft.creates);
  return created
    .slice(Math.max(0, 1 - present))
    .map((draft) => licenseRefusal(draft, '', `the free licence allows one ${kind}, and ${present + created.length} would be there`));
}

function guardrailEntries(draft: ProposedWrite): readonly Refusal[] {
  if (draft.kind !== 'GuardrailRule') return [];
  return ['input', 'output'].flatMap((side) => {
    const value = draft.spec[side];
    const { length } = isObject(value) ? asArray(value['rules']) : [];
    return length > 1
      ? [licenseRefusal(draft, `/${side}`, `the free licence allows one entry of ${side} rules, and there are ${length}`)]
      : [];
  });
}

function maskingEntries(draft: ProposedWrite): readonly Refusal[] {
  if (draft.kind !== 'DataMaskingRule') return [];
  const supported = asArray(draft.spec['supported_entity_types']);
  const custom = asArray(draft.spec['custom_entity_types']);
  const at = { supported: '/supported_entity_types', custom: '/custom_entity_types' };
  const types = supported.reduce((count: number, entry) => count + entryCount(entry, 'entity_types'), 0);
  const both = custom.some((entry) => entryCount(entry, 'deny_list') > 0 && isObject(entry) && (entry['regex'] ?? '') !== '');
  return [
    ...(supported.length > 0 && custom.length > 0
      ? [licenseRefusal(draft, at.custom, 'the free licence allows supported_entity_types or custom_entity_types, not both')]
      : []),
    ...(supported.length > 1 || types > 1
      ? [licenseRefusal(draft, at.supported, `the free licence allows one supported entity type, and there are ${types}`)]
      : []),
    ...(custom.length > 1
      ? [licenseRefusal(draft, at.custom, `the free licence allows one custom entity type, and there are ${custom.length}`)]
      : []),
    ...(custom.some((entry) => entryCount(entry, 'deny_list') > 1)
      ? [licenseRefusal(draft, at.custom, 'the free licence allows one entry in a deny_list')]
      : []),
    ...(both ? [licenseRefusal(draft, at.custom, 'the free licence allows a regex or a deny_list, not both')] : []),
  ];
}

function entryCount(entry: Json, field: string): number {
  return isObject(entry) ? asArray(entry[field]).length : 0;
}

function licenseRefusal(draft: ProposedWrite, at: string, message: string): Refusal {
  return refusalAt(draft, at, { code: 'hoop/licence', message, hint });
}
