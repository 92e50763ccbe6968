import { type DeclaredEdge, desiredById, type DesiredState, isSameManifest } from '../../model/desired.ts';
import { canonical, distinctSorted } from '../../model/json.ts';
import { edgeKey, type ResourceId } from '../../model/resource.ts';

/** What a change of the manifests or of the config affects a target by, and the names of what differs. */
export type AffectedReason = {
  readonly is: 'config' | 'manifests' | 'policies' | 'access tests' | 'accepted findings' | 'not compared';
  readonly names: readonly string[];
};

/**
 * Returns what a plan depends on and two states of the manifests of a target do not state alike: the objects with their edges, the policies, the access tests,
 * and the comments that accept findings. Two states without a difference have the same plan against the same gateway, except for the places in files.
 */
export function differencesBetweenStates(then: DesiredState, now: DesiredState): readonly AffectedReason[] {
  const reasons: readonly AffectedReason[] = [
    { is: 'manifests', names: differentManifests(then, now) },
    { is: 'policies', names: differentNames(policiesOf(then), policiesOf(now)) },
    { is: 'access tests', names: differentNames(testsOf(then), testsOf(now)) },
    { is: 'accepted findings', names: differentNames(acceptedOf(then), acceptedOf(now)) },
  ];
  return reasons.filter(({ names }) => names.length > 0);
}

/** What is compared, by its name, as a text that has all of it but the place. */
type Entries = readonly (readonly [name: string, text: string])[];

function policiesOf({ policies = [] }: DesiredState): Entries {
  return policies.map(({ name, text }) => [name, text]);
}

function testsOf({ accessTests = [] }: DesiredState): Entries {
  return accessTests.map(({ name, expectations }) => [name, canonical(expectations.map(({ text }) => text))]);
}

function acceptedOf({ acknowledgments }: DesiredState): Entries {
  return (acknowledgments?.() ?? []).map(({ code, text }) => [code, text]);
}

/** Returns the names of the entries that only one side has, or that it has more often. */
function differentNames(then: Entries, now: Entries): readonly string[] {
  const [before, after] = [indexEntries(then), indexEntries(now)];
  const names = [...before, ...after].flatMap(([key, name]) => (before.has(key) && after.has(key) ? [] : [name]));
  return distinctSorted(names);
}

/** Indexes the names of entries; equal entries are numbered. */
function indexEntries(entries: Entries): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, text] of entries) {
    let count = 0;
    while (found.has(canonical([name, text, count]))) count += 1;
    found.set(canonical([name, text, count]), name);
  }
  return found;
}

function differentManifests(then: DesiredState, now: DesiredState): readonly string[] {
  const [before, after] = [desiredById(then.resources), desiredById(now.resources)];
  const ids = new Set([...before.keys(), ...after.keys()]);
  const isStatedAlike = (id: ResourceId): boolean => {
    const [one, other] = [before.get(id), after.get(id)];
    return one !== undefined && other !== undefined && isSameManifest(one, other);
  };
  return distinctSorted([
    ...[...ids].filter((id) => !isStatedAlike(id)),
    ...differentNames(declarationsOf(then.edges), declarationsOf(now.edges)),
  ]);
}

/** Returns an entry for each declaration of an edge, by the manifest that declares it. */
function declarationsOf(edges: readonly DeclaredEdge[]): Entries {
  return edges.flatMap((edge) => edge.declarations.map(({ by, how }) => [by, `${edgeKey(edge)} ${how}`] as const));
}
