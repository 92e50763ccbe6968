import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { differencesOfPlan } from '../../../../src/protection/compare/plan-differences.ts';
import { assessProtection } from '../../../../src/protection/protection.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import { planRisks } from '../../../../src/model/plan/plan.ts';
import { snapshotPlan } from '../../../../src/protection/posture/diff-postures.ts';
import { riskCodes, riskRefusals } from '../../../../src/protection/risk/risk-codes.ts';
import { stateOf, wantedOf } from '../../../support/resources.ts';
import { desiredState } from '../../../support/desired-state.ts';
import {
  guardrailManifest,
  liveAs,
  pattern,
  planWithRisks,
  connectionManifest as connection,
  riskTexts,
  words,
} from '../../../support/risks.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';
import { changeOf, connection as liveConnection, fieldOf } from '../protection-fixtures.ts';
import { accessGroupRows } from './access-group-rows.ts';
import { attributeGrantRows } from './attribute-grant-rows.ts';
import { attributeRows } from './attribute-rows.ts';
import { oneWay } from './credential-rows.ts';
import { proxyRows } from './proxy-rows.ts';
import { requestRuleRows } from './request-rule-rows.ts';
import { runbookRuleRows } from './runbook-rule-rows.ts';
import { attached, blocking, closed, own, rows as ownRows, selecting } from './risk-rows.ts';

const rows = [
  ...ownRows,
  ...accessGroupRows,
  ...attributeRows,
  ...attributeGrantRows,
  ...proxyRows,
  ...requestRuleRows,
  ...runbookRuleRows,
];

function runningCommand(command: string): readonly Manifest[] {
  return own({ command: [command], secret: { 'envvar:PASS': '_cloudsecrets:orders/db:pass' } });
}

function runbooksOn(host: string): Manifest {
  const password = { valueFrom: { env: 'OSTIARY_SECRET_GIT' } };
  return { kind: 'RunbookConfiguration', metadata: { name: 'books' }, spec: { git_url: `https://${host}/books`, git_password: password } };
}

const drifted = own({ command: ['bash'], secret: { 'envvar:PASS': { value: 'other' } } });

const renamed = own({ command: ['bash'], secret: { 'envvar:TOKEN': '_cloudsecrets:orders/db:pass' } });

const stored = (value: string): JsonObject => ({ 'envvar:HOST': { value: 'one' }, 'envvar:PASS': { value } });

type Risky = Parameters<typeof assessProtection>[0];

/** Assesses a plan that no manifest makes. */
function assess(plan: Risky, live: LiveState): ReturnType<typeof assessProtection> {
  const snapshots = snapshotPlan(plan, live, registry);
  const differences = differencesOfPlan(plan, snapshots);
  return assessProtection(plan, { desired: wantedOf([]), live, snapshots, differences, base: undefined, registry });
}

/** Returns what the other way has where each loss becomes a gain. */
function inverseOf(there: string): string {
  const swapped = there.replaceAll(/weakens|strengthens/g, (found) => (found === 'weakens' ? 'strengthens' : 'weakens'));
  return swapped.split(', ').toSorted().join(', ');
}

const there = rows.map(([name, first, second, risks]) => [name, first, second, risks] as const);
const back = rows.flatMap(([name, first, second, forth, risks = inverseOf(forth)]) =>
  risks === oneWay ? [] : [[`${name}, reversed`, second, first, risks] as const],
);

