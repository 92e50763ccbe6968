import { commentsOn, commitAll, pullRequestPayload, type Payload, type StepEnded } from '../../support/workflow.ts';
import type { Gateway } from '../use-gateway.ts';
import type { ActionBench } from './use-action.ts';
import { config, writeFiles, type Files } from '../project.ts';

/** A checkout of a branch that adds manifests, and the commit of the branch that it is for. */
export type Checkout = { readonly cwd: string; readonly base: string };

export type Planning = {
  readonly bundled?: true;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
};

/** What the tests of one file do with pull requests. */
export type PullRequests = {
  readonly checkout: (files: Files, settings?: string) => Checkout;
  /** Plans a pull request's checkout as a workflow does. */
  readonly plan: (there: Checkout, pull: Omit<Payload, 'base'>, planning?: Planning) => Promise<StepEnded>;
  readonly bodiesOn: (number: number) => Promise<readonly string[]>;
};

type Ground = { readonly makeProject: (files: Files) => string; readonly gateway: Gateway; readonly bench: ActionBench };

/** Creates checkouts that are planned against the gateway, with comments on the bench's GitHub. */
export function usePullRequests({ makeProject, gateway, bench }: Ground): PullRequests {
  return {
    checkout(files, settings = config(gateway.url())) {
      const cwd = makeProject({ 'ostiary.yaml': settings });
      const base = commitAll(cwd);
      writeFiles(cwd, files);
      commitAll(cwd);
      return { cwd, base };
    },
    plan({ cwd, base }, pull, { inputs = {}, env = gateway.env(), bundled } = {}) {
      const run = bundled === true ? bench.bundled : bench.step;
      const payload = pullRequestPayload({ ...pull, base });
      return run({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan', ...inputs }, env });
    },
    async bodiesOn(number) {
      return (await commentsOn(bench.github(), number)).map(({ body }) => body);
    },
  };
}
