import type { AccessRequestRule, AccessState, RunbookRule } from '../../src/model/protection/access-objects.ts';

/** Everything that decides access on a gateway, nothing of it there, and access control off. */
export function accessState(given: Partial<AccessState> = {}): AccessState {
  return {
    'access-control': 'off',
    attributes: [],
    'access-request-rules': [],
    'runbook-rules': [],
    rulepacks: [],
    'analyzer-rules': [],
    'machine-identities': [],
    ...given,
  };
}

/** An access-request rule: one of two groups must approve all access of everybody. */
export function requestRule(name: string, given: Partial<AccessRequestRule> = {}): AccessRequestRule {
  return {
    id: `id-${name}`,
    name,
    access_type: 'jit_command',
    connections: [],
    attributes: [],
    approval_required_groups: [],
    reviewers_groups: ['sec', 'dba'],
    approvals: 1,
    force_approval_groups: [],
    skip_review_groups: [],
    access_max_duration: null,
    managed_by: '',
    ...given,
  };
}

/** A runbook rule: everybody runs every runbook on every connection. */
export function runbookRule(name: string, given: Partial<RunbookRule> = {}): RunbookRule {
  return { id: `id-${name}`, name, runbooks: [], connections: [], groups: [], ...given };
}
