/** The safety checks of who may use connections, and after whose approval, in the form of `checks`. */
const requestRules = 'gateway/dialects/hoop/checks/access-request-rule.ts';
const runbookRules = 'gateway/dialects/hoop/checks/runbook-rule.ts';
const attributes = 'gateway/dialects/hoop/checks/attribute.ts';
const refusals = 'reconcile/guard/access-refusals.ts';
const lastRule = ['hoop/runbook-rules.test.ts: to delete the last rule has to be allowed'];

export const accessChecks = [
  [
    'two access-request rules of one step do not name a connection',
    requestRules,
    'find((one) => other.connections.has(one))',
    "find((one) => one === '')",
    ['hoop/access-request-rules.test.ts: a rule that governs what another governs is refused'],
  ],
  [
    'an access-request rule has a target',
    requestRules,
    'if (own.connections.size + own.attributes.length === 0)',
    'if (own.connections.size + own.attributes.length < 0)',
    ['hoop/access-request-rules.test.ts: a rule without connections is refused'],
  ],
  [
    'the last runbook rule is deleted only if that is allowed',
    refusals,
    'if (last === undefined || runbookRulesIn(',
    "if (last?.id !== '' || runbookRulesIn(",
    lastRule,
  ],
  [
    'access control is switched on only if that is allowed',
    refusals,
    'if (planned === undefined) return [];',
    "if (planned?.kind !== '') return [];",
    ['hoop/access-groups.test.ts: is refused, and lists every connection that only admins see then'],
  ],
  [
    'a runbook rule means every connection only if its manifest says so',
    runbookRules,
    'if (names.length === 0) return meansEvery ? [] :',
    'if (names.length === 0) return meansEvery || !meansEvery ? [] :',
    ['hoop/runbook-rules.test.ts: the last connection of a rule is not removed from it'],
  ],
  [
    'a runbook rule for every connection names none that is deleted',
    runbookRules,
    "if (action === 'detach' && by !== connection)",
    "if (action === 'detach' && by !== '')",
    ['hoop/runbook-rules.test.ts: a rule is not stated for every connection while the plan deletes or replaces one that it names'],
  ],
  [
    'an attribute that manifests name is not deleted',
    attributes,
    '...keptNames(id, proposal.desired), ',
    '',
    ['hoop/attributes.test.ts: an attribute is deleted after the last connection let go of it, and never while a manifest names it'],
  ],
  [
    'an attribute is deleted after the rules that it links',
    'reconcile/schedule/schedule-steps.ts',
    'losesLinks(effect) ? deleted.filter',
    "losesLinks(effect) && effect.change.action === 'create' ? deleted.filter",
    ['hoop/attributes.test.ts: an attribute stays while a rule that it links cannot be deleted'],
  ],
  [
    'writes that decide access together are ordered by the states between them',
    'reconcile/schedule/schedule-writes.ts',
    'if (all.some(({ effect }) => effect.joint !== undefined)) return jointExposures(',
    'if (all.some(({ effect }) => effect.joint === effect)) return jointExposures(',
    [...lastRule, 'hoop/runbook-rules.test.ts: the last connection of a rule is not removed from it'],
  ],
  [
    'groups lose a connection before it opens, and gain it afterwards',
    'gateway/write/write.ts',
    'keptGroups(row, fresh, wireKind)',
    'row',
    ['hoop/access-stops.test.ts: the connection closes in part and loses its review of an apply'],
  ],
  [
    'a new connection is opened after its groups are written',
    'reconcile/schedule/schedule-steps.ts',
    '&& !hasRow(effect, layout)',
    '',
    ['hoop/access-groups.test.ts: a new connection is created closed, granted, and then opened'],
  ],
  [
    'runbooks are compared for all who see a connection on both sides',
    'protection/controls/runbooks-row.ts',
    'own?.groups ?? other?.groups ?? []',
    'own?.groups ?? []',
    ['unit/protection/access/access-changes.test.ts: whose members in a group that still sees the connection gain'],
  ],
  [
    'people get no more than an access reference grants',
    'reconcile/assess/check-access-references.ts',
    "lineRefusals('plan/access-reference', linesOf(isRefused))",
    '[]',
    ['e2e/plan/access-limits.test.ts: refuses a plan that grants more, names both lines, and can be overridden'],
  ],
  [
    'a later end of access is new access',
    'reconcile/guard/new-access-refusals.ts',
    '[...lines, ...extensionLines(prepared, since)]',
    'lines',
    ['unit/reconcile/guard/new-access-refusals.test.ts: a group that keeps its access for longer'],
  ],
  [
    'more than four writes that decide access together are written in rounds',
    'reconcile/schedule/schedule-steps.ts',
    'return writes < mostTogether &&',
    'return writes < Infinity &&',
    ['hoop/exposure-windows.test.ts: a review is asked for before 5 attributes grant other groups'],
  ],
  [
    'a connection gets its attributes after all rounds that write attributes',
    'reconcile/schedule/schedule-steps.ts',
    ' && step.round === undefined ? round',
    ' ? round',
    ['hoop/exposure-windows.test.ts: a connection gets an attribute after all rounds that write attributes'],
  ],
  [
    'runbook rules of which none stays affect every connection',
    'protection/access/deciding-kinds.ts',
    'return !isKept ||',
    'return (had.length + has.length === 1 && !isKept) ||',
    ['hoop/runbook-rules.test.ts: the last rules are deleted after another one is created'],
  ],
  [
    'a new connection waits for all rules that protect it together',
    'reconcile/compare/joint-states.ts',
    'new Set([...created, key])',
    'new Set([key])',
    ['hoop/runbook-rules.test.ts: the last rules are deleted after another one is created'],
  ],
  [
    'a rule that loses waits for a connection that changes its attributes',
    'reconcile/compare/effects.ts',
    "effects.has('strengthens') || [...has].some((name) => !had.has(name))",
    "effects.has('strengthens')",
    ['hoop/exposure-windows.test.ts: a rule loses a word after the connection has gained the attribute of another rule with it'],
  ],
  [
    'a connection changes its attributes after the rules that make up for them',
    'reconcile/schedule/schedule-steps.ts',
    'ownDirection(effect).weakens || changesAttributes(effect)',
    'change.fields.length < 0',
    ['hoop/exposure-windows.test.ts: a connection keeps the attribute of a rule while the rule that governs it next cannot be written'],
  ],
];
