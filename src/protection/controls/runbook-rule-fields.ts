import { asArray, canonical, type JsonObject } from '../../model/json.ts';
import { type ControlRow, type FieldRisks, type MemberCodes, memberDrafts, strengthening, weakening } from './control-row.ts';

const runbookCodes: MemberCodes = {
  added: weakening('runbook-allowed', 'a runbook rule allows more runbooks'),
  removed: strengthening('runbook-withdrawn', 'a runbook rule allows fewer runbooks'),
};

const groupCodes: MemberCodes = {
  added: weakening('runbook-group-added', 'one more group can run the runbooks of a rule'),
  removed: strengthening('runbook-group-removed', 'one fewer group can run the runbooks of a rule'),
};

/** Finds elements of a list that was added to or removed from; an empty list includes everything, so that a first element removes some. */
function openListRisks(field: string, codes: MemberCodes): FieldRisks {
  const read = (spec: JsonObject): readonly string[] => asArray(spec[field]).map(canonical);
  return {
    codes: [codes.removed, codes.added],
    find: ({ before, after }) => {
      const [had, has] = [read(before), read(after)];
      const found = memberDrafts(had, has, { fields: [field], codes });
      if (had.length > 0 && has.length > 0) return found;
      return found.map((draft) => ({ ...draft, code: has.length === 0 ? codes.added : codes.removed }));
    },
  };
}

/** What the fields of a runbook rule do. */
export const runbookRuleRisks: readonly FieldRisks[] = [openListRisks('runbooks', runbookCodes), openListRisks('user_groups', groupCodes)];

/** The fields of a runbook rule that decide who can run what. */
export const runbookRuleFields: readonly string[] = ['runbooks', 'user_groups'];

/** How runbook rules reach connections. */
export const runbookRules: NonNullable<ControlRow['ofAccess']> = {
  RunbookRule: {
    verb: 'allows runbooks',
    attached: weakening('runbook-rule-attached', 'a runbook rule includes a connection'),
    detached: strengthening('runbook-rule-detached', 'a runbook rule no longer includes a connection'),
  },
};
