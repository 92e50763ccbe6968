import { groupBy, onFirstUse } from '../model/collections.ts';
import type { Registry } from '../model/kind.ts';
import type { InheritedKeys, LiveState } from '../model/live.ts';
import {
  type Protection,
  type ControlType,
  type Cause,
  type Headline,
  headlineOrder,
  type HeadlineVerdict,
  type PartEffect,
  sortHeadlines,
} from '../model/protection/protection.ts';
import { ofSeveral, type VerbPhrase, controlsOf, type Control, type Posture } from './controls/control-row.ts';
import { deletionPhrase, hiddenPhrase } from './controls/access-rows.ts';
import { controlRow } from './controls/control-table.ts';
import { extensionHeadlines } from './extension-headlines.ts';
import { type DestinationGain, type DestinationGains, findDestinationGains, findDriftedGains } from './compare/destinations.ts';
import { destinationHeadlines } from './questions/destination-texts.ts';
import { newAccessPhrase } from './new-access.ts';
import { sharedTags } from './common-tags.ts';
import { enforcementNote, isEnforcedControl, isSameEnforcement } from './controls/enforcement.ts';
import { snapshotPlan, type PlannedWrites, type PlanSnapshots, reverseSnapshots, type AttachmentSources } from './posture/diff-postures.ts';
import { allConnections, liveSnapshot } from './posture/protection-snapshot.ts';
import { causeKey, createPlanCauses, lookUpAttachments, type PlanCauses } from './compare/plan-causes.ts';
import { combineEffects } from './controls/compare-protection.ts';
import { canonical, compareText } from '../model/json.ts';
import { type ResourceId, nameOf } from '../model/resource.ts';
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
import { type AffectedConnection, affectedConnections, type Statement } from './compare/affected-connections.ts';
import { differencesBetween, differencesOfPlan, type PlanDifferences } from './compare/plan-differences.ts';
import { permissionDelta } from './permission/permission-delta.ts';
import { acceptedLosses, acceptedRisks, type StatedEffects, unstatedDifferences } from './accepted-effects.ts';
import { findRisks } from './risk/risks.ts';
import { manifestHeadlines, rerouteHeadlines } from './risk-headlines.ts';

/** Returns how a plan changes the protection of connections: which lose or gain protection, and why. */
export function protectionOf(plan: PlannedWrites, live: LiveState, registry: Registry): Protection {
  if (plan.changes.length === 0) return noProtectionChange;
  const snapshots = snapshotPlan(plan, live, registry);
  const differences = differencesOfPlan(plan, snapshots);
  const affected = affectedConnections({ plan, snapshots, differences, ...createPlanCauses(plan, { registry, snapshots }) });
  return summarizeAffected(affected, snapshots);
}

/** The result for a plan that changes no protection. */
const noProtectionChange: Protection = { headlines: [], connections: [], losing: [] };

function summarizeAffected(affected: readonly AffectedConnection[], snapshots: PlanSnapshots): Protection {
  return {
    headlines: buildHeadlines(affected, snapshots),
    connections: affected.map(({ change }) => change),
    losing: affected.flatMap(({ change, statements }) =>
      statements.some(({ effect }) => effect === 'weakens') ? [change.connection] : [],
    ),
  };
}

/** One statement about one connection, before equal statements are grouped. */
type Phrase = {
  readonly direction: HeadlineVerdict;
  readonly words: VerbPhrase;
  /** A smaller weight is printed first. */
  readonly weight: number;
  readonly causes: readonly Cause[];
};

/** The connections of which one statement is made, and what causes it. */
type PhraseGroup = { readonly phrase: Phrase; readonly members: AffectedConnection[]; readonly causes: Map<string, Cause> };

