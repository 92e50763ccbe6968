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
import type { Policy } from '../../model/protection/policy.ts';
import { statedText } from '../../protection/permission/expectation-texts.ts';

/** The checks that a plan may change: those of its proposal, or without one the policies and access tests that were applied last. */
type FormerChecks = { readonly proposed: ProposedChecks | undefined; readonly applied: DesiredState | undefined };

/** Returns the checks that no longer cover a connection, and what a plan changes of its own checks, those that check less first. */
export function changedChecks(
  uncovered: readonly UncoveredCheck[],
  { proposed, applied }: FormerChecks,
  desired: DesiredState,
): readonly ChangedCheck[] {
  const named = new Set(uncovered.map(({ check }) => check));
  const changed = proposed === undefined ? changedDocuments(applied ?? desired, desired) : changedByProposal(proposed, desired);
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
    ...changedDocuments(reviewed, desired),
    ...pairs.flatMap(({ before, resource }) => compareChecks(resourceChecks(before, resource), resourceChecks(resource, resource))),
  ];
}

function changedDocuments(before: DesiredState, after: DesiredState): readonly ChangedCheck[] {
  return compareChecks(documentChecks(before, after), documentChecks(after, before));
}

/** Returns the policies and access tests of one side; a policy that the other side has, too, has the first part that differs as its value. */
function documentChecks({ policies = [], accessTests = [] }: DesiredState, others: DesiredState): ReadonlyMap<string, StatedCheck> {
  return new Map<string, StatedCheck>([
    ...policies.flatMap((policy) => {
      const { name, at, match, require, message, severity, waivers } = policy;
      const requirements = require.map((one) => [one.expression, one.message ?? '']);
      const parts = policyParts(policy);
      const other = others.policies?.find((one) => one.name === name);
      const differing = other === undefined ? -1 : policyParts(other).findIndex((part, index) => part !== parts[index]);
      const value = parts[differing];
      return [
        [
          `policy ${name}`,
          { text: canonical([{ ...match, at: '' }, requirements, message, severity]), at, ...(value === undefined ? {} : { value }) },
        ] as const,
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

/** Returns what a policy states, a text for each part; a message can make the texts of two policies equal that differ. */
function policyParts({ match, require, message, severity }: Policy): readonly string[] {
  const requirements = require.map((one) => [one.expression, ...(one.message === undefined ? [] : [one.message])].join(': '));
  const matched = [
    ...Object.entries(match.tags).map(([key, values]) => `${key}=${values.join('|')}`),
    ...(['type', 'subtype', 'name'] as const).flatMap((part) => (match[part].length === 0 ? [] : [`${part}=${match[part].join('|')}`])),
  ];
  return [`severity ${severity}`, `require ${requirements.join('; ')}`, `match ${matched.join(', ')}`, `message ${message}`];
}

/** Returns the checks that a manifest states, with the name that the object has now. */
function resourceChecks(
  { samples = [], protect, ignore, locate, locateIgnore }: DesiredResource,
  { id }: DesiredResource,
): ReadonlyMap<string, StatedCheck> {
  return new Map<string, StatedCheck>([
    ...samples.map(({ given, at }) => [`sample of ${id}: ${canonical(given)}`, { text: '', at }] as const),
    ...(protect ? [[`protect of ${id}`, { text: '', at: locate('') }] as const] : []),
    ...ignore.map((path) => [`ignore ${path} of ${id}`, { text: '', at: locateIgnore() }] as const),
  ]);
}
