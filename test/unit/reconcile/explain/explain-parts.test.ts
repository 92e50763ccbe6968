import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { EdgeChange, Plan } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { seal } from '../../../../src/model/secret.ts';
import { explain } from '../../../../src/reconcile/explain/explain.ts';
import { desiredOf, edgeOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';
import { explainCase, id, rowOf, rule, type Case } from './explain-fixtures.ts';

describe('a secret', () => {
  const path = '/secret/envvar:KEY';
  const [ours, theirs] = [seal('env:KEY', 'YQ=='), seal('live', 'Yg==')];
  const live = liveOf(id, { secrets: { [path]: theirs } });
  const hidden = liveOf(id, { secrets: { [path]: { state: 'hidden', source: 'live' } }, unknown: [path] });
  const wants = (secret: DesiredResource['secrets'][string], given: Partial<DesiredResource> = {}): DesiredResource =>
    desiredOf(id, { secrets: { [path]: secret }, ...given });

  it.each<[string, Case, string, string]>([
    ['is ignored', { desired: wants(ours, { ignore: ['/secret'] }), live }, 'secret', 'live at'],
    ['is not in the whole map', { desired: desiredOf(id, { wholeSecrets: ['/secret'] }), live }, 'differs', 'live'],
    ['is not stated', { desired: desiredOf(id), live }, 'secret', 'live'],
    ['no manifest declares', { live }, 'secret', 'live'],
    ['is kept', { desired: wants({ state: 'keep', source: 'keep' }), live }, 'secret', 'desired live at'],
    ['is not live', { desired: wants(ours), live: liveOf(id) }, 'differs', 'desired at'],
    ['is hidden', { desired: wants(ours), live: hidden }, 'not compared', 'desired live at'],
    ['differs', { desired: wants(ours), live }, 'differs', 'desired live at'],
    ['is the same', { desired: wants(theirs), live }, 'secret', 'desired live at'],
  ])('that %s', (_, given, status, sides) => {
    expect(rowOf({ ...given, field: 'secret' })).toMatchObject({ status, sides });
  });

  it('is never shown', () => {
    expect(JSON.stringify(explainCase({ desired: wants(ours), live }))).not.toMatch(/YQ==|Yg==/);
  });
});

function planWith(edge: Partial<EdgeChange>): Plan {
  return { ...planOf(wantedOf([]), stateOf()), edges: [{ rule, connection: id, action: 'attach', declared: [], ...edge }] };
}

describe('an edge', () => {
  const attached = liveOf(id, { edges: { guardrail_rules: [rule] } });
  const both = { desired: desiredOf(id), beside: [liveOf(rule)] };
  const elsewhere: ResourceId = 'DataMaskingRule/mask';

  it.each<[string, Case, string, string]>([
    ['declared and live', { ...both, live: attached, edges: [edgeOf(rule, id, id)] }, 'same', 'desired live'],
    ['declared', { ...both, live: liveOf(id), edges: [edgeOf(rule, id, id)] }, 'differs', 'desired'],
    ['declared, without a known writer', { ...both, live: liveOf(id), plan: planWith({}) }, 'differs', 'desired'],
    ['to go', { ...both, live: attached, plan: planWith({ action: 'detach', by: rule }) }, 'differs', 'live'],
    ['to go, without a known writer', { ...both, live: attached, plan: planWith({ action: 'detach' }) }, 'differs', 'live'],
    ['foreign', { ...both, live: attached }, 'foreign', 'live'],
    ['a manager’s', { ...both, live: attached, beside: [liveOf(rule, { managedBy: 'platform' })] }, 'foreign', 'live'],
    ['blocked', { ...both, live: liveOf(id), plan: planWith({ action: 'blocked' }) }, 'blocked', 'desired'],
    ['held', { ...both, live: attached, plan: planWith({ action: 'held' }) }, 'held', 'live'],
    ['of an undeclared object', { live: attached, beside: [liveOf(rule)] }, 'kept', 'live'],
  ])('that is %s', (_, given, status, sides) => {
    expect(rowOf({ ...given, field: 'guardrail_rules' })).toMatchObject({ status, sides });
  });

  it('is also listed on the rule’s side, and only in the field of its kind', () => {
    const kind = registry.get('GuardrailRule');
    if (kind === undefined) throw new Error('no such kind');
    const plan = planWith({});
    const sides = { desired: wantedOf([desiredOf(rule)]), live: stateOf(liveOf(rule)), base: undefined };
    expect(explain({ id: rule, kind, ...sides, plan, registry, field: 'connection_ids' })?.rows).toMatchObject([
      { path: '/connection_ids/db', status: 'differs' },
    ]);
    expect(explainCase({ ...both, live: liveOf(id), plan: planWith({ rule: elsewhere }), field: 'guardrail_rules' }).rows).toEqual([]);
  });
});
