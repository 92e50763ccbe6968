import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { restRefusals } from '../../src/apply/rest-refusals.ts';
import type { Json } from '../../src/model/json.ts';
import { isDeletedOutside, type Plan, type Refusal } from '../../src/model/plan/plan.ts';
import { withPending } from '../../src/project/record/applied-record.ts';
import { recallObjects } from '../../src/project/remembered-objects.ts';
import { pendingWritesOf } from '../../src/reconcile/record-content/record-changes.ts';
import { kindOf } from '../../src/model/resource.ts';
import { gatewayOf, history, planHistory, type History } from '../support/history.ts';
import type { MemoryGateway } from '../support/memory-gateway.ts';
import { exposedConnections } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { openText, resume, savedText } from '../support/saved-plan.ts';

/** Plans again with the record of an apply that was killed, and returns why that is not the rest of the approved plan. */
async function planRest(
  gateway: MemoryGateway,
  past: History,
  approved: Plan,
): Promise<Planned & { readonly refusals: readonly Refusal[] }> {
  const commit = 'b'.repeat(40);
  const record = withPending({ orphans: [], pending: [] }, { commit, ...pendingWritesOf({ plan: approved, steps: [] }) });
  const made = await planHistory(gateway, { ...past, remembered: recallObjects(record, new Map([[commit, past.desired]])) });
  return { ...made, refusals: restRefusals(approved, made.plan) };
}

type Planned = Awaited<ReturnType<typeof planHistory>>;

test(
  'an approved plan that stops at any request, planned again, is the rest of it, and ends like an uninterrupted one',
  async () => {
    let stops = 0;
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('before' as const, 'after' as const), async (past, when) => {
        const whole = gatewayOf(past);
        const before = whole.state();
        const text = savedText(await planHistory(whole, past));
        await resume(text, { gateway: whole, desired: past.desired });
        const end = whole.state();
        for (let stop = 1; stop < whole.requests.length; stop += 1) {
          const gateway = gatewayOf(past);
          const same = savedText(await planHistory(gateway, past));
          expect(same).toBe(text);
          const approved = openText(same).plan;
          gateway.setFault(({ index }) => (index < stop ? undefined : index === stop ? when : 'before'));
          await resume(text, { gateway, desired: past.desired }).catch(() => undefined);
          gateway.setFault(undefined);
          expect(exposedConnections(gateway.state(), before, end)).toEqual([]);
          expect((await planRest(gateway, past, approved)).refusals).toEqual([]);
          const { refusals, result } = await resume(text, { gateway, desired: past.desired });
          expect(refusals).toEqual([]);
          expect(result?.outcomes.filter(({ status }) => !['done', 'already', 'blocked', 'held'].includes(status))).toEqual([]);
          expect(gateway.state()).toEqual(end);
          stops += 1;
        }
      }),
      { numRuns: runCount(1) },
    );
    expect(stops).toBeGreaterThan(15);
    // Each history is stopped at each of its requests.
  },
  runCount(60_000) + 120_000,
);

/** A field that every object of the kind has, and another value than any manifest states. */
const marks: Readonly<Record<string, readonly [string, Json]>> = {
  Connection: ['access_max_duration', 12_345],
  GuardrailRule: ['description', 'moved'],
  DataMaskingRule: ['description', 'moved'],
  RunbookConfiguration: ['git_user', 'moved'],
};

test(
  'after a change outside, what is left of an approved plan is refused, or ends like an uninterrupted one',
  async () => {
    const tally = { refused: 0, same: 0 };
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), fc.nat(), fc.constantFrom('field', 'drop', 'edges'), async (past, at, choice, how) => {
        const whole = gatewayOf(past);
        await resume(savedText(await planHistory(whole, past)), { gateway: whole, desired: past.desired });
        const end = whole.state();
        const stop = 1 + (at % whole.requests.length);
        const gateway = gatewayOf(past);
        const text = savedText(await planHistory(gateway, past));
        const { plan: approved } = openText(text);
        gateway.setFault(({ index }) => (index < stop ? undefined : 'before'));
        await resume(text, { gateway, desired: past.desired }).catch(() => undefined);
        gateway.setFault(undefined);
        const objects = Object.values(gateway.state());
        const found = objects[choice % objects.length];
        fc.pre(found !== undefined);
        const [field, value] = marks[kindOf(found.id)] ?? ['', null];
        const changeOutside = (changed: MemoryGateway): void => {
          const object = changed.state()[found.id];
          if (object === undefined) return;
          if (how === 'drop') changed.drop(found.id);
          else if (how === 'edges') changed.put({ ...object, edges: {} });
          else changed.put({ ...object, spec: { ...object.spec, [field]: value } });
        };
        changeOutside(gateway);
        // A manifest without a base, that keeps a secret of a deleted object, cannot be planned.
        const rest = await planRest(gateway, past, approved).catch(() => undefined);
        const resumed = rest === undefined || rest.refusals.length > 0 ? undefined : await resume(text, { gateway, desired: past.desired });
        if (rest === undefined || resumed === undefined || resumed.refusals.length > 0) {
          tally.refused += 1;
          return;
        }
        // What no manifest states keeps the change, such as a deleted object without a manifest: it is in no rule, either. So does a deleted object with kept secrets, which the plan names.
        const declared = past.desired.resources.find(({ key }) => key === found.id);
        const isNamedAsDeleted = rest.plan.changes.some((change) => change.id === found.id && isDeletedOutside(change));
        const isLeft = declared === undefined || isNamedAsDeleted || (how === 'field' && declared.ignore.includes(`/${field}`));
        if (isLeft) changeOutside(whole);
        // An object that is created again has other values in ignored fields.
        const isAnew = how === 'drop' && declared !== undefined && declared.ignore.length > 0;
        const partsOf = (state: typeof end): unknown =>
          Object.entries(state).map(([id, { edges, ...others }]) => {
            const parts = isAnew && id === found.id ? { id } : others;
            return how === 'edges' ? parts : { ...parts, edges };
          });
        expect(partsOf(gateway.state())).toEqual(partsOf(whole.state()));
        const pairs = Object.values(gateway.state()).flatMap(({ id, edges = {} }) =>
          Object.values(edges)
            .flat()
            .map((other) => [id, other].toSorted().join(' ')),
        );
        const attached = approved.edges
          .filter(({ action }) => action === 'attach')
          .map(({ rule, connection }) => [rule, connection].toSorted().join(' '));
        expect(attached.filter((pair) => !pairs.includes(pair))).toEqual([]);
        tally.same += 1;
      }),
      { numRuns: runCount(20) },
    );
    expect(tally.refused).toBeGreaterThan(5);
    expect(tally.same).toBeGreaterThan(2);
  },
  runCount(150_000) + 120_000,
);
