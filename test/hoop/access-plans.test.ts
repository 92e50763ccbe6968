import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/index.ts';
import { useProjects } from '../e2e/project.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { runAccessPair, startAccessGateway } from '../model/run-access-pair.ts';
import { filesOf } from '../support/desired-state.ts';
import { scenarioToken } from '../support/hoop-scenario.ts';
import { seedOfRound } from '../support/property-runs.ts';
import { runInFolder } from '../support/run-in-process.ts';

const project = useProjects();

/** Plans a pair without a base through the command line. */
async function planByCommand(pair: AccessPair): Promise<Plan> {
  const model = await startAccessGateway(pair);
  try {
    const config = `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n  test: { url: '${model.url}/api' }\n`;
    const files = filesOf(pair.manifests).map(({ path, text }) => [path, text] as const);
    const folder = project({ 'ostiary.yaml': config, ...Object.fromEntries(files) });
    const adopted = pair.manifests.flatMap(({ kind, metadata }) => ['--import', `${kind}/${metadata.name}`]);
    const args = ['plan', '--format', 'json', '--base', 'none', '--no-prune', ...adopted];
    const { code, stdout, stderr } = await runInFolder(folder, args, { OSTIARY_TOKEN: scenarioToken });
    // A replaced connection that is still named is refused, and planned.
    if (code !== 0 && code !== 6) throw new Error(stderr);
    const [plan]: readonly Plan[] = JSON.parse(stdout).plans;
    if (plan === undefined) throw new Error('there is no plan');
    return plan;
  } finally {
    await model.close();
  }
}

/** Returns what a plan states about access. */
function statedIn({ changes, protection }: Pick<Plan, 'changes' | 'protection'>): unknown {
  return {
    headlines: protection.headlines.map(({ direction, text, connections }) => ({ direction, text, connections })),
    controls: protection.connections.flatMap(({ connection, controls }) =>
      controls.map(({ control, direction, before, after }) => ({ connection, control, direction, before, after })),
    ),
    risks: changes.flatMap(({ id, risks }) => risks.map((risk) => `${id} ${risk.code} ${risk.class}`)),
  };
}

test('the command line reads and states what decides access, as the pipeline does', async () => {
  const drawn = fc.sample(accessPairs, { numRuns: 60, ...seedOfRound(12) });
  const first = drawn.filter(({ base, manifests }) => base === undefined && manifests.length > 0);
  const pairs = first.slice(0, 4).map((pair) => ({ ...pair, prune: false }));
  expect(pairs.length).toBeGreaterThan(2);
  for (const pair of pairs) {
    const done = await runAccessPair(pair, false);
    if (done === undefined) throw new Error('the pair cannot be planned');
    expect(statedIn(await planByCommand(pair))).toEqual(statedIn(done.plan));
  }
});
