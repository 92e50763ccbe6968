import type { Diagnostic } from '../../model/diagnostic.ts';
import { compareText } from '../../model/json.ts';
import type { BaselineEntry, Policy, PolicyFinding, PolicyReport } from '../../model/protection/policy.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';

/** Splits the findings of a policy for one connection: the violations in its baseline, and the others. A baseline never excuses an unknown result. */
export function splitByBaseline(
  { baseline }: Policy,
  findings: readonly PolicyFinding[],
): { readonly known: readonly PolicyFinding[]; readonly others: readonly PolicyFinding[] } {
  if (baseline.length === 0 || findings.length === 0) return { known: [], others: findings };
  const isKnown = ({ result, connection, expression }: PolicyFinding): boolean =>
    result === 'violated' &&
    baseline.some(({ require, connections }) => require === expression && connections.includes(nameOf(connection)));
  return { known: findings.filter(isKnown), others: findings.filter((one) => !isKnown(one)) };
}

/** Counts the violations that are still in baselines: one notice per policy. */
export function baselineNotices(policies: readonly Policy[], { baseline }: PolicyReport): readonly Diagnostic[] {
  return policies.flatMap(({ name, baseline: [first] }): readonly Diagnostic[] => {
    const names = [...new Set(baseline.flatMap(({ policy, connection }) => (policy === name ? [nameOf(connection)] : [])))];
    if (first === undefined || names.length === 0) return [];
    const message = `${names.length === 1 ? '1 connection of the baseline still violates' : `${names.length} connections of the baseline still violate`} policy "${name}": ${namesText(names)}`;
    return [
      {
        code: 'policy/baseline',
        severity: 'notice',
        message,
        hint: 'change the manifests, then run ostiary policy baseline',
        at: first.at,
      },
    ];
  });
}

/**
 * Warns about entries of baselines that excuse no violation, one warning per policy. Entries of a connection that is not selected
 * or not visible stay, and those of a policy that other targets have, too: a connection may violate it there.
 */
export function unusedBaselines(
  policies: readonly Policy[],
  report: PolicyReport,
  unselected: readonly { readonly id: ResourceId }[],
): readonly Diagnostic[] {
  const hidden = new Set(unselected.map(({ id }) => nameOf(id)));
  return policies.flatMap((policy): readonly Diagnostic[] => {
    const { name, isShared } = policy;
    const unused = policy.baseline.flatMap((entry) => {
      if (!policy.require.some(({ expression }) => expression === entry.require)) return [{ entry, names: [], isForeign: true }];
      const kept = neededNames(name, entry.require, report);
      const names = isShared ? [] : entry.connections.filter((one) => !hidden.has(one) && !kept.has(one));
      return names.length === 0 ? [] : [{ entry, names, isForeign: false }];
    });
    const [first] = unused;
    if (first === undefined) return [];
    const names = [...new Set(unused.flatMap((one) => one.names))];
    const foreign = unused.flatMap(({ entry, isForeign }) => (isForeign ? [`no requirement is ${entry.require}`] : []));
    const parts = [...(names.length === 0 ? [] : [`no such violation: ${namesText(names)}`]), ...foreign];
    const message = `the baseline of "${name}" has entries that it does not need: ${parts.join('; ')}`;
    return [{ code: 'policy/baseline-unused', severity: 'warning', message, hint: 'run ostiary policy baseline', at: first.entry.at }];
  });
}

/** Returns the connections of which a report has the violation, or cannot exclude it. */
function neededNames(policy: string, expression: string, { baseline, findings, waived }: PolicyReport): ReadonlySet<string> {
  const same = [...baseline, ...findings].filter((one) => one.policy === policy && one.expression === expression);
  return new Set([...same, ...waived.filter((one) => one.policy === policy)].map(({ connection }) => nameOf(connection)));
}

/** A baseline entry without its place. */
export type StatedBaseline = Pick<BaselineEntry, 'require' | 'connections'>;

/**
 * Returns the baseline that a policy needs: per requirement the connections that violate it in a report and are not waived. Earlier entries
 * stay where no report excludes the violation, and all of them if the reports are not those of every target of the policy.
 */
export function neededBaseline(policy: Policy, reports: readonly PolicyReport[], isComplete: boolean): readonly StatedBaseline[] {
  const expressions = new Set(policy.require.map(({ expression }) => expression));
  return [...expressions].flatMap((require): readonly StatedBaseline[] => {
    const stated = policy.baseline.flatMap((entry) => (entry.require === require ? entry.connections : []));
    const needed = new Set(reports.flatMap((report) => [...neededNames(policy.name, require, report)]));
    const violating = reports.flatMap(({ findings }) =>
      findings.filter((one) => one.policy === policy.name && one.expression === require && one.result === 'violated'),
    );
    const names = new Set([
      ...stated.filter((name) => !isComplete || needed.has(name)),
      ...violating.map(({ connection }) => nameOf(connection)),
    ]);
    return names.size === 0 ? [] : [{ require, connections: [...names].toSorted(compareText) }];
  });
}

const mostNames = 3;

function namesText(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