/** Builds the headlines of a plan. They are sorted by verdict (weakening first), then by the weight of the control. */
function buildHeadlines(all: readonly AffectedConnection[], snapshots: PlanSnapshots): readonly Headline[] {
  const groups = new Map<string, PhraseGroup>();
  const groupOf = (affected: AffectedConnection, phrase: Phrase): PhraseGroup => {
    const key = canonical([phrase.direction, nounOf(affected), keyOf(phrase)]);
    const group = groups.get(key) ?? { phrase, members: [], causes: new Map<string, Cause>() };
    for (const cause of phrase.causes) if (!group.causes.has(causeKey(cause))) group.causes.set(causeKey(cause), cause);
    groups.set(key, group);
    return group;
  };
  // Connections that the plan treats alike share what is stated about them.
  const known = new Map<AffectedConnection['statements'], ReadonlySet<PhraseGroup>>();
  for (const affected of all) {
    const own = known.get(affected.statements) ?? new Set(phrasesOf(affected).map((phrase) => groupOf(affected, phrase)));
    known.set(affected.statements, own);
    for (const { members } of own) members.push(affected);
  }
  return [...groups.values()]
    .toSorted(
      ({ phrase: left, members }, { phrase: right, members: others }) =>
        headlineOrder.indexOf(left.direction) - headlineOrder.indexOf(right.direction) ||
        left.weight - right.weight ||
        others.length - members.length ||
        compareText(keyOf(left), keyOf(right)),
    )
    .map(({ phrase, members, causes }) => {
      const connections = members.map(({ change }) => change.connection);
      return {
        direction: phrase.direction,
        text: headlineText(phrase, members),
        connections,
        tags: sharedTags(connections, snapshots),
        causes: [...causes.values()],
        weight: phrase.weight,
      };
    });
}

/** Returns what is said of one connection: equal phrases are one headline. */
function keyOf({ words }: Phrase): string {
  return typeof words === 'string' ? words : words.one;
}

function headlineText({ words }: Phrase, members: readonly AffectedConnection[]): string {
  const [first] = members;
  const [noun, isOne] = [nounOf(first), members.length === 1];
  const several = `${members.length} ${noun}s`;
  if (typeof words === 'string') return isOne ? `1 ${noun} ${words}` : `${several} ${ofSeveral(words)}`;
  if ('many' in words) return isOne ? `1 ${noun} ${words.one}` : `${several} ${words.many}`;
  return `${words.sentence} ${isOne && first !== undefined ? nameOf(first.change.connection) : several}`;
}

/** Returns how a headline calls a connection: one that replaces another is compared with that one. */
function nounOf(affected: AffectedConnection | undefined): string {
  return affected?.change.replaces === undefined ? 'connection' : 'replacement';
}

function phrasesOf(affected: AffectedConnection): readonly Phrase[] {
  if (affected.change.created === true && affected.change.replaces === undefined) return newAccessPhrases(affected);
  if (affected.change.deleted === true) return affected.isReplaced ? [] : [deletionHeadline(affected)];
  const { statements } = affected;
  return statements.flatMap(({ control, effect, controls, causes }): readonly Phrase[] => {
    const about = statements.filter((one) => one.control === control);
    if (effect === 'unknown' && about.some((one) => one.effect === 'weakens')) return [];
    const by = causes.length > 0 ? causes : about.flatMap((one) => one.causes);
    const hidden = control === 'who' && effect === 'strengthens' ? hiddenPhrase(affected.after, affected.before) : undefined;
    if (hidden !== undefined) return [hiddenHeadline(hidden, by)];
    const words = wordingFor(control, effect, { ...affected, controls });
    return [{ direction: effect, words, weight: controlRow(control).weight, causes: by }];
  });
}

/** Reports a created connection that no group sees, or with an open access mode that requires no review. */
function newAccessPhrases(affected: AffectedConnection): readonly Phrase[] {
  const { creation: causes } = affected;
  const hidden = hiddenPhrase(affected.after);
  // Machine identities use also what no group sees.
  const phrase = newAccessPhrase(affected.after);
  return [
    ...(phrase === undefined ? [] : [{ direction: 'exposes', weight: 0, words: phrase, causes } as const]),
    ...(hidden === undefined ? [] : [hiddenHeadline(hidden, causes)]),
  ];
}

