import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { config, useProjects } from '../e2e/project.ts';
import { useAction } from '../e2e/action/use-action.ts';
import { runCount } from '../support/property-runs.ts';
import { commitAll, openPullRequest, pullRequestPayload } from '../support/workflow.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { tortureGateways } from './gateways.ts';
import { expectHarmless } from './harmless.ts';
import { mutateText } from './mutations.ts';
import { addToTally } from './tally.ts';
import { sides } from './transition.ts';

const makeProject = useProjects();
const bench = useAction(makeProject);

test('bad responses of GitHub neither break the action nor change the gateway', { timeout: 0 }, async () => {
  const gateway = await tortureGateways['the public gateway']();
  let writes = 0;
  const proxy = await startFaultProxy(gateway.url, () => {
    writes += 1;
    return Promise.resolve();
  });
  const github = await startFaultProxy(bench.github().url, () => Promise.resolve());
  const cwd = makeProject({ 'ostiary.yaml': config(proxy.url), ...sides[1] });
  const base = commitAll(cwd);
  const pull = await openPullRequest(bench.github(), 'fuzzed');
  const mutated = fc.record({ at: fc.nat({ max: 5 }), mutate: mutateText, status: fc.constantFrom(0, 0, 0, 404, 422, 500) });
  await fc.assert(
    fc.asyncProperty(mutated, async ({ at, mutate, status }) => {
      let seen: string | undefined;
      github.disturb(async (exchange) => {
        const answer = await exchange.forward();
        if (exchange.index % 6 !== at) return exchange.send(answer);
        const bad = mutate(answer.body);
        seen = `${exchange.method} ${exchange.path} ${status} ${bad.toString('base64')}`;
        exchange.send({ ...answer, status: status === 0 ? answer.status : status, body: bad });
      });
      const step = bench.step({
        cwd,
        event: 'pull_request',
        payload: pullRequestPayload({ ...pull, base }),
        inputs: { mode: 'plan' },
        env: { OSTIARY_TOKEN: gateway.token, GITHUB_API_URL: github.url, GITHUB_GRAPHQL_URL: `${github.url}/graphql` },
      });
      await expectHarmless(step, () => ({ seen }));
      expect(writes).toBe(0);
      addToTally('e fuzzed', { inputs: 1 });
    }),
    { numRuns: runCount(3) },
  );
  await Promise.all([github.close(), proxy.close(), gateway.close()]);
});
