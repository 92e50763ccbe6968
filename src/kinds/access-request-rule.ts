import schema from '../../schemas/access-request-rule.schema.json' with { type: 'json' };
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import { asArray, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { pointer } from '../model/pointer.ts';
import { ruleKind } from './rule-kind.ts';

/** The kind AccessRequestRule: who needs an approval on which connections, and by whom. */
export const accessRequestRule: Kind = ruleKind('AccessRequestRule', schema, {
  renamable: true,
  check: (spec) => contradictions(spec).map((one) => ({ code: 'manifest/approval-contradiction', severity: 'error', ...one })),
});

type Contradiction = Pick<DocumentDiagnostic, 'pointer' | 'message' | 'hint'>;

/** Lists what every gateway rejects. */
function contradictions(spec: JsonObject): readonly Contradiction[] {
  const { min_approvals: least, all_groups_must_approve: all } = spec;
  const reviewers = asArray(spec['reviewers_groups']).length;
  const found: Contradiction[] = [];
  const add = (field: string, message: string, hint: string): void => void found.push({ pointer: pointer(field), message, hint });
  const isCounted = typeof least === 'number';
  if (all !== true && !isCounted && reviewers > 0)
    add(
      'reviewers_groups',
      'nothing says how many of the reviewing groups have to approve',
      'add min_approvals, or all_groups_must_approve: true',
    );
  if (asArray(spec['skip_review_groups']).length > 0 && asArray(spec['approval_required_groups']).length > 0)
    add('skip_review_groups', 'skip_review_groups and approval_required_groups exclude each other', 'keep one of them');
  return found;
}
