import { join, posix, relative, resolve } from 'node:path';
import { repositoryTopOf } from '../disk/other-checkout.ts';
import { type TreeWriter, treeWriter } from '../disk/tree-writer.ts';
import { decodeFile, realOf, shower, withLineFeeds } from '../disk/walk.ts';
import { hasOrigin } from '../git/origin.ts';
import type { Repository } from '../git/repository.ts';
import { registry } from '../kinds/index.ts';
import { addToGroup } from '../model/collections.ts';
import { acceptLive, type AcceptResult } from '../manifest/accept/accept-live.ts';
import type { LiveDifference } from '../manifest/accept/field-edits.ts';
import { type Diagnostic, hasErrors, type SourceFile } from '../model/diagnostic.ts';
import { tokensOf } from '../model/pointer.ts';
import { nameOf, type ResourceId } from '../model/resource.ts';
import type { Adoption, Drift } from '../model/result/drift.ts';
import { AppError, InputError, requireValue } from '../model/errors.ts';
import { liveKeyOf, type Plan } from '../model/plan/plan.ts';
import { isDrifted, selectAccepted } from '../reconcile/drift/filter-drift.ts';
import { draftPlan } from '../reconcile/reconcile.ts';
import { protectionOfDrift } from '../protection/protection.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { BaseState, DesiredState } from '../model/desired.ts';
import type { LiveState } from '../model/live.ts';
import { textByResource } from './update-manifests.ts';
import {
  isAtOrBelow,
  loadWhole,
  type ManifestSources,
  readSources,
  replaceTexts,
  textsByPath,
  wholeInputOf,
} from '../project/manifests.ts';
import { type OpenProject, readableRepository, type WholeProject } from '../project/project.ts';
import { findCommitted } from '../project/local-edits.ts';
import { absolutePath } from '../project/resolved-config.ts';
import { lastWriters } from '../report/subjects/drift.ts';
import { shortList } from '../report/wording/phrases.ts';
import { adoptionBranch, adoptTrailer, type FileUpdate, findBlockingPaths, pushBranch, updateBranch } from '../git/branch.ts';

/** A plan with everything it was made of. */
type PlannedDrift = {
  readonly project: OpenProject;
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly base: BaseState | undefined;
  readonly identity: GatewayIdentity;
  readonly plan: Plan;
};

type AdoptOptions = {
  readonly now: () => Date;
  /** The live objects without a manifest to write one for, as `KIND/NAME`. */
  readonly names: readonly string[];
  /** Whether to commit the edits to a branch; otherwise the files of the working tree are edited. */
  readonly commit: boolean;
  /** Whether to push the branch to origin. */
  readonly origin: boolean;
  /** Asks whether to push the branch. */
  readonly mayPush: (branch: string) => Promise<boolean>;
  /** A part of the name of the branch. */
  readonly label?: string | undefined;
};

/**
 * Edits the manifests to the drifted live state, makes the requested new manifests, and writes or commits the files. Throws
 * InputError for invalid manifests, and AppError when a plan of the edited manifests still differs.
 */
export async function adoptDrift(drift: Drift, planned: PlannedDrift, options: AdoptOptions): Promise<Adoption> {
  const { project } = planned;
  const { target, context } = project;
  const { names } = options;
  const repository = options.commit ? readableRepository(project) : undefined;
  const home = repository === undefined ? {} : { home: adoptionBranch(repository, target.name, options.label) };
  if (!isDrifted(drift.plan) && names.length === 0) return { ...home, files: [], left: [] };
  const sources = readSources(project);
  const { files, accepted, left } = isDrifted(drift.plan) ? acceptDrift(drift, sources, planned) : nothing;
  const after = replaceTexts(sources, files);
  const added = names.length === 0 ? nothing : (await import('./new-manifests.ts')).makeNewManifests(names, { ...planned, sources: after });
  const show = shower(context.cwd);
  const adoption = {
    ...home,
    accepted,
    files: [...files.map(({ path }) => show(absolutePath(path, context))), ...added.created.map(({ file }) => file)],
    ...(added.created.length === 0 ? {} : { created: added.created }),
    left: [...left, ...added.left, ...reportSharingTargets(project, files)],
  };
  if (adoption.files.length === 0) return adoption;
  if (options.commit) return commitAdoption(adoption, { repository, project, sources, files, created: added.files, options });
  const writer = writeEdits(project, sources, files);
  for (const { path, text } of added.files) writer.create(path, text);
  return adoption;
}

