import { onFirstUse } from '../model/collections.ts';
import type { Registry } from '../model/kind.ts';
import type { InheritedKeys, LiveState } from '../model/live.ts';
import {
  type Protection,
  type ControlType,
  type Cause,
  type Headline,
  type HeadlineVerdict,
  type ProtectionVerdict,
  type Impact,
  sortHeadlines,
} from '../model/protection/protection.ts';
import { verbPhrase, type VerbPhrase, controlsOf, type Control, type Posture } from './controls/control-row.ts';
import { deletionPhrase, hiddenPhrase } from './controls/access-rows.ts';
import { controlRow } from './controls/control-table.ts';
import { extensionHeadlines } from './extension-headlines.ts';
import { type DestinationGain, type DestinationGains, findDestinationGains, findDriftedGains } from './compare/destinations.ts';
import { destinationHeadlines } from './questions/destination-texts.ts';
import { newAccessPhrase } from './new-access.ts';
import { sharedTags } from './shared-tags.ts';
import { isSameEnforcement } from './controls/enforcement.ts';
import {
  diffPostures,
  diffSnapshots,
  snapshotPlan,
  type PlannedWrites,
  type PlanSnapshots,
  type AffectedConnection,
  reverseSnapshots,
  type AttachmentSources,
} from './posture/diff-postures.ts';
import { compare } from './compare/compare.ts';
import { allConnections, liveSnapshot } from './posture/protection-snapshot.ts';
import { type AttachmentLookup, createCauseFinder, lookUpAttachments, type CauseFinder, type Contribution } from './posture/causes.ts';
import { canonical, compareText } from '../model/json.ts';
import { type ResourceId, kindOf, nameOf } from '../model/resource.ts';
import { type DesiredState, emptyState } from '../model/desired.ts';
import {
  type AssessedChange,
  renamesOf,
  revertHeld,
  withNames,
  type UnwrittenRisks,
  type Risk,
  liveKeyOf,
  type Plan,
} from '../model/plan/plan.ts';
import { isPointerWithin } from '../model/pointer.ts';
import { deciderPositions } from './permission/decider-positions.ts';
import { accessDirections, differencesOfPlan, type PlanDifferences } from './compare/plan-differences.ts';
import { permissionDelta } from './permission/permission-delta.ts';
import { acceptedLosses, acceptedRisks, type StatedEffects } from './accepted-effects.ts';
import { findRisks } from './risk/risks.ts';
import { manifestHeadlines, rerouteHeadlines } from './risk-headlines.ts';

/** Returns how a plan changes the protection of connections: which lose or gain protection, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return noProtectionChange;
  const snapshots = snapshotPlan(plan, live, registry);
  return summarizeProtection(plan, snapshots, createCauseFinder(plan, { registry, snapshots }));
}

/** The result for a plan that changes no protection. */
const noProtectionChange: Protection = { headlines: [], connections: [], losing: [] };

/** Summarizes the change of protection between two snapshots. */
function summarizeProtection(plan: PlannedWrites, views: PlanSnapshots, causes: CauseFinder): Protection {
  return summarizeAffected(diffPostures(plan, views, causes, accessDirections(differencesOfPlan(plan, views).access)));
}

function summarizeAffected(affected: readonly AffectedConnection[]): Protection {
  const impacts = computeImpacts(affected);
  return {
    headlines: buildHeadlines(affected),
    connections: affected.map(({ change }) => change),
    losing: affected.flatMap(({ change, differences }) => (differences.some(({ lost }) => lost.length > 0) ? [change.connection] : [])),
    ...(impacts.length === 0 ? {} : { impact: impacts }),
  };
}

/** One statement about one connection, before equal statements are grouped. */
type Phrase = Wording & { readonly direction: HeadlineVerdict; readonly causes: readonly Cause[] };

