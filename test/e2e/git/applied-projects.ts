import { expect } from 'vitest';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import type { Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

/** The record of the target of these projects. */
export const ref = 'refs/ostiary/applied/production';

export type Project = { readonly ours: TestRepository; readonly origin: TestRepository };

type AppliedProjects = ReturnType<typeof useRepositories> & {
  readonly gateway: ReturnType<typeof useGateway>;
  readonly configWith: (more?: string) => string;
  /** Makes a project whose main branch is pushed and applied; `more` is added to its config. */
  readonly appliedProject: (files: Files, more?: string) => Promise<Project>;
  readonly run: (line: string, repository: TestRepository) => ReturnType<ReturnType<typeof useGateway>['run']>;
  readonly push: (repository: TestRepository) => void;
};

/** Starts a gateway, and makes projects with an origin whose manifests are applied to it. */
export function useAppliedProjects(): AppliedProjects {
  const gateway = useGateway();
  const repositories = useRepositories();
  const configWith = (more = ''): string =>
    `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\n${more}targets:\n  production: { url: '${gateway.url()}', prune: true }\n`;
  const run: AppliedProjects['run'] = (line, { folder }) => gateway.run(line, folder, gitEnv);
  return {
    ...repositories,
    gateway,
    configWith,
    run,
    async appliedProject(files, more) {
      const ours = repositories.make({ 'ostiary.yaml': configWith(more), ...files });
      const origin = repositories.makeOrigin(ours);
      expect(await run('apply --yes', ours)).toMatchObject({ code: 0 });
      return { ours, origin };
    },
    push: ({ git }) => git('push', '--quiet', 'origin', 'HEAD'),
  };
}