/** Writes edited files in place, unless they changed since they were read. Returns the writer of the folder of the config. */
export function writeEdits({ config, context }: WholeProject, sources: ManifestSources, files: readonly SourceFile[]): TreeWriter {
  const writer = treeWriter(config.root);
  const before = textsByPath(sources);
  for (const { path, text } of files) writer.replace(relative(config.root, absolutePath(path, context)), text, before.get(path));
  return writer;
}

const nothing = { files: [], created: [], left: [], accepted: undefined };

type AcceptedDrift = { readonly files: readonly SourceFile[]; readonly accepted: Drift | undefined; readonly left: readonly Diagnostic[] };

/** Edits the manifests to the drifted state as far as manifests can declare it; writes no files. */
function acceptDrift(drift: Drift, sources: ManifestSources, planned: PlannedDrift): AcceptedDrift {
  const { project, live, desired, base } = planned;
  const which = base === undefined ? 'all' : 'drift';
  const acceptance = acceptLive({ ...wholeInputOf(sources, project), live, plan: drift.plan, which });
  const { files, accepted, diagnostics } = acceptance;
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  const left = [...diagnostics, ...(which === 'all' ? [] : warnConflicts(drift.plan))];
  if (files.length === 0) return { files, accepted: undefined, left };
  requireAccepted(acceptance, sources, planned);
  const { outside: _, ...whole } = drift.plan;
  const plan = { ...whole, ...selectAccepted(drift.plan, selectionOf(accepted)), unwatched: [], refusals: [] };
  const protection = protectionOfDrift(plan, live, registry, { desired, base: base?.desired });
  const adopted = { plan, pending: 0, unfinished: 0, protection };
  return { files, accepted: drift.writes === undefined ? adopted : { ...adopted, writes: drift.writes }, left };
}

/** Warns about each conflict: neither side is adopted. */
function warnConflicts({ changes, edges }: Drift['plan']): readonly Diagnostic[] {
  const conflicts = edges.filter(({ origin }) => origin === 'both');
  const known = new Set(changes.map(liveKeyOf));
  const alone = conflicts.map(({ rule }) => rule).filter((rule) => !known.has(rule));
  const parts = [
    ...changes.filter(({ action }) => action !== 'create').map((one) => ({ ...one, key: liveKeyOf(one) })),
    ...[...new Set(alone)].map((id) => ({ id, key: id, fields: [], at: undefined })),
  ];
  return parts.flatMap(({ id, key, at, fields }): readonly Diagnostic[] => {
    const paths = fields.filter(({ origin }) => origin === 'both').map(({ path }) => path);
    const ends = conflicts.filter(({ rule }) => rule === key).map(({ connection }) => `the attachment to ${connection}`);
    const what = [...paths, ...ends];
    if (what.length === 0) return [];
    const message = `${id}: conflict: the manifests and the gateway both changed ${what.join(', ')}; this drift is not accepted`;
    const hint = 'run apply to use the manifest, or edit the manifest';
    return [{ code: 'adopt/both-moved', severity: 'warning', message, hint, resource: id, at }];
  });
}

function selectionOf(accepted: readonly LiveDifference[]): Parameters<typeof selectAccepted>[1] {
  return {
    fields: new Set(accepted.flatMap((one) => (one.is === 'field' ? [`${one.id} ${one.field.path}`] : []))),
    edges: new Set(accepted.flatMap((one) => (one.is === 'edge' ? [`${one.ends.rule} ${one.ends.connection}`] : []))),
  };
}