function deletionHeadline({ before, change: { connection } }: AffectedConnection): Phrase {
  return { direction: 'availability', weight: 0, words: deletionPhrase(before), causes: [{ by: connection }] };
}

function hiddenHeadline(words: string, causes: readonly Cause[]): Phrase {
  return { direction: 'availability', weight: 0, words, causes };
}

/** Lists what each part of a change does to protection. */
function partEffects(all: readonly AffectedConnection[]): readonly PartEffect[] {
  const caused = all.flatMap(({ statements, creation }) => [
    ...creation.map((cause) => ({ cause, effect: 'weakens' as const })),
    ...statements.flatMap(({ effect, causes }) => causes.map((cause) => ({ cause, effect }))),
  ]);
  return [...groupBy(caused, ({ cause }) => causeKey(cause)).values()].map((own) => ({
    ...own[0].cause,
    direction: combineEffects(new Set(own.map(({ effect }) => effect))),
  }));
}

type AssessInput = {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly snapshots: PlanSnapshots;
  /** What differs between them. */
  readonly differences: PlanDifferences;
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
    const affected = affectedConnections({ plan: diff, ...effects, ...effects.causes });
    const protection = withOwnHeadlines(summarizeAffected(affected, effects.snapshots), changes, { ...effects, desired: input.desired });
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
  };
}

/**
 * Assesses the drift that manifests accept. `diff` leads from the gateway as the base left it to the manifests; what the plan itself
 * does to protection is `stated`.
 */
export function assessAcceptedDrift(diff: PlannedWrites, input: AssessInput, stated: StatedEffects): AcceptedEffects {
  const effects = findEffects(diff, { ...input, differences: unstatedDifferences(input.differences, stated) });
  const losses = acceptedLosses(affectedConnections({ plan: diff, ...effects, ...effects.causes }), stated);
  const risksOf = acceptedRisks(stated);
  const changes = diff.changes.map((change) => {
    const key = liveKeyOf(change);
    return { ...change, risks: risksOf(key, effects.byChange.get(key) ?? []) };
  });
  const { headlines, losing } = withOwnHeadlines(summarizeAffected(losses, effects.snapshots), changes, {
    ...effects,
    desired: input.desired,
  });
  return { risks: new Map(changes.map((change) => [liveKeyOf(change), change.risks])), headlines, losing };
}

/** The effects of a plan: the risks of its changes, and what shows whose protection changes. */
type PlanEffects = ReturnType<typeof findRisks> & {
  readonly snapshots: PlanSnapshots;
  readonly differences: PlanDifferences;
  readonly destinations: DestinationGains;
  readonly causes: PlanCauses;
};

