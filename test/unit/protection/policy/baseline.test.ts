import { describe, expect, test } from 'vitest';
import type { Policy, PolicyReport } from '../../../../src/model/protection/policy.ts';
import { neededBaseline, unusedBaselines } from '../../../../src/protection/policy/baseline.ts';
import { checkManifests, loadText, policyText, someConnection } from '../../../support/policies.ts';
import { connectionManifest } from '../../../support/risks.ts';

const reviewers = 'size(connection.reviewers) > 0';
const exec = 'connection.access_mode_exec == "disabled"';
const both = `    - ${reviewers}\n    - ${exec}`;

const several = [
  connectionManifest('orders', { access_mode_exec: 'enabled' }),
  connectionManifest('desk', { access_mode_exec: 'enabled', reviewers: ['dba'] }),
  connectionManifest('reports', { access_mode_exec: 'disabled' }),
];

/** Returns a policy of one target with the baseline, and its report. */
function judged(
  baseline: Readonly<Record<string, readonly string[]>>,
  more = '',
): { readonly policy: Policy; readonly report: PolicyReport } {
  const entries = Object.entries(baseline).map(([require, connections]) => ({ require, connections }));
  const text = policyText(both, `  baseline: ${JSON.stringify(entries)}\n${more}`).replace('{ name: p }', '{ name: p, targets: [test] }');
  const [policy] = loadText(`${someConnection}---\n${text}`).value?.policies ?? [];
  if (policy === undefined) throw new Error('the policy is not valid');
  return { policy, report: checkManifests(several, text).report };
}

function violationsOf({ findings }: PolicyReport): readonly string[] {
  return findings.map(({ connection, expression }) => `${connection.slice('Connection/'.length)} ${expression}`);
}

describe('a baseline', () => {
  test('excuses a violation of the exact expression by the connection, and nothing else', () => {
    const { report } = judged({ [reviewers]: ['orders'] });
    expect(report.baseline).toEqual([{ policy: 'p', connection: 'Connection/orders', expression: reviewers }]);
    expect(violationsOf(report)).toEqual([`desk ${exec}`, `orders ${exec}`, `reports ${reviewers}`]);
    expect(violationsOf(judged({ 'size(connection.reviewers)>0': ['orders'], [exec]: ['orders-2', '*'] }).report)).toHaveLength(4);
  });

  test('is reported where it excuses nothing: satisfied, unknown, and without a requirement', () => {
    const { policy, report } = judged({ [reviewers]: ['desk', 'gone', 'orders'], 'size("") == 1': ['orders'] });
    expect(unusedBaselines([policy], report, [])).toMatchObject([
      {
        code: 'policy/baseline-unused',
        severity: 'warning',
        message: 'the baseline of "p" has entries that it does not need: no such violation: desk, gone; no requirement is size("") == 1',
        hint: 'run ostiary policy baseline',
      },
    ]);
    expect(unusedBaselines([judged({ [reviewers]: ['orders'] }).policy], report, [])).toEqual([]);
  });
});

describe('the needed baseline', () => {
  test('has the violations of each requirement, and no others', () => {
    const { policy, report } = judged({ [reviewers]: ['desk', 'gone'], 'size("") == 1': ['orders'] });
    expect(neededBaseline(policy, [report], true)).toEqual([
      { require: reviewers, connections: ['orders', 'reports'] },
      { require: exec, connections: ['desk', 'orders'] },
    ]);
  });

  test('keeps what the reports do not exclude: another target, an unknown result and a waiver', () => {
    const { policy, report } = judged({ [reviewers]: ['elsewhere'] });
    expect(neededBaseline(policy, [report], false)[0]?.connections).toEqual(['elsewhere', 'orders', 'reports']);
    const { policy: asked } = judged({ [reviewers]: ['orders', 'desk'] });
    const nothing = { ...report, findings: [], waived: [], baseline: [] };
    const [finding] = report.findings;
    if (finding === undefined) throw new Error('no finding');
    const unknown = { ...finding, connection: 'Connection/orders', expression: reviewers, result: 'unknown' } as const;
    expect(neededBaseline(asked, [{ ...nothing, findings: [unknown] }], true)).toEqual([{ require: reviewers, connections: ['orders'] }]);
    const waived = [{ policy: 'p', connection: 'Connection/desk', result: 'unknown', until: '', reason: '' }] as const;
    expect(neededBaseline(asked, [{ ...nothing, waived }], true)).toEqual([{ require: reviewers, connections: ['desk'] }]);
    expect(neededBaseline(asked, [nothing], true)).toEqual([]);
  });
});
