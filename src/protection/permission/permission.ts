import { accessModes, type AccessMode, type AccessRequestRule, type RunbookRule } from '../../model/protection/access-objects.ts';
import { groupBy } from '../../model/collections.ts';
import { compareText, type Json, textsIn, distinctSorted } from '../../model/json.ts';
import { type Pointer, pointer } from '../../model/pointer.ts';
import type { Answer, Decider, NeededApproval, Permission, PermissionFact, PermissionTerms } from '../../model/protection/permission.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { termText } from '../../model/protection/timed-grants.ts';
import { durationText } from '../../model/time.ts';
import type { Keyed } from '../access/access-index.ts';
import { reviewFor, riskLevels, runbooksOf, seeingAll, seesConnection, stepOf } from '../access/effective-access.ts';
import { controlsOf, effectiveControls, emptyPosture, type Control, type Posture } from '../controls/control-row.ts';
import { analyzerNote, enforcementNote, levelsOf, runsCommands, typeFields } from '../controls/enforcement.ts';
import { type EnforcedControl, enforcedControls } from '../controls/enforcement-table.ts';
import { ruleControlTypes } from '../controls/control-table.ts';
import { postureIn } from '../posture/posture.ts';
import { type ProtectionSnapshot, rolesIn } from '../posture/protection-snapshot.ts';
import { type Effective, effective, type Unread } from '../effective/effective.ts';
import { hiddenLimits } from './hidden-fields.ts';

/** A connection that a state of a gateway has. */
export type PermissionSubject = { readonly id: ResourceId; readonly snapshot: ProtectionSnapshot };

/** People, and what they want to do. */
export type Question = { readonly groups: readonly string[]; readonly verb: AccessMode };

/** What the gateway decides about a question, and the facts that decide it; of people without access, only those that refuse it. */
type Decision = { readonly terms: PermissionTerms; readonly facts: readonly PermissionFact[] };

/** Returns what the state of a gateway does for a connection that it has. */
function effectiveOf({ id, snapshot }: PermissionSubject): Effective {
  const value = effective(snapshot, id);
  if (value === undefined) throw new Error(`${id} does not exist`);
  return value;
}

/** Returns everything between people and a connection. */
export function postureOf({ id, snapshot }: PermissionSubject): Posture {
  return postureIn(snapshot, id) ?? emptyPosture;
}

function lacksField({ fields }: Unread, of: ResourceId, field: string): boolean {
  return fields.some(({ id, path }) => id === of && path === pointer(field));
}

/** Returns the answer to a question, what people need, and the facts that decide the answer, the approval and the duration. */
export function decisionOn(subject: PermissionSubject, { groups, verb }: Question): Decision {
  const { access, endFor } = effectiveOf(subject);
  const step = stepOf(verb);
  const review = reviewFor(access, groups, step);
  const known = knownApproval(subject, review);
  const deciding = [
    seesFact(subject, groups),
    openFact(subject, { groups, verb }),
    ...(verb === 'runbooks' ? [runbooksFact(subject, groups)] : []),
    approvalFact(subject, { rule: review.rule, governing: access.rules[step] }, known),
  ];
  const longest = verb === 'connect' && Number.isFinite(review.longest) ? review.longest : undefined;
  const isLimitUnknown = (verb === 'connect' && isDurationHidden(subject, review)) || undefined;
  const answer = worst(deciding.map((fact) => fact.answer));
  return {
    terms: { answer, approval: known, longest, isLimitUnknown, ...runbookTerms(subject, { groups, verb }), ...endFor(groups) },
    facts:
      answer === 'no'
        ? deciding.filter((fact) => fact.answer === 'no')
        : [...deciding, ...(verb === 'connect' ? [durationFact(subject, { longest, isLimitUnknown }, review.rule)] : [])],
  };
}

