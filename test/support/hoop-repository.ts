import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { config, type Files } from '../e2e/project.ts';
import { adminToken, type CommandResult, type HoopProject } from './hoop-project.ts';
import { gitEnv, type TestRepository, useRepositories } from './repository.ts';

/** Manifests for a model of the public gateway in a git repository. */
export type HoopRepository = {
  readonly project: HoopProject;
  readonly repository: TestRepository;
  /** Runs a command line, whose words have no spaces, in the repository; by default with the admin token. */
  readonly run: (line: string, token?: string, variables?: Readonly<Record<string, string>>) => Promise<CommandResult>;
  /** Commits files and removals. */
  readonly commit: (files: Files, removed?: readonly string[]) => void;
  /** Commits files and removals, and applies them; throws what the apply printed if it fails. */
  readonly change: (files: Files, removed?: readonly string[]) => Promise<CommandResult>;
};

/** Creates repositories of manifests for the tests of one file. */
export function useHoopRepositories(): {
  readonly create: (project: HoopProject, files?: Files) => HoopRepository;
  /** Creates a repository and applies its first commit. */
  readonly apply: (project: HoopProject, files: Files) => Promise<HoopRepository>;
} {
  const { make } = useRepositories();
  const create = (project: HoopProject, files: Files = {}): HoopRepository => {
    const repository = make({ 'ostiary.yaml': config(project.url), ...files });
    const run: HoopRepository['run'] = (line, token = adminToken, variables = {}) =>
      project.runIn(repository.folder, line.split(' '), { ...gitEnv, OSTIARY_TOKEN: token, ...variables });
    const commit: HoopRepository['commit'] = (changed, removed = []) => {
      repository.write(changed);
      repository.remove(...removed);
      repository.commit();
    };
    return {
      project,
      repository,
      run,
      commit,
      async change(changed, removed) {
        commit(changed, removed);
        const ended = await run('apply --yes --prune');
        if (ended.code !== 0) throw new Error(`${ended.stdout}${ended.stderr}`);
        return ended;
      },
    };
  };
  return {
    create,
    async apply(project, files) {
      const created = create(project, files);
      expect(await created.run('apply --yes')).toMatchObject({ code: 0 });
      return created;
    },
  };
}

/** A manifest in a folder, as parsed from its file. */
type FoundManifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
};

/** Returns the manifests of a kind below the folder `access`, in the order of their paths. */
export function manifestsOf(kind: string, folder: string): readonly FoundManifest[] {
  const paths = readdirSync(join(folder, 'access'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  const found: readonly FoundManifest[] = paths.toSorted().map((path) => parse(readFileSync(join(folder, 'access', path), 'utf8')));
  return found.filter((one) => one.kind === kind);
}
