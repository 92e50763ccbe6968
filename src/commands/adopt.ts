import { posix, relative, sep } from 'node:path';
import { treeWriter } from '../disk/tree-writer.ts';
import { decodeFile, shower } from '../disk/walk.ts';
import { appliedName } from '../git/applied.ts';
import { keepBranch, ownTrailer, pushBranch, readCommitted, type NextFile } from '../git/branch.ts';
import { headOf, openRepository, type Repository } from '../git/repository.ts';
import { registry } from '../kinds/index.ts';
import { acceptLive, type Acceptance } from '../manifest/accept/accept.ts';
import type { Difference } from '../manifest/accept/drift.ts';
import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import type { Adoption, Drift } from '../model/drift.ts';
import { AppError, InputError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import { acceptedPart } from '../plan/accepted.ts';
import { isDrifted } from '../plan/drift.ts';
import { forDialect } from '../plan/dialect.ts';
import { inherited } from '../plan/inherit.ts';
import { plan as planOf } from '../plan/plan.ts';
import { protectionByHand } from '../protection/by-hand.ts';
import { inputOf, loadSources, sourcesOf, type Sources } from './desired.ts';
import type { Planned } from './planning.ts';
import { loadingOf } from './pull-project.ts';
import { absolute } from './setting.ts';
import type { World } from './world.ts';

export type Adopting = {
  readonly world: World;
  /** Whether the edits become a commit on a branch; else the files here are edited. */
  readonly commit: boolean;
  /** Whether origin gets the branch. */
  readonly origin: boolean;
};

/** Edits the manifests so that they say what somebody changed by hand, and tells what came of it. */
export async function adopt(drift: Drift, seen: Planned, adopting: Adopting): Promise<Adoption> {
  const { setting, target, live, base } = seen;
  const { world } = adopting;
  const repository = adopting.commit ? await openRepository({ folder: setting.root, env: world.env }) : undefined;
  const home = repository === undefined ? {} : { home: `ostiary/adopt/${appliedName(repository.prefix, target.name)}` };
  if (!isDrifted(drift.plan)) return { ...home, files: [], left: [] };
  const sources = sourcesOf(setting, target, world);
  const loading = loadingOf(setting, target, world);
  const which = base === undefined ? 'all' : 'drift';
  const acceptance = acceptLive({ ...inputOf(sources, loading), live, plan: drift.plan, which });
  const { files, accepted } = acceptance;
  if (hasErrors(acceptance.diagnostics)) throw new InputError(acceptance.diagnostics);
  const diagnostics = [...acceptance.diagnostics, ...(which === 'all' ? [] : bothMoved(drift.plan))];
  if (files.length === 0) return { ...home, files: [], left: diagnostics };
  requireAccepted(acceptance, sources, seen, world);
  const plan = acceptedPart(drift.plan, partOf(accepted));
  const told = { plan, pending: 0, unfinished: 0, protection: protectionByHand(plan, live, registry) };
  const show = shower(world.cwd);
  const adoption = {
    ...home,
    accepted: drift.writes === undefined ? told : { ...told, writes: drift.writes },
    files: files.map(({ path }) => show(absolute(path, world))),
    left: diagnostics,
  };
  if (adopting.commit) return committed(adoption, { repository, seen, sources, files, adopting });
  const writer = treeWriter(setting.root);
  const before = textsOf(sources);
  for (const { path, text } of files) writer.replace(relative(setting.root, absolute(path, world)), text, before.get(path));
  return adoption;
}

/** What the manifests and the gateway both changed is nobody's to accept without a word. */
function bothMoved({ changes, edges }: Drift['plan']): readonly Diagnostic[] {
  return changes.flatMap(({ id, key = id, at, fields }): readonly Diagnostic[] => {
    const paths = fields.filter(({ origin }) => origin === 'both').map(({ path }) => path);
    const ends = edges.filter(({ origin, rule }) => origin === 'both' && rule === key).map(({ connection }) => `the edge to ${connection}`);
    const what = [...paths, ...ends];
    if (what.length === 0) return [];
    const message = `${id}: the manifests and the gateway both changed ${what.join(', ')}, so nothing is accepted there`;
    const hint = 'apply makes it as the manifest says; or change the manifest by hand';
    return [{ code: 'adopt/both-moved', severity: 'warning', message, hint, resource: id, ...(at === undefined ? {} : { at }) }];
  });
}

function textsOf({ files, overlays }: Sources): ReadonlyMap<string, string> {
  return new Map([...files, ...overlays.flat()].map(({ path, text }) => [path, text]));
}

function partOf(accepted: readonly Difference[]): Parameters<typeof acceptedPart>[1] {
  return {
    fields: new Set(accepted.flatMap((one) => (one.is === 'field' ? [`${one.id} ${one.field.path}`] : []))),
    edges: new Set(accepted.flatMap((one) => (one.is === 'edge' ? [`${one.ends.rule} ${one.ends.connection}`] : []))),
  };
}

/** Plans with the edited manifests: throws where something that was accepted would still be a change. */
function requireAccepted({ files, accepted }: Acceptance, sources: Sources, seen: Planned, world: World): void {
  const { setting, target, live, base, plan } = seen;
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const now = ({ path, text }: SourceFile): SourceFile => ({ path, text: texts.get(path) ?? text });
  const edited = { ...sources, files: sources.files.map(now), overlays: sources.overlays.map((folder) => folder.map(now)) };
  const { value: declared, diagnostics } = loadSources(edited, loadingOf(setting, target, world));
  if (declared === undefined) throw new InputError(diagnostics);
  const { desired } = inherited(forDialect(declared, plan.target.dialect, registry).desired, live, { registry, base });
  const { value: after } = planOf({ target: plan.target, desired, live, base, limits: target.limits, allowed: [] }, registry);
  const part = partOf(accepted);
  const left = after === undefined ? undefined : acceptedPart(after, part);
  const isLeft =
    left === undefined || left.changes.some(({ fields }) => fields.length > 0) || left.edges.some(({ action }) => action !== 'foreign');
  if (!isLeft) return;
  throw new AppError('adopt/unsure', 6, 'nothing was edited: a plan of the edited manifests would still find a difference', {
    hint: 'change the manifests by hand, and report this with the manifests if you may',
  });
}

type Committing = {
  readonly repository: Repository | undefined;
  readonly seen: Planned;
  readonly sources: Sources;
  readonly files: readonly SourceFile[];
  readonly adopting: Adopting;
};

/** Puts the edits on the branch of the target, which then has nothing else that HEAD has not. */
async function committed(adoption: Adoption, { repository, seen, sources, files, adopting }: Committing): Promise<Adoption> {
  const { setting, target } = seen;
  const { world, origin } = adopting;
  const { home: name } = adoption;
  const parent = repository && (await headOf(repository));
  if (repository === undefined || parent === undefined || name === undefined)
    throw new AppError(
      'git/no-repository',
      3,
      `${setting.root} lies in no git repository with a commit, so there is nothing to branch from`,
      {
        hint: 'pass --no-commit to edit the files here',
      },
    );
  const next = await nextFiles(repository, parent, { seen, sources, files, adopting });
  const message = messageOf(adoption, target.name);
  const { commit, unchanged } = await keepBranch(repository, { branch: name, parent, files: next, message, now: world.now(), origin });
  const pushed = origin ? await pushBranch(repository, name, commit) : false;
  const left = pushed instanceof AppError ? [...adoption.left, notPushed(name, pushed)] : adoption.left;
  return { ...adoption, left, branch: { name, commit, unchanged, pushed: pushed === true } };
}

/** The files as they are to be committed; throws where one is not as HEAD has it, line ends aside. */
async function nextFiles(
  repository: Repository,
  parent: string,
  { seen, sources, files, adopting: { world } }: Omit<Committing, 'repository'>,
): Promise<readonly NextFile[]> {
  const before = textsOf(sources);
  const pathOf = (path: string): string => posix.join(repository.prefix, ...relative(seen.setting.root, absolute(path, world)).split(sep));
  const paths = new Map(files.map((file) => [pathOf(file.path), file]));
  const inside = [...paths.keys()].filter((path) => !path.startsWith('../'));
  const known = new Map((await readCommitted(repository, parent, inside)).map((file) => [file.path, file]));
  return [...paths].map(([path, { path: shown, text }]) => {
    const file = known.get(path);
    const { value } = file === undefined ? { value: undefined } : decodeFile(shown, file.bytes);
    if (file === undefined || value === undefined || unix(value.text) !== unix(before.get(shown) ?? '')) throw uncommitted(shown);
    const isUnix = !value.text.includes('\r\n');
    const mark = file.bytes.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark : Buffer.alloc(0);
    return { path, mode: file.mode, id: file.id, next: Buffer.concat([mark, Buffer.from(isUnix ? unix(text) : text)]) };
  });
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function unix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function uncommitted(path: string): AppError {
  return new AppError(
    'git/uncommitted',
    3,
    `"${path}" is not as in HEAD, so an edit of it would commit more than what was changed by hand`,
    {
      hint: 'commit it or take it back; or pass --no-commit to edit the files here',
    },
  );
}

function notPushed(branch: string, { message }: AppError): Diagnostic {
  return {
    code: 'git/branch-not-pushed',
    severity: 'warning',
    message: `origin did not take the branch ${branch}: ${message}`,
    hint: 'the token needs to write (contents: write on GitHub); --no-origin keeps to this clone',
  };
}

/** Names in a message of a commit must not close issues. */
function messageOf({ accepted }: Adoption, target: string): string {
  const ids = new Set(accepted?.plan.changes.map(({ id }) => plain(id)));
  const edges = accepted?.plan.edges.map(({ rule, connection }) => `${plain(rule)} on ${plain(connection)}`) ?? [];
  const list = [...ids, ...edges].slice(0, 50).map((line) => `- ${line}`);
  const said = list.length === 0 ? [] : [...list, ''];
  return [`Accept what was changed by hand on ${target}`, '', ...said, `${ownTrailer}: ${target}`, ''].join('\n');
}

function plain(id: ResourceId): string {
  return id.replaceAll(/[^\w/.: -]/g, '_');
}
