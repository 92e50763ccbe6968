import {
  type AccessMode,
  accessModes,
  type AccessRequestRule,
  type RoleNames,
  type RunbookRule,
} from '../../model/protection/access-objects.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { AccessLimits } from '../../model/live.ts';
import type { AllowedRunbook } from '../../model/protection/permission.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { AccessFacts, Keyed } from './access-index.ts';

/** Who approves: as many of the groups as are needed, or one that forces it. */
export type Approval = { readonly groups: readonly string[]; readonly needed: number; readonly force: readonly string[] };

/** People can do more, which protects less; less; or it cannot be known. */
export const accessDirections = ['more', 'less', 'unclear'] as const;
export type AccessDirection = (typeof accessDirections)[number];

/** The step of a review: before native access, or before a command or a runbook. */
export type ReviewStep = 'jit' | 'command';

/** The longest access in seconds that an approval gives where nothing sets less: 48 hours on the public gateway. */
export type AccessLimit = number;

/** Which groups can use a connection, and what they need for it. */
export type ConnectionAccess = {
  /** What the gateway calls the groups of admins and auditors. */
  readonly roles: RoleNames;
  /** The groups that see it; undefined: everybody. Those of admins and auditors see every connection, and are no part of them. */
  readonly groups: readonly string[] | undefined;
  /** The machine identities that get a credential for it; they act as admins. */
  readonly machines: readonly string[];
  /** The access control of the gateway decides the groups. */
  readonly isControlled: boolean;
  /** The enabled modes that the gateway has for the type: it runs no commands where it only forwards. */
  readonly open: ReadonlySet<AccessMode>;
  /** The access-request rule that governs each step. */
  readonly rules: Readonly<Record<ReviewStep, Keyed<AccessRequestRule> | undefined>>;
  /** The reviewers of the connection; undefined: it needs no review of its own. */
  readonly own: Approval | undefined;
  /** What the own reviewers are for: the free license refuses commands, and native access has its longest duration alone. */
  readonly license: AccessLimits | undefined;
  /** The own limit of the connection in seconds, and the one of the gateway. */
  readonly ownLimit: AccessLimit | undefined;
  readonly longest: AccessLimit | undefined;
  /** Whether native sessions are analyzed, too, or may be. */
  readonly mayAnalyzeNative: boolean;
  /** What the analyzer does with commands of each level of risk; undefined: they all run. */
  readonly analyzer: (Readonly<Record<RiskLevel, AnalyzedCommand>> & { readonly prompt: string | undefined }) | undefined;
  /** The runbook rules that include the connection; undefined: everybody runs every runbook. */
  readonly runbooks: readonly Keyed<RunbookRule>[] | undefined;
};

/** The levels of risk of an analyzer. */
export const riskLevels = ['low', 'medium', 'high'] as const;
type RiskLevel = (typeof riskLevels)[number];

/** The action for a command, and the approval of the access-request rule that it asks for; without that rule the command fails. */
export type AnalyzedCommand = { readonly action: string; readonly by: Approval | undefined };

type AccessInput = {
  readonly spec: JsonObject;
  /** The gateway runs commands and runbooks on connections of this type. */
  readonly runsCommands: boolean;
  /** Its agent may analyze the requests of native sessions. */
  readonly mayAnalyzeNative: boolean;
  readonly own: Approval | undefined;
  readonly facts: AccessFacts;
  readonly license: AccessLimits | undefined;
  readonly longest: AccessLimit | undefined;
};

/** Returns the groups that see every connection in some states: those of admins, and of auditors. */
export function seeingAll(states: readonly (Pick<ConnectionAccess, 'roles'> | undefined)[]): readonly string[] {
  return [...new Set(states.flatMap((one) => (one === undefined ? [] : [one.roles.admin, one.roles.auditor])))];
}

/** The access modes of each step. */
export const modesOfStep: Readonly<Record<ReviewStep, readonly AccessMode[]>> = { jit: ['connect'], command: ['exec', 'runbooks'] };

/** Returns the step that reviews a verb. */
export function stepOf(verb: AccessMode): ReviewStep {
  return modesOfStep.jit.includes(verb) ? 'jit' : 'command';
}

/** Returns which groups can use a connection and what they need, as the public gateway decides it. */
export function accessOf({ spec, runsCommands, mayAnalyzeNative, own, facts, license, longest }: AccessInput): ConnectionAccess {
  const { access_max_duration: limit } = spec;
  return {
    roles: facts.roles,
    groups: facts.granted?.filter((group) => !seeingAll([facts]).includes(group)),
    machines: facts.machines.map(({ name }) => name),
    isControlled: facts.isControlled,
    open: new Set(accessModes.filter((mode) => (mode === 'connect' || runsCommands) && spec[`access_mode_${mode}`] === 'enabled')),
    rules: { jit: governing(facts, 'jit'), command: governing(facts, 'command') },
    own,
    license,
    ownLimit: typeof limit === 'number' ? limit : undefined,
    longest,
    mayAnalyzeNative: mayAnalyzeNative && facts.analyzer !== undefined,
    analyzer: facts.analyzer && {
      low: analyzed(facts.analyzer.low_risk, facts),
      medium: analyzed(facts.analyzer.medium_risk, facts),
      high: analyzed(facts.analyzer.high_risk, facts),
      prompt: facts.analyzer.prompt,
    },
    runbooks: facts.runbookRules,
  };
}

