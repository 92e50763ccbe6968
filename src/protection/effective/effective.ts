import { onFirstUse } from '../../model/collections.ts';
import { textsIn } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { type AccessMode, attributeId } from '../../model/protection/access-objects.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import {
  accessOf,
  type ConnectionAccess,
  type NeededReview,
  reviewFor,
  runbooksOf,
  seeingAll,
  seesConnection,
  stepOf,
} from '../access/effective-access.ts';
import type { AccessFacts } from '../access/access-index.ts';
import type { TermPart, Terms } from '../access/terms.ts';
import { ownApproval } from '../controls/connection-rows.ts';
import { controlRow } from '../controls/control-table.ts';
import { type ProtectionSnapshot, readAccessIn, rulesOn } from '../posture/protection-snapshot.ts';
import { type EndedAccess, grantsByGroup, type GrantsByGroup, lastEnd } from '../posture/grant-ends.ts';

/** What a state of the gateway does for one connection. */
export type Effective = {
  readonly id: ResourceId;
  readonly state: ProtectionSnapshot;
  readonly access: ConnectionAccess;
  readonly facts: AccessFacts;
  readonly may: (member: readonly string[], verb: AccessMode) => Terms;
  /** What grants it to each group. */
  readonly grants: () => GrantsByGroup;
  /** When the manifests take it away from people in some groups; empty: never. */
  readonly endFor: (member: readonly string[]) => EndedAccess;
  /** What could not be read and may decide a part, with what selects it; empty: everything is known. */
  readonly unread: Readonly<Record<TermPart, string>>;
  /** Equal keys: the same terms for everybody, decided by the same, and the same is unread. */
  readonly key: string;
};

const readers = new WeakMap<ProtectionSnapshot, (id: ResourceId) => Effective | undefined>();

/** Returns what a state does for a connection; undefined without it. The same object for each question about one state, which does not change. */
export function effective(state: ProtectionSnapshot, id: ResourceId): Effective | undefined {
  const read = readers.get(state) ?? onceForEach(createReader(state));
  readers.set(state, read);
  return read(id);
}

function onceForEach(read: (id: ResourceId) => Effective | undefined): typeof read {
  const known = new Map<ResourceId, Effective | undefined>();
  return (id) => {
    if (!known.has(id)) known.set(id, read(id));
    return known.get(id);
  };
}

function createReader(state: ProtectionSnapshot): (id: ResourceId) => Effective | undefined {
  const { lookup, license, longestAccess: longest } = readAccessIn(state);
  // Where a rule keeps its attributes to itself, it may apply to every connection.
  const hidingRules = [...state.resources.keys()].filter((id) => kindOf(id) !== 'Connection' && isHidden(state, id, 'attributes'));
  return (id) => {
    const spec = state.resources.get(id)?.spec;
    if (spec === undefined) return undefined;
    const found = lookup(nameOf(id), spec);
    const facts = { ...found, attributes: [...new Set([...textsIn(spec['attributes']), ...found.attributes])] };
    const access = accessOf({ spec, own: ownApproval(spec), facts, license, longest });
    const value = { id, state, access, facts };
    const unread = unreadOf(value, hidingRules);
    const grants = onFirstUse(() => grantsByGroup(state, id));
    const endFor: Effective['endFor'] = (member) => {
      const isLimited = (state.ends?.size ?? 0) > 0 && access.groups !== undefined && !member.some((group) => seeingAll.includes(group));
      return isLimited
        ? lastEnd(
            state.ends,
            member.flatMap((group) => grants().get(group) ?? []),
          )
        : {};
    };
    return {
      ...value,
      may: (member, verb) => termsOf(access, member, verb),
      grants,
      endFor,
      unread,
      key: accessKey({ ...value, grants }, unread),
    };
  };
}

