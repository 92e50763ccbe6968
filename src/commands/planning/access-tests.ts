import { defaultRoles } from '../../model/protection/access-objects.ts';
import { registry } from '../../kinds/index.ts';
import type { DesiredState } from '../../model/desired.ts';
import { type Diagnostic, suggest } from '../../model/diagnostic.ts';
import { assumedDialect } from '../../model/gateway.ts';
import { pointer } from '../../model/pointer.ts';
import { type AccessTest, accessTestKind, type AccessTestResult, namedGroups } from '../../model/protection/access-test.ts';
import type { RuleSampleResults } from '../../model/protection/protection.ts';
import type { ResourceId } from '../../model/resource.ts';
import type { Project } from '../../project/project.ts';
import { deciderTexts, failureTexts, type FoldedResult, foldResults } from '../../protection/permission/access-test-findings.ts';
import { desiredSnapshot, type ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { withoutIgnored } from '../../protection/permission/hidden-fields.ts';
import { seeingAll } from '../../protection/access/effective-access.ts';
import { groupsIn } from '../../protection/permission/permission.ts';
import { plural } from '../../report/wording/phrases.ts';

/**
 * Takes the snapshot of a gateway that has what the manifests declare, and nothing else: attributes that a manifest does not state are none.
 * What a manifest ignores is not known: the value of the gateway decides.
 */
export function declaredSnapshot(desired: DesiredState, { target }: Pick<Project, 'target'>): ProtectionSnapshot {
  const snapshot = desiredSnapshot(desired, registry, assumedDialect(target.dialect));
  const ignored = new Map(desired.resources.map(({ key, ignore }) => [key, ignore]));
  const resources = [...snapshot.resources].map(([id, resource]) => {
    const known = resource.unknown.filter((path) => path !== pointer('attributes'));
    // Where no manifest limits it, the gateway does.
    const limit = resource.spec['access_max_duration'] === null ? [pointer('access_max_duration')] : [];
    return [id, withoutIgnored({ ...resource, unknown: [...known, ...limit] }, id, ignored.get(id) ?? [])] as const;
  });
  return { ...snapshot, resources: new Map(resources), listed: { ...snapshot.listed, incomplete: new Set() } };
}

/** The results of access tests, and warnings about groups that they probably misspell. */
type DeclaredAccess = { readonly results: readonly AccessTestResult[]; readonly misspelled: readonly Diagnostic[] };

/** Checks the access tests of manifests without a gateway. A part of the manifests decides too little, so it is not checked. */
export async function checkDeclaredAccess(desired: DesiredState | undefined, project: Pick<Project, 'target'>): Promise<DeclaredAccess> {
  const { accessTests = [], unselected = [] } = desired ?? {};
  if (desired === undefined || accessTests.length === 0 || unselected.length > 0) return { results: [], misspelled: [] };
  const [{ checkAccessTests }, { patternCache }] = await Promise.all([
    import('../../protection/permission/check-access-tests.ts'),
    import('../../protection/pattern/compile.ts'),
  ]);
  const snapshot = declaredSnapshot(desired, project);
  const results = checkAccessTests(accessTests, snapshot, { textOf: deciderTexts(desired), newPatterns: patternCache });
  return { results, misspelled: misspelledGroups(accessTests, snapshot) };
}

/** Returns an error for each expectation that fails, and one notice for those that only the gateway can decide. */
export function accessDiagnostics(results: readonly AccessTestResult[]): readonly Diagnostic[] {
  const unsure = results.filter(({ outcome }) => outcome === 'unknown');
  const deferred: Diagnostic = {
    code: 'manifest/access-test-deferred',
    severity: 'notice',
    message: `access tests of ${plural(new Set(unsure.map(({ connection }) => connection)).size, 'connection')} need values that only the gateway has`,
    hint: 'ostiary plan checks them',
  };
  const failed = foldResults(results.filter(({ outcome }) => outcome === 'failed'));
  return [...failed.map(failureDiagnostic), ...(unsure.length === 0 ? [] : [deferred])];
}

function failureDiagnostic(failed: FoldedResult): Diagnostic {
  return { code: 'manifest/access-test', severity: 'error', at: failed.at, ...failureTexts(failed) };
}

/**
 * Warns about groups of access tests that nothing names, where another group has nearly the same name: an expectation of a misspelled group checks
 * nothing. A group without a similar one may have nothing on purpose.
 */
function misspelledGroups(accessTests: readonly AccessTest[], snapshot: ProtectionSnapshot): readonly Diagnostic[] {
  const known = groupsIn(snapshot);
  const names = new Set([...known, ...seeingAll([{ roles: defaultRoles }])]);
  const expectations = accessTests.flatMap((one) => one.expectations);
  return expectations.flatMap((one) =>
    namedGroups(one).flatMap((group): readonly Diagnostic[] => {
      const near = names.has(group) ? undefined : suggest(group, known);
      if (near === undefined) return [];
      return [
        {
          code: 'manifest/unknown-group',
          severity: 'warning',
          message: `nothing names the group "${group}"`,
          hint: `did you mean "${near}"?`,
          at: one.at,
        },
      ];
    }),
  );
}

/** Returns the results as those of samples: one group for each test. */
export function accessTrials(
  results: readonly AccessTestResult[],
  { accessTests = [] }: Pick<DesiredState, 'accessTests'>,
): readonly RuleSampleResults[] {
  const tried = new Set(results.map(({ test }) => test));
  return accessTests
    .filter(({ name }) => tried.has(name))
    .map(({ name, at }): RuleSampleResults => {
      const id: ResourceId = `${accessTestKind}/${name}`;
      const own = results.filter(({ test }) => test === name);
      const trials = own.map(({ at: place, about, connection, who, outcome, expected, found, because }) => ({
        at: place,
        name: `${about}, ${connection}`,
        side: 'access' as const,
        text: '',
        outcome: outcome === 'unknown' ? ('not-simulated' as const) : outcome,
        expected,
        found: who === undefined ? found : `${who}: ${found}`,
        ...(because.length === 0 ? {} : { why: `decided by ${because.join(', ')}` }),
      }));
      return { rule: id, at, trials, notSimulated: [] };
    });
}
