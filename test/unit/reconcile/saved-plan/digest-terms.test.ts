import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { planRisks } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connectionManifest, guardrailManifest, liveAs, words } from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

const before = desiredState([connectionManifest('db', { reviewers: ['dba'] })]);

/** Plans one update, with more metadata. */
function planWith(metadata: JsonObject): ReturnType<typeof runReconcile>['value'] {
  const manifest = connectionManifest('db', { reviewers: ['dba'], access_max_duration: 600 }, metadata);
  const base = { commit: 'a'.repeat(40), desired: before, removedIn: new Map() };
  return runReconcile({ desired: desiredState([manifest]), live: liveAs(before), base }).value;
}

/** Returns the digest of a plan with a rule that has this selector. */
function selecting(selector: JsonObject): string | undefined {
  const desired = desiredState([
    connectionManifest('db', { connection_tags: { env: 'prod', team: 'a' } }),
    guardrailManifest('no-drop', [words('DROP')], { connection_selector: { match_tags: selector } }),
  ]);
  return runReconcile({ desired, live: liveAs(desired) }).value?.seals.digest;
}

test('the digest covers what manifests ignore and protect beside a change', () => {
  const plans = [{}, { ignore: ['/reviewers'] }, { ignore: ['/command'] }, { protect: true }].map(planWith);
  expect(new Set(plans.map((plan) => plan?.seals.digest)).size).toBe(4);
  expect(new Set(plans.map((plan) => JSON.stringify(plan?.changes.map(({ fields }) => fields)))).size).toBe(1);
});

test('the digest covers selectors that select the same connections', () => {
  expect(selecting({ env: 'prod' })).not.toBe(selecting({ team: 'a' }));
});

test('what a manifest ignores is a risk at the line that ignores it', () => {
  const plan = planWith({ ignore: ['/reviewers'] });
  const risk = plan === undefined ? undefined : planRisks(plan).find((one) => one.risk.code === 'risk/ignore-added')?.risk;
  expect(risk).toMatchObject({ class: 'weakens', path: '/reviewers', place: 'access/Connection-db.yaml:5:5' });
});
