import type { AccessRequestRule, AnalyzerRule } from '../../model/protection/access-objects.ts';
import { durationText } from '../../model/time.ts';
import { membersText } from '../../model/protection/permission.ts';
import { compareText } from '../../model/json.ts';
import { approvalsFor, modesOfStep, riskLevels, sortPlaces } from '../access/effective-access.ts';
import type { Difference } from '../access/terms.ts';
import { everybody, isRuled, movedApproval, otherApproval, reviewersPhrase } from './moved-approvals.ts';
import { compareSets, type CoverageRule } from './compare-controls.ts';
import { joinModes } from './connection-rows.ts';
import { ofRequestRules } from './request-rule-fields.ts';
import {
  controlsOf,
  type MovedNaming,
  namedOnce,
  namesText,
  quoteName,
  ofSeveral,
  type Control,
  type ControlRow,
  type Posture,
  type VerbPhrase,
} from './control-row.ts';

const shown = 3;

/** Returns the names of groups as headlines print them. */
export function joinNames(controls: readonly Control[]): string {
  const names = controls.map(({ name }) => name);
  const [first, ...rest] = names.length > shown ? [...names.slice(0, shown - 1), `${names.length - shown + 1} more groups`] : names;
  const last = rest.pop();
  return last === undefined ? (first ?? '') : `${[first, ...rest].join(', ')} and ${last}`;
}

/** Returns a phrase about people: it follows their number, and names the connection. */
export function peoplePhrase(controls: readonly Control[], phrase: string): VerbPhrase {
  const isOne = controls.length === 1 && controls.every(({ name }) => name.startsWith('every') || name.startsWith('machine '));
  const verb = isOne ? phrase : ofSeveral(phrase);
  const people = joinNames(controls);
  return { one: `${verb} ${people}`, sentence: `${people} ${verb}` };
}

/** All users. No group has an empty name, so a group that is called everybody is another control. */
export const everybodyControl: Control = { name: everybody, content: '' };

/** Lists the groups that reach a connection beside admins. */
function groupsThatReach(groups: readonly string[] | undefined): readonly Control[] {
  return groups === undefined ? [everybodyControl] : groups.map((name) => ({ name }));
}

/** Names the people that reach a connection on one side alone; everybody includes every group, but no machine identity. */
const movedReach: MovedNaming = (some) => {
  const seeing = some.filter(({ people, part, terms: [had, has] }) => 'machine' in people || (part === 'use' && had?.sees !== has?.sees));
  const machines = seeing.flatMap(({ people }) => ('machine' in people ? [machineControl(people.machine)] : []));
  return [...namesOfSorts(seeing), ...machines];
};

/** Names people: everybody, the groups, or people in several groups where no single one of these is named. */
export function namesOfSorts(differences: readonly Difference[]): readonly Control[] {
  const sorts = differences.flatMap(({ people }) => ('member' in people && people.seesAll !== true ? [people] : []));
  if (sorts.some(({ member }) => member.length === 0)) return [everybodyControl];
  const single = new Set(sorts.flatMap(({ groups }) => groups));
  const several = sorts.filter(({ member }) => member.length > 1 && !member.some((group) => single.has(group)));
  return namedOnce([...[...single].toSorted(compareText), ...several.map(({ places }) => membersText(sortPlaces(places)))]);
}

function machineControl(name: string): Control {
  return { name: machineName(name), form: 'word', content: `machine ${name}` };
}

/** Returns what a headline states about a connection that no group sees, and who loses it; undefined where one does. */
export function hiddenPhrase({ access: { groups, isControlled }, incomplete }: Posture, before?: Posture): string | undefined {
  if (groups?.length !== 0 || incomplete.has('who')) return undefined;
  const why = isControlled ? ': access control is on' : '';
  return `is visible to no group${before === undefined ? why : losersText(before) || why}`;
}

