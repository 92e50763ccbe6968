import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { appAccount } from '../../support/github.ts';
import { commitAll, mergePullRequest, openPullRequest, type Proposal, pullRequestPayload } from '../../support/workflow.ts';
import { newRecordKey } from '../../../src/project/record/record-signature.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, guardrail, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject, { account: appAccount });

type Step = {
  readonly uses?: string;
  readonly id?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
};
type Job = {
  readonly name?: string;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: unknown;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly on: Readonly<Record<string, unknown>> | string;
  readonly permissions?: unknown;
  readonly concurrency?: { readonly group: string; readonly 'cancel-in-progress': unknown };
  readonly jobs: Readonly<Record<string, Job>>;
};

const examples = readdirSync('examples/github').filter((name) => name.endsWith('.yml'));
const ours = readdirSync('.github/workflows');
const files = [
  ...examples.map((name) => join('examples/github', name)),
  ...ours.map((name) => join('.github/workflows', name)),
  ...readdirSync('examples/fleet')
    .filter((name) => name.endsWith('.yml') && !name.endsWith('.gitlab-ci.yml'))
    .map((name) => join('examples/fleet', name)),
];

function workflowAt(path: string): Workflow {
  return parse(readFileSync(path, 'utf8'));
}

describe.each(files)('%s', (path) => {
  const workflow = workflowAt(path);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('permits only reading by default, and runs one at a time', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(workflow.permissions);
    expect(workflow.concurrency?.group).toBeTypeOf('string');
    expect(JSON.stringify(workflow.on)).not.toContain('pull_request_target');
  });

  test('ends, and its jobs have names', () => {
    for (const job of jobs)
      expect({ name: typeof job.name, minutes: typeof job['timeout-minutes'] }).toEqual({ name: 'string', minutes: 'number' });
  });

  test('uses only actions of a pinned commit, and states their version', () => {
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('uses:'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('leaves no token in the checkout', () => {
    const checkouts = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect([...new Set(checkouts.map((step) => step.with?.['persist-credentials']))]).toEqual([false]);
  });

  test('inserts no event data into a script', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });
});

/** Lists the files that the manifests and overlays of all example projects name as sources of secrets. */
function secretFilesOfExamples(): readonly string[] {
  const found = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  return found.flatMap((path) =>
    [...readFileSync(join('examples', path), 'utf8').matchAll(/valueFrom: \{ file: ([^ }]+) \}/g)].flatMap(([, file]) => file ?? []),
  );
}

/** Returns the path filters of the workflows in a folder. */
function pathFiltersIn(folder: string): readonly (readonly string[])[] {
  const workflows = files.filter((path) => path.startsWith(`${folder}/`));
  return workflows.flatMap((path) => {
    const { on } = workflowAt(path);
    const events: readonly unknown[] = typeof on === 'string' ? [] : Object.values(on);
    return events.flatMap((event): readonly string[][] => {
      const { paths } = Object(event);
      return Array.isArray(paths) ? [paths.map(String)] : [];
    });
  });
}

test.each([
  ['examples/github', 'examples/acme'],
  ['examples/fleet', 'examples/fleet'],
])('the path filters of %s cover every folder that the config of %s names', (folder, project) => {
  type Named = Readonly<Partial<Record<'manifests' | 'overlays', readonly string[]>>>;
  const settings: Named & { readonly targets: Readonly<Record<string, Named>> } = parse(
    readFileSync(join(project, 'ostiary.yaml'), 'utf8'),
  );
  const named = [settings, ...Object.values(settings.targets)].flatMap(({ manifests = [], overlays = [] }) => [...manifests, ...overlays]);
  expect(named.length).toBeGreaterThan(2);
  const filters = pathFiltersIn(folder);
  expect(filters.length).toBeGreaterThanOrEqual(2);
  for (const filter of filters) {
    expect(filter).toContain('ostiary.yaml');
    const isCovered = (path: string): boolean => filter.some((one) => one === path || `${path}/`.startsWith(one.replace(/\*\*$/, '')));
    expect(named.filter((path) => !isCovered(path.replace(/\/$/, '')))).toEqual([]);
  }
});

test('the path filters of the examples contain the files that secrets of the examples come from', () => {
  const sources = secretFilesOfExamples();
  expect(sources.length).toBeGreaterThan(0);
  const filters = pathFiltersIn('examples/github');
  expect(filters.length).toBeGreaterThanOrEqual(4);
  for (const patterns of filters) {
    const isCovered = (file: string): boolean =>
      patterns.some((one) => one === file || (one.endsWith('/**') && file.startsWith(one.slice(0, -2))));
    expect(sources.filter((file) => !isCovered(file))).toEqual([]);
  }
});

