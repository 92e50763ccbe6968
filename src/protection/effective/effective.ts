import { onceInEach, onFirstUse } from '../../model/collections.ts';
import { pointer } from '../../model/pointer.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import {
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
import { fieldsRead } from '../controls/control-table.ts';
import { type ProtectionSnapshot, rulesOn } from '../posture/protection-snapshot.ts';
import { accessIn } from '../posture/connection-access.ts';
import { type EndedAccess, grantsByGroup, type GrantsByGroup, lastEnd } from '../posture/grant-ends.ts';

/** What could not be read: lists of the gateway, and fields of objects. The key has what selects them, and is empty where everything is known. */
export type Unread = { readonly lists: readonly ControlType[]; readonly fields: readonly Decider[]; readonly key: string };

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
  /** What could not be read and may decide a part. */
  readonly unread: Readonly<Record<TermPart, Unread>>;
  /** Equal keys: the same terms for everybody, decided by the same, and the same is unread. */
  readonly key: string;
};

/** Returns what a state does for a connection; undefined without it. The same object for each question about one state, which does not change. */
export const effective: (state: ProtectionSnapshot, id: ResourceId) => Effective | undefined = onceInEach(createReader);

function createReader(state: ProtectionSnapshot): (id: ResourceId) => Effective | undefined {
  // Where a rule keeps its attributes to itself, it may apply to every connection.
  const hidingRules = [...state.resources.keys()].filter((id) => kindOf(id) !== 'Connection' && isHidden(state, id, 'attributes'));
  return (id) => {
    const found = accessIn(state, id);
    if (found === undefined) return undefined;
    const { access, facts } = found;
    const value = { id, state, access, facts };
    const unread = unreadOf(value, hidingRules);
    const grants = onFirstUse(() => grantsByGroup(state, [id, ...facts.attributes]));
    const endFor: Effective['endFor'] = (member) => {
      const isLimited =
        (state.ends?.size ?? 0) > 0 && access.groups !== undefined && !member.some((group) => seeingAll([access]).includes(group));
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

/** Returns what machine identities may do, which act as admins with native access alone. */
export function machineTerms({ may, access }: Effective): Terms {
  return may([access.roles.admin], 'connect');
}

function termsOf(access: ConnectionAccess, member: readonly string[], verb: AccessMode): Terms {
  const isAuditor = member.includes(access.roles.auditor) && !member.includes(access.roles.admin);
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
  const objects = [id, ...facts.attributes, ...rulesOn(state, id)];
  const hiding = [...new Set(objects)].filter((one) => (state.resources.get(one)?.unknown ?? []).length > 0);
  const inPart = (controls: readonly ControlType[]): Unread => {
    const lists = controls.filter((control) => state.listed.incomplete.has(control));
    const fields = [
      ...hiding.flatMap((one) => hiddenFields(state, one, controls)),
      ...hidingRules.flatMap((rule): readonly Decider[] =>
        fieldsRead(kindOf(rule), controls).includes('attributes') ? [{ id: rule, path: pointer('attributes') }] : [],
      ),
    ];
    const found = [...lists, ...fields.map(({ id: of, path }) => `${of === id ? '' : of} ${path}`)];
    return { lists, fields, key: found.length === 0 ? '' : [...new Set(found), ...facts.attributes].join('\n') };
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

/** Lists the fields of an object that form some controls and are not known: the token may not read them, or a manifest leaves them to the gateway. */
export function hiddenFields(state: ProtectionSnapshot, id: ResourceId, controls: readonly ControlType[]): readonly Decider[] {
  return fieldsRead(kindOf(id), controls).flatMap((field) => (isHidden(state, id, field) ? [{ id, path: pointer(field) }] : []));
}

/** Which attribute grants what is a decider, and so a part of the key; the row is it, too. */
function accessKey(
  { id, state, access: { open, ...access }, facts, grants }: Read & Pick<Effective, 'grants'>,
  unread: Effective['unread'],
): string {
  const granting = facts.attributes.filter((attribute) => state.resources.has(attribute));
  const all = (state.ends?.size ?? 0) === 0 ? [] : [...grants().values()].flat();
  const ends = all.flatMap((grant) => {
    const { until } = lastEnd(state.ends, [grant]);
    return until === undefined ? [] : [[grant.id === id ? '' : grant.id, grant.path, until]];
  });
  const unreadKeys = Object.values(unread).map(({ key }) => key);
  return JSON.stringify([[...open].toSorted(), access, unreadKeys, granting, facts.row, ends, state.resources.get(id)?.unknown ?? []]);
}
