import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { specValueAt } from '../../src/model/spec/edit.ts';
import { liveKeyOf, type Change, type FieldChange, type Plan } from '../../src/model/plan/plan.ts';
import { isPointerWithin } from '../../src/model/pointer.ts';
import { kindOf, type ResourceId } from '../../src/model/resource.ts';
import { differencesBetween } from '../../src/protection/compare/plan-differences.ts';
import { allConnections, plannedSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { filterDrift } from '../../src/reconcile/drift/filter-drift.ts';
import { runCount } from '../support/property-runs.ts';
import { gatewayOf, history, planHistory, rememberedAfter, type History } from '../support/history.ts';
import type { MemoryGateway } from '../support/memory-gateway.ts';
import { exposedConnections } from '../support/posture.ts';
import { applyPlan, checkedPlan } from '../support/run-pipeline.ts';

function pathsOf(plan: Plan, id: ResourceId): ReadonlyMap<string, FieldChange> {
  const change = plan.changes.find((one) => (one.key ?? one.id) === id);
  return new Map(change?.fields.map((field) => [field.path, field]));
}

/** Returns the held drift of a plan, without duplicate entries: if the first one is deleted, the second replaces it. */
function heldOf(plan: Plan): readonly { readonly change: Change; readonly field: FieldChange }[] {
  return plan.changes.flatMap((change) =>
    change.fields.filter(({ held, path }) => held === true && !path.endsWith('+')).map((field) => ({ change, field })),
  );
}

function heldEdges({ edges }: Plan): readonly string[] {
  return edges.filter(({ action }) => action === 'held').map(({ rule, connection }) => `${rule} ${connection}`);
}

test('held, managed and unmanaged values stay; the rest is in sync with the manifests', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const gateway = gatewayOf(past);
      const planned = await planHistory(gateway, past);
      const { plan, live } = planned;
      const result = await applyPlan({ gateway, ...planned, concurrency: 8 });
      expect(result.outcomes.filter(({ status }) => !['done', 'blocked', 'held'].includes(status))).toEqual([]);
      const applied = { ...past, remembered: rememberedAfter({ ...planned, desired: past.desired }, result) };
      const ours = new Set<string>(
        past.desired.resources.flatMap(({ key, renamedFrom, replaces }) => [key, `${kindOf(key)}/${renamedFrom ?? replaces ?? ''}`]),
      );
      const deleted = new Set(plan.changes.flatMap(({ id, key, action }) => (action === 'delete' ? [key ?? id] : [])));
      // What is deleted is closed first.
      for (const { id, method } of gateway.writes) expect(deleted.has(id) || (method !== 'DELETE' && ours.has(id))).toBe(true);
      const after = gateway.state();
      const managed = live.resources.filter(({ managedBy }) => managedBy !== undefined);
      for (const { id, spec } of managed) expect(after[id]?.spec).toEqual(spec);
      for (const { change, field } of heldOf(plan)) {
        const fields = registry.get(kindOf(change.id))?.fields ?? [];
        const spec = after[liveKeyOf(change)]?.spec ?? {};
        expect(specValueAt(fields, spec, field.path)).toEqual('value' in field.before ? field.before.value : undefined);
      }
      // A rule that protected what is replaced is free to go only once its edge has moved.
      const freed = past.consent.prune ? await planHistory(gateway, applied) : undefined;
      if (freed !== undefined) await applyPlan({ gateway, ...freed, concurrency: 8 });
      const again = await planHistory(gateway, applied);
      expect(again.plan.changes.filter(({ action }) => action !== 'blocked' && action !== 'held')).toEqual([]);
      expect(again.plan.edges.filter(({ action }) => action === 'attach' || action === 'detach')).toEqual([]);
      expect(heldEdges(again.plan)).toEqual(expect.arrayContaining([...heldEdges(plan)]));
    }),
    { numRuns: runCount(8) },
  );
});

/** A change with its held drift reverted, as `--revert` does. */
function revertAll(change: Change): Change {
  const fields = change.fields.map(({ path, before, after }): FieldChange => ({ path, before, after }));
  return { ...change, action: change.action === 'held' ? 'update' : change.action, fields };
}

test('held drift only adds protection: what --revert would leave is weaker, and nothing in it is stronger', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const whole: History = { ...past, consent: { ...past.consent, revert: [] } };
      const { plan, live } = await planHistory(gatewayOf(whole), whole);
      fc.pre(heldOf(plan).some(({ change }) => change.action !== 'blocked'));
      const snapshots = [plan, { ...plan, changes: plan.changes.map(revertAll) }].map((one) => plannedSnapshot(one, live, registry));
      const [kept, reverted] = snapshots;
      if (kept === undefined || reverted === undefined) throw new Error('there are two states');
      const ids = allConnections(kept).filter((id) => reverted.resources.has(id));
      const { access, aspects } = differencesBetween(kept, reverted, ids);
      const losing = [...access, ...aspects].map(({ causes }) => Object.keys(causes));
      expect(losing).toEqual(losing.map(() => ['more']));
      expect(losing.length).toBeGreaterThan(0);
    }),
    { numRuns: runCount(6) },
  );
});