/** Returns `: dba and sre lose access` for those who could reach a connection. */
function losersText({ access: { groups }, incomplete }: Posture): string {
  const names = groups === undefined || incomplete.has('who') ? [everybody] : groups;
  const people = joinNames(names.map((name) => ({ name })));
  return people === '' ? '' : `: ${people} ${names.length === 1 ? 'loses' : 'lose'} access`;
}

/** Returns what a headline states about a deleted connection: who could reach it. */
export function deletionPhrase(before: Posture): string {
  return `is deleted${losersText(before)}`;
}

/** Returns what reports call a machine identity. */
export function machineName(name: string): string {
  return `machine identity ${name}`;
}

/** The groups that can reach the connection, and the machine identities that get a credential for it. */
export const whoRow: Omit<ControlRow, 'type'> = {
  fields: {
    Connection: ['access_groups', 'attributes'],
    Attribute: ['access_groups'],
    MachineIdentity: ['attributes'],
    AuthSetting: ['value'],
  },
  ofAccess: {
    Attribute: {
      verb: 'grants access',
    },
  },
  ofConnection: (_, { is }) => [...groupsThatReach(is.groups), ...is.machines.map(machineControl)],
  moved: movedReach,
  weight: 2,
  column: { heading: 'who', none: 'admins', all: everybody },
  about: 'access groups',
  loses: (controls) => peoplePhrase(controls, 'can reach'),
  gains: (controls, _, { access: { groups = [] } }) =>
    controls.includes(everybodyControl) ? onlyPhrase(groups) : peoplePhrase(controls, 'can no longer reach'),
};

function onlyPhrase(groups: readonly string[]): VerbPhrase {
  const people = joinNames(groups.map((name) => ({ name })));
  return { one: `can be reached only by ${people}`, sentence: `only ${people} can reach` };
}

/** Returns the requirement of an access-request rule as text. */
function requestText(rule: AccessRequestRule): string {
  return [
    `${rule.name}: ${rule.approvals} of ${rule.reviewers_groups.join(', ') || 'no group'} for ${rule.access_type}`,
    ...textOfGroups('asked of', rule.approval_required_groups),
    ...textOfGroups('forced by', rule.force_approval_groups),
    ...textOfGroups('skipped by', rule.skip_review_groups),
    ...(rule.access_max_duration === null ? [] : [`at most ${durationText(rule.access_max_duration)}`]),
  ].join('; ');
}

