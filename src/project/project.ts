import { join, posix, relative, sep } from 'node:path';
import { cacheFolder } from '../disk/cache.ts';
import { mayBeInRepository, type Repository } from '../git/repository.ts';
import type { Target } from '../model/config.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import {
  chooseTarget,
  outputPath,
  type ProjectContext,
  type ProjectSelection,
  resolveConfig,
  type ResolvedConfig,
} from './resolved-config.ts';

/** What a run is about: a target of a config, and the selected manifests. Resolved once, at the entrance of a command, and passed on. */
export type Project = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly selection: ProjectSelection;
  readonly context: ProjectContext;
};

/** A project of which all manifests are read. */
export type WholeProject = Omit<Project, 'selection'>;

/** A project with its repository: undefined outside of one; an error if git does not read it, because each use decides what that means. */
export type OpenProject = Project & { readonly repository: Repository | AppError | undefined };

/** A project whose files are in a git repository. A commit that has the same text as one of the `files` that the run has read shares it. */
export type CommittedProject = Project & { readonly repository: Repository; readonly files?: ReadFiles | undefined };

/** The files that a run has read, by their paths relative to the folder of the config file. */
export type ReadFiles = ReadonlyMap<string, SourceFile>;

/** Resolves the config and the target. Throws UsageError or InputError. */
export function resolveProject(selection: ProjectSelection, context: ProjectContext): Project {
  const config = resolveConfig(selection, context);
  return { config, target: chooseTarget(config, selection), selection, context };
}

/** Returns the repository; undefined outside of one. Throws its error if git does not read it. */
export function readableRepository({ repository }: Pick<OpenProject, 'repository'>): Repository | undefined {
  if (repository instanceof AppError) throw repository;
  return repository;
}

/** Returns true if applies to the target are recorded: the config file names the same gateway URL, and there is a repository. */
export function isTracked({ config, target }: Pick<Project, 'config' | 'target'>): boolean {
  const configured = config.targets.find(({ name }) => name === target.name);
  return config.file !== undefined && configured?.url === target.url && mayBeInRepository(config.root);
}

/** Returns the folder of caches: the one that the caller names, or that of the project. Throws AppError if it is a link. */
export function cacheFolderOf({ config, context }: Pick<Project, 'config' | 'context'>, named: string | undefined): string {
  return named === undefined ? join(config.root, cacheFolder) : outputPath(named, context);
}

/** Returns paths as commits have them, relative to the top of the repository, which is empty; leaves out those outside. `prefix` is the path of the root. */
export function pathsInRepository(paths: readonly string[], root: string, prefix: string): readonly string[] {
  return paths
    .map((path) => posix.join(prefix, ...relative(root, path).split(sep)).replace(/^\.$|\/$/, ''))
    .filter((path) => path !== '..' && !path.startsWith('../'));
}