/** Plans the edited manifests. Throws AppError when an adopted difference is still a change. */
function requireAccepted(
  { files, accepted }: AcceptResult,
  sources: ManifestSources,
  { project, live, base, plan, identity }: PlannedDrift,
): void {
  const declared = requireValue(loadWhole(replaceTexts(sources, files), project));
  const draft = draftPlan({
    registry,
    target: plan.target,
    borrowed: identity.borrowed,
    desired: declared,
    live,
    base,
    limits: project.target.limits,
    allowed: [],
    readOnly: true,
  });
  const left = draft.value && selectAccepted(draft.value.diff, selectionOf(accepted));
  const isLeft =
    left === undefined || left.changes.some(({ fields }) => fields.length > 0) || left.edges.some(({ action }) => action !== 'foreign');
  if (!isLeft) return;
  throw new AppError('adopt/unsure', 6, 'nothing was edited: a plan of the edited manifests would still have changes', {
    hint: 'edit the manifests, and report this bug with the manifests if possible',
  });
}

const shownObjects = 5;

/** Reports each other target whose manifests change with the edited files. New manifests name their target, so they affect no other. */
export function reportSharingTargets(project: WholeProject, files: readonly SourceFile[]): readonly Diagnostic[] {
  const { config, target } = project;
  return config.targets.flatMap((other): readonly Diagnostic[] => {
    const objects = other.name === target.name ? [] : changedObjects({ ...project, target: other }, files);
    if (objects.length === 0) return [];
    const message = `the target ${other.name} reads the same files, so its manifests also change: ${shortList(objects, shownObjects).join(', ')}`;
    const hint = `plan with --target ${other.name}; move values for only one target to an overlay`;
    return [{ code: 'adopt/shared', severity: 'notice', message, hint }];
  });
}

/** Returns the objects whose manifests change for the target; none if its manifests are invalid. */
function changedObjects(project: WholeProject, files: readonly SourceFile[]): readonly string[] {
  const { target, context } = project;
  const folders = [...target.manifests, ...target.overlays];
  if (!files.some(({ path }) => folders.some((folder) => isAtOrBelow(resolve(context.cwd, path), folder)))) return [];
  const sources = readSources(project);
  const [before, after] = [sources, replaceTexts(sources, files)].map((one) => loadWhole(one, project).value);
  if (before === undefined || after === undefined) return [];
  const [words, next] = [textByResource(before), textByResource(after)];
  return [...next.keys()].filter((id) => words.get(id) !== next.get(id));
}

type CommitInput = {
  readonly repository: Repository | undefined;
  readonly project: WholeProject;
  readonly sources: ManifestSources;
  readonly files: readonly SourceFile[];
  /** New files, with paths below the folder of the config file. */
  readonly created: readonly SourceFile[];
  readonly options: Pick<AdoptOptions, 'now' | 'origin' | 'mayPush'>;
};

/**
 * Commits the edits to the branch of the target; the branch then has HEAD and this one commit. Throws AppError outside a
 * repository.
 */
async function commitAdoption(adoption: Adoption, committing: CommitInput): Promise<Adoption> {
  const { repository, project, options } = committing;
  const { config, target } = project;
  const { now, origin, mayPush } = options;
  const { home: name } = adoption;
  const parent = repository?.head;
  if (repository === undefined || parent === undefined || name === undefined)
    throw new AppError('git/no-repository', 3, `${config.root} is not in a git repository with a commit`, {
      hint: 'pass --no-commit to edit the files here',
    });
  const next = [...(await nextFiles(repository, parent, committing)), ...(await newFiles(repository, parent, committing))];
  const message = messageOf(adoption, target.name);
  const { commit, unchanged } = await updateBranch(repository, { branch: name, parent, files: next, message, now: now(), origin });
  const pushed = origin && hasOrigin(repository) && (await mayPush(name)) ? await pushBranch(repository, name, commit) : false;
  const left = pushed instanceof AppError ? [...adoption.left, notPushed(name, pushed)] : adoption.left;
  return { ...adoption, left, branch: { name, commit, unchanged, pushed: pushed === true } };
}

