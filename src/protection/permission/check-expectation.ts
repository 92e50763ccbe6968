import { asObject } from '../../model/json.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { accessModes, type AccessMode } from '../../model/protection/access-objects.ts';
import type { AccessExpectation, AccessTestResult, ExpectedApproval } from '../../model/protection/access-test.ts';
import type { Decider, Permission, PermissionFact, PermissionTerms } from '../../model/protection/permission.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { durationText } from '../../model/time.ts';
import { hasTools } from '../../model/spec/tool-lists.ts';
import { refusesSessions } from '../controls/control-row.ts';
import { isChecked, levelsOf } from '../controls/enforcement.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { ruleControlTypes } from '../controls/control-table.ts';
import { guardrailEntries } from '../controls/rule-rows.ts';
import { unmetTools } from '../controls/tools-row.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { rulesOn } from '../posture/protection-snapshot.ts';
import { simulateGuardrail } from '../samples/simulate.ts';
import { hiddenLimits } from './hidden-fields.ts';
import { approvalText, decisionOn, permissionOf, type PermissionSubject, postureOf } from './permission.ts';

/** What results need: `newPatterns` makes a compiler for each text that should be blocked, and only tests that have such texts need it. */
export type TestTools = { readonly textOf: (decider: Decider) => string; readonly newPatterns: (() => PatternCompiler) | undefined };

/** What an expectation finds for some people on one connection. */
export type ExpectationResult = Pick<AccessTestResult, 'outcome' | 'found' | 'because'>;

/** Returns whether people who cannot use a connection are as expected: of others, an approval is the least that those who can use it need. */
export function isForUsersAlone({ people, expect }: Pick<AccessExpectation, 'people' | 'expect'>): boolean {
  return 'outside' in people && typeof expect === 'object';
}

/** Checks an expectation for people in some groups, and in no other, on one connection. */
export function checkExpectation(
  expectation: AccessExpectation,
  { subject, groups }: { readonly subject: PermissionSubject; readonly groups: readonly string[] },
  { textOf, newPatterns }: TestTools,
): ExpectationResult {
  const { verbs: asked, expect } = expectation;
  if (expect === 'denied') return checkDenied(asked ?? accessModes, { subject, groups }, textOf);
  const permissions = (asked ?? accessModes).map((verb) => permissionOf(subject, { groups, verb }));
  const because = (facts: readonly PermissionFact[], fields: readonly string[] = []): readonly string[] => {
    const by = facts.flatMap((fact) => fact.by);
    const exact = by.filter(({ path }) => fields.includes(tokensOf(path)[0] ?? ''));
    return [...new Set((exact.length > 0 ? exact : by).map(textOf))];
  };
  const possible = permissions.filter(({ answer }) => answer !== 'no');
  const mayBeDenied = isForUsersAlone(expectation);
  const refused = asked === undefined ? (possible.length === 0 ? permissions : []) : permissions.filter(({ answer }) => answer === 'no');
  if (refused.length > 0 && !mayBeDenied)
    return { outcome: 'failed', found: `${joinVerbs(refused)} denied`, because: because(refused.flatMap(({ facts }) => facts)) };
  for (const permission of possible) {
    const problem = problemOf(permission, expectation, { ...subject, newPatterns });
    if (problem === undefined) continue;
    const { found, parts, fields, outcome = 'failed' } = problem;
    const deciding = permission.facts.filter(({ part }) => parts.includes(part));
    const isDecided = deciding.some(({ by }) => by.length > 0);
    return {
      outcome: mayBeDenied && permission.answer === 'unknown' ? 'unknown' : outcome,
      found: `${permission.verb}: ${found}`,
      because: isDecided ? because(deciding, fields) : selectingTags(parts, subject).map(textOf),
    };
  }
  if (mayBeDenied) return passed('as expected');
  const unsure = possible.find(({ answer }) => answer === 'unknown');
  if (unsure !== undefined && (asked !== undefined || possible.every(({ answer }) => answer === 'unknown')))
    return { outcome: 'unknown', found: `cannot be known: ${unknownText(unsure)}`, because: because(unsure.facts) };
  return passed('as expected');
}