/** Builds the headlines of a plan. They are sorted by verdict (weakening first), then by the weight of the control. */
function buildHeadlines(all: readonly AffectedConnection[]): readonly Headline[] {
  const groups = new Map<
    string,
    { readonly phrase: Phrase; readonly members: AffectedConnection[]; readonly causes: Map<string, Cause> }
  >();
  for (const affected of all) {
    for (const phrase of phrasesOf(affected)) {
      const key = canonical([phrase.direction, nounOf(affected), phrase.one]);
      const group = groups.get(key);
      const causes = group?.causes ?? new Map<string, Cause>();
      for (const cause of phrase.causes) if (!causes.has(causeKey(cause))) causes.set(causeKey(cause), cause);
      if (group === undefined) groups.set(key, { phrase, members: [affected], causes });
      else if (group.members.at(-1) !== affected) group.members.push(affected);
    }
  }
  return [...groups.values()]
    .toSorted(
      ({ phrase: left, members }, { phrase: right, members: others }) =>
        verdictOrder.indexOf(left.direction) - verdictOrder.indexOf(right.direction) ||
        left.weight - right.weight ||
        others.length - members.length ||
        compareText(left.one, right.one),
    )
    .map(({ phrase, members, causes }) => ({
      direction: phrase.direction,
      text: headlineText(phrase, members),
      connections: members.map(({ change }): ResourceId => change.connection),
      tags: sharedTags(members.map(({ change }) => change.tags)),
      causes: [...causes.values()],
      weight: phrase.weight,
    }));
}

function headlineText({ one, many, sentence }: Phrase, members: readonly AffectedConnection[]): string {
  const [first] = members;
  const noun = nounOf(first);
  if (sentence === undefined) return members.length === 1 ? `1 ${noun} ${one}` : `${members.length} ${noun}s ${many}`;
  return `${sentence} ${members.length === 1 && first !== undefined ? nameOf(first.change.connection) : `${members.length} ${noun}s`}`;
}

/** Returns how a headline calls a connection: one that replaces another is compared with that one. */
function nounOf(affected: AffectedConnection | undefined): string {
  return affected?.change.replaces === undefined ? 'connection' : 'replacement';
}

const verdictOrder: readonly (HeadlineVerdict | ProtectionVerdict)[] = [
  'weakens',
  'both',
  'reroutes',
  'exposes',
  'unknown',
  'availability',
  'neutral',
  'strengthens',
];

function phrasesOf(affected: AffectedConnection): readonly Phrase[] {
  if (affected.change.created === true && affected.change.replaces === undefined) return newAccessPhrases(affected);
  if (affected.change.deleted === true) return affected.isReplaced ? [] : [deletionHeadline(affected)];
  return affected.differences.flatMap((difference) => {
    const { control, lost, gained, incomparable, coexisting } = difference;
    const phrases = (direction: WordedVerdict, controls: readonly Control[]): readonly Phrase[] =>
      controls.length === 0
        ? []
        : [{ direction, ...wordingFor(control, direction, { ...affected, controls }), causes: causesFor(affected, control, direction) }];
    const hidden = control === 'who' && gained.length > 0 ? hiddenPhrase(affected.after, affected.before) : undefined;
    return [
      ...phrases('weakens', lost),
      ...phrases('unknown', lost.length > 0 ? [] : incomparable),
      ...(hidden === undefined
        ? phrases('strengthens', [...gained, ...coexisting])
        : [hiddenHeadline(hidden, causesFor(affected, control, 'strengthens'))]),
    ];
  });
}

/** Reports a created connection that no group sees, or with an open access mode that requires no review. */
function newAccessPhrases(affected: AffectedConnection): readonly Phrase[] {
  const causes = causesFor(affected, 'access', 'neutral');
  const hidden = hiddenPhrase(affected.after);
  // Machine identities use also what no group sees.
  const phrase = newAccessPhrase(affected.after);
  return [
    ...(phrase === undefined ? [] : [{ direction: 'exposes', weight: 0, ...phrase, causes } as const]),
    ...(hidden === undefined ? [] : [hiddenHeadline(hidden, causes)]),
  ];
}

function deletionHeadline({ before, change: { connection } }: AffectedConnection): Phrase {
  return { direction: 'availability', weight: 0, ...deletionPhrase(before), causes: [{ by: connection }] };
}

function hiddenHeadline(phrase: VerbPhrase, causes: readonly Cause[]): Phrase {
  return { direction: 'availability', weight: 0, ...phrase, causes };
}

/** Returns the causes of a control type with the same verdict, or all causes if none has it. */
function causesFor({ contributions }: AffectedConnection, control: ControlType, direction: ProtectionVerdict): readonly Cause[] {
  const all = contributions.get(control) ?? [];
  const same = all.filter(
    (contribution) => contribution.direction === direction || contribution.direction === 'both' || contribution.direction === 'unknown',
  );
  return (same.length === 0 ? all : same).map(({ cause }) => cause);
}

