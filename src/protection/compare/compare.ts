import { canonical, compareText, equal } from '../../model/json.ts';
import { accessModes, type AccessMode, defaultRoles } from '../../model/protection/access-objects.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { pointer } from '../../model/pointer.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { attributeOf } from '../access/deciding-kinds.ts';
import { type AccessDirection, accessDirections, type MemberSort } from '../access/effective-access.ts';
import {
  compareAnalyzers,
  compareEnds,
  compareNativeAnalyzers,
  compareTerms,
  type ReadPart,
  type TermDifference,
} from '../access/compare-terms.ts';
import { peopleIn } from '../access/people.ts';
import { type Difference, isUsable, type TermPart, type Terms } from '../access/terms.ts';
import { decidersFor, decidersOf, valueOf } from '../effective/deciders.ts';
import { type Effective, effective, machineTerms } from '../effective/effective.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** Two states of a gateway; `formerOf` returns the connection of `before` that one of `after` was. */
export type Compared = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly formerOf: (id: ResourceId) => ResourceId | undefined;
};

/** One connection in two states. */
type Ends = Omit<Compared, 'formerOf'> & { readonly id: ResourceId; readonly former: ResourceId | undefined };

type Sides = Ends & {
  readonly had: Effective | undefined;
  readonly has: Effective | undefined;
  /** The deciders that differ, each once. */
  readonly causes: Map<string, Decider>;
};

/**
 * Compares what everybody may do on connections in two states, exactly, over all combinations of groups. Connections that are equal on both sides
 * share the answer. Those who see every connection gain and lose nothing by one that is new or gone.
 */
export function compare({ before, after, formerOf }: Compared, connections: readonly ResourceId[]): readonly Difference[] {
  const known = new Map<string, readonly Difference[]>();
  return connections.flatMap((id): readonly Difference[] => {
    const former = formerOf(id);
    const sides: Sides = {
      before,
      after,
      id,
      former,
      had: former === undefined ? undefined : effective(before, former),
      has: effective(after, id),
      causes: new Map(),
    };
    const { had, has } = sides;
    if (had?.key === has?.key) return [];
    const key = `${had?.key ?? ''}\n${has?.key ?? ''}\n${changesOf(sides)}`;
    const shared = known.get(key);
    if (shared !== undefined) return ofConnection(shared, id, former);
    const found = [...accessModes.flatMap((verb) => compareVerb(sides, verb)), ...compareMachines(sides)];
    known.set(key, found);
    return found;
  });
}

function ofConnection(shared: readonly Difference[], id: ResourceId, former: ResourceId | undefined): readonly Difference[] {
  const known = new Map<Decider, Decider>();
  return shared.map((one) => {
    const causes: Partial<Record<AccessDirection, readonly Decider[]>> = {};
    for (const direction of accessDirections) {
      const by = one.causes[direction];
      if (by !== undefined) causes[direction] = decidersFor(id, by, one.connection, known);
    }
    return { ...one, connection: id, former, causes };
  });
}

/** Describes what differs in the own fields and edges of a connection: equal connections that changed differently have different causes. */
function changesOf({ before, after, id, former }: Sides): string {
  if (former === undefined) return '';
  const [had, has] = [before.resources.get(former)?.spec ?? {}, after.resources.get(id)?.spec ?? {}];
  const names = had === has ? [] : [...new Set([...Object.keys(had), ...Object.keys(has)])];
  const fields = names.filter((name) => !equal(had[name] ?? null, has[name] ?? null));
  const [from, to] = [before.edges.get(former) ?? [], after.edges.get(id) ?? []].map((rules) => [...rules].toSorted());
  return canonical([former === id, fields.toSorted(), from ?? [], to ?? []]);
}

/** Compares everybody by one verb. People in several groups are among them, whether or not people in one of these groups differ in the same way. */
function compareVerb(sides: Sides, verb: AccessMode): readonly Difference[] {
  const { id, former, had, has } = sides;
  const values = [had, has].filter((one) => one !== undefined);
  const isOnBoth = values.length === 2;
  const readPart = (part: TermPart): ReadPart => {
    const [was, is] = [had?.unread[part].key, has?.unread[part].key];
    return !isOnBoth || (was === '' && is === '') ? 'all' : was === is ? 'same' : 'other';
  };
  const hidesRoles = [sides.before, sides.after].some(({ listed }) => listed.hidesRoles === true);
  const analyzer = !isOnBoth
    ? []
    : verb === 'connect'
      ? compareNativeAnalyzers(had?.access, has?.access)
      : compareAnalyzers(had?.access.analyzer, has?.access.analyzer);
  return peopleIn(
    values.map(({ access }) => access),
    verb,
  ).flatMap((people): readonly Difference[] => {
    const { member, seesAll } = people;
    if (!isOnBoth && seesAll === true) return [];
    const terms: Difference['terms'] = [had?.may(member, verb), has?.may(member, verb)];
    const isUsed = terms.every((one) => one !== undefined && isUsable(one));
    const ofAnalyzer: readonly TermDifference[] =
      isUsed && analyzer.length > 0 ? [{ part: 'analyzer', of: ['analyzer'], directions: analyzer }] : [];
    const ofEnds = isUsed ? endsOf(sides, people) : [];
    // A group with the usual name of admins or auditors is an ordinary one, or sees every connection anyway.
    const isUnsure = hidesRoles && people.places.some((groups) => groups.length > 0 && groups.every(isUsualRole));
    const sure = (one: TermDifference): TermDifference => (isUnsure ? { ...one, directions: ['unclear'] } : one);
    const found = [...compareTerms(terms, readPart), ...ofAnalyzer].map((one) => ({ ...sure(one), people }));
    return [...found, ...ofEnds].map((one): Difference => ({
      connection: id,
      former,
      people: one.people,
      verb,
      part: one.part,
      of: one.of,
      terms,
      causes: causesOf(sides, { ...one, verb }),
    }));
  });
}