/** Returns the contents to commit. Throws AppError for a file that differs from HEAD in more than line ends. */
async function nextFiles(
  repository: Repository,
  parent: string,
  { sources, files, project: { context } }: CommitInput,
): Promise<readonly FileUpdate[]> {
  const before = textsByPath(sources);
  const top = realOf(repository.folder);
  const compared = await findCommitted(files, { repository, commit: parent }, context);
  return compared.map(({ file: { path: shown, text }, path, committed: file }) => {
    if (file === undefined && repositoryTopOf(join(top, posix.dirname(path))) !== top) throw inSubmodule(shown);
    const value = file && decodeFile(shown, file.bytes).value;
    if (file === undefined || value === undefined || withLineFeeds(value.text) !== withLineFeeds(before.get(shown) ?? ''))
      throw uncommitted(shown);
    const isUnix = !value.text.includes('\r\n');
    const mark = file.bytes.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark : Buffer.alloc(0);
    return { path, mode: file.mode, id: file.id, next: Buffer.concat([mark, Buffer.from(isUnix ? withLineFeeds(text) : text)]) };
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

function uncommitted(path: string): AppError {
  return new AppError('git/uncommitted', 3, `"${path}" has uncommitted changes, which the adoption would commit`, {
    hint: 'commit or revert them, or pass --no-commit to edit the files here',
  });
}

function inSubmodule(path: string): AppError {
  return new AppError('git/uncommitted', 3, `"${path}" is in a submodule, so the adoption cannot commit it here`, {
    hint: 'pass --no-commit to edit the file, then commit it in the submodule',
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

/** Builds the commit message: the objects, who changed each and when, and what that does; characters in names that could close issues are replaced. */
function messageOf({ accepted, created = [] }: Adoption, target: string): string {
  const writers = accepted === undefined ? undefined : lastWriters(accepted);
  const written = (...ids: readonly ResourceId[]): string =>
    ids.flatMap((id) => writers?.get(id) ?? []).map((writer) => `, ${plain(writer)}`)[0] ?? '';
  const ids = new Set(accepted?.plan.changes.map(({ id }) => `${plain(id)}${written(id)}`));
  const edges =
    accepted?.plan.edges.map(({ rule, connection }) => `${plain(rule)} on ${plain(connection)}${written(rule, connection)}`) ?? [];
  const list = [...ids, ...edges, ...created.map(({ id }) => `${plain(id)} (new manifest)`)].slice(0, 50).map((line) => `- ${line}`);
  const headlines = accepted?.protection.headlines ?? [];
  // The text of a headline can quote any value of the gateway, so a line names the fields instead.
  const named = new Map<string, string[]>();
  for (const { direction, connections, causes } of headlines) {
    const fields = new Set(causes.map(({ path }) => (path === undefined ? 'attachments' : (tokensOf(path)[0] ?? ''))));
    for (const connection of connections) addToGroup(named, `${direction} by ${[...fields].join(', ')}`, nameOf(connection));
  }
  const effects = [...named].map(([effect, names]) => `- ${plain(`${effect}: ${shortList([...new Set(names)], 50).join(', ')}`)}`);
  const changes = [list, effects.length === 0 ? [] : ['Effect on protection:', ...effects]].flatMap((part) =>
    part.length === 0 ? [] : [...part, ''],
  );
  return [`Accept drift on ${target}`, '', ...changes, `${adoptTrailer}: ${target}`, ''].join('\n');
}

/** Replaces what could close an issue or mention a person; addresses of people stay. */
function plain(text: string): string {
  return text.replaceAll(/[^\w/.:,@ -]|(?<![\w.-])@/g, '_');
}
