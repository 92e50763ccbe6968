import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { riskClasses } from '../../src/model/plan/plan.ts';
import { startPgliteServer } from '../support/servers.ts';
import { runCount, seedOfRound } from '../support/property-runs.ts';
import { useRepositories } from '../support/repository.ts';
import { useServer } from '../server/use-server.ts';
import { judgeRun } from './judge-pair.ts';
import { laws } from './laws.ts';
import { pairs } from './pairs.ts';
import { runServedPair } from './run-served-pair.ts';

const used = useServer(startPgliteServer, { agents: ['default', 'other'] });
const { make } = useRepositories();

/** How many pairs are planned and applied; `OSTIARY_TEST_RUNS=104` runs 312. */
const least = 3;

test('plans of the command line on ostiary serve agree with an independent model of protection', async () => {
  const repository = make({});
  const { url, key, managerKey } = used.server;
  const served = { gateway: { url, key, managerKey, call: used.call }, repository };
  const found = new Map<string, number>();
  let judged = 0;
  for (const [index, drawn] of fc.sample(pairs, { numRuns: runCount(least) * 3, ...seedOfRound(7) }).entries()) {
    if (drawn.dialect !== 'interface' || judged >= runCount(least)) continue;
    const limit = riskClasses[index % riskClasses.length] ?? 'neutral';
    const done = await runServedPair(served, { ...drawn, reportsLimit: true, readsAccess: true }, { revert: false, limit });
    if (done === undefined) continue;
    judged += 1;
    const { findings } = await judgeRun(
      done.pair,
      done.run,
      async () => (await runServedPair(served, done.pair, { revert: true, limit: 'weakens' }))?.run,
    );
    for (const { law, connection, why } of [...done.findings, ...findings]) {
      const kind = `${law}: ${connection} ${why}`;
      found.set(kind, found.get(kind) ?? index);
    }
  }
  const times = laws.map((law) => `${law} ${[...found.keys()].filter((kind) => kind.startsWith(law)).length}`);
  process.stdout.write(`${times.join(', ')} in ${judged} pairs on ostiary serve\n`);
  expect(judged).toBe(runCount(least));
  expect([...found].map(([kind, index]) => `pair ${index}: ${kind}`)).toEqual([]);
}, 600_000);