function checkDenied(
  verbs: readonly AccessMode[],
  { subject, groups }: Parameters<typeof checkExpectation>[1],
  textOf: TestTools['textOf'],
): ExpectationResult {
  const possible = verbs
    .map((verb) => ({ verb, ...decisionOn(subject, { groups, verb }) }))
    .filter(({ terms: { answer } }) => answer !== 'no');
  const granted = possible.filter(({ terms: { answer } }) => answer === 'yes');
  const [first] = granted.length > 0 ? granted : possible;
  if (first === undefined) return passed('denied');
  const { facts } = first;
  const entry = facts.filter(({ part }) => entryParts.has(part));
  const because = [...new Set(entry.flatMap(({ by }) => by).map(textOf))];
  if (granted.length > 0) return { outcome: 'failed', found: `${joinVerbs(granted)} allowed`, because };
  return { outcome: 'unknown', found: `cannot be known: ${unknownText({ facts })}`, because };
}

/** What rules that selectors attach decide. */
const selectedControls: Readonly<Partial<Record<PermissionFact['part'], readonly ControlType[]>>> = {
  approval: ['approval'],
  longest: ['duration'],
  blocked: ['input', 'output'],
  masked: ['masking'],
};

/** Returns the tags of a connection where selectors attach rules to others that would decide. */
function selectingTags(parts: Problem['parts'], { id, snapshot }: PermissionSubject): readonly Decider[] {
  const controls = new Set(parts.flatMap((part) => selectedControls[part] ?? []));
  const isSelected = (rule: ResourceId, connection: ResourceId): boolean =>
    ruleControlTypes(kindOf(rule)).some((type) => controls.has(type)) &&
    (snapshot.declaredAttachments?.({ rule, connection }) ?? []).some(({ how }) => how === 'selector');
  const isTagged = Object.keys(asObject(snapshot.resources.get(id)?.spec['connection_tags'])).length > 0;
  const areSelectors = [...snapshot.edges].some(([connection, rules]) => [...rules].some((rule) => isSelected(rule, connection)));
  return isTagged && areSelectors ? [{ id, path: pointer('connection_tags') }] : [];
}

function passed(found: string): ExpectationResult {
  return { outcome: 'passed', found, because: [] };
}

/** The facts that decide whether people get in. */
const entryParts: ReadonlySet<PermissionFact['part']> = new Set(['sees it', 'open', 'runbooks']);

function unknownText({ facts }: Pick<Permission, 'facts'>): string {
  return facts.find(({ answer }) => answer === 'unknown')?.text ?? 'what decides it';
}

type Problem = {
  readonly found: string;
  readonly parts: readonly PermissionFact['part'][];
  /** The fields that decide it where the facts name several. */
  readonly fields?: readonly string[];
  readonly outcome?: 'unknown';
};

type SimulatedSubject = PermissionSubject & Pick<TestTools, 'newPatterns'>;

/** Returns what a possible permission does not have; undefined if it is as expected. */
function problemOf(permission: Permission, expectation: AccessExpectation, subject: SimulatedSubject): Problem | undefined {
  const { masked, blocked, tools } = expectation;
  const problem = termsProblem(permission, expectation, permission.verb);
  if (problem !== undefined) return problem;
  const unmasked = masked.filter((type) => !permission.masked.includes(type));
  const hidden = hiddenLimits(subject.snapshot, subject.id);
  const isUnclear = (part: 'blocked' | 'masked'): boolean =>
    hidden[part].length > 0 || permission.facts.some((fact) => fact.part === part && fact.answer === 'unknown');
  const unsure = (part: 'blocked' | 'masked'): Pick<Problem, 'outcome'> => (isUnclear(part) ? { outcome: 'unknown' } : {});
  if (unmasked.length > 0) return { found: `${unmasked.join(', ')} not masked`, parts: ['masked'], ...unsure('masked') };
  const isHiddenRule = (rule: ResourceId): boolean => hidden.blocked.some(({ id }) => id === rule);
  const passing = blocked.filter((text) => !isBlocked({ text, verb: permission.verb }, subject, isHiddenRule));
  const texts = passing.map((text) => JSON.stringify(text)).join(', ');
  if (passing.length > 0) return { found: `${texts} not blocked`, parts: ['blocked'], ...unsure('blocked') };
  return toolsProblem(tools, subject);
}

