import { AppError } from '../model/errors.ts';
import { findRef, listRefs, ofOrigin, type Ref } from './refs.ts';
import { findCommit, isCommitId, type Repository } from './repository.ts';

/**
 * Returns the commit that a name of a user, a config or a job means: `HEAD`, a whole id, a full ref, or as a short name a branch; `origin/X` is
 * the branch X of origin as this clone has it. Only a full ref means a tag, because whoever may push a branch may push a tag. Throws AppError
 * for a name of several refs, for one that may be the beginning of an id, and for a commit that is missing.
 */
export async function resolveCommit(repository: Repository, name: string): Promise<string> {
  const [, start = '', steps = ''] = /^(.*?)((?:[~^]\d*)*)$/s.exec(name) ?? [];
  if (start === 'HEAD' || isCommitId(repository, start)) {
    const id = start === 'HEAD' ? repository.head : start;
    return (await findSteps(repository, id, steps)) ?? (await rejectMissing(repository, name, start));
  }
  const problem = findProblem(start);
  if (problem !== undefined) throw new AppError('git/bad-ref', 3, `${JSON.stringify(name)} ${problem.message}`, problem);
  const ref = refOf(start);
  const asked = start === ref ? [ref] : readingsOf(start);
  const found = (await listRefs(repository, asked)).filter((one) => asked.includes(one.ref) && !isBranchHead(one));
  const id = found.find((one) => one.ref === ref)?.id;
  const others = found.map((one) => one.ref).filter((one) => one !== ref);
  if (id !== undefined && others.length > 0) throw ambiguousName(start, [ref, ...others]);
  return (await findSteps(repository, id, steps)) ?? (await rejectMissing(repository, name, ref, id === undefined ? others : undefined));
}

/** Returns true for a branch of origin with the name HEAD: a job that fetches all branches has it in place of the name of the default branch. */
function isBranchHead({ ref, target }: Ref): boolean {
  return ref === `${ofOrigin}HEAD` && !target.startsWith(ofOrigin);
}

async function findSteps(repository: Repository, id: string | undefined, steps: string): Promise<string | undefined> {
  return id === undefined ? undefined : findCommit(repository, `${id}${steps}`);
}

/** Returns the branch of origin that a name means, such as `main` for `origin/main`; undefined for all other names. */
export function branchOfOrigin(name: string): string | undefined {
  const ref = refOf(name);
  return ref.startsWith(ofOrigin) ? ref.slice(ofOrigin.length) : undefined;
}

/** Returns the one ref that a name means. */
function refOf(name: string): string {
  if (name.startsWith('refs/')) return name;
  return name.startsWith('origin/') ? `refs/remotes/${name}` : `refs/heads/${name}`;
}

/** Returns all refs that git itself could read a short name as. */
function readingsOf(name: string): readonly string[] {
  return ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map((start) => `${start}${name}`).concat(`refs/remotes/${name}/HEAD`);
}

type Problem = { readonly message: string; readonly hint: string };

const forms = 'use HEAD, a branch, origin/BRANCH, a full ref such as refs/tags/v1.2, or a whole commit ID';

/** Returns why a text is no name: an option, a range, a path or an expression of git, or a name that could mean two things. */
function findProblem(name: string): Problem | undefined {
  const isPlain = /^(?![-./])[^\s\p{Cc}~^:?*[\\]+(?<![./])$/u.test(name) && !/\.\.|\/\/|@\{/.test(name);
  // Git has files and shorthands of these names.
  if (!isPlain || /^(?:@|origin|(?:heads|tags|remotes)\/.*|.*_HEAD)$/.test(name)) return { message: 'is not a commit', hint: forms };
  if (!/^[0-9a-f]{4,}$/i.test(name)) return undefined;
  const hint = `use the whole commit ID, or refs/heads/${name} for the branch`;
  return { message: 'may be a branch or the beginning of a commit ID', hint };
}

function ambiguousName(name: string, refs: readonly string[]): AppError {
  return new AppError('git/ambiguous-name', 3, `${JSON.stringify(name)} is the name of ${refs.join(' and ')}`, {
    hint: `find out who made the second one: whoever may push a branch may push a tag; or write the one that you mean in full: ${refs[0]}`,
  });
}

/** Throws AppError for a commit that is missing; `others` are the refs that git could read the name as, if it is that of a ref that is missing. */
async function rejectMissing(repository: Repository, name: string, meant: string, others?: readonly string[]): Promise<never> {
  const lacks = others === undefined ? '' : `: it has no ${meant}${others.length === 0 ? '' : `, but ${others.join(' and ')}`}`;
  const message = `unknown commit ${JSON.stringify(name)} in this repository${lacks}`;
  throw new AppError('git/no-such-commit', 3, message, { hint: await hintFor(repository, meant, others) });
}

async function hintFor(repository: Repository, meant: string, others: readonly string[] = []): Promise<string> {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(meant) ?? [];
  const atOrigin = branch !== undefined && (await findRef(repository, `${ofOrigin}${branch}`)) !== undefined;
  if (atOrigin) return `origin has the branch: write origin/${branch}`;
  if (branch !== undefined && others[0] !== undefined) return `write ${others[0]} if you mean that ref`;
  return repository.shallow ? shallowHint(meant) : `check the name; if origin has it: ${fetchCommand(meant, false)}`;
}

/** Returns the hint for a commit, or its history, that a shallow clone may not contain. */
export function shallowHint(name: string): string {
  const command = fetchCommand(name, true);
  return `the clone is shallow, so it may just be missing: ${command}; or check out with fetch-depth: 0 (GitHub), GIT_DEPTH: 0 (GitLab)`;
}

/** Returns the command that fetches a commit from origin, with its history into a shallow clone. */
function fetchCommand(name: string, shallow: boolean): string {
  const command = `git fetch${shallow ? ' --unshallow' : ''} origin`;
  const branch = branchOfOrigin(name);
  // The command is copied into a shell.
  if (branch !== undefined && /^[\w./-]+$/.test(branch)) return `${command} +refs/heads/${branch}:${ofOrigin}${branch}`;
  return /^[0-9a-f]{40,64}$/.test(name) ? `${command} ${name}` : command;
}
