import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/model/config.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import type { AccessState } from '../model/access-model.ts';
import type { AccessPair } from '../model/access-pairs.ts';
import { readAccessState } from '../model/access-state.ts';
import { destinationGains, possibleGains } from '../model/destinations.ts';
import { leadingPairs } from '../model/leading-pairs.ts';
import { newAccess, verbsOf } from '../model/new-access.ts';
import { permissionPairs } from '../model/permission-pairs.ts';
import { refusedAccess } from '../model/plan-report.ts';
import { applyPlanned, planPair, readerOf, readWithSecrets, startAccessGateway } from '../model/run-access-pair.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { runCount } from '../support/property-runs.ts';

const limits = { ...defaultLimits, from: 1000, newAccess: 'refuse' } as const;

type Run = { readonly plan: Plan; readonly before: AccessState; readonly after: AccessState };

async function runPair(pair: AccessPair): Promise<Run | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const model = await startAccessGateway(pair);
  const gateway = await openHoop(model);
  try {
    const before = await readAccessState(readerOf(model));
    const live = await readWithSecrets(gateway);
    const planned = await planPair(pair, live, gateway, { limits });
    if (planned === undefined || planned.diagnostics.some(({ severity }) => severity === 'error')) return undefined;
    const failed = await applyPlanned(planned, live, gateway);
    if (failed.length > 0) return undefined;
    return { plan: planned.plan, before, after: await readAccessState(readerOf(model)) };
  } finally {
    await gateway.close();
    await model.close();
  }
}

/** A name with wildcards may cover another one in more ways than one; then new access is assumed. */
function hasWildcards({ runbookRules }: AccessState): boolean {
  return runbookRules.some(({ files }) => files.some(({ name }) => /[%_]/.test(name)));
}

/** What the last apply left counts, too: it may have given less than the gateway as it is. */
function hasDrift({ accepted, changes }: Plan): boolean {
  return accepted.length > 0 || changes.some(({ fields }) => fields.some(({ origin }) => origin === 'drift'));
}

test(
  'a plan is refused for exactly the connections and verbs with new access, tried over all people, approvers and files',
  async () => {
    const count = { judged: 0, refused: 0, clean: 0, elsewhere: 0 };
    await fc.assert(
      fc.asyncProperty(fc.oneof(leadingPairs, permissionPairs), async (pair) => {
        const run = await runPair(pair);
        if (run === undefined) return;
        const sides = { ...run, predecessors: pair.predecessors };
        const [own, led] = [newAccess(sides), destinationGains(sides)];
        const expected = [...own, ...led];
        const found = refusedAccess(run.plan);
        const possible = possibleGains(sides).map((connection) => ({ connection }));
        const [due, refused] = [verbsOf([...expected, ...possible]), verbsOf(found)];
        const more = refused.filter((one) => !due.includes(one));
        const missing = due.filter((one) => !refused.includes(one));
        expect({ missing }).toEqual({ missing: [] });
        const isExact = !hasDrift(run.plan) && !hasWildcards(run.before) && !hasWildcards(run.after);
        expect({ more: isExact ? more : [] }).toEqual({ more: [] });
        // Each group that gains is named, or is one of those that nothing names.
        for (const { connection, verb, groups } of expected) {
          if (groups?.length !== 1) continue;
          const about = found.filter((one) => one.connection === connection && one.verb === verb);
          expect(about.some((one) => one.groups !== undefined && (one.groups.length === 0 || one.groups.join() === groups.join()))).toBe(
            true,
          );
        }
        count.judged += 1;
        if (verbsOf(led).some((one) => !verbsOf(own).includes(one))) count.elsewhere += 1;
        if (found.length > 0) count.refused += 1;
        else count.clean += 1;
      }),
      { numRuns: runCount(24) },
    );
    process.stdout.write(`pairs by new access: ${JSON.stringify(count)}\n`);
    expect(Math.min(count.refused, count.clean)).toBeGreaterThan(0);
    expect(count.elsewhere).toBeGreaterThanOrEqual(Math.floor(runCount(24) / 32));
  },
  runCount(60_000) + 60_000,
);