/** Returns what is otherwise than an entry says about tools; a connection that leads to no server of tools has no lists that could say it. */
function toolsProblem(tools: readonly string[], subject: SimulatedSubject): Problem | undefined {
  if (tools.length === 0) return undefined;
  const parts: Problem['parts'] = ['tools'];
  if (!hasTools(subject.snapshot.resources.get(subject.id)?.spec ?? {})) return { found: 'it leads to no server of tools', parts };
  const { unmet, unsure } = unmetTools(postureOf(subject), tools);
  if (unmet.length > 0) return { found: `tools not ${unmet.join(', ')}`, parts };
  return unsure.length === 0 ? undefined : { found: `not known whether tools are ${unsure.join(', ')}`, parts, outcome: 'unknown' };
}

/** Returns what is easier than an entry asks for: the approval, or the duration. */
function termsProblem(
  terms: PermissionTerms,
  { expect, longest }: Pick<AccessExpectation, 'expect' | 'longest'>,
  verb: AccessMode,
): Problem | undefined {
  const approval = typeof expect === 'object' ? approvalProblem(terms, expect) : undefined;
  if (approval !== undefined || longest === undefined || verb !== 'connect') return approval;
  if (terms.isLimitUnknown === true) return { found: 'the longest access is not known', parts: ['longest'], outcome: 'unknown' };
  if (terms.longest !== undefined && terms.longest <= longest) return undefined;
  const found = terms.longest === undefined ? 'no limit' : durationText(terms.longest);
  return { found: `${found}, not at most ${durationText(longest)}`, parts: ['longest'] };
}

const countFields = ['min_approvals', 'min_review_approvals'];
const groupFields = ['reviewers', 'reviewers_groups'];
const forceFields = ['force_approve_groups', 'force_approval_groups'];

function approvalProblem({ approval }: PermissionTerms, { from, atLeast, forcedBy }: ExpectedApproval): Problem | undefined {
  const parts: Problem['parts'] = ['approval'];
  if (approval === 'unknown') return { found: 'the approval is not known', parts, outcome: 'unknown' };
  if (approval === undefined) return { found: 'no approval needed', parts };
  if (approval === 'refused') return undefined;
  const { groups, needed, force } = approval;
  const found = `approval by ${approvalText(approval)}`;
  // All that is known is that at least one has to approve.
  const unsure = approval.atLeast === true && atLeast <= groups.length ? ({ outcome: 'unknown' } as const) : {};
  // Others alone are too few: then one of the groups has to approve.
  const others = groups.filter((group) => !from.includes(group)).length;
  if (needed < atLeast) return { found, parts, fields: needed < groups.length ? countFields : groupFields, ...unsure };
  if (from.length > 0 && needed <= others) return { found, parts, fields: groupFields, ...(others < groups.length ? unsure : {}) };
  return forcedBy === undefined || force.every((group) => forcedBy.includes(group)) ? undefined : { found, parts, fields: forceFields };
}

/** Returns whether a guardrail on the connection certainly blocks an input. A session that is refused passes none. */
function isBlocked(
  { text, verb }: { readonly text: string; readonly verb: AccessMode },
  subject: SimulatedSubject,
  isHidden: (rule: ResourceId) => boolean,
): boolean {
  const { id, snapshot, newPatterns } = subject;
  const posture = postureOf(subject);
  if (verb === 'connect' && refusesSessions(posture)) return true;
  if (!levelsOf(posture.enforcement, 'input', verb).every(isChecked)) return false;
  if (newPatterns === undefined) throw new Error('the pattern compiler is not loaded');
  const patterns = newPatterns();
  return [...rulesOn(snapshot, id)].some((rule) => {
    const spec = snapshot.resources.get(rule)?.spec;
    return spec !== undefined && !isHidden(rule) && simulateGuardrail(guardrailEntries(spec, 'input'), text, patterns).hits.length > 0;
  });
}

function joinVerbs(permissions: readonly Pick<Permission, 'verb'>[]): string {
  return permissions.map(({ verb }) => verb).join(', ');
}