test('origins agree with a plan of the base itself against the same gateway', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const { plan, live } = await planHistory(gatewayOf(past), past);
      const { value: undone } = checkedPlan(past.base.desired, live);
      fc.pre(undone !== undefined);
      const [found, expectedAll]: [string[], string[]] = [[], []];
      for (const change of plan.changes) {
        const applied = past.base.desired.resources.find(({ key }) => key === change.id);
        if (
          applied === undefined ||
          (change.action !== 'update' && change.action !== 'held') ||
          change.unfinished === true ||
          change.replacedBy !== undefined
        )
          continue;
        const fields = pathsOf(undone, change.id);
        for (const { path, origin, before, after } of change.fields) {
          const isSecret = 'secret' in before || 'secret' in after;
          if (isSecret || applied.ignore.some((one) => isPointerWithin(path, one) || isPointerWithin(one, path))) continue;
          const same = fields.get(path);
          const expected = same === undefined ? 'intent' : JSON.stringify(same.after) === JSON.stringify(after) ? 'drift' : 'both';
          const isNear =
            same === undefined && [...fields.keys()].some((other) => isPointerWithin(path, other) || isPointerWithin(other, path));
          expectedAll.push(`${change.id} ${path} ${isNear ? 'both' : expected}`);
          found.push(`${change.id} ${path} ${origin}`);
        }
      }
      expect(found).toEqual(expectedAll);
    }),
    { numRuns: runCount(8) },
  );
});

test('nothing is deleted without --prune, and with it only unprotected resources of the base', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const { plan } = await planHistory(gatewayOf(past), past);
      const deletes = plan.changes.filter(({ action }) => action === 'delete');
      expect(past.consent.prune || deletes.length === 0).toBe(true);
      const declared = new Set(past.desired.resources.map(({ id }) => id));
      for (const { id } of deletes) {
        const applied = past.base.desired.resources.find((resource) => resource.id === id);
        expect(applied?.protect).toBe(false);
        expect(declared.has(id)).toBe(false);
      }
    }),
    { numRuns: runCount(8) },
  );
});

test('no intermediate state is less protected than both ends, deletions and new names included', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.constantFrom(1, 8), async (past, concurrency) => {
      const states: ReturnType<MemoryGateway['state']>[] = [];
      const gateway: MemoryGateway = gatewayOf(past, () => {
        states.push(gateway.state());
        return Promise.resolve();
      });
      const before = gateway.state();
      const { plan, live, desired } = await planHistory(gateway, past);
      await applyPlan({ gateway, plan, live, desired, concurrency });
      const after = gateway.state();
      for (const state of [...states, after]) expect(exposedConnections(state, before, after)).toEqual([]);
    }),
    { numRuns: runCount(8) },
  );
});

test('a revert writes only drifted values, leaves no drift, and neither applies nor loses pending changes', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (whole) => {
      const ids = whole.desired.resources.map(({ id }) => id);
      const past: History = { ...whole, consent: { imports: [], revert: ids, prune: false } };
      const gateway = gatewayOf(past);
      const { plan } = await planHistory(gateway, past);
      const {
        plan: undoing,
        live,
        desired,
      } = await planHistory(gateway, past, (differences) => filterDrift(differences, { base: past.base, registry }, 'only').diff);
      const result = await applyPlan({ gateway, plan: undoing, live, desired, concurrency: 8 });
      expect(result.outcomes.filter(({ status }) => !['done', 'blocked', 'held'].includes(status))).toEqual([]);
      const written = new Set(undoing.changes.map(liveKeyOf));
      for (const { id } of gateway.writes) expect(written.has(id)).toBe(true);
      const again = await planHistory(gateway, past);
      const left = filterDrift(again.plan, { base: past.base, registry }, 'only').diff;
      expect(left.changes.flatMap(({ action, fields }) => (action === 'blocked' ? [] : fields))).toEqual([]);
      expect(left.edges.filter(({ action }) => action === 'attach' || action === 'detach')).toEqual([]);
      for (const change of plan.changes) {
        const fields = pathsOf(again.plan, liveKeyOf(change));
        const isPending = change.action === 'update' && !written.has(liveKeyOf(change));
        for (const { path, after } of isPending ? change.fields : []) expect(fields.get(path)?.after).toEqual(after);
      }
    }),
    { numRuns: runCount(8) },
  );
});
