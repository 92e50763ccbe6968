import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGitLab, type TestGitLab } from '../../support/gitlab.ts';
import { addProgram, type Pipeline, prepareJob, readRecipe, type RecipeEnded, runRecipe } from '../../support/gitlab-job.ts';
import { commitAll, git, pushToOrigin } from '../../support/workflow.ts';
import { useProjects, writeFiles } from '../project.ts';
import { titlesIn, useFleet } from './use-fleet.ts';

const makeProject = useProjects();
const fleet = useFleet();
const recipe = readRecipe('examples/fleet/.gitlab-ci.yml');
const matrix = readRecipe('examples/fleet/plan-matrix.gitlab-ci.yml');
let gitlab: TestGitLab;
let origin = '';
let clone = '';
let programs = '';

beforeAll(async () => {
  const { 'ostiary.yaml': config = '' } = fleet.files();
  clone = makeProject({ 'ostiary.yaml': config });
  commitAll(clone);
  origin = pushToOrigin(clone, makeProject({}));
  gitlab = await startGitLab(origin);
  programs = makeProject({});
  await addProgram(programs);
});
afterAll(() => gitlab.close());

/** What the job `targets` writes for GitLab. */
type ChildPipeline = {
  readonly none?: { readonly script: readonly string[] };
  readonly include?: readonly { readonly local: string }[];
  readonly 'plan-target'?: Pick<(typeof recipe)[string], 'parallel'> & { readonly variables: Readonly<Record<string, string>> };
};

type Ran = RecipeEnded & { readonly cwd: string };

/** Runs the jobs of a pipeline as GitLab does: each job for each value of its matrix, and none whose needed job failed. */
async function runPipeline(pipeline: Pipeline, names: readonly string[], broken?: string): Promise<ReadonlyMap<string, Ran>> {
  const ended = new Map<string, Ran>();
  const failed = new Set<string>();
  for (const name of names) {
    const job = recipe[name] ?? {};
    const runs = job.needs?.some((one) => failed.has(one)) === true ? [] : (job.parallel?.matrix[0].TARGET ?? ['']);
    const all = await Promise.all(
      runs.map(async (target) => {
        const { cwd, env } = prepareJob(makeProject({}), origin, gitlab, pipeline);
        const environment = job.environment?.name.replace('$TARGET', target);
        // A pipeline of a merge request has no protected variables.
        const isProtected = pipeline.source !== 'merge_request_event';
        const tokens = isProtected && environment !== broken ? fleet.variablesOf(environment) : {};
        const variables = { ...tokens, ...(isProtected ? { OSTIARY_SECRET_ORDERS_PASS: 'pass-of-orders' } : {}), TARGET: target };
        return [target, { cwd, ...(await runRecipe(job, { cwd, env: { ...env, ...variables } }, programs)) }] as const;
      }),
    );
    for (const [target, result] of all) {
      ended.set(target === '' ? name : `${name} ${target}`, result);
      if (result.code !== 0) failed.add(name);
    }
  }
  return ended;
}

const codesOf = (ended: ReadonlyMap<string, Ran>): Readonly<Record<string, number>> =>
  Object.fromEntries([...ended].map(([job, { code }]) => [job, code]));

/** Returns the titles of each note, in their order. */
function titlesOn(iid: number): readonly (readonly string[])[] {
  return (gitlab.requests.find((one) => one.iid === iid)?.notes ?? []).map(({ body }) => titlesIn(body));
}