describe('the risks of a change', () => {
  test.each([...there, ...back])('%s', (_, first, second, risks) => {
    expect(riskTexts(planWithRisks(first, second)).join(', ')).toBe(risks);
  });

  test('a successor sends a credential elsewhere that the manifest of its predecessor had and the gateway has lost', () => {
    const before = connection('orders', { reviewers: ['dba'], secret: stored('applied') });
    const after = connection(
      'next',
      { reviewers: ['dba'], secret: stored('applied'), type: 'custom', subtype: '' },
      { replaces: 'orders' },
    );
    const { value: plan } = runReconcile({
      desired: desiredState([after]),
      live: liveAs(desiredState([connection('orders', { reviewers: ['dba'], secret: stored('other') })])),
      base: { commit: 'a'.repeat(40), desired: desiredState([before]), removedIn: new Map() },
    });
    expect(plan && riskTexts(plan)).toContain('reroutes secret-reused');
  });

  test('a deleted connection affects availability, and a rule that is deleted with it takes nothing from anybody', () => {
    const plan = planWithRisks(attached, [connection('other')], { prune: true });
    expect(riskTexts(plan)).toEqual(['availability deleted', 'exposes exposed', 'neutral neutral']);
  });

  test('a runbook configuration that leads to another server and keeps its name has the risks of its creation and of its deletion', () => {
    const { changes } = planWithRisks([runbooksOn('one.example.com')], [runbooksOn('two.example.com')], { prune: true });
    expect(changes.map(({ action, risks }) => [action, risks.map(({ code }) => code)])).toEqual([
      ['create', ['risk/secret-reused']],
      ['delete', ['risk/neutral']],
    ]);
  });

  test('a value that one side cannot read is unknown', () => {
    const hidden = { before: { unknown: 'this role may not see it' } };
    const change = changeOf('Connection/a', [fieldOf('/access_max_duration', 1, 1, hidden)]);
    const live = stateOf(liveConnection('a', {}, { unknown: ['/access_max_duration'] }));
    const made = { ...planWithRisks(own({}), own({})), changes: [change] };
    const plan = assess(made, live);
    expect(riskTexts(plan)).toContain('unknown unknown');
  });

  test('held and blocked changes have no risk', () => {
    const change = changeOf('Connection/a', [fieldOf('/reviewers/dba', 'dba', undefined)], { action: 'blocked' });
    const made = { ...planWithRisks(own({}), own({})), changes: [change] };
    const plan = assess(made, stateOf(liveConnection('a', { reviewers: ['dba'] })));
    expect(riskTexts(plan)).toEqual([]);
  });

  test('every code of the table occurs', () => {
    const met = new Set([...there, ...back].flatMap(([, , , risks]) => risks.split(', ').map((text) => text.split(' ')[1])));
    const elsewhere =
      'check-uncovered deleted unknown secret-inherited inheritance-unknown secret-left closed-between destination-unknown field-left tools attributes rulepacks analyzer federation unenforceable'.split(
        ' ',
      );
    expect(Object.keys(riskCodes).filter((name) => !met.has(name) && !elsewhere.includes(name))).toEqual([]);
  });

  const [asApplied, isEqual] = [desiredState(runningCommand('bash')), desiredState(runningCommand('bash'))];

  test.each([
    ['sh', 'reroutes secret-reused', drifted, desiredState(runningCommand('sh'))],
    ['bash', 'neutral neutral', drifted, isEqual],
    ['bash of the manifests that were applied', 'neutral neutral', drifted, asApplied],
    ['bash, from another key', 'neutral neutral', renamed, isEqual],
    ['bash of the manifests that were applied, from another key', 'neutral neutral', renamed, asApplied],
  ])('a drifted credential that the plan restores for the command %s: %s', (_, risk, found, desired) => {
    const { value: plan } = runReconcile({
      desired,
      live: liveAs(desiredState(found)),
      base: { commit: 'a'.repeat(40), desired: asApplied, removedIn: new Map() },
    });
    expect(plan?.changes.map(({ action }) => action)).toEqual(['update']);
    expect(plan === undefined ? [] : riskTexts(plan)).toContain(risk);
  });

  test('a risk has a position and its connections', () => {
    const plan = planWithRisks(blocking(words('DROP', 'ALTER')), attached);
    expect(plan.changes.flatMap(({ risks }) => risks)).toEqual([
      {
        code: 'risk/input',
        class: 'weakens',
        path: '/input/rules/words/words/ALTER',
        connections: ['Connection/orders'],
        place: expect.stringMatching(/^access\/GuardrailRule-g\.yaml:\d+:\d+$/),
      },
    ]);
  });

  test('the removal of a tag is the cause of a detached rule', () => {
    const before = selecting({ match_tags: { team: 'a' }, allow_empty: true });
    const after = [connection('orders', { connection_tags: { env: 'prod', team: 'b' } }), ...before.slice(1)];
    const { changes, protection } = planWithRisks(before, after);
    const [risk] = changes.flatMap(({ risks }) => risks.filter(({ code }) => code === 'risk/input'));
    expect(risk?.place).toMatch(/^access\/Connection-orders\.yaml:/);
    expect(protection?.headlines.map(({ causes }) => causes)).toEqual([
      [{ by: 'Connection/orders', path: '/connection_tags/team', edge: 'GuardrailRule/g', place: risk?.place }],
    ]);
  });
});