function analyzed(text: string, { ruleNamed }: AccessFacts): AnalyzedCommand {
  const [action = '', ...name] = text.split(':');
  const rule = name.length === 0 ? undefined : ruleNamed(name.join(':'));
  return { action, by: rule && approvalBy(rule, rule.approvals) };
}

function approvalBy(rule: AccessRequestRule, needed: number): Approval {
  return { groups: rule.reviewers_groups, needed, force: rule.force_approval_groups };
}

/** Returns how many groups must approve a step by a rule: of both ways to native access the easier one. A connection with reviewers has no credentials. */
export function approvalsFor(rule: AccessRequestRule, { own }: Pick<ConnectionAccess, 'own'>, step: ReviewStep): number {
  return step === 'jit' && own === undefined ? (rule.credential_approvals ?? rule.approvals) : rule.approvals;
}

/** Returns the one rule of a step: by an attribute before by name, and the lowest id of several. */
function governing({ byAttribute, byName }: AccessFacts, step: ReviewStep): Keyed<AccessRequestRule> | undefined {
  const decides = ({ access_type: type }: AccessRequestRule): boolean => type === step || type === 'jit_command';
  return byAttribute.find(decides) ?? byName.find(decides);
}

/** Returns whether the members of some groups see a connection. */
export function seesConnection({ groups, roles }: ConnectionAccess, member: readonly string[]): boolean {
  return groups === undefined || member.some((group) => group === roles.admin || group === roles.auditor || groups.includes(group));
}

/** Returns whether a member of some groups may use a mode, whatever the review. Those who only audit run no runbooks: the gateway refuses them over HTTP, and its own client lets them use the rest. */
export function canUse(access: ConnectionAccess, member: readonly string[], mode: AccessMode): boolean {
  if (!seesConnection(access, member) || !access.open.has(mode)) return false;
  if (member.includes(access.roles.admin)) return true;
  if (member.includes(access.roles.auditor)) return mode !== 'runbooks';
  return mode !== 'runbooks' || runbooksOf(access, member).length > 0;
}

/** Lists the runbooks that a member of some groups may run. */
export function runbooksOf({ runbooks, roles }: ConnectionAccess, member: readonly string[]): readonly AllowedRunbook[] {
  if (runbooks === undefined || member.includes(roles.admin)) return [{ name: '' }];
  return runbooks
    .filter(({ groups }) => groups.length === 0 || groups.some((group) => member.includes(group)))
    .flatMap((rule): readonly AllowedRunbook[] => (rule.runbooks.length === 0 ? [{ name: '' }] : rule.runbooks));
}

/** What a member of some groups needs for a step; `refused`: the gateway refuses what it cannot review. */
export type NeededReview = {
  /** Undefined: no review. */
  readonly by: Approval | 'refused' | undefined;
  /** The access-request rule that asks for it; undefined: the reviewers of the connection, or no one. */
  readonly rule: ResourceId | undefined;
  /** The longest native access in seconds; infinity without a limit. */
  readonly longest: number;
};

/** Returns what a member of some groups needs for a step. */
export function reviewFor(access: ConnectionAccess, member: readonly string[], step: ReviewStep): NeededReview {
  const rule = access.rules[step];
  const shares = (groups: readonly string[]): boolean => groups.some((group) => member.includes(group));
  const isAsked = rule !== undefined && (rule.approval_required_groups.length === 0 || shares(rule.approval_required_groups));
  if (!isAsked) return ownReview(access, step);
  const longest = rule.access_max_duration ?? access.longest ?? Number.POSITIVE_INFINITY;
  if (shares(rule.skip_review_groups)) {
    const own = ownReview(access, step);
    return { ...own, longest: Math.min(own.longest, longest) };
  }
  const approval = approvalBy(rule, approvalsFor(rule, access, step));
  return { by: approval.needed > 0 ? approval : undefined, rule: rule.key, longest };
}

/** Returns the review by the reviewers of the connection itself. */
function ownReview({ own, license, ownLimit, longest }: ConnectionAccess, step: ReviewStep): NeededReview {
  const most = longest ?? Number.POSITIVE_INFINITY;
  // Where no license says otherwise, the limit of a connection needs no review.
  if (own === undefined)
    return { by: undefined, rule: undefined, longest: license === undefined ? (ownLimit ?? most) : Number.POSITIVE_INFINITY };
  if (license === 'none') return { by: step === 'command' ? 'refused' : own, rule: undefined, longest: most };
  return { by: own, rule: undefined, longest: ownLimit ?? most };
}

