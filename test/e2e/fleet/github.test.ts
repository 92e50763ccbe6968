import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { newRecordKey } from '../../../src/project/record/record-signature.ts';
import { place } from '../../support/github.ts';
import { type RecipeEnded, runRecipe } from '../../support/gitlab-job.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import {
  commentsOn,
  commitAll,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushTo,
  pushToOrigin,
  git,
  type StepEnded,
  type StepOptions,
} from '../../support/workflow.ts';
import { connection, useProjects, writeFiles } from '../project.ts';
import { titlesIn, useFleet } from './use-fleet.ts';
import { useAction } from '../action/use-action.ts';

const makeProject = useProjects();
const fleet = useFleet();
const bench = useAction(makeProject);
const recordKey = newRecordKey().secret;

type Step = {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | boolean>>;
  readonly env?: Readonly<Record<string, string>>;
};
type Job = {
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly environment?: string;
  /** A list, or the output of an earlier job in JSON. */
  readonly strategy?: { readonly matrix: { readonly target: readonly string[] | string } };
  readonly steps: readonly Step[];
};

/** The secrets that a job has: those of its environment, and those of the repository. */
function secretsOf(environment: string | undefined): Readonly<Record<string, string>> {
  return { ...fleet.variablesOf(environment), OSTIARY_RECORD_KEY: recordKey, OSTIARY_SECRET_ORDERS_PASS: 'pass-of-orders' };
}

type Run = Pick<StepOptions, 'cwd' | 'event' | 'payload' | 'env'> & {
  /** Changes what the steps of some environments see. */
  readonly secrets?: (environment: string | undefined) => Readonly<Record<string, string>>;
};

/** Returns the targets of a job: those of its matrix, or of the list that an earlier step has as an output; GitHub skips a job whose condition is false. */
function targetsOf({ strategy, if: condition = '' }: Job, ended: ReadonlyMap<string, StepEnded>): readonly string[] {
  const { target = [''] } = strategy?.matrix ?? {};
  if (typeof target !== 'string') return target;
  const [, job = '', output = ''] = /^\$\{\{ fromJSON\(needs\.(\w+)\.outputs\.(\w+)\) \}\}$/.exec(target) ?? [];
  expect(condition).toBe(`needs.${job}.outputs.${output} != '[]'`);
  return JSON.parse(ended.get(job)?.outputs[output] ?? '');
}

/** Runs the script of a job that reads how other jobs ended. */
async function runResults(
  { steps }: Job,
  ended: ReadonlyMap<string, StepEnded>,
): Promise<RecipeEnded & Pick<StepEnded, 'stdout' | 'stderr'>> {
  const [{ run = '', env = {} } = {}] = steps;
  const resultOf = (job: string): string => {
    const codes = [...ended].flatMap(([name, { code }]) => (name === job || name.startsWith(`${job} `) ? [code] : []));
    return codes.length === 0 ? 'skipped' : codes.every((code) => code === 0) ? 'success' : 'failure';
  };
  const results = Object.entries(env).map(([name, text]) => [name, resultOf(/needs\.(\w+)\.result/.exec(text)?.[1] ?? '')]);
  const result = await runRecipe({ script: [run] }, { cwd: makeProject({}), env: Object.fromEntries(results) }, '/usr/bin');
  return { ...result, stdout: result.output, stderr: '' };
}

/** Runs a workflow of the example as GitHub does: each job for each target of its matrix, and none whose needed job failed. */
async function runWorkflow(name: string, { secrets = secretsOf, ...run }: Run): Promise<ReadonlyMap<string, StepEnded>> {
  const { jobs }: { readonly jobs: Readonly<Record<string, Job>> } = parse(readFileSync(`examples/fleet/${name}.yml`, 'utf8'));
  const ended = new Map<string, StepEnded>();
  const failed = new Set<string>();
  for (const [id, job] of Object.entries(jobs)) {
    const isBlocked = [job.needs ?? []].flat().some((one) => failed.has(one)) && job.if !== 'always()';
    const runs = isBlocked ? [] : targetsOf(job, ended);
    if (isBlocked) failed.add(id);
    if (job.if === 'always()') ended.set(id, { ...(await runResults(job, ended)), outputs: {}, summary: '' });
    if (job.if === 'always()') continue;
    const all = await Promise.all(
      runs.map(async (target) => {
        const fill = (text: string | boolean): string => String(text).replaceAll('${{ matrix.target }}', target);
        const environment = job.environment === undefined ? undefined : fill(job.environment);
        const found = secrets(environment);
        const step = job.steps.find(({ uses = '' }) => uses.startsWith('acme/ostiary@'));
        const given = Object.entries(step?.env ?? {}).map(([variable, text]) => [
          variable,
          found[/secrets\.(\w+)/.exec(text)?.[1] ?? ''] ?? '',
        ]);
        const inputs = Object.fromEntries(Object.entries(step?.with ?? {}).map(([input, text]) => [input, fill(text)]));
        return [target, await bench.step({ ...run, inputs, env: { ...Object.fromEntries(given), ...run.env } })] as const;
      }),
    );
    for (const [target, result] of all) {
      ended.set(target === '' ? id : `${id} ${target}`, result);
      if (result.code !== 0) failed.add(id);
    }
  }
  return ended;
}