function isUsualRole(group: string): boolean {
  return group === defaultRoles.admin || group === defaultRoles.auditor;
}

/** Compares when the manifests take access away from people in one group; those in several have the end of the last of these groups. */
function endsOf(
  { before, after, had, has }: Sides,
  { member, groups }: MemberSort,
): readonly (TermDifference & { readonly people: MemberSort })[] {
  if ((before.ends?.size ?? 0) + (after.ends?.size ?? 0) === 0 || member.length !== 1) return [];
  return groups.flatMap((group) => {
    const one = compareEnds(had?.endFor([group]).until, has?.endFor([group]).until);
    return one.directions.length === 0 ? [] : [{ ...one, people: { member: [group], groups: [group], places: [[group]] } }];
  });
}

type Deciding = TermDifference & { readonly people: MemberSort; readonly verb: AccessMode };

/**
 * Returns the deciders that differ: what gives access causes more where it begins, and less where it ends; what limits it, both. What is new or gone,
 * or replaces another connection, is caused by its creation or deletion.
 */
function causesOf(sides: Sides, { of, directions, people: { member, groups }, verb }: Deciding): Difference['causes'] {
  const { had, has, id, former } = sides;
  const values = [had, has].filter((one) => one !== undefined);
  const whole: readonly Decider[] = values.length < 2 || former !== id ? [{ id, path: '' }] : [];
  const sorts = member.length === 1 ? groups.map((group) => [group]) : [member];
  const deciding = (some: readonly Effective[]): readonly Decider[] => {
    const by = some.flatMap((value) => of.flatMap((part) => sorts.flatMap((sort) => decidersOf(value, part, { member: sort, verb }))));
    return differing(sides, by).map((one) => onceIn(sides.causes, one));
  };
  const gives = of.every((part) => part !== 'approval' && part !== 'longest');
  const sided: Readonly<Record<AccessDirection, readonly (Effective | undefined)[]>> = { more: [has], less: [had], unclear: values };
  return Object.fromEntries(
    directions.map((direction) => {
      const own = deciding(gives ? sided[direction].filter((one) => one !== undefined) : values);
      return [direction, [...whole, ...(own.length > 0 ? own : deciding(values))]];
    }),
  );
}

function onceIn(known: Map<string, Decider>, one: Decider): Decider {
  const key = deciderKey(one);
  const found = known.get(key) ?? one;
  known.set(key, found);
  return found;
}

/** Returns a text that identifies a decider. */
export function deciderKey({ id, path, edge }: Decider): string {
  return `${id} ${path} ${edge ?? ''}`;
}

/** Returns the deciders whose value differs; what a successor has is compared with what its predecessor had. */
export function differing({ before, after, id, former }: Ends, by: readonly Decider[]): readonly Decider[] {
  const found = new Map<string, Decider>();
  // What is new has everything by its own creation.
  if (former === undefined) return [];
  const isSuccessor = former !== id;
  for (const one of by) {
    const own: Decider = { ...one, id: one.id === former ? id : one.id, edge: one.edge && id };
    const was: Decider = { ...own, id: own.id === id ? former : own.id, edge: own.edge && former };
    if (equal(valueOf(before, was), valueOf(after, own))) continue;
    // What a successor has otherwise is its own creation, not what attaches a rule to it.
    if (isSuccessor && (own.edge !== undefined || own.path === '' || attributeOf(own) !== undefined)) continue;
    // The gateway takes a deleted attribute from what has it: its deletion is the cause.
    const attribute = attributeOf(own);
    const isSideEffect = attribute !== undefined && before.resources.has(attribute) && !after.resources.has(attribute);
    const cause: Decider = isSideEffect ? { id: attribute, path: '' } : own;
    found.set(deciderKey(cause), cause);
  }
  return [...found.values()];
}

/** A machine identity acts as an admin, with native access alone; only that it gets a credential, or keeps none, is new. */
function compareMachines(sides: Sides): readonly Difference[] {
  const { had, has, id, former } = sides;
  const names = new Set([...(had?.access.machines ?? []), ...(has?.access.machines ?? [])]);
  return [...names].toSorted(compareText).flatMap((machine): readonly Difference[] => {
    const terms: Difference['terms'] = [termsOfMachine(had, machine), termsOfMachine(has, machine)];
    if (terms[0] !== undefined && terms[1] !== undefined) return [];
    const attributes = [had, has].flatMap((side) =>
      (side?.facts.attributes ?? []).map((one): Decider => ({ id, path: pointer('attributes', nameOf(one)) })),
    );
    const by = [...differing(sides, attributes), ...(former === id && had !== undefined ? [] : [{ id, path: '' as const }])];
    return compareTerms(terms).map(({ part, of, directions }) => ({
      connection: id,
      former,
      people: { machine },
      verb: 'connect',
      part,
      of,
      terms,
      causes: Object.fromEntries(directions.map((one) => [one, by])),
    }));
  });
}

function termsOfMachine(side: Effective | undefined, name: string): Terms | undefined {
  return side?.access.machines.includes(name) === true ? machineTerms(side) : undefined;
}
