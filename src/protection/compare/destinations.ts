import { addToGroup } from '../../model/collections.ts';
import { desiredByKey, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { compareText } from '../../model/json.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { type Change, type FieldChange, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { isWithinAny, type Pointer, pointer, tokensOf } from '../../model/pointer.ts';
import { accessModes, type AccessMode } from '../../model/protection/access-objects.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { compareAnalyzers, compareTerms } from '../access/compare-terms.ts';
import { sortsIn } from '../access/people.ts';
import { isUsable, type People, type Terms } from '../access/terms.ts';
import { aspectRows } from '../controls/control-table.ts';
import type { Posture } from '../controls/control-row.ts';
import { effective, type Effective, machineTerms } from '../effective/effective.ts';
import type { PlannedWrites } from '../posture/diff-postures.ts';
import { firstsOfAlike } from '../posture/alike-connections.ts';
import { postureIn } from '../posture/posture.ts';
import type { Compared } from './compare.ts';
import { isCredential } from './secret-keys.ts';
import { credentialsOf, isSameLead, isSameSetting, type Lead, leadOf, leadsToSame, mayLeadToSame, newPartOf, placesOf } from './leads.ts';

/** People who reach what other connections lead to more easily than before, because a connection leads there now. */
export type DestinationGain = {
  readonly connection: ResourceId;
  /** The connections that led there before; for no one of them do these people need as little. */
  readonly guarded: readonly ResourceId[];
  readonly people: People;
  readonly verb: AccessMode;
  readonly terms: Terms;
  /** The controls of the other connections that this one has not, where people need the same as before. */
  readonly without: readonly ControlType[];
};

/** What people gain at destinations, and the connections whose destination cannot be known although it may be another one. */
export type DestinationGains = {
  readonly gains: readonly DestinationGain[];
  readonly unknown: readonly Pick<DestinationGain, 'connection' | 'guarded'>[];
  /** Those that lead to their agent itself. */
  readonly bare: ReadonlySet<ResourceId>;
};

/** The plan, both of its sides, and the manifests that say where secrets come from: now, and as they were applied. */
export type DestinationInput = Compared & {
  readonly plan: PlannedWrites;
  /** With the names after the plan. */
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly applied: DesiredState | undefined;
};

/**
 * Compares destinations: what people may do where a connection leads is the easiest of what the connections give that lead there. Only a connection that
 * is new or leads elsewhere is asked, against all that led there before: one that stays says all about itself. Those who see every connection
 * reach every destination. None of two terms need be the easier one, so people gain where no earlier term covers the new one.
 */
export function findDestinationGains(input: DestinationInput): DestinationGains {
  const moved = movedConnections(input);
  if (moved.length === 0) return { gains: [], unknown: [], bare: new Set() };
  return compareDestinations({ moved, led: leadsBefore(input) }, input);
}

/** Compares destinations in the same way after a drift, given its revert: a connection that the revert leads elsewhere was led elsewhere by the drift. */
export function findDriftedGains(revert: Omit<DestinationInput, 'applied'>): readonly DestinationGain[] {
  const sides = { ...revert, applied: undefined };
  const restored = movedConnections(sides);
  if (restored.length === 0) return [];
  const leads = leadsBefore(sides);
  const moved = [...leads].filter(([id]) => restored.some(([other]) => other === id));
  const reversed = { ...sides, before: revert.after, after: revert.before };
  return compareDestinations({ moved, led: new Map([...leads, ...restored]) }, reversed).gains;
}

type ComparedLeads = { readonly moved: readonly (readonly [ResourceId, Lead])[]; readonly led: ReadonlyMap<ResourceId, Lead> };

function compareDestinations({ moved, led }: ComparedLeads, input: DestinationInput): DestinationGains {
  const byPlace = new Map<string, ResourceId[]>();
  const byCredential = new Map<string, ResourceId[]>();
  for (const [id, lead] of led) {
    for (const place of placesOf(lead)) addToGroup(byPlace, place, id);
    for (const credential of credentialsOf(lead)) addToGroup(byCredential, `${lead.isPlaced} ${credential}`, id);
  }
  const unseen = unseenPlaces(led, input);
  const firsts = firstsOfAlike(unseen, input);
  const gains: DestinationGain[] = [];
  const unknown: DestinationGains['unknown'][number][] = [];
  for (const [id, lead] of moved) {
    const own = led.get(id);
    if (own !== undefined && isSameLead(own, lead)) continue;
    if (lead.isHidden && !lead.isPlaced && own !== undefined) unknown.push({ connection: id, guarded: [] });
    // Settings may name several places, of which it may have led to some before.
    const part = own === undefined ? lead : newPartOf(lead, own);
    const near = new Set(placesOf(part).flatMap((place) => byPlace.get(place) ?? []));
    const guarded = [...near].filter((other) => isSamePlace(led.get(other), part)).toSorted(compareText);
    // What it was before led there, too: how it differs from that, their comparison says.
    const former = input.formerOf(id);
    if (former !== undefined && guarded.includes(former)) continue;
    for (const one of gainsAt(id, guarded, input)) gains.push(one);
    // Where two are known to lead, nothing else is possible.
    const alike = (part.isPlaced ? [false] : [false, true]).flatMap((isPlaced) =>
      credentialsOf(part).flatMap((credential) => byCredential.get(`${isPlaced} ${credential}`) ?? []),
    );
    const possible = [...new Set(alike)]
      .filter((other) => other !== former && !guarded.includes(other) && isPerhapsNew(led.get(other), { own, part }))
      .toSorted(compareText);
    const mayBeThere = (other: ResourceId): boolean => near.has(other) || (part.servers.size > 0 && led.get(other)?.servers.size === 0);
    const isMoved = own === undefined || !isSameSetting(own, part);
    const hidden = isMoved ? unseen.filter((other) => mayBeThere(other) && ![id, former, ...guarded].includes(other)) : [];
    // Each of those that cannot be seen may be the only one there.
    const distinct = new Set(hidden.map((other) => firsts.get(other) ?? other));
    if (gainsAt(id, possible, input).length > 0 || [...distinct].some((other) => gainsAt(id, [other], input).length > 0))
      unknown.push({ connection: id, guarded: [...possible, ...hidden] });
  }
  const bare = moved.filter(([, { isBare }]) => isBare).map(([id]) => id);
  return { gains, unknown, bare: new Set(bare) };
}

function isSamePlace(one: Lead | undefined, other: Lead): boolean {
  return one !== undefined && leadsToSame(one, other);
}

/** Lists the connections of which nothing shows where they lead. What only a list left out is read where it matters. */
function unseenPlaces(led: ReadonlyMap<ResourceId, Lead>, { live }: DestinationInput): readonly ResourceId[] {
  const found = liveById(live.resources);
  return [...led].flatMap(([id, { isUnseen }]) => (isUnseen && found.get(id)?.leftOut === undefined ? [id] : []));
}

/** Returns whether a connection may lead where another one did, and could not do so before. */
function isPerhapsNew(other: Lead | undefined, { own, part }: { readonly own: Lead | undefined; readonly part: Lead }): boolean {
  return other !== undefined && mayLeadToSame(other, part) && (own === undefined || !mayLeadToSame(other, own));
}

/** The fields that decide where a connection leads. */
export const leadFields: readonly string[] = ['secret', 'agent_id', 'type', 'subtype', 'command', 'resource_name'];

/** Returns where the connections lead that a plan creates, or that it may lead elsewhere. */
function movedConnections({ plan, after, live, desired, applied, formerOf }: DestinationInput): readonly (readonly [ResourceId, Lead])[] {
  const [manifests, before, found] = [desiredByKey(desired.resources), desiredByKey(applied?.resources ?? []), liveById(live.resources)];
  return plan.changes.flatMap((change): readonly (readonly [ResourceId, Lead])[] => {
    const key = liveKeyOf(change);
    const spec = after.resources.get(key)?.spec;
    const written = change.fields.filter(({ path, held }) => held !== true && leadFields.includes(tokensOf(path)[0] ?? ''));
    if (!isWritten(change) || change.action === 'delete' || spec === undefined) return [];
    const manifest = manifests.get(key);
    const isNew = change.action === 'create' || change.unfinished === true;
    if (manifest === undefined || (!isNew && written.length === 0)) return [];
    const former = formerOf(key);
    const owner = found.get(key) ?? (former === undefined ? undefined : found.get(former));
    const kept = owner === undefined ? {} : secretsOf(owner, before.get(owner.id), () => false);
    return [[key, leadOf(spec, secretsAfter({ manifest, owner, kept, change }), isAnyHidden(owner, manifest))] as const];
  });
}

type Secrets = Readonly<Record<Pointer, readonly (DesiredSecret | LiveSecret)[]>>;

/** Returns the secrets that a connection has after its change: what its manifest states, and what it keeps of those that it has. */
function secretsAfter({
  manifest,
  owner,
  kept,
  change,
}: {
  readonly manifest: DesiredResource;
  readonly owner: LiveResource | undefined;
  readonly kept: Secrets;
  readonly change: Change;
}): Secrets {
  const isOwn = owner !== undefined && owner.id === liveKeyOf(change);
  const removed = change.fields.filter(isRemoval).map(({ path }) => path);
  const stated = Object.entries(manifest.secrets).flatMap(([path, secret]): readonly (readonly [Pointer, Secrets[Pointer]])[] => {
    const isKept = secret.state === 'keep' || secret.source.startsWith('live:') || isWithinAny(path, manifest.ignore);
    return isKept ? [[path, kept[path] ?? []]] : [[path, [secret]]];
  });
  const left = isOwn ? Object.entries(kept).filter(([path]) => !removed.includes(path)) : [];
  return Object.fromEntries([...left, ...stated]);
}

function isRemoval({ after, held }: FieldChange): boolean {
  return held !== true && ('absent' in after || ('secret' in after && after.state === 'removed'));
}

/** Returns where every live connection leads: by the values that the gateway shows, and by the sources of the manifests that were applied. */
function leadsBefore({ plan, before, live, desired, applied }: DestinationInput): ReadonlyMap<ResourceId, Lead> {
  const manifests = desiredByKey((applied ?? desired).resources);
  const written = new Map(plan.changes.map((change) => [liveKeyOf(change), new Set(change.fields.map(({ path }) => path))]));
  return new Map(
    live.resources.flatMap((one): readonly (readonly [ResourceId, Lead])[] => {
      const spec = before.resources.get(one.id)?.spec;
      const manifest = manifests.get(one.id);
      if (spec?.['access_mode_connect'] === undefined && spec?.['agent_id'] === undefined) return [];
      // Without a record, a manifest says only of what the plan does not write where it comes from.
      const isOther = (path: Pointer): boolean => applied === undefined && written.get(one.id)?.has(path) === true;
      return [[one.id, leadOf(spec, secretsOf(one, manifest, isOther), isAnyHidden(one, manifest))]];
    }),
  );
}

/**
 * Returns what is known of the secrets of a live connection: values of the gateway, and what its manifest states unless that is another value. What
 * a manifest states and a gateway that lists the secrets has not is gone.
 */
function secretsOf(live: LiveResource, manifest: DesiredResource | undefined, isOther: (path: Pointer) => boolean): Secrets {
  const stated = Object.keys(manifest?.secrets ?? {}).filter((path) => isWithinAny(path, unreadPaths(live)));
  const paths = new Set([...Object.keys(live.secrets), ...stated]);
  return Object.fromEntries(
    [...paths].map((path) => {
      const [found, declared] = [live.secrets[path], manifest?.secrets[path]];
      const isStated = declared !== undefined && declared.state !== 'keep' && !isOther(path);
      const isEqual = found?.state !== 'value' || declared?.state !== 'value' || declared.equals(found);
      return [path, [...(found === undefined ? [] : [found]), ...(isStated && isEqual ? [declared] : [])]] as const;
    }),
  );
}

/** Lists what was not read of a live object. */
function unreadPaths({ unknown, leftOut = [] }: LiveResource): readonly Pointer[] {
  return [...unknown, ...leftOut];
}

const wholeSecret = pointer('secret');

/** Returns whether a connection may have secrets that neither the gateway shows nor its manifest states as a whole. */
function isAnyHidden(live: LiveResource | undefined, manifest: DesiredResource | undefined): boolean {
  const isUnread = live !== undefined && isWithinAny(wholeSecret, unreadPaths(live));
  return isUnread && manifest?.wholeSecrets.includes(wholeSecret) !== true;
}

/** The manifests now and as they were applied, and the gateway as its lists show it, and as far as it was read. */
type ReadState = Pick<DestinationInput, 'desired' | 'live' | 'applied'> & { readonly listed: LiveState };

/** Lists the connections of which only a read of their own shows where they lead, if a manifest leads another one elsewhere. */
export function unreadPlaces({ desired, live, listed, applied }: ReadState): readonly LiveResource[] {
  const [manifests, before, found] = [desiredByKey(desired.resources), desiredByKey(applied?.resources ?? []), liveById(live.resources)];
  const unread = listed.resources.filter(({ id, leftOut }) => {
    const [one, manifest] = [leftOut && found.get(id), before.get(id) ?? manifests.get(id)];
    return one !== undefined && (isAnyHidden(one, manifest) || isAnyKept(one, manifest));
  });
  // A list that leaves nothing out ends this before every secret is compared.
  return unread.length > 0 && desired.resources.some((one) => isLedElsewhere(one, found.get(one.key))) ? unread : [];
}

/** Returns whether a manifest keeps a secret of which the value was not read; that it was verified shows that it is there. */
function isAnyKept(live: LiveResource, manifest: DesiredResource | undefined): boolean {
  return Object.entries(manifest?.secrets ?? {}).some(([path, { state }]) => state === 'keep' && live.secrets[path]?.state !== 'value');
}

function isLedElsewhere({ secrets }: DesiredResource, live: LiveResource | undefined): boolean {
  return Object.entries(secrets).some(([path, secret]) => {
    if (live === undefined || secret.state !== 'value' || isCredential(tokensOf(path)[1] ?? '') || isWithinAny(path, unreadPaths(live)))
      return false;
    const has = live.secrets[path];
    return has?.state !== 'value' || !secret.equals(has);
  });
}

/** Native access gives what commands give, and commands what runbooks give. */
const coveringVerbs: Readonly<Record<AccessMode, readonly AccessMode[]>> = {
  connect: ['connect'],
  exec: ['exec', 'connect'],
  runbooks: ['runbooks', 'exec', 'connect'],
};

function gainsAt(id: ResourceId, guarded: readonly ResourceId[], input: DestinationInput): readonly DestinationGain[] {
  const has = effective(input.after, id);
  if (has?.access.open.size === 0) return [];
  const before = distinctBefore(guarded, id, input);
  if (has === undefined || before.length === 0) return [];
  const values = [has, ...before.map(({ had }) => had)];
  const states = values.map(({ access }) => access);
  const people = accessModes.flatMap((verb) => {
    const named = new Set<string>();
    return sortsIn(states, verb, approverLists(values)).flatMap((sort): readonly DestinationGain[] => {
      const { member, groups, seesAll } = sort;
      if (seesAll === true || member.some((group) => named.has(group))) return [];
      const terms = withoutSelfReview(has.may(member, verb), member);
      if (!isUsable(terms)) return [];
      const covering = before.flatMap(({ had, without }) =>
        coveringVerbs[verb]
          .filter((other) => covers(withoutSelfReview(had.may(member, other), member), terms, other === verb))
          .map((other) => (other === 'connect' ? without.filter((control) => control !== 'analyzer') : without)),
      );
      if (covering.some((without) => without.length === 0)) return [];
      const gain = { connection: id, guarded, verb, terms, without: covering[0] ?? [] };
      if (member.length !== 1) return [{ ...gain, people: sort }];
      for (const group of groups) named.add(group);
      return groups.map((group) => ({ ...gain, people: { member: [group], groups: [group], places: [[group]] } }));
    });
  });
  const terms = machineTerms(has);
  const led = before.filter(({ had }) => isUsable(machineTerms(had))).flatMap(({ had }) => had.access.machines);
  const machines = has.access.machines.filter((name) => isUsable(terms) && !led.includes(name));
  return [
    ...people,
    ...machines.map((machine): DestinationGain => ({ connection: id, guarded, people: { machine }, verb: 'connect', terms, without: [] })),
  ];
}

/** More groups that approve are not distinguished: who is in several of them may approve alone. */
const mostApprovers = 5;

/** Lists the groups that approve, each alone: a person in enough of them needs no other person. */
function approverLists(values: readonly Effective[]): readonly (readonly string[])[] {
  const approvals = values.flatMap(({ access: { own, rules } }) => [
    ...(own?.groups ?? []),
    ...(own?.force ?? []),
    ...[rules.jit, rules.command].flatMap((rule) => (rule === undefined ? [] : [...rule.reviewers_groups, ...rule.force_approval_groups])),
  ]);
  const groups = [...new Set(approvals)];
  return groups.length > mostApprovers ? [groups] : groups.map((group) => [group]);
}

type Before = { readonly had: Effective; readonly without: readonly ControlType[] };

/** Returns what the connections gave that led there, each once, with the controls that they had and the new one has not. */
function distinctBefore(guarded: readonly ResourceId[], id: ResourceId, { before, after }: DestinationInput): readonly Before[] {
  const all = guarded.flatMap((one): readonly (readonly [string, Before])[] => {
    const had = effective(before, one);
    if (had === undefined) return [];
    const without = missingControls(postureIn(before, one), postureIn(after, id));
    return [[`${had.key} ${without.join(' ')}`, { had, without }]];
  });
  return [...new Map(all).values()];
}

/** Returns whether people who could do something before need as little for it now; a limit of time or of files is one of the same verb alone. */
function covers(before: Terms, after: Terms, isSameVerb: boolean): boolean {
  const had = isSameVerb ? before : { ...before, longest: Number.POSITIVE_INFINITY, files: [{ name: '' }] };
  return compareTerms([had, after]).every(({ directions }) => directions.every((one) => one === 'less'));
}

/** An approval that people give themselves is none; a limit of time without one is none, too: they ask again. */
function withoutSelfReview(terms: Terms, member: readonly string[]): Terms {
  const { approval } = terms;
  if (approval === 'refused') return terms;
  if (approval === undefined) return { ...terms, longest: Number.POSITIVE_INFINITY };
  const { groups, needed, force } = approval;
  const isEnough = force.some((group) => member.includes(group)) || groups.filter((group) => member.includes(group)).length >= needed;
  return isEnough ? { ...terms, approval: undefined, longest: Number.POSITIVE_INFINITY } : terms;
}

/** The controls of what people do there, whoever they are; native access has no analyzer. */
const aspects = aspectRows.filter(({ type }) => ['input', 'output', 'masking', 'redaction'].includes(type));

/** Lists the controls that one connection certainly loses by the other one. */
function missingControls(had: Posture | undefined, has: Posture | undefined): readonly ControlType[] {
  if (had === undefined || has === undefined) return [];
  const isUnanalyzed = compareAnalyzers(had.access.analyzer, has.access.analyzer).includes('more');
  return [
    ...aspects.filter((row) => row.compare(had, has).lost.length > 0).map(({ type }) => type),
    ...(isUnanalyzed ? (['analyzer'] as const) : []),
  ];
}