describe('the example of three gateways on GitLab', { timeout: 240_000 }, () => {
  test('runs the jobs of each kind of pipeline', () => {
    const jobs = Object.entries(recipe).map(([name, { rules = [] }]) => [name, /"(\w+)"/.exec(rules[0]?.if ?? '')?.[1]]);
    expect(Object.fromEntries(jobs)).toEqual({
      check: 'merge_request_event',
      plan: 'trigger',
      staging: 'push',
      production: 'push',
      drift: 'schedule',
    });
  });

  test('one merge request is checked once, planned for all, promoted from staging to production, and watched for drift', async () => {
    const { 'ostiary.yaml': _, ...files } = fleet.files();
    git(clone, 'checkout --quiet -b orders');
    writeFiles(clone, files);
    commitAll(clone, 'Orders');
    git(clone, 'push --quiet origin orders');
    const iid = gitlab.open('orders');
    const checked = await runPipeline({ source: 'merge_request_event', iid }, ['check']);
    expect(checked.get('check')).toMatchObject({ code: 0, output: expect.stringMatching(/Valid\.[\s\S]*0 not formatted/) });
    const planned = await runPipeline({ source: 'trigger', iid }, ['plan']);
    expect(codesOf(planned)).toEqual({ plan: 0 });
    const plans = ['Plan for `staging`', 'Plan for `eu-west`', 'Plan for `us-east`'];
    expect(titlesOn(iid)).toEqual([plans]);
    for (const target of Object.keys(fleet.gateways))
      expect(existsSync(join(planned.get('plan')?.cwd ?? '', `plan-${target}.md`))).toBe(true);
    expect(gitlab.statuses.map(({ state }) => state)).toEqual(['success', 'success', 'success']);

    gitlab.merge(iid);
    const applying = ['staging', 'production'];
    expect(codesOf(await runPipeline({ source: 'push' }, applying, 'staging'))).toEqual({ staging: 3 });
    const live = (): Promise<readonly boolean[]> =>
      Promise.all(Object.values(fleet.gateways).map((gateway) => gateway.isLive('orders-db')));
    expect(await live()).toEqual([false, false, false]);
    expect(codesOf(await runPipeline({ source: 'push' }, applying))).toEqual({
      staging: 0,
      'production eu-west': 0,
      'production us-east': 0,
    });
    expect(await live()).toEqual([true, true, true]);
    const [first, second, ...production] = titlesOn(iid);
    expect([first, second]).toEqual([plans, ['Apply to `staging`']]);
    expect(production.flat().toSorted()).toEqual(['Apply to `eu-west`', 'Apply to `us-east`']);

    const drifted = { 'drift staging': 0, 'drift eu-west': 0, 'drift us-east': 0 };
    expect(codesOf(await runPipeline({ source: 'schedule' }, ['drift']))).toEqual(drifted);
    expect(gitlab.issues).toEqual([]);
    for (const target of Object.keys(fleet.gateways)) await fleet.tamper(target, 'orders-db', { reviewers: [] });
    expect(codesOf(await runPipeline({ source: 'schedule' }, ['drift']))).toEqual(drifted);
    const titles = ['eu-west', 'staging', 'us-east'].map((name) => `Drift on \`${name}\`: 1 object, weakens protection of 1 connection`);
    expect(gitlab.issues.map(({ title }) => title).toSorted()).toEqual(titles);
    const adopting = gitlab.requests.map(({ source }) => source).filter((source) => source.startsWith('ostiary/adopt/'));
    expect(adopting.toSorted()).toEqual(['ostiary/adopt/eu-west', 'ostiary/adopt/staging', 'ostiary/adopt/us-east']);
    expect({ wrong: gitlab.wrong, actions: gitlab.actions }).toEqual({ wrong: [], actions: [] });
  });

  test('plans only the gateways that a merge request affects, in one job or in a job of a child pipeline for each', async () => {
    const path = 'overlays/eu-west/orders-db.yaml';
    git(clone, 'fetch --quiet origin');
    git(clone, 'checkout --quiet -b hosts origin/main');
    const overlay = readFileSync(join(clone, path), 'utf8');
    const propose = (text: string): void => {
      writeFiles(clone, { [path]: text });
      commitAll(clone, 'Hosts');
      git(clone, 'push --quiet origin hosts');
    };
    propose(overlay.replace('orders.eu-west', 'moved.eu-west'));
    const iid = gitlab.open('hosts');
    /** Runs the job that writes the child pipeline, and the jobs of that, as GitLab does; returns the exit codes of those. */
    const planMatrix = async (): Promise<Readonly<Record<string, number>>> => {
      const { cwd, env } = prepareJob(makeProject({}), origin, gitlab, { source: 'trigger', iid });
      const listing = await runRecipe(matrix['targets'] ?? {}, { cwd, env }, programs);
      if (listing.code !== 0) throw new Error(listing.output);
      const child: ChildPipeline = JSON.parse(readFileSync(join(cwd, 'plans.json'), 'utf8'));
      if (child.none !== undefined) return { none: (await runRecipe(child.none, { cwd, env }, programs)).code };
      expect(child.include).toEqual([{ local: '.gitlab-ci.yml' }]);
      const { parallel, variables } = child['plan-target'] ?? {};
      const ended: Record<string, number> = {};
      for (const target of parallel?.matrix[0].TARGET ?? []) {
        const job = prepareJob(makeProject({}), origin, gitlab, { source: 'parent_pipeline' });
        const own = { ...job.env, ...variables, ...fleet.variablesOf('access-plan'), TARGET: target };
        ended[target] = (await runRecipe(matrix['plan-target'] ?? {}, { cwd: job.cwd, env: own }, programs)).code;
      }
      return ended;
    };
    expect(codesOf(await runPipeline({ source: 'trigger', iid }, ['plan']))).toEqual({ plan: 0 });
    expect(titlesOn(iid)).toEqual([['Plan for `eu-west`']]);
    expect(await planMatrix()).toEqual({ 'eu-west': 0 });
    expect(titlesOn(iid)).toEqual([['Plan for `eu-west`'], ['Plan for `eu-west`']]);
    propose(`# the first gateway\n${overlay}`);
    expect(codesOf(await runPipeline({ source: 'trigger', iid }, ['plan']))).toEqual({ plan: 0 });
    expect(await planMatrix()).toEqual({ none: 0 });
    // A job of a gateway that is no longer affected does not run, so the job that lists the others says it in its note.
    expect(titlesOn(iid)).toEqual([['No target is affected'], ['The plan of eu-west is the same as without this change']]);
  });
});