test('checks that can be required also run in a merge queue, and their path filters name the danger', () => {
  for (const name of ['validate.yml', 'plan.yml']) {
    const path = join('examples/github', name);
    const workflow = workflowAt(path);
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'merge_group']);
    expect(workflow.concurrency?.group).toContain('github.event.pull_request.number || github.ref');
    expect(readFileSync(path, 'utf8')).toContain('GitHub waits forever for a required check that a path filter leaves out');
  }
});

function lastLine(job: Job | undefined): string | undefined {
  return job?.steps.at(-1)?.run;
}

test('a release publishes only from main, with approval; a dry run has no permission to write', () => {
  const { rehearse, release, ...others } = workflowAt('.github/workflows/release.yml').jobs;
  expect(release).toMatchObject({ environment: 'release', permissions: { contents: 'write', packages: 'write' } });
  expect(release?.if).toContain("github.ref == 'refs/heads/main'");
  for (const job of [rehearse, ...Object.values(others)]) expect(job?.permissions).toEqual({ contents: 'read' });
  expect(lastLine(rehearse)).toBe(`${lastLine(release)?.replace('gh auth setup-git && ', '')} --dry-run`);
});

/** Returns the jobs of a workflow that may write, and those that may not. A job without permissions has those of the workflow. */
function byPermission(path: string): Readonly<Record<'writing' | 'reading', readonly (readonly [string, Job])[]>> {
  const workflow = workflowAt(path);
  const jobs = Object.entries(workflow.jobs);
  const mayWrite = ({ permissions = workflow.permissions }: Job): boolean =>
    permissions === undefined || /write/.test(JSON.stringify(permissions));
  return { writing: jobs.filter(([, job]) => mayWrite(job)), reading: jobs.filter(([, job]) => !mayWrite(job)) };
}

/** Commands that install packages, or run scripts and programs of installed ones. */
const runsPackages =
  /\b(?:npm|npx|pnpm|yarn|corepack|bun|deno|pip|pipx|uv|cargo|go|make|rolldown|tsc|vitest|docker (?:build|run))\b|node_modules|\bnode (?!build\/publish\.js )/;

// security: packages
test.each(files)('a job of %s that may write installs and builds nothing', (path) => {
  const { writing } = byPermission(path);
  for (const [job, { steps }] of writing) {
    const found = steps.filter(({ run = '', uses = '' }) => runsPackages.test(run) || uses.includes('actions/cache'));
    expect({ job, found }).toEqual({ job, found: [] });
    expect(steps.filter((step) => step.uses?.includes('setup-') === true && step.with?.['cache'] !== undefined)).toEqual([]);
  }
});

// security: packages
test('a release publishes the files that jobs without permission to write made, and imports no package', () => {
  const path = '.github/workflows/release.yml';
  const { writing, reading } = byPermission(path);
  expect(writing.map(([name]) => name)).toEqual(['release']);
  const stepsOf = (name: string): readonly Step[] => workflowAt(path).jobs[name]?.steps ?? [];
  const uploaded = reading.flatMap(([, { steps }]) =>
    steps.flatMap((step) => (step.uses?.includes('upload-artifact') === true ? [step.with?.['name']] : [])),
  );
  const downloads = stepsOf('release').filter(({ uses = '' }) => uses.includes('download-artifact'));
  const downloaded = downloads.map((step) => step.with?.['name'] ?? step.with?.['pattern']);
  expect(downloaded).toEqual(['build', 'executable-*', 'image-*']);
  for (const one of downloaded) expect(uploaded.some((name = '') => name.startsWith((one ?? '?').replace('*', '')))).toBe(true);
  expect(workflowAt(path).jobs['release']?.needs).toEqual(['build', 'executable', 'image', 'nightly']);
  const unpacked = stepsOf('release').findIndex(({ run }) => run === 'tar --extract --file "$RUNNER_TEMP/build.tar"');
  expect(unpacked).toBeGreaterThan(stepsOf('release').indexOf(downloads[0] ?? {}));
  expect(
    stepsOf('build')
      .map(({ run }) => run)
      .filter((run) => run !== undefined),
  ).toEqual(['npm ci', 'tar --create --file build.tar dist']);
  // What the job runs of the repository needs no package, and has npm run no script.
  const scripts = ['publish.js', 'release.js', 'read-arguments.js', 'release-commit.js'];
  for (const script of scripts) {
    const text = readFileSync(join('build', script), 'utf8');
    expect(
      [...text.matchAll(/ from '([^']+)'/g)]
        .map(([, from = '']) => from)
        .filter((from) => !from.startsWith('node:') && !scripts.includes(from.replace('./', ''))),
    ).toEqual([]);
    expect(text).not.toMatch(/'(?:ci|install|exec|run-script|build)'|npx/);
    for (const [call] of text.matchAll(/'npm',\s*\[?'\w+',[^;)]*/g)) expect(call).toContain("'--ignore-scripts'");
  }
});