function causeKey({ by, path, edge, place }: Cause): string {
  return [by, path, edge, place].join('\0');
}

/** One cause with the connections that it affects. */
type ImpactGroup = {
  readonly cause: Pick<Impact, 'by' | 'path' | 'edges' | 'direction' | 'byHand'>;
  readonly members: AffectedConnection[];
  readonly places: Set<string>;
};

/**
 * Lists for each cause the connections whose protection it changes. Weakening causes come first, then those
 * with the most connections. All attachments (or detachments) of one rule are one cause; so is one field of many connections.
 */
function computeImpacts(all: readonly AffectedConnection[]): readonly Impact[] {
  const causes = new Map<string, ImpactGroup>();
  // Connections that the plan treats alike share their contributions.
  const known = new Map<Contribution, ImpactGroup>();
  const groupOf = (contribution: Contribution): ImpactGroup => {
    const cause = causeOf(contribution);
    const key = canonical({ ...cause });
    const group = causes.get(key) ?? { cause, members: [], places: new Set() };
    causes.set(key, group);
    known.set(contribution, group);
    return group;
  };
  for (const affected of all) {
    if (affected.change.created === true) continue;
    for (const contribution of [...affected.contributions.values()].flat()) {
      const group = known.get(contribution) ?? groupOf(contribution);
      if (group.members.at(-1) !== affected) group.members.push(affected);
      if (contribution.cause.place !== undefined) group.places.add(contribution.cause.place);
    }
  }
  const impacts = [...causes.values()].map(({ cause, members, places }): Impact => ({
    ...cause,
    places: [...places],
    connections: members.map(({ change }) => change.connection),
  }));
  return impacts
    .filter((one) => !isCoveredByRule(one, impacts))
    .toSorted(
      (left, right) =>
        verdictOrder.indexOf(left.direction) - verdictOrder.indexOf(right.direction) ||
        right.connections.length - left.connections.length ||
        compareText(impactKey(left), impactKey(right)),
    );
}

/** Returns the key of a cause. The same field of several connections is one cause; an edge belongs to its rule. */
function causeOf({ cause, direction }: Contribution): ImpactGroup['cause'] {
  const { by, path, edge, byHand } = cause;
  const isOwn = kindOf(by) === 'Connection';
  const rule = !isOwn ? by : path === undefined ? edge : undefined;
  return {
    ...(rule === undefined ? {} : { by: rule }),
    ...(path === undefined ? {} : { path }),
    ...(edge === undefined ? {} : { edges: true }),
    direction,
    ...(byHand === undefined ? {} : { byHand }),
  };
}

function impactKey({ by, path }: Pick<Impact, 'by' | 'path'>): string {
  return [by, path].join(' ');
}

/** Returns whether the creation or deletion of the rule already covers the impact of its edges. */
function isCoveredByRule({ by, path, edges, direction, connections }: Impact, all: readonly Impact[]): boolean {
  if (by === undefined || path !== undefined || edges !== true) return false;
  const whole = all.find((one) => one.by === by && one.path === undefined && one.edges === undefined && one.direction === direction);
  if (whole === undefined) return false;
  const covered = new Set(whole.connections);
  return connections.every((id) => covered.has(id));
}

type AssessInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly snapshots: PlanSnapshots;
  /** The manifests that were last applied. */
  readonly base: DesiredState | undefined;
  readonly registry: Registry;
  /** The secrets that connections inherit; undefined where no change may send them elsewhere. */
  readonly inherited?: InheritedKeys | undefined;
};

/** The effect of a plan on people: the risks of each change, and the connections whose protection changes. */
type ProtectionAssessment = {
  readonly changes: readonly AssessedChange[];
  readonly unwritten: readonly UnwrittenRisks[];
  readonly protection: Protection;
  /** What people gain where connections lead now. */
  readonly destinations: readonly DestinationGain[];
};

