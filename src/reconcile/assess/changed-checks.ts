import { type DesiredResource, desiredById, type DesiredState, formerIdOf } from '../../model/desired.ts';
import { canonical } from '../../model/json.ts';
import {
  type ChangedCheck,
  compareChecks,
  type ProposedChecks,
  sortChangedChecks,
  type StatedCheck,
  type UncoveredCheck,
} from '../../model/plan/changed-check.ts';
import { statedText } from '../../protection/permission/expectation-texts.ts';

/** Returns the checks that no longer cover a connection, and what a proposal changes of its own checks, those that check less first. */
export function changedChecks(
  uncovered: readonly UncoveredCheck[],
  proposed: ProposedChecks | undefined,
  desired: DesiredState,
): readonly ChangedCheck[] {
  const named = new Set(uncovered.map(({ check }) => check));
  const changed = proposed === undefined ? [] : changedByProposal(proposed, desired);
  return sortChangedChecks([...uncovered, ...changed.filter(({ check, action }) => action !== 'removed' || !named.has(check))]);
}

/**
 * Returns what a proposal changes of its own checks: of the config, of policies with their waivers, of access tests, and of objects that it did not add
 * the samples, the protection from deletion, and the fields that are not compared.
 */
export function changedByProposal({ config, reviewed }: ProposedChecks, desired: DesiredState): readonly ChangedCheck[] {
  if (reviewed === undefined) return config;
  const former = desiredById(reviewed.resources);
  const pairs = desired.resources.flatMap((resource) => {
    const before = former.get(resource.id) ?? former.get(formerIdOf(resource) ?? resource.id);
    return before === undefined ? [] : [{ before, resource }];
  });
  return [
    ...config,
    ...compareChecks(documentChecks(reviewed), documentChecks(desired)),
    ...pairs.flatMap(({ before, resource }) => compareChecks(resourceChecks(before, resource), resourceChecks(resource, resource))),
  ];
}

function documentChecks({ policies = [], accessTests = [] }: DesiredState): ReadonlyMap<string, StatedCheck> {
  return new Map<string, StatedCheck>([
    ...policies.flatMap(({ name, at, match, require, message, severity, waivers }) => {
      const requirements = require.map((one) => [one.expression, one.message ?? '']);
      return [
        [`policy ${name}`, { text: canonical([{ ...match, at: '' }, requirements, message, severity]), at }] as const,
        ...waivers.map(
          ({ connection, until, at: place }) =>
            [`waiver of policy ${name} for ${connection}`, { text: until, value: `until ${until}`, at: place }] as const,
        ),
      ];
    }),
    ...accessTests.flatMap(({ name, expectations }) =>
      expectations.map((one) => [`access test ${name} (${statedText(one)})`, { text: one.text, at: one.at }] as const),
    ),
  ]);
}

/** Returns the checks that a manifest states, with the name that the object has now. */
function resourceChecks(
  { samples = [], protect, ignore, locate, locateIgnore }: DesiredResource,
  { id }: DesiredResource,
): ReadonlyMap<string, StatedCheck> {
  return new Map<string, StatedCheck>([
    ...samples.map(({ given, at }) => [`sample ${canonical(given)} of ${id}`, { text: '', at }] as const),
    ...(protect ? [[`protect of ${id}`, { text: '', at: locate('') }] as const] : []),
    ...ignore.map((path) => [`ignore ${path} of ${id}`, { text: '', at: locateIgnore() }] as const),
  ]);
}