function findEffects(diff: PlannedWrites, input: AssessInput): PlanEffects {
  const { desired, live, snapshots, differences, base: applied, registry, inherited } = input;
  const named = withNames(live, renamesOf(diff.changes));
  const formerOf = (id: ResourceId): ResourceId => snapshots.predecessors.get(id) ?? id;
  const destinations = findDestinationGains({ ...snapshots, plan: diff, live: named, desired, applied, formerOf });
  const causes = createPlanCauses(diff, { registry, snapshots, attachments: lookUpAttachments(desired, applied) });
  const risks = findRisks({
    differences,
    plan: diff,
    live: named,
    desired,
    base: applied,
    registry,
    causes,
    inherited,
    destinations,
    ...snapshots,
  });
  return { ...risks, snapshots, differences, destinations, causes };
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
  const ids = allConnections(has).filter((id) => had.resources.has(id));
  const snapshots = { before: had, after: has, predecessors: new Map<ResourceId, ResourceId>() };
  const differences = differencesBetween(had, has, ids);
  const affected = affectedConnections({ plan: { changes: [], edges: [] }, snapshots, differences, causesOf: () => [] });
  return summarizeAffected(affected, snapshots);
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
  const causes = createPlanCauses(revert, { registry, snapshots: reversed });
  const affected = affectedConnections({ plan: revert, snapshots: reversed, differences: differencesOfPlan(revert, reversed), ...causes });
  const onLive = changes.filter(({ action }) => action === 'update').map(withRisksOfFields);
  const desired = manifests?.base ?? manifests?.desired ?? emptyState;
  const named = withNames(live, renamesOf(changes));
  const gains = findDriftedGains({ ...snapshots, plan: revert, live: named, desired, formerOf: (id) => id });
  const more = [...destinationHeadlines(gains, reversed, desired), ...rerouteHeadlines(onLive, reversed)];
  const protection = summarizeAffected(affected, reversed);
  return { ...protection, headlines: sortHeadlines([...protection.headlines, ...more]), parts: partEffects(affected) };
}

/** Leaves out the risks of fields that a part of a drift does not have. */
function withRisksOfFields(change: AssessedChange): AssessedChange {
  const isPart = ({ path }: Risk): boolean => path === undefined || change.fields.some((field) => isPointerWithin(field.path, path));
  return { ...change, risks: change.risks.filter(isPart) };
}

/** The controls that the phrase is about, and the postures of the connection. */
type WordingContext = { readonly controls: readonly Control[]; readonly before: Posture; readonly after: Posture };

/** Returns the phrase for a changed control type. */
function wordingFor(control: ControlType, direction: Statement['effect'], context: WordingContext): VerbPhrase {
  const { controls, before, after } = context;
  const { about, loses, gains } = controlRow(control);
  const enforcement = enforcementPhrase(control, direction, context);
  if (enforcement !== undefined) return enforcement;
  // The controls on the other side decide whether all or some of them were lost or gained.
  const [lost, gained] = [(): VerbPhrase => loses(controls, after, before), (): VerbPhrase => gains(controls, before, after)];
  const isGone = controls.every((one) => !controlsOf(after, control).includes(one));
  const note = isEnforcedControl(control) ? enforcementNote((isGone ? before : after).enforcement, control) : undefined;
  const noted = (words: VerbPhrase): VerbPhrase => (note === undefined || typeof words !== 'string' ? words : `${words}, ${note}`);
  if (direction === 'neutral') return noted(isGone ? lost() : gained());
  if (direction === 'weakens') return lost();
  if (direction === 'strengthens') return noted(gained());
  const isOnlyUnsure = note !== undefined && (isGone || controls.every((one) => !controlsOf(before, control).includes(one)));
  return isOnlyUnsure ? noted(isGone ? lost() : gained()) : `changes ${about} in a way that cannot be compared`;
}

/** Returns the phrase for a connection that enforces a control otherwise than before. */
function enforcementPhrase(control: ControlType, direction: Statement['effect'], { before, after }: WordingContext): string | undefined {
  if (!isEnforcedControl(control) || isSameEnforcement(before.enforcement, after.enforcement, control)) return undefined;
  const { about, enforced: what = about } = controlRow(control);
  const isOtherType = before.enforcement.by !== after.enforcement.by;
  if (direction === 'unknown')
    return isOtherType ? `changes to a type that may enforce ${what} differently` : `may enforce ${what} differently`;
  const [former, latter] = [before, after].map(({ enforcement }) => enforcementNote(enforcement, control));
  const isMissing = controlsOf(direction === 'weakens' ? before : after, control).length === 0;
  if (isMissing || direction === 'neutral') return undefined;
  if (direction === 'weakens') return latter === undefined ? undefined : `no longer enforces ${what}: ${latter}`;
  return former === undefined ? undefined : `starts to enforce ${what}: before, ${former}`;
}
