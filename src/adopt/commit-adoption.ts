import { posix, relative, sep } from 'node:path';
import { decodeFile, realOf } from '../disk/walk.ts';
import { findBlockingPaths, updateBranch, adoptTrailer, pushBranch, readCommittedFiles, type FileUpdate } from '../git/branch.ts';
import { hasOrigin } from '../git/origin.ts';
import { headOf, type Repository } from '../git/repository.ts';
import type { Diagnostic, SourceFile } from '../model/diagnostic.ts';
import type { Adoption } from '../model/result/drift.ts';
import { AppError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import { textsByPath, type ManifestSources } from '../project/manifests.ts';
import { absolutePath, type ProjectContext } from '../project/resolved-config.ts';
import type { CommittedTarget } from '../project/committed-manifests.ts';

type CommitInput = {
  readonly repository: Repository | undefined;
  readonly planned: Pick<CommittedTarget, 'config' | 'target'>;
  readonly sources: ManifestSources;
  readonly files: readonly SourceFile[];
  /** New files, with paths below the folder of the config file. */
  readonly created: readonly SourceFile[];
  readonly options: {
    readonly context: ProjectContext & { readonly now: () => Date };
    readonly origin: boolean;
    readonly mayPush: (branch: string) => Promise<boolean>;
  };
};

/**
 * Commits the edits to the branch of the target; the branch then has HEAD and this one commit. Throws AppError outside a
 * repository.
 */
export async function commitAdoption(adoption: Adoption, committing: CommitInput): Promise<Adoption> {
  const { repository, planned, options } = committing;
  const { config, target } = planned;
  const { context, origin, mayPush } = options;
  const { home: name } = adoption;
  const parent = repository && (await headOf(repository));
  if (repository === undefined || parent === undefined || name === undefined)
    throw new AppError('git/no-repository', 3, `${config.root} is not in a git repository with a commit`, {
      hint: 'pass --no-commit to edit the files here',
    });
  const next = [...(await nextFiles(repository, parent, committing)), ...(await newFiles(repository, parent, committing))];
  const message = messageOf(adoption, target.name);
  const { commit, unchanged } = await updateBranch(repository, { branch: name, parent, files: next, message, now: context.now(), origin });
  const pushed = origin && hasOrigin(repository) && (await mayPush(name)) ? await pushBranch(repository, name, commit) : false;
  const left = pushed instanceof AppError ? [...adoption.left, notPushed(name, pushed)] : adoption.left;
  return { ...adoption, left, branch: { name, commit, unchanged, pushed: pushed === true } };
}

/** Returns the contents to commit. Throws AppError for a file that differs from HEAD in more than line ends. */
async function nextFiles(
  repository: Repository,
  parent: string,
  { sources, files, options: { context } }: CommitInput,
): Promise<readonly FileUpdate[]> {
  const before = textsByPath(sources);
  // Git commits the file that a link leads to, so the edit belongs to that file.
  const top = realOf(repository.folder);
  const pathOf = (path: string): string =>
    relative(top, realOf(absolutePath(path, context)))
      .split(sep)
      .join('/');
  const paths = new Map(files.map((file) => [pathOf(file.path), file]));
  const inside = [...paths.keys()].filter((path) => !path.startsWith('../'));
  const known = new Map((await readCommittedFiles(repository, parent, inside)).map((file) => [file.path, file]));
  return [...paths].map(([path, { path: shown, text }]) => {
    const file = known.get(path);
    const { value } = file === undefined ? { value: undefined } : decodeFile(shown, file.bytes);
    if (file === undefined || value === undefined || unix(value.text) !== unix(before.get(shown) ?? '')) throw uncommitted(shown);
    const isUnix = !value.text.includes('\r\n');
    const mark = file.bytes.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark : Buffer.alloc(0);
    return { path, mode: file.mode, id: file.id, next: Buffer.concat([mark, Buffer.from(isUnix ? unix(text) : text)]) };
  });
}

/** Returns the new files to commit. Throws AppError when HEAD has something at one of their paths. */
async function newFiles(repository: Repository, parent: string, { created }: CommitInput): Promise<readonly FileUpdate[]> {
  if (created.length === 0) return [];
  const paths = created.map(({ path }) => posix.join(repository.prefix, path));
  const [taken] = await findBlockingPaths(repository, parent, paths);
  if (taken !== undefined)
    throw new AppError('git/uncommitted', 3, `HEAD contains "${taken}" at the path of a new manifest or its folder`, {
      hint: 'commit its deletion, or pass --no-commit to write the manifest here',
    });
  const id = '0'.repeat(parent.length);
  return created.map(({ text }, index) => ({ path: paths[index] ?? '', mode: '100644', id, next: Buffer.from(text) }));
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function unix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function uncommitted(path: string): AppError {
  return new AppError('git/uncommitted', 3, `"${path}" has uncommitted changes, which the adoption would commit`, {
    hint: 'commit or revert them, or pass --no-commit to edit the files here',
  });
}

function notPushed(branch: string, { message }: AppError): Diagnostic {
  return {
    code: 'git/branch-not-pushed',
    severity: 'warning',
    message: `origin rejected the branch ${branch}: ${message}`,
    hint: 'the token needs write access (contents: write on GitHub); --no-origin skips the push',
  };
}

/** Builds the commit message; characters in names that could close issues are replaced. */
function messageOf({ accepted, created = [] }: Adoption, target: string): string {
  const ids = new Set(accepted?.plan.changes.map(({ id }) => plain(id)));
  const edges = accepted?.plan.edges.map(({ rule, connection }) => `${plain(rule)} on ${plain(connection)}`) ?? [];
  const list = [...ids, ...edges, ...created.map(({ id }) => `${plain(id)} (new manifest)`)].slice(0, 50).map((line) => `- ${line}`);
  const changes = list.length === 0 ? [] : [...list, ''];
  return [`Accept drift on ${target}`, '', ...changes, `${adoptTrailer}: ${target}`, ''].join('\n');
}

function plain(id: ResourceId): string {
  return id.replaceAll(/[^\w/.: -]/g, '_');
}