/** Returns the answer to a question with what people need, without what decides it; nothing is needed for what is not possible. */
export function permissionTerms(subject: PermissionSubject, question: Question): PermissionTerms {
  const { terms } = decisionOn(subject, question);
  return terms.answer === 'no' ? { answer: 'no' } : terms;
}

/** What is blocked and masked for everybody who uses a connection. */
type Limits = Pick<Permission, 'blocked' | 'masked' | 'tools' | 'facts'>;

function limitsOf(subject: PermissionSubject, verb: AccessMode): Limits {
  const posture = postureOf(subject);
  const hidden = hiddenLimits(subject.snapshot, subject.id);
  // A control without a rule is the connection's own.
  const isKnown = ({ rules = [subject.id] }: Control, part: 'blocked' | 'masked'): boolean =>
    rules.some((rule) => !hidden[part].some(({ id }) => id === rule));
  const controls = (type: ControlType, part: 'blocked' | 'masked'): readonly Control[] =>
    effectiveControls(posture, type, verb).filter((control) => isKnown(control, part));
  const [input, output] = [controls('input', 'blocked'), controls('output', 'blocked')];
  const [masking, redaction] = [controls('masking', 'masked'), controls('redaction', 'masked')];
  return {
    blocked: controlNames([...input, ...output]),
    masked: controlNames([...masking, ...redaction]),
    tools: controlNames(controlsOf(posture, 'tools')),
    facts: [
      ...controlFacts(subject, input, 'input'),
      ...controlFacts(subject, output, 'output'),
      ...controlFacts(subject, masking, 'masking'),
      ...controlFacts(subject, redaction, 'redaction'),
      ...enforcedControls.flatMap((control) => unenforcedFacts(subject, control, verb)),
      ...toolFacts(subject),
      ...(['blocked', 'masked'] as const).flatMap((part): readonly PermissionFact[] =>
        hidden[part].length === 0 ? [] : [{ part, answer: 'unknown', text: 'more is not known', by: hidden[part] }],
      ),
    ],
  };
}

function controlNames(controls: readonly Control[]): readonly string[] {
  return [...new Set(controls.map(({ name, text }) => text ?? name))];
}

/**
 * Returns whether people who are in these groups, and in no other, may use a connection, after whose approval, and what decides it. `limits`
 * saves their computation for several questions about one connection.
 */
export function permissionOf(
  subject: PermissionSubject,
  question: Question,
  limits: Limits = limitsOf(subject, question.verb),
): Permission {
  const { terms, facts } = decisionOn(subject, question);
  const others = terms.answer === 'no' ? [] : [...analyzerFacts(subject, question.verb), ...limits.facts];
  return { connection: subject.id, ...question, ...terms, ...limits, facts: [...facts, ...others] };
}

/** What groups can do on one connection, by verb: those that decide something there, and people in no other group. */
export type GroupPermissions = {
  readonly byGroup: ReadonlyMap<string, readonly Permission[]>;
  readonly others: readonly Permission[];
};

/** Returns what each of some groups can do on a connection; those that nothing of the connection names can do what people in no group can. */
export function permissionsByGroup(subject: PermissionSubject, groups: readonly string[]): GroupPermissions {
  const deciding = groupsDeciding(subject);
  const limits = accessModes.map((verb) => ({ verb, of: limitsOf(subject, verb) }));
  const permissions = (people: readonly string[]): readonly Permission[] =>
    limits.map(({ verb, of }) => permissionOf(subject, { groups: people, verb }, of));
  return {
    byGroup: new Map(groups.filter((group) => deciding.has(group)).map((group) => [group, permissions([group])])),
    others: permissions([]),
  };
}

/** Returns the groups for which a connection differs from people in no group. */
export function groupsDeciding(subject: PermissionSubject): ReadonlySet<string> {
  return new Set(accessModes.flatMap((verb) => listsDeciding(subject, verb)).flat());
}

