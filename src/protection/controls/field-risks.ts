import { equal, type Json, type JsonObject } from '../../model/json.ts';
import { textsIn } from '../posture/protection-snapshot.ts';
import { strengthening, uncertain, weakening, type FieldRisks, type RiskCode, type RiskDraft, type SpecSides } from './control-row.ts';
import { enforcementOf, isSameEnforcement } from './enforcement.ts';

/** The codes of a list that gains and loses elements. */
export type MemberCodes = { readonly added: RiskCode; readonly removed: RiskCode };

/** The codes of a number that rises and falls. */
export type LimitCodes = { readonly raised: RiskCode; readonly lowered: RiskCode };

/** Finds that a switch was opened or closed. */
export function switchRisks(field: string, { opened, closed }: { readonly opened: RiskCode; readonly closed: RiskCode }): FieldRisks {
  return {
    codes: [opened, closed],
    find: ({ before, after }) => {
      const [wasEnabled, isEnabled] = [before[field] === 'enabled', after[field] === 'enabled'];
      return wasEnabled === isEnabled ? [] : [{ code: isEnabled ? opened : closed, fields: [field] }];
    },
  };
}

/** Finds elements of a set that were added or removed; `fields` forms the set, by default as a list of texts. */
export function setRisks(
  fields: readonly string[],
  codes: MemberCodes,
  read: (spec: JsonObject) => readonly string[] = (spec) => textsIn(spec[fields[0] ?? '']),
): FieldRisks {
  return {
    codes: [codes.removed, codes.added],
    find: ({ before, after }) => memberDrafts(read(before), read(after), { fields, codes }),
  };
}

/** Returns the risks of elements that only one of two lists has. */
export function memberDrafts(
  had: readonly string[],
  has: readonly string[],
  { fields, codes: { added, removed } }: { readonly fields: readonly string[]; readonly codes: MemberCodes },
): readonly RiskDraft[] {
  const [first, last] = [new Set(had), new Set(has)];
  return [
    ...(had.some((name) => !last.has(name)) ? [{ code: removed, fields }] : []),
    ...(has.some((name) => !first.has(name)) ? [{ code: added, fields }] : []),
  ];
}

/** Finds a changed limit. Null means no limit, unless `unset` says that it means the gateway's own, which cannot be compared. */
export function limitRisks(field: string, { raised, lowered, unset }: LimitCodes & { readonly unset?: RiskCode }): FieldRisks {
  const fields = [field];
  return {
    codes: [raised, lowered, ...(unset === undefined ? [] : [unset])],
    find: ({ before, after }) => {
      const [first, last] = [before[field] ?? null, after[field] ?? null];
      if (equal(first, last)) return [];
      if (unset !== undefined && (typeof first !== 'number' || typeof last !== 'number')) return [{ code: unset, fields }];
      const [previous, current] = [limitOf(first), limitOf(last)];
      return previous === current ? [] : [{ code: current > previous ? raised : lowered, fields }];
    },
  };
}

function limitOf(value: Json): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

/** Finds changed attributes, which attach rules. */
export const attributeRisks: FieldRisks = setRisks(['attributes'], {
  removed: weakening('attribute-removed', 'an attribute is removed, with the rules that it attaches'),
  added: strengthening('attribute-added', 'an attribute is added, with the rules that it attaches'),
});

const enforcementChanged = uncertain('enforcement-changed', 'the new type enforces guardrails or masking differently');

/** Finds the first of some fields that changes how a connection enforces rules. */
export function enforcementRisks(fields: readonly string[]): FieldRisks {
  return {
    codes: [enforcementChanged],
    find: ({ before, after }: SpecSides) => {
      if (isSameEnforcement(enforcementOf(before), enforcementOf(after))) return [];
      const changed = fields.filter((field) => !equal(before[field] ?? null, after[field] ?? null));
      return changed.slice(0, 1).map((field) => ({ code: enforcementChanged, fields: [field] }));
    },
  };
}
