import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/model/config.ts';
import type { NewAccess, Plan } from '../../src/model/plan/plan.ts';
import { nameOf } from '../../src/model/resource.ts';
import {
  analyzerTerms,
  mayAsk,
  mayRunFile,
  reaches,
  riskLevels,
  termsOf,
  type AccessState,
  type Request,
  type RunbookFile,
  type Subject,
  type Terms,
} from '../model/access-model.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import { readAccessState } from '../model/access-state.ts';
import { permissionPairs } from '../model/permission-pairs.ts';
import { applyPlanned, planPair, readerOf, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { subsetsOf } from '../model/universe.ts';
import { runCount } from '../support/property-runs.ts';
import { openHoop } from '../support/hoop-scenario.ts';

const limits = { ...defaultLimits, from: 1000, newAccess: 'refuse' } as const;
const approvers = subsetsOf<string>(accessPools.groups);
const everybody = approvers.flatMap((groups) => [groups, [...groups, 'admin'], [...groups, 'auditor']]);

type Run = { readonly plan: Plan; readonly before: AccessState; readonly after: AccessState };

async function runPair(pair: AccessPair): Promise<Run | undefined> {
  if (pair.manifests.length === 0) return undefined;
  const model = await startAccessGateway(pair);
  const gateway = await openHoop(model);
  try {
    const before = await readAccessState(readerOf(model));
    const live = await readLive(gateway);
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

type Verb = 'connect' | 'exec' | 'runbooks';
type Gain = { readonly connection: string; readonly verb: Verb; readonly groups?: readonly string[] };

/** Tries everything: each person, verb, runbook and set of approvers, before and after. */
function enumerateGains({ before, after }: Pick<Run, 'before' | 'after'>, predecessors: AccessPair['predecessors']): readonly Gain[] {
  return Object.keys(after.connections).flatMap((name): readonly Gain[] => {
    const former = before.connections[name] === undefined ? predecessors[name] : name;
    const was = former === undefined || before.connections[former] === undefined ? undefined : former;
    const people = everybody.filter((groups) => was !== undefined || (!groups.includes('admin') && !groups.includes('auditor')));
    const asked = [
      ...(['connect', 'exec'] as const).map((request) => ({ request, file: undefined })),
      ...filesOf(after).map((file) => ({ request: 'runbooks' as const, file })),
    ];
    const found = people.flatMap((groups) =>
      asked
        .filter(({ request, file }) => gains({ before, after }, { groups }, { was, name, request, file }))
        .map(({ request }): Gain => ({ connection: name, verb: request, groups })),
    );
    const machines = after.machines.filter((machine) => {
      const subject = { groups: [], machine };
      return usable(after, subject, name, 'connect', undefined) !== undefined && (was === undefined || !reaches(before, subject, was));
    });
    return [...found, ...machines.map((): Gain => ({ connection: name, verb: 'connect' }))];
  });
}

function filesOf({ runbookRules }: AccessState): readonly RunbookFile[] {
  const other = { repository: 'git.example.com/none', name: 'zz' };
  const stated = runbookRules.flatMap(({ files }) => files.map(({ repository, name }) => ({ repository, name: `${name}zz` })));
  return [...accessPools.files, ...stated, other];
}

type Asked = { readonly was: string | undefined; readonly name: string; readonly request: Verb; readonly file: RunbookFile | undefined };

function gains({ before, after }: Pick<Run, 'before' | 'after'>, subject: Subject, { was, name, request, file }: Asked): boolean {
  const has = usable(after, subject, name, request, file);
  if (has === undefined) return false;
  const had = was === undefined ? undefined : usable(before, subject, was, request, file);
  if (had === undefined || was === undefined || isEasier(has, had) || (request === 'connect' && has.longest > had.longest)) return true;
  return (
    request !== 'connect' && riskLevels.some((level) => isEasier(analyzerTerms(after, name, level), analyzerTerms(before, was, level)))
  );
}

function usable(state: AccessState, subject: Subject, name: string, request: Request, file: RunbookFile | undefined): Terms | undefined {
  if (!reaches(state, subject, name) || !mayAsk(state, subject, name, request)) return undefined;
  if (file !== undefined && !mayRunFile(state, subject, name, file)) return undefined;
  const terms = termsOf(state, subject, name, request);
  return terms.refused ? undefined : terms;
}

/** Whether some approvers are enough for one, and not for the other. */
function isEasier(one: Terms, other: Terms): boolean {
  return approvers.some((set) => isEnough(one, set) && !isEnough(other, set));
}

function isEnough({ refused, approval }: Terms, set: readonly string[]): boolean {
  if (refused) return false;
  if (approval === undefined) return true;
  const { reviewers, needed, forcing } = approval;
  return set.some((group) => forcing.includes(group)) || set.filter((group) => reviewers.includes(group)).length >= needed;
}

function refusedAccess({ refusals }: Plan): readonly NewAccess[] {
  return refusals.flatMap(({ code, newAccess = [] }) => (code === 'plan/new-access' ? newAccess : []));
}

const pairOf = ({ connection, verb }: { readonly connection: string; readonly verb?: string }): string => `${connection} ${verb}`;

/** A name with wildcards may cover another one in more ways than one; then new access is assumed. */
function hasWildcards({ runbookRules }: AccessState): boolean {
  return runbookRules.some(({ files }) => files.some(({ name }) => /[%_]/.test(name)));
}

test(
  'a plan is refused for exactly the connections and verbs with new access, tried over all people, approvers and files',
  async () => {
    const count = { judged: 0, refused: 0, clean: 0 };
    await fc.assert(
      fc.asyncProperty(fc.oneof(accessPairs, permissionPairs), async (pair) => {
        const run = await runPair(pair);
        if (run === undefined) return;
        const expected = enumerateGains(run, pair.predecessors);
        const found = refusedAccess(run.plan).map((one) => ({ ...one, connection: nameOf(one.connection) }));
        const [due, refused] = [expected, found].map((list) => [...new Set(list.map(pairOf))].toSorted());
        const more = refused?.filter((one) => due?.includes(one) !== true);
        const missing = due?.filter((one) => refused?.includes(one) !== true);
        expect({ missing }).toEqual({ missing: [] });
        const isExact = run.plan.accepted.length === 0 && !hasWildcards(run.before) && !hasWildcards(run.after);
        expect({ more: isExact ? more : [] }).toEqual({ more: [] });
        // Each group that gains is named, or is one of those that nothing names.
        for (const { connection, verb, groups } of expected) {
          if (groups?.length !== 1) continue;
          const own = found.filter((one) => one.connection === connection && one.verb === verb);
          expect(own.some((one) => one.groups !== undefined && (one.groups.length === 0 || one.groups.join() === groups.join()))).toBe(
            true,
          );
        }
        count.judged += 1;
        if (found.length > 0) count.refused += 1;
        else count.clean += 1;
      }),
      { numRuns: runCount(8) },
    );
    expect(Math.min(count.refused, count.clean)).toBeGreaterThan(0);
  },
  runCount(60_000) + 60_000,
);
