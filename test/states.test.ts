import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** The states of a gateway are made here, once for each plan, and passed on; each other file reads those that it is given. */
const makesStates: Readonly<Record<string, readonly string[]>> = {
  'src/protection/posture/diff-postures.ts': ['liveSnapshot', 'plannedSnapshot'],
  'src/reconcile/prepare/snapshots.ts': ['snapshotPlan'],
  // Plans that were made before, or that manifests do not make.
  'src/commands/planning/saved-plan.ts': ['snapshotPlan'],
  'src/reconcile/order/order-writes.ts': ['snapshotPlan'],
  'src/protection/protection.ts': ['liveSnapshot', 'snapshotPlan'],
  // What is asked about a gateway without a plan.
  'src/commands/planning/access-view.ts': ['liveSnapshot', 'plannedSnapshot'],
  'src/commands/planning/target-policies.ts': ['liveSnapshot', 'plannedSnapshot'],
  // States of parts of a plan, before it is known.
  'src/reconcile/prepare/replacements.ts': ['liveSnapshot'],
  'src/reconcile/diff/held-drift.ts': ['plannedSnapshot'],
  'src/reconcile/assess/assess.ts': ['plannedSnapshot'],
};

test('the states of a gateway are made in few places', () => {
  const makers = ['liveSnapshot', 'plannedSnapshot', 'snapshotPlan'];
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('posture/protection-snapshot.ts'))
    .map((name) => ({ path: join('src', name), text: readFileSync(join('src', name), 'utf8') }))
    .map(
      ({ path, text }) =>
        [path, makers.filter((name) => new RegExp(`(?<!function )\\b${name}\\(`).test(text.replaceAll(/\/\*[\s\S]*?\*\//g, '')))] as const,
    )
    .filter(([, names]) => names.length > 0);
  expect(Object.fromEntries(found)).toEqual(makesStates);
});