/** What a mode may need, and no more. */
const needed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  validate: { contents: 'read', 'security-events': 'write' },
  plan: { contents: 'read', 'pull-requests': 'write' },
  apply: { contents: 'write', 'pull-requests': 'write', deployments: 'write' },
  drift: { contents: 'write', issues: 'write', 'pull-requests': 'write' },
};

/** Evaluates the expressions about inputs of an event that has none. */
function onEvent(value: string | boolean): string {
  return String(value)
    .replace(/^\$\{\{ inputs\.\w+ \|\| '([^']*)' \}\}$/, '$1')
    .replace(/^\$\{\{ !inputs\.\w+ && '([^']*)' \|\| '' \}\}$/, '$1')
    .replace(/^\$\{\{ !inputs\.\w+ \}\}$/, 'true')
    .replace(/^\$\{\{ inputs\.\w+ \}\}$/, '');
}

/** Lets GitHub describe a pull request with the commits of a checkout. */
function describeAs({ number }: Proposal, { base, commit }: Readonly<Record<'base' | 'commit', string>>): void {
  const { pull_request: described }: { pull_request?: object } = pullRequestPayload({ number, head: commit, base });
  bench
    .github()
    .intercept(({ method, path }) =>
      method === 'GET' && path.endsWith(`/pulls/${number}`) ? { status: 200, body: described } : undefined,
    );
}

/** Returns the payload of a comment that asks for a plan. */
function commentPayload(number: number): object {
  const comment = { id: 1, body: '/ostiary plan', user: { login: 'grace', type: 'User' } };
  return { action: 'created', issue: { number, pull_request: {} }, comment };
}

const planning = workflowAt('examples/github/plan.yml').jobs['plan']?.steps.find(({ uses = '' }) => uses.includes('/ostiary@'))?.with ?? {};

test.each(examples)('examples/github/%s requests the permissions of its mode, and runs', async (name) => {
  const workflow = workflowAt(join('examples/github', name));
  const [job, ...others] = Object.values(workflow.jobs);
  expect(others).toEqual([]);
  const step = job?.steps.find(({ uses = '' }) => uses.includes('/ostiary@'));
  // What an example runs is this one step; the others bring the checkout, and take files away.
  const mode = step?.with?.['mode'] ?? '';
  expect(job?.steps.filter(({ run }) => run !== undefined)).toEqual([]);
  expect(job?.permissions).toEqual(needed[mode]);
  expect(job?.environment === undefined).toBe(mode === 'validate');
  expect(workflow.concurrency?.['cancel-in-progress']).toBe(mode === 'validate' || mode === 'plan');

  const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_ORDERS' } } };
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'access/orders.yaml': connection(`orders-${mode}`, { secret }), 'access/rule.yaml': guardrail(`rule-${mode}`) });
  const commit = commitAll(cwd);
  const pull = await openPullRequest(bench.github(), `example-${name.replace('.yml', '')}`);
  const event = Object.keys(workflow.on)[0] ?? '';
  if (event === 'issue_comment') describeAs(pull, { base, commit });
  const values = new Map([
    ['OSTIARY_TOKEN', gateway.server().key],
    ['OSTIARY_RECORD_KEY', newRecordKey().secret],
  ]);
  const env = Object.keys(step?.env ?? {}).map((variable) => [variable, values.get(variable) ?? 'secret']);
  const proposed = { cwd, event: 'pull_request', payload: pullRequestPayload({ ...pull, base }), env: Object.fromEntries(env) };
  // One goes by what the pull request showed before it was merged.
  const inputs = Object.fromEntries(Object.entries(step?.with ?? {}).map(([input, value]) => [input, onEvent(value)]));
  const isAgreed = inputs['digest'] === 'comment';
  expect(isAgreed ? (await bench.step({ ...proposed, inputs: planning })).code : 0).toBe(0);
  const merged = event === 'push' ? { GITHUB_SHA: await mergePullRequest(bench.github(), pull.number) } : {};
  const ended = await bench.step({
    ...proposed,
    event,
    payload: { push: { after: commit }, schedule: {}, issue_comment: commentPayload(pull.number) }[event] ?? proposed.payload,
    inputs,
    env: { ...proposed.env, ...merged },
  });
  expect(ended).toMatchObject({
    code: 0,
    outputs: { outcome: { validate: 'valid', plan: 'planned', apply: 'applied', drift: 'clean' }[mode] },
  });
  const { sarif, journal } = step?.with ?? {};
  const written = [sarif, journal].filter((file) => file !== undefined);
  expect(written.filter((file) => readFileSync(join(cwd, file), 'utf8') === '')).toEqual([]);
});