/** Assesses the effect of changes and edges on the protection of connections. */
export function assessProtection(diff: PlannedWrites, input: AssessInput): ProtectionAssessment {
  const isUnchanged = input.base === undefined || input.base === input.desired;
  if (diff.changes.length === 0 && isUnchanged) return { changes: [], unwritten: [], protection: noProtectionChange, destinations: [] };
  const effects = findEffects(diff, input);
  const changes = diff.changes.map((change) => ({ ...change, risks: effects.byChange.get(liveKeyOf(change)) ?? [] }));
  const summarize = (): Protection => {
    const protection = withOwnHeadlines(summarizeAffected(findAffected(diff, input, effects)), changes, {
      ...effects,
      desired: input.desired,
    });
    const { access: differences } = effects.differences;
    const more = [
      ...extensionHeadlines(differences, effects.snapshots, deciderPositions(input.desired)),
      ...manifestHeadlines([...changes, ...effects.unwritten], effects.snapshots),
    ];
    const permissions = permissionDelta(differences, effects.snapshots, input.desired);
    return { ...protection, headlines: sortHeadlines([...protection.headlines, ...more]), permissions };
  };
  return { changes, unwritten: effects.unwritten, protection: summarizeOnUse(summarize), destinations: effects.destinations.gains };
}

/** Returns a summary that is made when one of its parts is first read: an apply that prints no plan reads none of them. */
function summarizeOnUse(summarize: () => Protection): Protection {
  const summary = onFirstUse(summarize);
  return {
    get headlines() {
      return summary().headlines;
    },
    get connections() {
      return summary().connections;
    },
    get losing() {
      return summary().losing;
    },
    get permissions() {
      return summary().permissions;
    },
    get impact() {
      return summary().impact;
    },
  };
}

/**
 * Assesses the drift that manifests accept. `diff` leads from the gateway as the base left it to the manifests; what the plan itself
 * does to protection is `stated`.
 */
export function assessAcceptedDrift(diff: PlannedWrites, input: AssessInput, stated: StatedEffects): AcceptedEffects {
  const effects = findEffects(diff, input);
  const losses = acceptedLosses(findAffected(diff, input, effects), stated);
  const risksOf = acceptedRisks(losses, stated);
  const changes = diff.changes.map((change) => {
    const key = liveKeyOf(change);
    return { ...change, risks: risksOf(key, effects.byChange.get(key) ?? []) };
  });
  const { headlines, losing } = withOwnHeadlines(summarizeAffected(losses), changes, { ...effects, desired: input.desired });
  return { risks: new Map(changes.map((change) => [liveKeyOf(change), change.risks])), headlines, losing };
}

/** The effects of a plan: the risks of its changes, and what shows whose protection changes. */
type PlanEffects = ReturnType<typeof findRisks> & {
  readonly snapshots: PlanSnapshots;
  readonly differences: PlanDifferences;
  readonly destinations: DestinationGains;
  readonly attachments: AttachmentLookup;
};

function findEffects(diff: PlannedWrites, { desired, live, snapshots, base: applied, registry, inherited }: AssessInput): PlanEffects {
  const attachments = lookUpAttachments(desired, applied);
  const named = withNames(live, renamesOf(diff.changes));
  const formerOf = (id: ResourceId): ResourceId => snapshots.predecessors.get(id) ?? id;
  const destinations = findDestinationGains({ ...snapshots, plan: diff, live: named, desired, applied, formerOf });
  const differences = differencesOfPlan(diff, snapshots);
  const risks = findRisks({
    differences,
    plan: diff,
    live: named,
    desired,
    base: applied === desired ? undefined : applied,
    registry,
    attachments,
    inherited,
    destinations,
    ...snapshots,
  });
  return { ...risks, snapshots, differences, destinations, attachments };
}

function findAffected(
  diff: PlannedWrites,
  { registry }: AssessInput,
  { snapshots, differences, attachments }: PlanEffects,
): readonly AffectedConnection[] {
  const causes = createCauseFinder(diff, { registry, snapshots, attachments });
  return diffPostures(diff, snapshots, causes, accessDirections(differences.access));
}

/** Adds the headlines of where changed connections lead, and of credentials that changes redirect. */
function withOwnHeadlines(
  protection: Protection,
  changes: readonly AssessedChange[],
  { destinations, snapshots, desired }: Pick<PlanEffects, 'destinations' | 'snapshots'> & Pick<AssessInput, 'desired'>,
): Protection {
  const more = [...destinationHeadlines(destinations.gains, snapshots, desired), ...rerouteHeadlines(changes, snapshots)];
  return { ...protection, headlines: sortHeadlines([...protection.headlines, ...more]) };
}