/** People in some groups and in no other that matters, and the groups that decide the same; `[]`: everybody else. */
export type MemberSort = {
  readonly member: readonly string[];
  readonly groups: readonly string[];
  /** For each group of `member`, those of which each could be in its place. */
  readonly places: readonly (readonly string[])[];
  /** They see every connection: admins or auditors. */
  readonly seesAll?: true;
};

/** Returns the lists of a sort in a fixed order. */
export function sortPlaces(places: MemberSort['places']): MemberSort['places'] {
  return places.map((groups) => groups.toSorted(compareText)).toSorted(([one = ''], [other = '']) => compareText(one, other));
}

/**
 * Returns one sort of people for each difference that the groups of several states, or being in some of the other groups, can make. What the groups of
 * `adding` give adds up: who is in several of them, and alike otherwise, gains or loses what those in one of them do.
 */
export function memberSortsBy(
  states: readonly ConnectionAccess[],
  others: readonly (readonly string[])[],
  adding: readonly (readonly string[])[],
): readonly MemberSort[] {
  const asked = states.flatMap(({ rules }) =>
    [rules.jit, rules.command].flatMap((rule) => [rule?.approval_required_groups ?? [], rule?.skip_review_groups ?? []]),
  );
  const lists = [...asked, ...states.map(({ groups }) => groups ?? []), ...others];
  const sorts = sortsByLists(lists, { adding, without: seeingAll(states) });
  return [...sorts.map(({ sort }) => sort), ...sortsSeeingAll(sorts, asked, states)];
}

/** A sort of people, and in which of the lists that tell sorts apart it is. */
export type SortOfLists = { readonly bits: readonly boolean[]; readonly sort: MemberSort };

/**
 * Returns one sort of people for each difference that being in some of the groups of lists can make, `without` the groups that see every
 * connection; those in the fewest groups first, and first those in none. Of the groups that are in the same lists, and in some of those that add up, people are in one.
 */
export function sortsByLists(
  lists: readonly (readonly string[])[],
  { adding = [], without }: { readonly adding?: readonly (readonly string[])[]; readonly without: readonly string[] },
): readonly SortOfLists[] {
  const alike = new Map<string, { readonly bits: readonly boolean[]; readonly adds: string | undefined; readonly groups: string[] }>();
  const all = [...lists, ...adding];
  const sets = all.map((list) => new Set(list));
  for (const group of new Set(all.flat())) {
    if (without.includes(group)) continue;
    const bits = sets.map((set) => set.has(group));
    const key = bits.join();
    const adds = bits.slice(lists.length).includes(true) ? bits.slice(0, lists.length).join() : undefined;
    const known = alike.get(key) ?? { bits, adds, groups: [] };
    known.groups.push(group);
    alike.set(key, known);
  }
  const sorts = new Map<string, SortOfLists & { readonly added: readonly string[] }>();
  const nowhere = all.map(() => false);
  sorts.set(nowhere.join(), { bits: nowhere, added: [], sort: { member: [], groups: [], places: [] } });
  for (const { bits, sort, added } of sorts.values()) {
    for (const { bits: own, adds, groups } of alike.values()) {
      if (adds !== undefined && added.includes(adds)) continue;
      const joined = bits.map((bit, index) => bit || own[index] === true);
      const key = joined.join();
      if (sorts.has(key)) continue;
      sorts.set(key, {
        bits: joined,
        added: adds === undefined ? added : [...added, adds],
        sort: {
          member: [...sort.member, ...groups.slice(0, 1)],
          groups: sort.member.length === 0 ? groups : [],
          places: [...sort.places, groups],
        },
      });
    }
  }
  return [...sorts.values()];
}

/** Returns the sorts of people who see every connection, and for whom the rules differ; where nothing is restricted, people in neither group need the same. */
function sortsSeeingAll(
  sorts: readonly SortOfLists[],
  asked: readonly (readonly string[])[],
  states: readonly ConnectionAccess[],
): readonly MemberSort[] {
  const isRestricted = states.some(({ groups, runbooks }) => groups !== undefined || runbooks !== undefined);
  const known = new Set(isRestricted ? [] : sorts.map(({ bits }) => bits.slice(0, asked.length).join()));
  return seeingAll(states).flatMap((group) =>
    sorts.flatMap(({ bits, sort: { member, places } }): readonly MemberSort[] => {
      const key = asked.map((list, index) => bits[index] === true || list.includes(group)).join();
      const isAlone = states.some(({ roles }) => roles.admin === group) && member.length === 0;
      if (known.has(key) && !isAlone) return [];
      known.add(key);
      return [{ member: [...member, group], groups: member.length === 0 ? [group] : [], places: [...places, [group]], seesAll: true }];
    }),
  );
}