function textOfGroups(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what} ${names.join(', ')}`];
}

/** What access-request rules of the gateway ask for: who needs an approval, by whom, and who can force it. */
export const approvalRow: Omit<ControlRow, 'type'> = {
  ...ofRequestRules(['attributes']),
  ofConnection: (_, { is: { rules } }) => [
    ...new Map(
      [rules.jit, rules.command].flatMap((rule) =>
        rule === undefined ? [] : [[rule.id, { name: rule.name, text: requestText(rule) }] as const],
      ),
    ).values(),
  ],
  moved: movedApproval,
  isAbout: isRuled,
  weight: 0,
  column: { heading: 'approval by rules', isOptional: true },
  about: 'approval',
  loses: (controls, after, before) =>
    approvalPhrase(controls, before, { all: 'loses', some: 'no longer needs' }) ?? otherApprovalPhrase('easier', before, after),
  gains: (controls, before, after) =>
    approvalPhrase(controls, after, { all: 'gains', some: 'now needs' }) ?? otherApprovalPhrase('harder', before, after),
};

/** Names the people who need no approval on one side, and what for if they need one for the rest. */
function approvalPhrase(
  controls: readonly Control[],
  { access: { open } }: Posture,
  { all, some }: { readonly all: string; readonly some: string },
): VerbPhrase | undefined {
  const people = controls.filter(({ name }) => name !== otherApproval);
  const [first, ...others] = people;
  if (first === undefined) return undefined;
  const step = first.content === undefined ? [] : modesOfStep[first.content === 'jit' ? 'jit' : 'command'];
  const modes = step.filter((mode) => open.has(mode)).map((name) => ({ name }));
  const approval = `approval${modes.length === 0 ? '' : ` for ${joinModes(modes)}`}`;
  if (people.some(({ name }) => name === everybody)) return `${all} ${approval}`;
  const isGroup = others.length === 0 && !/^(people |every|machine )/.test(first.name);
  const named = isGroup ? [{ name: `people in ${first.name}` }] : people;
  return peoplePhrase(named, `${some} ${approval} on`);
}

/** Names the reviewer groups, the number of approvals or the groups that can force one, if a rule changes them; otherwise only the direction. */
function otherApprovalPhrase(direction: 'easier' | 'harder', { access: from }: Posture, { access: to }: Posture): string {
  const isLoss = direction === 'easier';
  for (const step of ['jit', 'command'] as const) {
    const [had, has] = [from.rules[step], to.rules[step]];
    if (had === undefined || has === undefined) continue;
    const [more, fewer] = isLoss ? [had, has] : [has, had];
    const groups = more.reviewers_groups.filter((group) => !fewer.reviewers_groups.includes(group));
    const quotas = [
      { groups: had.reviewers_groups, needed: approvalsFor(had, from, step) },
      { groups: has.reviewers_groups, needed: approvalsFor(has, to, step) },
    ];
    const phrase = reviewersPhrase(groups, isLoss, quotas);
    if (phrase !== undefined) return phrase;
    const forced = fewer.force_approval_groups.filter((group) => !more.force_approval_groups.includes(group));
    const can = isLoss ? 'can be' : 'can no longer be';
    if (forced.length > 0) return `${can} force-approved by ${namesText('group', forced.map(quoteName))}`;
  }
  return `is ${direction} to approve`;
}

/** Rulepacks with the same rules are equal. One that another of the same name replaces cannot be compared: no list contains its rules. */
const byRulepack: CoverageRule = {
  covers: ({ name, content }, by) => {
    if (by.some((one) => one.content === content)) return 'yes';
    return by.some((one) => one.name === name) ? 'maybe' : 'no';
  },
};

/** The rulepacks that are applied to the connection. */
export const rulepacksRow: Omit<ControlRow, 'type'> = {
  fields: { Rulepack: ['digest', 'guardrail_rules', 'masking_rules', 'managed'] },
  ofConnection: (_, { facts: { rulepacks } }) =>
    rulepacks.map(({ name, digest }) => ({ name, content: digest, text: `${name} (unmanaged)` })),
  compare: (before, after) => compareSets(controlsOf(before, 'rulepacks'), controlsOf(after, 'rulepacks'), byRulepack),
  weight: 3,
  column: { heading: 'rulepacks', isOptional: true },
  about: 'rulepacks',
  loses: (controls) => `loses the rulepack${controls.length === 1 ? '' : 's'} ${joinNames(controls)}`,
  gains: (controls) => `gains the rulepack${controls.length === 1 ? '' : 's'} ${joinNames(controls)}`,
};

function analyzerControls(rule: AnalyzerRule | undefined): readonly Control[] {
  if (rule === undefined) return [];
  return riskLevels.map((level) => ({ name: level, text: `${rule.name} (unmanaged): ${rule[`${level}_risk`]} for ${level} risk` }));
}

/** What the analyzer does with commands by their risk. */
export const analyzerRow: Omit<ControlRow, 'type'> = {
  fields: { AnalyzerRule: ['low_risk', 'medium_risk', 'high_risk', 'prompt'] },
  ofConnection: (_, { facts: { analyzer } }) => analyzerControls(analyzer),
  moved: ([first]) => (first === undefined ? [] : [{ name: 'analyzer' }]),
  isWhole: true,
  weight: 3,
  column: { heading: 'analyzer', isOptional: true },
  about: 'the analyzer',
  loses: (_, other) => (controlsOf(other, 'analyzer').length === 0 ? 'loses the analyzer' : 'is less strict about risky commands'),
  gains: (_, other) => (controlsOf(other, 'analyzer').length === 0 ? 'gains the analyzer' : 'is stricter about risky commands'),
};