/** The effect of accepted drift: the risks by the live key of each change, and what connections lost. */
type AcceptedEffects = Pick<Protection, 'headlines' | 'losing'> & { readonly risks: ReadonlyMap<ResourceId, readonly Risk[]> };

/** Returns what changed for connections by the objects that decide access beside them: from those before to those of the live state. */
export function protectionOfAccess(before: LiveState, live: LiveState, { registry, dialect }: AccessTarget): Protection {
  const had = liveSnapshot(before, registry, dialect);
  const has = liveSnapshot(live, registry, dialect);
  const found = compare({ before: had, after: has, formerOf: (id) => id }, allConnections(has));
  return summarizeAffected(diffSnapshots(had, has, accessDirections(found)));
}

type AccessTarget = { readonly registry: Registry; readonly dialect: string };

/**
 * Returns what a drift changed for connections, from the manifests to the live state. Held changes count as well. Credentials that the
 * revert would send elsewhere are sent elsewhere now.
 */
export function protectionOfDrift(
  { target, changes, edges }: Pick<Plan, 'target' | 'changes' | 'edges'>,
  live: LiveState,
  registry: Registry,
  manifests?: AttachmentSources,
): Protection {
  const revert = revertHeld({ target, changes, edges });
  const snapshots = snapshotPlan(revert, live, registry, manifests);
  const reversed = reverseSnapshots(snapshots);
  const protection = summarizeProtection(revert, reversed, createCauseFinder(revert, { registry, snapshots, isReversed: true }));
  const onLive = changes.filter(({ action }) => action === 'update').map(withRisksOfFields);
  const desired = manifests?.base ?? manifests?.desired ?? emptyState;
  const named = withNames(live, renamesOf(changes));
  const gains = findDriftedGains({ ...snapshots, plan: revert, live: named, desired, formerOf: (id) => id });
  const more = [...destinationHeadlines(gains, reversed, desired), ...rerouteHeadlines(onLive, reversed)];
  return { ...protection, headlines: sortHeadlines([...protection.headlines, ...more]) };
}

/** Leaves out the risks of fields that a part of a drift does not have. */
function withRisksOfFields(change: AssessedChange): AssessedChange {
  const isPart = ({ path }: Risk): boolean => path === undefined || change.fields.some((field) => isPointerWithin(field.path, path));
  return { ...change, risks: change.risks.filter(isPart) };
}

/** The wording for one connection and for several. A smaller weight is printed first. */
type Wording = VerbPhrase & { readonly weight: number };

/** The verdicts that have a wording; a mixed difference has two phrases. */
type WordedVerdict = 'weakens' | 'strengthens' | 'unknown';

/** The controls that the phrase is about, and the postures of the connection. */
type WordingContext = { readonly controls: readonly Control[]; readonly before: Posture; readonly after: Posture };

/** Returns the verb phrase for a changed control type; it follows the number of connections. */
function wordingFor(control: ControlType, direction: WordedVerdict, context: WordingContext): Wording {
  const { controls, before, after } = context;
  const { weight, about, loses, gains } = controlRow(control);
  const enforcement = enforcementPhrase(control, direction, context);
  if (enforcement !== undefined) return { weight, ...enforcement };
  if (direction === 'unknown') return { weight, ...verbPhrase('changes', 'change', `${about} in a way that cannot be compared`) };
  // The controls on the other side decide whether all or some of them were lost or gained.
  return { weight, ...(direction === 'weakens' ? loses(controls, after, before) : gains(controls, before, after)) };
}

/** Returns the phrase for a type that enforces a control otherwise than the type before. */
function enforcementPhrase(control: ControlType, direction: WordedVerdict, { before, after }: WordingContext): VerbPhrase | undefined {
  const { conditions, about, enforced: what = about } = controlRow(control);
  const [first, last] = [before.enforcement, after.enforcement];
  if (conditions === undefined || isSameEnforcement(first, last)) return undefined;
  if (direction === 'unknown') return verbPhrase('changes', 'change', `to a type that may enforce ${what} differently`);
  const isMissing = controlsOf(direction === 'weakens' ? before : after, control).length === 0;
  if (isMissing || first.kind === last.kind) return undefined;
  return direction === 'weakens'
    ? verbPhrase('no longer enforces', 'no longer enforce', what)
    : verbPhrase('starts', 'start', `to enforce ${what}`);
}
