import { expect, test } from 'vitest';
import { planVerdict, verdictText } from '../../../../src/report/wording/summary.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

test('a manifest that gives up a field is in the first line, where nothing is written', () => {
  const { metadata, ...rest } = connectionManifest('db', { reviewers: ['dba'] });
  const before = desiredState([{ metadata, ...rest }]);
  const desired = desiredState([{ ...rest, metadata: { ...metadata, ignore: ['/reviewers'] } }]);
  const base = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
  const { value: plan } = runReconcile({ desired, live: liveAs(before), base });
  expect(plan?.changes).toEqual([]);
  expect(plan && verdictText(planVerdict(plan))).toBe(
    'Plan for test: Weakens protection. Nothing to write: 1 manifest changed without a change on the gateway, 1 unchanged.',
  );
});
