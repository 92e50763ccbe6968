import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change, EdgeChange, FieldChange, Plan, TargetIdentity, Value, SecretProvenance } from '../../src/model/plan/plan.ts';
import { digestOf, digestWithUnwritten, secretFactsOf } from '../../src/reconcile/saved-plan/plan-digest.ts';
import { runCount } from '../support/property-runs.ts';
import { gatewayOf, history, planHistory, type History } from '../support/history.ts';

type Parts = {
  readonly target: TargetIdentity;
  readonly changes: readonly Change[];
  readonly edges: readonly EdgeChange[];
  readonly sources: readonly SecretProvenance[];
  readonly seal: string;
  readonly accepted: Plan['accepted'];
};

function digest({ target, changes, edges, accepted, ...secrets }: Parts): string {
  return digestWithUnwritten(digestOf(target, changes, edges, secrets), { accepted });
}

/** The parts of any plan that a digest is made of. */
async function partsOf(past: History): Promise<{ readonly plan: Plan; readonly parts: Parts }> {
  const { plan, desired, base } = await planHistory(gatewayOf(past), past);
  const { target, changes, edges, accepted } = plan;
  const parts = { target, changes, edges, accepted, ...secretFactsOf(desired, base?.desired) };
  expect(digest(parts)).toBe(plan.seals.digest);
  return { plan, parts };
}

/** A side with another state of its secret; what is no secret stays. */
function otherState(value: Value): Value {
  return 'secret' in value ? { ...value, state: value.state === 'set' ? 'differs' : 'set' } : value;
}

const at = { file: 'elsewhere.yaml', line: 4711, column: 1 };

function retold(change: Change): Change {
  const { own: _, ...rest } = change;
  const fields = change.fields.map(({ path, before, after, held }): FieldChange => {
    return { path, before: otherState(before), after: otherState(after), origin: 'both', ...(held === undefined ? {} : { held }) };
  });
  return {
    ...rest,
    own: true,
    at,
    positions: { byPath: Object.fromEntries(fields.map(({ path }) => [path, at])) },
    fields,

    carried: ['/reported'],
    needs: [],
  };
}

test('positions, origins and the state of secrets do not change the digest', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const { plan, parts } = await partsOf(past);
      const edges = parts.edges.map((edge): EdgeChange => ({ ...edge, declared: ['elsewhere.yaml:1:1'], origin: 'both' }));
      expect(digest({ ...parts, changes: parts.changes.map(retold), edges })).toBe(plan.seals.digest);
    }),
    { numRuns: runCount(8) },
  );
});

/** The same list with another entry in one place, for every place. */
function variants<T>(list: readonly T[], others: (entry: T) => readonly (T | undefined)[]): readonly (readonly T[])[] {
  return list.flatMap((entry, index) =>
    others(entry).map((other) => [...list.slice(0, index), ...(other === undefined ? [] : [other]), ...list.slice(index + 1)]),
  );
}

function isPlain({ before, after }: FieldChange): boolean {
  return !('secret' in before) && !('secret' in after);
}

function otherFields(change: Change): readonly Change[] {
  return variants(change.fields, (field): readonly (FieldChange | undefined)[] => {
    if (!isPlain(field)) return [];
    const { held, ...open } = field;
    return [
      undefined,
      { ...field, before: { value: 'no manifest has this' } },
      { ...field, after: { value: 'no manifest has this' } },
      held === true ? open : { ...field, held: true },
    ];
  }).map((fields) => ({ ...change, fields }));
}

/** What is not only a change of secrets, and so covered. */
function otherChanges(change: Change): readonly (Change | undefined)[] {
  if (change.action !== 'create' && !change.fields.some(isPlain)) return [];
  return [undefined, { ...change, action: change.action === 'blocked' ? 'update' : 'blocked' }, ...otherFields(change)];
}

function otherEdges(edge: EdgeChange): readonly (EdgeChange | undefined)[] {
  if (edge.action === 'foreign') return [];
  return [undefined, { ...edge, action: edge.action === 'attach' ? 'detach' : 'attach' }];
}

function otherSources(place: SecretProvenance): readonly (SecretProvenance | undefined)[] {
  return [undefined, { ...place, source: 'env:OTHER' }, { ...place, path: '/secret/envvar:OTHER' }];
}

test('every covered change alters the digest: target, actions, values, held drift, edges and sources', async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(history, async (past) => {
      const { plan, parts } = await partsOf(past);
      const { target } = parts;
      const others: readonly Parts[] = [
        ...(['name', 'url', 'dialect', 'organisation'] as const).map((name) => ({ ...parts, target: { ...target, [name]: 'other' } })),
        ...variants(parts.changes, otherChanges).map((changes) => ({ ...parts, changes })),
        ...variants(parts.edges, otherEdges).map((edges) => ({ ...parts, edges })),
        ...variants(parts.sources, otherSources).map((sources) => ({ ...parts, sources })),
        { ...parts, seal: parts.seal.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
      ];
      for (const other of others) expect([other, digest(other)]).not.toEqual([other, plan.seals.digest]);
      seen += others.length;
    }),
    { numRuns: runCount(8) },
  );
  expect(seen).toBeGreaterThan(1000);
});
