import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import { defaultLimits } from '../../../../src/model/config.ts';
import type { DesiredState } from '../../../../src/model/desired.ts';
import type { Checked } from '../../../../src/model/diagnostic.ts';
import type { Registry } from '../../../../src/model/kind.ts';
import type { LiveState } from '../../../../src/model/live.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { fieldOf } from '../../../support/field.ts';
import { desiredOf, edgeOf, fakeKind, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { runReconcile } from '../../../support/run-pipeline.ts';

function checked(desired: DesiredState, live: LiveState, kinds: Registry = registry): Checked<Plan> {
  return runReconcile({ desired, live, limits: defaultLimits, registry: kinds });
}

function planned(desired: DesiredState, live: LiveState, kinds: Registry = registry): Plan {
  const { value } = checked(desired, live, kinds);
  if (value === undefined) throw new Error('no plan');
  return value;
}

const [db, rule] = ['Connection/db', 'GuardrailRule/rule'] as const;
const described = { spec: { description: 'why' } };
describe('a plan', () => {
  it('measures limits against all managed live objects, selected or not', () => {
    const ids = Array.from({ length: 10 }, (_, index) => `GuardrailRule/${index}` as const);
    const four = ids.slice(0, 4).map((id) => desiredOf(id, described));
    const live = stateOf(...ids.map((id) => liveOf(id)));
    expect(planned(wantedOf(four), live).refusals).toEqual([]);
    expect(planned(wantedOf(four, [], ids.slice(4)), live).refusals).toMatchObject([{ code: 'plan/too-many-updates' }]);
    expect(planned(wantedOf(four, [], [...ids.slice(4), 'GuardrailRule/new']), stateOf(...live.resources.slice(1))).refusals).toEqual([]);
  });

  it('does not exist with errors; all of them are reported with positions', () => {
    const desired = wantedOf([desiredOf(db, { spec: { agent_id: 'none' } }), desiredOf(rule)], [edgeOf(rule, 'Connection/none')]);
    const { value, diagnostics } = checked(desired, stateOf());
    expect(value).toBeUndefined();
    expect(diagnostics.map(({ at }) => at?.file)).toEqual(['access/agent_id', 'access/connection_ids/none']);
  });

  it('lists live protections that no manifest states', () => {
    const fields = [
      fieldOf('approvals', { shape: 'scalar' }, { omitted: 'kept', protects: 'higher' }),
      fieldOf('attributes', { shape: 'set' }, { omitted: 'kept', protects: 'entries' }),
      fieldOf('label', { shape: 'scalar' }, { omitted: 'kept' }),
      fieldOf('reviewers', { shape: 'set' }, { protects: 'entries' }),
    ];
    const kinds: Registry = new Map([['Thing', fakeKind('Thing', fields)]]);
    const live = stateOf(
      liveOf('Thing/a', { spec: { approvals: 2, attributes: [], label: 'x' } }),
      liveOf('Thing/b', { spec: { approvals: 2 } }),
      liveOf('Thing/c'),
    );
    const desired = wantedOf([
      desiredOf('Thing/a'),
      desiredOf('Thing/b', { spec: { approvals: 2 } }),
      desiredOf('Thing/c'),
      desiredOf('Thing/d'),
    ]);
    expect(planned(desired, live, kinds).unwatched).toEqual([{ id: 'Thing/a', path: '/approvals' }]);
  });
});
