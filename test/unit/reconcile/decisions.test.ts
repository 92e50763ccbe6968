import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isSecretChange, type Plan } from '../../../src/model/plan/plan.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connectionManifest, liveAs } from '../../support/risks.ts';
import { runReconcile } from '../../support/run-pipeline.ts';
import type { Manifest } from '../../support/scenario.ts';

/** The rows of the table in the first comment of reconcile.ts: base, head and gateway, then what the plan has. */
const rows = [
  ...readFileSync('src/reconcile/reconcile.ts', 'utf8').matchAll(/^ \* \| ([-ABC]) +\| ([-ABC]) +\| ([-ABC]) +\| (.*?) +\|$/gm),
].map(([, base = '', head = '', live = '', decision = '']) => ({ base, head, live, decision }));

/** A manifest in one of three forms; no manifest for `-`. */
function manifests(form: string): readonly Manifest[] {
  return form === '-' ? [] : [connectionManifest('db', { access_schema: 'enabled', command: [form] })];
}

function decisionOf({ changes, orphans, accepted, refusals, unmanagedAccess = [] }: Plan): string {
  const [change] = changes;
  const origin = change?.fields.find((field) => !isSecretChange(field) && field.path === '/command')?.origin;
  if (change !== undefined) {
    const code = refusals.map((one) => one.code).join(', ');
    return [change.action, ...(origin === undefined ? [] : [origin]), ...(code === '' ? [] : [code])].join(', ');
  }
  if (orphans.length > 0) return 'orphan';
  if (accepted.length > 0) return 'accepted drift';
  return unmanagedAccess.length > 0 ? 'unmanaged' : 'nothing';
}

test.each(rows)('base $base, manifests $head, gateway $live: $decision', ({ base, head, live, decision }) => {
  const other = connectionManifest('other', {});
  const { value: plan, diagnostics } = runReconcile({
    desired: desiredState([other, ...manifests(head)]),
    live: liveAs(desiredState([other, ...manifests(live)])),
    base: { commit: 'a'.repeat(40), desired: desiredState([other, ...manifests(base)]), removedIn: new Map() },
    reportUnmanaged: true,
  });
  expect(diagnostics).toEqual([]);
  expect(plan && decisionOf(plan)).toBe(decision);
});

test('the table has a row for each case', () => {
  expect(rows).toHaveLength(14);
});