function termsOf(access: ConnectionAccess, member: readonly string[], verb: AccessMode): Terms {
  const isAuditor = member.includes('auditor') && !member.includes('admin');
  const files = verb === 'runbooks' ? runbooksOf(access, member) : [];
  const review = reviewFor(access, member, stepOf(verb));
  return {
    sees: seesConnection(access, member),
    open: access.open.has(verb) && (verb !== 'runbooks' || !isAuditor),
    runs: verb !== 'runbooks' || files.length > 0,
    approval: review.by,
    longest: verb === 'connect' ? limitOf(access, review) : Number.POSITIVE_INFINITY,
    files,
  };
}

/** Returns the limit of native access: on a gateway with a license, only what needs an approval has one. */
function limitOf(access: ConnectionAccess, { by, longest }: NeededReview): Terms['longest'] {
  const isLimited = by !== undefined || access.license === undefined;
  return isLimited && longest === Number.POSITIVE_INFINITY && access.longest === undefined ? 'unknown' : longest;
}

type Read = Pick<Effective, 'id' | 'state' | 'access' | 'facts'>;

/** The controls that decide each part of the terms. */
const controlsOfPart: Readonly<Record<TermPart, readonly ControlType[]>> = {
  sees: ['who'],
  open: ['access'],
  runs: ['runbooks'],
  files: ['runbooks'],
  approval: ['review', 'force', 'approval'],
  longest: ['duration', 'review', 'force', 'approval'],
  until: ['who'],
  analyzer: ['analyzer'],
};

/** Returns what is unread of a part: lists of the gateway, and fields of everything that may decide it, with the attributes by which they apply. */
function unreadOf({ id, state, facts }: Read, hidingRules: readonly ResourceId[]): Effective['unread'] {
  const objects = [id, ...facts.attributes.map((name) => attributeId(name)), ...rulesOn(state, id)];
  const hiding = [...new Set(objects)].filter((one) => (state.resources.get(one)?.unknown ?? []).length > 0);
  const inPart = (controls: readonly ControlType[]): string => {
    const found = controls.flatMap((control) => {
      const { fields } = controlRow(control);
      return [
        ...(state.listed.incomplete.has(control) ? [control] : []),
        ...hiding.flatMap((one) =>
          (fields[kindOf(one)] ?? []).filter((field) => isHidden(state, one, field)).map((field) => `${one === id ? '' : one} ${field}`),
        ),
        ...hidingRules.filter((rule) => fields[kindOf(rule)]?.includes('attributes') === true),
      ];
    });
    return found.length === 0 ? '' : [...new Set(found), ...facts.attributes].join('\n');
  };
  return {
    sees: inPart(controlsOfPart.sees),
    open: inPart(controlsOfPart.open),
    runs: inPart(controlsOfPart.runs),
    files: inPart(controlsOfPart.files),
    approval: inPart(controlsOfPart.approval),
    longest: inPart(controlsOfPart.longest),
    until: inPart(controlsOfPart.until),
    analyzer: inPart(controlsOfPart.analyzer),
  };
}

function isHidden(state: ProtectionSnapshot, id: ResourceId, field: string): boolean {
  return state.resources.get(id)?.unknown.some((path) => path === '' || path === pointer(field)) === true;
}

/** Which attribute grants what is a decider, and so a part of the key; the row is it, too. */
function accessKey(
  { id, state, access: { open, ...access }, facts, grants }: Read & Pick<Effective, 'grants'>,
  unread: Effective['unread'],
): string {
  const granting = facts.attributes.filter((name) => state.resources.has(attributeId(name)));
  const all = (state.ends?.size ?? 0) === 0 ? [] : [...grants().values()].flat();
  const ends = all.flatMap((grant) => {
    const { until } = lastEnd(state.ends, [grant]);
    return until === undefined ? [] : [[grant.id === id ? '' : grant.id, grant.path, until]];
  });
  return JSON.stringify([[...open].toSorted(), access, unread, granting, facts.row, ends, state.resources.get(id)?.unknown ?? []]);
}