test('an effect on one connection is a risk on the others, too', () => {
  const [kept, left] = [connection('kept', { reviewers: ['dba'] }), connection('left', { reviewers: ['dba'] })];
  const plan = planWithRisks(
    [kept, left, guardrailManifest('g', [words('DROP', 'GRANT')], { connection_ids: ['kept', 'left'] })],
    [kept, left, guardrailManifest('g', [words('DROP')], { connection_ids: ['kept'] })],
  );
  const weakened = planRisks(plan).flatMap(({ risk }) => (risk.class === 'weakens' ? (risk.connections ?? []) : []));
  expect(new Set(weakened)).toEqual(new Set(['Connection/kept', 'Connection/left']));
  // A pattern that is replaced usually cannot be compared; here it certainly loses something on the connection that stays.
  const other = planWithRisks([kept, left, guardrail('(?i)drop +table', ['kept', 'left'])], [kept, left, guardrail('GR.NT', ['kept'])]);
  const lost = planRisks(other).flatMap(({ risk }) => (risk.class === 'weakens' ? (risk.connections ?? []) : []));
  expect(new Set(lost)).toEqual(new Set(['Connection/kept', 'Connection/left']));
});

function guardrail(regex: string, ends: readonly string[]): Manifest {
  return guardrailManifest('g', [pattern(regex)], { connection_ids: ends });
}

/** Changes that weaken, expose or redirect, and that once had a milder risk than their headline. */
const refused = [
  'two more groups, of which two together can approve',
  'a registered entity type for a custom one of the same name',
  'a successor with less protection',
  'a new connection that is accessible without protection',
  'a type that forwards what it cannot read, with masking',
  'a type that no documentation describes, with masking',
  'a credential under another key',
  'a credential on a new connection with another host',
  'a credential of another connection with another host',
  'a successor that repeats the credential and leaves the host out',
];

test.each(there.filter(([name]) => refused.includes(name)))('--max-risk availability refuses %s', (_, first, second) => {
  const plan = planWithRisks(first, second);
  expect(riskRefusals(plan, 'availability').length).toBeGreaterThan(0);
  expect(plan.protection.headlines.filter(({ direction }) => direction !== 'strengthens').length).toBeGreaterThan(0);
});

describe('--max-risk', () => {
  test('refuses each risk code above the limit once', () => {
    const plan = planWithRisks(
      [connection('a', { reviewers: ['dba'] }), connection('b', { reviewers: ['dba'] }), closed],
      [connection('a'), connection('b'), connection('orders', { access_mode_exec: 'disabled' })],
    );
    expect(riskRefusals(plan, 'weakens')).toEqual([]);
    expect(riskRefusals(plan, undefined)).toEqual([]);
    expect(riskRefusals(plan, 'neutral')).toMatchObject([
      { code: 'risk/review', allowable: true, at: { file: 'access/Connection-a.yaml' } },
      { code: 'risk/access', message: 'exceeds --max-risk neutral, because it weakens: Connection/orders /access_mode_connect' },
    ]);
  });
});