/** Lists the groups that decide about a verb: people who are in the same of these lists have the same permission. */
export function listsDeciding(subject: PermissionSubject, verb: AccessMode): readonly (readonly string[])[] {
  const { access, grants } = effectiveOf(subject);
  const rule = access.rules[stepOf(verb)];
  return [
    ...seeingAll([access]).map((group) => [group]),
    access.groups ?? [],
    [...grants().keys()],
    rule?.approval_required_groups ?? [],
    rule?.skip_review_groups ?? [],
    verb === 'runbooks' ? (access.runbooks ?? []).flatMap(({ groups }) => groups) : [],
  ];
}

/** Returns the needs of people with access: `yes after approval by 1 of dba, for at most 1 h`. */
export function neededText({ approval, longest }: PermissionTerms): string {
  const by =
    approval === undefined
      ? ' without approval'
      : approval === 'unknown' || approval === 'refused'
        ? ' after an approval that cannot be known'
        : ` after approval by ${approvalText(approval)}`;
  return `yes${by}${longest === undefined ? '' : `, for at most ${durationText(longest)}`}`;
}

function worst(answers: readonly Answer[]): Answer {
  return answers.includes('no') ? 'no' : answers.includes('unknown') ? 'unknown' : 'yes';
}

const ownField = (id: ResourceId, field: string): Decider => ({ id, path: pointer(field) });

function seesFact(subject: PermissionSubject, member: readonly string[]): PermissionFact {
  const { id, snapshot } = subject;
  const { access, unread, endFor } = effectiveOf(subject);
  const part = 'sees it';
  const all = member.filter((group) => seeingAll([access]).includes(group));
  if (all.length > 0) return { part, answer: 'yes', text: `${all.join(', ')}: sees every connection`, by: [] };
  const seeing = member.filter((group) => seesConnection(access, [group]));
  const isUnsure = unread.sees.key !== '';
  const stated = snapshot.resources.get(id)?.spec['access_groups'];
  const own: readonly Decider[] = stated === undefined ? [] : [ownField(id, 'access_groups')];
  if (access.groups === undefined) {
    const granted = grantsOf(subject, member);
    if (granted.length > 0) return { part, answer: 'yes', text: member.join(', '), by: granted };
    if (isUnsure) return { part, answer: 'unknown', text: 'the groups that see it are kept as they are on the gateway', by: own };
    return { part, answer: 'yes', text: access.isControlled ? 'every group' : 'everybody: no groups restrict it', by: own };
  }
  if (seeing.length > 0) {
    const text = seeing.map((group) => `${group}${termText(endFor([group]))}`).join(', ');
    return { part, answer: 'yes', text, by: grantsOf(subject, seeing) };
  }
  const those = access.groups.length === 0 ? 'only admins and auditors' : `only ${access.groups.join(', ')}`;
  if (isUnsure) return { part, answer: 'unknown', text: `${those}, and groups that are not known`, by: own };
  return { part, answer: 'no', text: those, by: own.length > 0 ? own : grantsOf(subject, access.groups) };
}

