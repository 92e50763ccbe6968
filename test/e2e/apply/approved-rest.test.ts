import { expect, test } from 'vitest';
import type { ChaosEffect } from '../../support/chaos.ts';
import { appAccount } from '../../support/github.ts';
import {
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushToOrigin,
  type StepEnded,
} from '../../support/workflow.ts';
import { config, connection, guardrail, useProjects, writeFiles, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from '../action/use-action.ts';

const makeProject = useProjects();
/** What happens to the writes after so many. */
let fault: { readonly after: number; readonly effect: ChaosEffect } | undefined;
let writes = 0;
const gateway = useGateway({
  chaos: ({ method }) => {
    if (method === 'GET' || fault === undefined) return undefined;
    writes += 1;
    return writes > fault.after ? fault.effect : undefined;
  },
});
const bench = useAction(makeProject, { account: appAccount });
const agreed = { digest: 'comment' };

type Merged = {
  readonly number: number;
  readonly origin: string;
  readonly apply: (env?: Readonly<Record<string, string>>) => Promise<StepEnded>;
};

/** Plans a pull request and merges it; every apply starts from a new clone, as a job does. */
async function merged(name: string, before: Files, after: Files): Promise<Merged> {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...before });
  const base = commitAll(cwd);
  const origin = pushToOrigin(cwd, makeProject({}));
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  writeFiles(cwd, after);
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), name);
  const payload = pullRequestPayload({ ...pull, base });
  expect(await bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env: gateway.env() })).toMatchObject({
    code: 0,
  });
  git(cwd, 'push --quiet origin main');
  const commit = await mergePullRequest(bench.github(), pull.number);
  return {
    number: pull.number,
    origin,
    apply(env = gateway.env()) {
      const clone = makeProject({});
      git(clone, `clone --quiet --depth=1 file://${origin} .`);
      return bench.step({
        cwd: clone,
        event: 'push',
        payload: { after: commit },
        inputs: { mode: 'apply', ...agreed },
        env: { ...env, GITHUB_SHA: commit },
      });
    },
  };
}

/** Applies with a gateway that takes only so many writes. */
async function stoppedAfter(count: number, effect: ChaosEffect, apply: Merged['apply']): Promise<StepEnded> {
  writes = 0;
  fault = { after: count, effect };
  try {
    return await apply();
  } finally {
    fault = undefined;
  }
}

function four(name: string): { readonly before: Files; readonly after: Files } {
  const names = ['a', 'b', 'c'].map((one) => `${name}-${one}`);
  const all = (reviewers: readonly string[]): Files =>
    Object.fromEntries(names.map((one) => [`access/${one}.yaml`, connection(one, { reviewers: [...reviewers] })]));
  return { before: all(['x']), after: { ...all(['y']), 'access/rule.yaml': guardrail(`${name}-rule`) } };
}

async function liveObject(name: string): Promise<unknown> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  return body;
}

test('what is left of an approved plan is refused after a change outside, and if the record was changed', async () => {
  const { before, after } = four('moved');
  const beside = { 'access/beside.yaml': connection('moved-beside', { reviewers: ['x'] }) };
  const { apply, origin } = await merged('moved', { ...before, ...beside }, after);
  const ref = 'refs/ostiary/applied/production';
  expect(await stoppedAfter(1, { dropBefore: true }, apply)).toMatchObject({ code: 5 });
  // The approved plan writes the first of them, and not the second.
  for (const [name, reason] of [
    ['moved-b', /it changed since the plan: [^\n]*reviewers/],
    ['moved-beside', /it changed since the approved plan began: held/],
  ] as const) {
    const body = await liveObject(name);
    const put = (reviewers: readonly string[]): Promise<unknown> =>
      gateway.call('PUT', `/connections/${name}`, { body: { ...Object(body), reviewers } });
    expect(await put(['x', 'someone'])).toMatchObject({ status: 200 });
    const refused = await apply();
    expect(refused).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
    expect(refused.summary).toMatch(reason);
    for (const code of ['plan/moved', 'plan/other-digest']) expect(refused.summary).toContain(code);
    expect(await put(['x'])).toMatchObject({ status: 200 });
  }
  const record = git(origin, `rev-parse ${ref}`);
  const forged = git(origin, `log -1 --format=%B ${record}`).replace(/"approved":"..../, '"approved":"AAAA');
  const parents = git(origin, `log -1 --format=%P ${record}`).split(' ');
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const tree = [...parents.flatMap((one) => ['-p', one]), '-m', forged];
  git(origin, `update-ref ${ref} ${git(origin, ['commit-tree', empty, ...tree])}`);
  const unknown = await apply();
  expect(unknown).toMatchObject({ code: 6, summary: expect.stringContaining('plan/other-digest') });
  expect(unknown.summary).not.toContain('plan/moved');
  git(origin, `update-ref ${ref} ${record}`);
  expect(await apply()).toMatchObject({ code: 0 });
  expect(git(origin, `log -1 --format=%B ${ref}`)).not.toContain('"approved"');
});
