import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { riskClasses, type Plan, type RiskClass } from '../../src/model/plan/plan.ts';
import { filesOf } from '../support/desired-state.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { gitEnv, type TestRepository } from '../support/repository.ts';
import type { Ended } from '../support/cli.ts';
import type { Manifest } from '../support/scenario.ts';
import type { Finding } from './laws.ts';
import type { Pair } from './pairs.ts';
import type { Run } from './run-pair.ts';
import { emptyGateway, fillGateway, readGateway, type ServedGateway } from './served-gateway.ts';

/** The environment of a command: the sources of secrets resolve to their own text, as in the model. */
const sources = Object.fromEntries(['OSTIARY_SECRET_A', 'OSTIARY_SECRET_B'].map((name) => [name, JSON.stringify({ env: name })] as const));

type Served = { readonly gateway: ServedGateway; readonly repository: TestRepository };

/** A pair that was planned and applied through the command line, on `ostiary serve`. */
export type ServedRun = { readonly run: Run; readonly pair: Pair; readonly findings: readonly Finding[] };

/**
 * Plans a pair with a limit for its risks, and applies it without one; undefined if the gateway does not accept its live state, or
 * the manifests cannot be planned.
 */
export async function runServedPair(
  served: Served,
  given: Pair,
  { revert, limit }: { readonly revert: boolean; readonly limit: RiskClass },
): Promise<ServedRun | undefined> {
  const { gateway, repository } = served;
  if (given.manifests.length === 0) return undefined;
  await emptyGateway(gateway);
  if ((await fillGateway(gateway, given.live, given.untouched)) !== undefined) return undefined;
  const { state: before, untouched } = await readGateway(gateway);
  const pair = { ...given, untouched };
  const config = `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n  test: { url: '${gateway.url}' }\n`;
  const commit = (manifests: readonly Manifest[]): string => {
    if (existsSync(join(repository.folder, 'access'))) repository.remove('access');
    return repository.save({ 'ostiary.yaml': config, ...Object.fromEntries(filesOf(manifests).map(({ path, text }) => [path, text])) });
  };
  const base = pair.base === undefined ? 'none' : commit(pair.base);
  commit(pair.manifests);
  const ids = pair.manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const flags = [
    '--base',
    base,
    pair.prune ? '--prune' : '--no-prune',
    ...ids.flatMap((id) => ['--import', id, ...(revert ? ['--revert', id] : [])]),
  ];
  const ostiary = (...args: readonly string[]): Promise<Ended> =>
    ostiaryInProcess([...args, ...flags], { cwd: repository.folder, env: { ...gitEnv, ...sources, OSTIARY_TOKEN: gateway.key } });
  const planned = await ostiary('plan', '--format', 'json', '--max-risk', limit);
  if (planned.code === 3) return undefined;
  const plan = planIn(planned.stdout);
  const findings = judgeExit(plan, limit, planned.code);
  const applied = await ostiary('apply', '--yes', '--on-managed', 'skip');
  const failed =
    applied.code === 0
      ? []
      : [{ law: 'protection not reached', connection: 'all', why: `apply exits with ${applied.code}: ${applied.stderr}` } as const];
  const { state: after } = await readGateway(gateway);
  return { run: { plan, before, after, failed: [] }, pair, findings: [...findings, ...failed] };
}

function planIn(text: string): Plan {
  const document: { readonly plans: readonly Plan[] } = JSON.parse(text);
  const [plan] = document.plans;
  if (plan === undefined) throw new Error('there is no plan');
  const none = { protection: { headlines: [], connections: [] }, unwritten: [], accepted: [] };
  return { ...none, ...plan };
}

/** Checks that `--max-risk` refuses a plan if and only if one of its risks is above the limit. */
function judgeExit({ changes, unwritten, accepted }: Plan, limit: RiskClass, code: number | null): readonly Finding[] {
  const isAbove = [...changes, ...unwritten, ...accepted].some(({ risks }) =>
    risks.some((risk) => riskClasses.indexOf(risk.class) > riskClasses.indexOf(limit)),
  );
  const why = `--max-risk ${limit} exits with ${code}, and a risk is ${isAbove ? '' : 'not '}above it`;
  return code === (isAbove ? 6 : 0) ? [] : [{ law: 'risk below headline', connection: 'all', why }];
}