/** Returns what grants a connection to some of the groups: its own list, and its attributes. */
function grantsOf(subject: PermissionSubject, groups: readonly string[]): readonly Decider[] {
  const { grants, facts } = effectiveOf(subject);
  const found = groups.flatMap((group) => grants().get(group) ?? []);
  const order = [subject.id, ...facts.attributes];
  return found.toSorted((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
}

/** Returns the only runbooks that people may run. */
function runbookTerms(subject: PermissionSubject, { groups, verb }: Question): Pick<PermissionTerms, 'runbooks'> {
  if (verb !== 'runbooks') return {};
  const runbooks = runbooksOf(effectiveOf(subject).access, groups);
  return runbooks.some(({ repository }) => repository === undefined) ? {} : { runbooks };
}

function openFact(subject: PermissionSubject, { groups, verb }: Question): PermissionFact {
  const { id } = subject;
  const field = `access_mode_${verb}`;
  const by = [ownField(id, field)];
  const { access, unread } = effectiveOf(subject);
  const { roles } = access;
  if (verb === 'runbooks' && groups.includes(roles.auditor) && !groups.includes(roles.admin))
    return { part: 'open', answer: 'no', text: 'auditors run no runbooks', by: [] };
  const { enforcement } = postureOf(subject);
  if (verb !== 'connect' && !runsCommands(enforcement)) {
    const none = verb === 'exec' ? 'commands' : 'runbooks';
    return {
      part: 'open',
      answer: 'no',
      text: `the gateway runs no ${none} on ${enforcement.by}`,
      by: typeFields.map((name) => ownField(id, name)),
    };
  }
  if (access.open.has(verb)) return { part: 'open', answer: 'yes', text: `${verb} is enabled`, by };
  if (lacksField(unread.open, id, field)) return { part: 'open', answer: 'unknown', text: `${field} is kept as it is on the gateway`, by };
  return { part: 'open', answer: 'no', text: `${verb} is disabled`, by };
}

function runbooksFact(subject: PermissionSubject, member: readonly string[]): PermissionFact {
  const { access, unread } = effectiveOf(subject);
  const part = 'runbooks';
  const { fields } = unread.runs;
  const isKnown = ({ key }: Keyed<RunbookRule>): boolean => !fields.some(({ id }) => id === key);
  const known = access.runbooks?.filter(isKnown);
  const allowed = runbooksOf({ ...access, runbooks: known }, member);
  const rules = known ?? [];
  const having = rules.filter(({ groups }) => groups.length === 0 || groups.some((group) => member.includes(group)));
  const by = having.map(({ key }) => ownField(key, 'runbooks'));
  if (allowed.length === 0) {
    const all = rules.map(({ key }) => ownField(key, 'user_groups'));
    if (postureOf(subject).incomplete.has('runbooks') || known?.length !== access.runbooks?.length)
      return { part, answer: 'unknown', text: 'no runbook rule that is known lets them run one here', by: all };
    return { part, answer: 'no', text: 'no runbook rule lets them run one here', by: all };
  }
  const files = allowed.map(({ repository, name }) => (name === '' ? 'every runbook' : `${repository ?? ''}:${name}`));
  return { part, answer: 'yes', text: distinctSorted(files).join(', '), by };
}

type Reviewing = { readonly by: NeededApproval | undefined; readonly rule: ResourceId | undefined };

/** Returns the approval as far as it is known: what a manifest keeps as it is on the gateway may ask for more. */
function knownApproval(subject: PermissionSubject, { by, rule }: Reviewing): Permission['approval'] {
  const { id, snapshot } = subject;
  const unread = effectiveOf(subject).unread.approval;
  const isOtherRule = unread.fields.some((one) => one.id !== id) || (lacksField(unread, id, 'attributes') && asksByAttribute(snapshot));
  if (unread.lists.length > 0 || isOtherRule || (rule === undefined && lacksField(unread, id, 'reviewers'))) return 'unknown';
  if (by === undefined || by === 'refused' || rule !== undefined) return by;
  return lacksField(unread, id, 'min_review_approvals') ? { ...by, needed: 1, atLeast: true } : by;
}

/** Returns whether a rule asks for approvals on connections with an attribute. */
function asksByAttribute({ rulesByAttribute }: ProtectionSnapshot): boolean {
  return [...rulesByAttribute.values()].some((rules) => [...rules].some((rule) => ruleControlTypes(kindOf(rule)).includes('approval')));
}

type Needed = { readonly rule: ResourceId | undefined; readonly governing: Keyed<AccessRequestRule> | undefined };

function approvalFact({ id, snapshot }: PermissionSubject, { rule, governing }: Needed, approval: Permission['approval']): PermissionFact {
  const part = 'approval';
  if (approval === undefined) {
    if (governing === undefined) return { part, answer: 'yes', text: 'none', by: [] };
    const { name, key, approval_required_groups: asked } = governing;
    const field = asked.length === 0 ? 'skip_review_groups' : 'approval_required_groups';
    const by = [ownField(key, field)];
    return { part, answer: 'yes', text: `none: ${name} asks ${asked.length === 0 ? 'others' : `only ${asked.join(', ')}`}`, by };
  }
  if (approval === 'unknown') return { part, answer: 'yes', text: 'not known', by: [] };
  const [reviewing, groups, counts] =
    rule === undefined ? ([id, 'reviewers', ownCounts] as const) : ([rule, 'reviewers_groups', ruleCounts] as const);
  const by = ownField(reviewing, groups);
  if (approval === 'refused')
    return { part, answer: 'no', text: 'the free license reviews no commands: the gateway refuses them', by: [by] };
  const spec = snapshot.resources.get(reviewing)?.spec ?? {};
  const stated = counts.filter((field) => !isNothing(spec[field]));
  return { part, answer: 'yes', text: approvalText(approval), by: [by, ...stated.map((field) => ownField(reviewing, field))] };
}

/** The fields of a connection, and of a rule, that decide beside the groups how many of them approve, and who can force it. */
const ownCounts = ['min_review_approvals', 'force_approve_groups'] as const;
const ruleCounts = ['min_approvals', 'all_groups_must_approve', 'force_approval_groups'] as const;

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/** Formats an approval: `2 of dba, security; oncall can force it`. */
export function approvalText({ groups, needed, force, atLeast }: Exclude<NeededApproval, 'refused'>): string {
  const least = atLeast === true ? 'at least ' : '';
  const of = needed === groups.length ? groups.join(' and ') : `${least}${needed} of ${groups.join(', ')}`;
  return `${of}${force.length === 0 ? '' : `; ${force.join(', ')} can force it`}`;
}

/** Returns whether what limits native access is not known; without a review and without a rule, nothing does. */
function isDurationHidden(subject: PermissionSubject, { by }: Pick<Reviewing, 'by'>): boolean {
  const { access, unread } = effectiveOf(subject);
  const { jit } = access.rules;
  if (by === undefined && jit === undefined) return false;
  const limiting = jit === undefined ? subject.id : jit.key;
  return lacksField(unread.longest, limiting, 'access_max_duration');
}

function durationFact(
  subject: PermissionSubject,
  { longest, isLimitUnknown }: Pick<PermissionTerms, 'longest' | 'isLimitUnknown'>,
  rule: ResourceId | undefined,
): PermissionFact {
  const fact = { part: 'longest', answer: 'yes', by: [] } as const;
  if (isLimitUnknown === true || longest === undefined) return { ...fact, text: isLimitUnknown === true ? 'not known' : 'no limit' };
  const { rules, ownLimit } = effectiveOf(subject).access;
  // The rule that governs limits those, too, whose review it skips.
  const limiting =
    rule === undefined && ownLimit === longest ? subject.id : rules.jit?.access_max_duration === longest ? rules.jit.key : undefined;
  const text = durationText(longest);
  if (limiting === undefined) return { ...fact, text: `${text}, the limit of the gateway` };
  return { ...fact, text, by: [ownField(limiting, 'access_max_duration')] };
}

function analyzerFacts(subject: PermissionSubject, verb: AccessMode): readonly PermissionFact[] {
  const { analyzer, mayAnalyzeNative } = effectiveOf(subject).access;
  const note = analyzerNote(postureOf(subject).enforcement);
  const isNative = verb === 'connect';
  if (analyzer === undefined || (isNative && note === undefined)) return [];
  const texts = riskLevels.flatMap((level) => {
    const { action, by } = analyzer[level];
    // Native sessions ask for no review of a request.
    if (action === 'allow_execution' || (isNative && action !== 'block_execution')) return [];
    return [
      `${level} risk ${action === 'block_execution' ? 'is blocked' : `needs ${by === undefined ? 'an approval' : approvalText(by)}`}`,
    ];
  });
  if (texts.length === 0) return [];
  if (!isNative) return [{ part: 'analyzer', answer: 'yes', text: texts.join(', '), by: [] }];
  return [{ part: 'analyzer', answer: mayAnalyzeNative ? 'unknown' : 'no', text: `${texts.join(', ')}: ${note}`, by: [] }];
}

/** Returns a fact for each set of rules that contribute controls of a type. */
function controlFacts({ id, snapshot }: PermissionSubject, controls: readonly Control[], type: EnforcedControl): readonly PermissionFact[] {
  const root: Pointer = pointer(type === 'redaction' ? 'redact_types' : type);
  return [...groupBy(controls, ({ rules }) => rules?.join('\n')).values()].map((own): PermissionFact => {
    const [{ rules = [] }] = own;
    const by =
      rules.length === 0
        ? [{ id, path: root }]
        : rules.map((rule) => ({ id: rule, path: type === 'masking' ? maskedField(rule, snapshot) : root }));
    return { part: partOf(type), answer: 'yes', text: `${controlNames(own).join(', ')}${type === 'output' ? ' in output' : ''}`, by };
  });
}

/** Returns a fact about the rules of a control that sessions by a verb do not certainly check. */
function unenforcedFacts(subject: PermissionSubject, control: EnforcedControl, verb: AccessMode): readonly PermissionFact[] {
  const posture = postureOf(subject);
  const controls = controlsOf(posture, control);
  const note = controls.length === 0 ? undefined : enforcementNote(posture.enforcement, control, verb);
  if (note === undefined) return [];
  const isUnclear = levelsOf(posture.enforcement, control, verb).includes('unclear');
  const rules = [...new Set(controls.flatMap((one) => one.rules ?? []))];
  const by = rules.length === 0 ? [ownField(subject.id, 'redact_types')] : rules.map((rule): Decider => ({ id: rule, path: '' }));
  return [{ part: partOf(control), answer: isUnclear ? 'unknown' : 'no', text: `${control}: ${note}`, by }];
}

function partOf(control: EnforcedControl): 'blocked' | 'masked' {
  return control === 'input' || control === 'output' ? 'blocked' : 'masked';
}

/** Returns a fact about the lists of tools of a connection. */
function toolFacts(subject: PermissionSubject): readonly PermissionFact[] {
  const posture = postureOf(subject);
  const [texts, isUnread] = [controlNames(controlsOf(posture, 'tools')), posture.incomplete.has('tools')];
  if (texts.length === 0 && !isUnread) return [];
  return [
    {
      part: 'tools',
      answer: isUnread ? 'unknown' : 'yes',
      text: isUnread ? 'not all is known' : texts.join(', '),
      by: [ownField(subject.id, 'secret')],
    },
  ];
}

/** Returns the field in which a masking rule names what it masks. */
function maskedField(rule: ResourceId, { resources }: ProtectionSnapshot): Pointer {
  const spec = resources.get(rule)?.spec ?? {};
  const field = ['supported_entity_types', 'custom_entity_types'].find((name) => !isNothing(spec[name]));
  return field === undefined ? '' : pointer(field);
}

/** The fields in which objects name groups of the people who use connections. */
export const groupFields: readonly string[] = ['access_groups', 'approval_required_groups', 'skip_review_groups', 'user_groups'];

/** Lists the groups that decide access in a state of a gateway, without those that see every connection. */
export function groupsIn(snapshot: ProtectionSnapshot): readonly string[] {
  const { resources } = snapshot;
  const seeing = seeingAll([{ roles: rolesIn(snapshot) }]);
  const named = [...resources.values()].flatMap(({ spec }) => groupFields.flatMap((field) => textsIn(spec[field])));
  return [...new Set(named)].filter((group) => !seeing.includes(group)).toSorted(compareText);
}