/** The secrets of a day on which the key of staging has expired. */
function withExpiredStaging(environment: string | undefined): Readonly<Record<string, string>> {
  return { ...secretsOf(environment), ...(environment === 'staging' ? { STAGING_TOKEN: 'expired' } : {}) };
}

const codesOf = (ended: ReadonlyMap<string, StepEnded>): Readonly<Record<string, StepEnded['code']>> =>
  Object.fromEntries([...ended].map(([job, { code }]) => [job, code]));

/** Returns the titles of each comment, in their order. */
async function titlesOn(number: number): Promise<readonly (readonly string[])[]> {
  return (await commentsOn(bench.github(), number)).map(({ body }) => titlesIn(body));
}

/** Whether each gateway has a connection. */
function liveOn(name: string): Promise<readonly boolean[]> {
  return Promise.all(Object.values(fleet.gateways).map((gateway) => gateway.isLive(name)));
}

describe('the example of three gateways on GitHub', () => {
  let cwd = '';
  let merged = '';
  const look = (): Promise<ReadonlyMap<string, StepEnded>> => runWorkflow('drift', { cwd, event: 'schedule', payload: {} });
  const onMain = (): Omit<Run, 'secrets'> => ({ cwd, event: 'push', payload: { after: merged }, env: { GITHUB_SHA: merged } });

  test('one pull request is checked once, planned for all, and promoted from staging to production', async () => {
    const { 'ostiary.yaml': config = '', ...files } = fleet.files();
    cwd = makeProject({ 'ostiary.yaml': config });
    const base = commitAll(cwd);
    writeFiles(cwd, files);
    commitAll(cwd, 'Orders');
    const pull = await openPullRequest(bench.github(), 'orders');
    const payload = pullRequestPayload({ ...pull, base });
    const planned = await runWorkflow('plan', { cwd, event: 'pull_request', payload });
    expect(codesOf(planned)).toEqual({ check: 0, plan: 0 });
    expect(planned.get('check')?.outputs).toMatchObject({ outcome: 'valid' });
    expect(JSON.parse(planned.get('plan')?.outputs['targets'] ?? '')).toMatchObject({ 'eu-west': { counts: { create: 2 } } });
    const plans = ['Plan for `staging`', 'Plan for `eu-west`', 'Plan for `us-east`'];
    expect(await titlesOn(pull.number)).toEqual([plans]);

    pushToOrigin(cwd, makeProject({}));
    merged = await mergePullRequest(bench.github(), pull.number);
    const applied = await runWorkflow('apply', onMain());
    expect(codesOf(applied)).toEqual({ staging: 0, 'production eu-west': 0, 'production us-east': 0 });
    expect(await liveOn('orders-db')).toEqual([true, true, true]);
    const [first, second, ...production] = await titlesOn(pull.number);
    expect([first, second]).toEqual([plans, ['Apply to `staging`']]);
    expect(production.flat().toSorted()).toEqual(['Apply to `eu-west`', 'Apply to `us-east`']);
    const environments = bench.github().deployments.filter(({ sha }) => sha === merged || sha === git(cwd, 'rev-parse HEAD'));
    expect(environments.map(({ environment }) => environment).toSorted()).toEqual(['eu-west', 'staging', 'us-east']);
  });

  test('fmt checks the manifests of the example, and its program has a checksum', async () => {
    const { jobs } = parse(readFileSync('examples/fleet/plan.yml', 'utf8'));
    const [, , { run }] = jobs.check.steps;
    const lines: readonly string[] = run.trim().split('\n');
    expect(lines[1]).toMatch(/^echo '[0-9a-f]{64} {2}ostiary-linux-x64' \| sha256sum --check --quiet$/);
    const [program, ...words] = lines.at(-1)?.split(' ') ?? [];
    expect(program).toBe('./ostiary-linux-x64');
    expect(await ostiaryInProcess(words, { cwd, env: {} })).toMatchObject({ code: 0 });
  });

  test('each gateway has one drift issue, and one pull request that adopts it', async () => {
    expect([...(await look()).values()].map(({ outputs }) => outputs['outcome'])).toEqual(['clean', 'clean', 'clean']);
    for (const target of Object.keys(fleet.gateways)) await fleet.tamper(target, 'orders-db', { reviewers: [] });
    expect(codesOf(await look())).toEqual({ 'drift staging': 0, 'drift eu-west': 0, 'drift us-east': 0 });
    await look();
    const { person } = bench.github();
    const { data: issues } = await person.issues.listForRepo({ ...place, state: 'open', labels: 'drift' });
    const titles = ['eu-west', 'staging', 'us-east'].map((name) => `Drift on \`${name}\`: 1 object, weakens protection of 1 connection`);
    expect(issues.map(({ title }) => title).toSorted()).toEqual(titles);
    const { data: requests } = await person.pulls.list({ ...place, state: 'open' });
    const branches = requests.map(({ head: { ref } }) => ref).filter((ref) => ref.startsWith('ostiary/adopt/'));
    expect(branches.toSorted()).toEqual(['ostiary/adopt/eu-west', 'ostiary/adopt/staging', 'ostiary/adopt/us-east']);
  });

  test('what staging does not accept, production does not get', async () => {
    writeFiles(cwd, { 'access/later.yaml': connection('later', { reviewers: ['dba'] }) });
    merged = commitAll(cwd, 'Later');
    git(cwd, 'push --quiet origin main');
    expect(codesOf(await runWorkflow('apply', { ...onMain(), secrets: withExpiredStaging }))).toEqual({ staging: 4 });
    expect(await liveOn('later')).toEqual([false, false, false]);
    expect(codesOf(await runWorkflow('apply', onMain()))).toEqual({ staging: 0, 'production eu-west': 0, 'production us-east': 0 });
    expect(await liveOn('later')).toEqual([true, true, true]);
  });

  test('plans only the gateways that a pull request affects', async () => {
    const { number } = await openPullRequest(bench.github(), 'hosts');
    const [base, path] = [git(cwd, 'rev-parse HEAD'), 'overlays/eu-west/orders-db.yaml'];
    const overlay = readFileSync(join(cwd, path), 'utf8');
    const propose = async (text: string, name: string): Promise<Omit<Run, 'secrets'>> => {
      const head = await pushTo(bench.github(), 'hosts', name);
      writeFiles(cwd, { [path]: text });
      commitAll(cwd, name);
      return { cwd, event: 'pull_request', payload: pullRequestPayload({ number, head, base }) };
    };
    const moved = await propose(overlay.replace('orders.eu-west', 'moved.eu-west'), 'moved');
    expect(codesOf(await runWorkflow('plan', moved))).toEqual({ check: 0, plan: 0 });
    const [comment] = await commentsOn(bench.github(), number);
    expect(titlesIn(comment?.body ?? '')).toEqual(['Plan for `eu-west`']);
    expect(comment?.body).toMatch(/> 1 of 3 targets is affected since `\w+`\.\n\n> Affected: manifests `Connection\/orders-db`\./);
    const jobs = await runWorkflow('plan-matrix', moved);
    expect(codesOf(jobs)).toEqual({ targets: 0, 'plan eu-west': 0, planned: 0 });
    expect(jobs.get('targets')?.outputs).toMatchObject({ outcome: 'listed', affected: '["eu-west"]' });
    expect(await titlesOn(number)).toEqual([['Plan for `eu-west`'], ['Plan for `eu-west`']]);

    const commented = await propose(`# the first gateway\n${overlay}`, 'commented');
    expect(codesOf(await runWorkflow('plan', commented))).toEqual({ check: 0, plan: 0 });
    const [none] = await commentsOn(bench.github(), number);
    expect(none?.body).toContain('### No target is affected\n');
    expect(none?.body).toContain('The plan of each of the 3 targets is the same as without this change.');
    expect(codesOf(await runWorkflow('plan-matrix', commented))).toEqual({ targets: 0, planned: 0 });
    expect(await titlesOn(number)).toEqual([['No target is affected'], ['The plan of eu-west is the same as without this change']]);
  });
});
