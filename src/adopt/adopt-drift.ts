import { relative, resolve } from 'node:path';
import { treeWriter } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import { repositoryOf } from '../git/repository.ts';
import { registry } from '../kinds/index.ts';
import { acceptLive, type AcceptResult } from '../manifest/accept/accept-live.ts';
import type { LiveDifference } from '../manifest/accept/field-edits.ts';
import { hasErrors, type Diagnostic, type SourceFile } from '../model/diagnostic.ts';
import type { Adoption, Drift } from '../model/result/drift.ts';
import { AppError, InputError } from '../model/errors.ts';
import { liveKeyOf, type Plan } from '../model/plan/plan.ts';
import { selectAccepted, isDrifted } from '../reconcile/drift/filter-drift.ts';
import { draftPlan } from '../reconcile/reconcile.ts';
import { protectionOfDrift } from '../protection/protection.ts';
import type { Target, GatewayIdentity } from '../model/gateway.ts';
import type { BaseState } from '../model/desired.ts';
import type { LiveState } from '../model/live.ts';
import { textByResource } from '../pull/update-manifests.ts';
import {
  isAtOrBelow,
  loadInputOf,
  loadSources,
  readSources,
  replaceTexts,
  textsByPath,
  wholeTarget,
  type ManifestSources,
} from '../project/manifests.ts';
import { absolutePath, type ResolvedConfig, type ProjectContext, type ProjectSelection } from '../project/resolved-config.ts';
import { shortList } from '../report/wording/counts.ts';
import { adoptionBranch } from '../git/branch.ts';
import { commitAdoption } from './commit-adoption.ts';

/** A plan with everything it was made of. */
export type PlannedProject = {
  readonly config: ResolvedConfig;
  readonly target: Target;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly identity: GatewayIdentity;
  readonly plan: Plan;
};

export type AdoptOptions = {
  readonly selection: ProjectSelection;
  readonly context: ProjectContext & { readonly now: () => Date };
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
export async function adoptDrift(drift: Drift, planned: PlannedProject, options: AdoptOptions): Promise<Adoption> {
  const { config, target } = planned;
  const { context, names } = options;
  const repository = options.commit ? await repositoryOf({ folder: config.root, env: context.env }) : undefined;
  const home = repository === undefined ? {} : { home: adoptionBranch(repository, target.name, options.label) };
  if (!isDrifted(drift.plan) && names.length === 0) return { ...home, files: [], left: [] };
  const sources = readSources(config, target, context);
  const { files, accepted, left } = isDrifted(drift.plan) ? acceptDrift(drift, sources, planned, context) : nothing;
  const after = replaceTexts(sources, files);
  const added =
    names.length === 0 ? nothing : (await import('./new-manifests.ts')).makeNewManifests(names, { ...options, planned, sources: after });
  const show = shower(context.cwd);
  const isAlone = config.targets.length < 2;
  const elsewhere = isAlone ? [] : findAffectedTargets(planned, files, context);
  const adoption = {
    ...home,
    ...(accepted === undefined ? {} : { accepted }),
    files: [...files.map(({ path }) => show(absolutePath(path, context))), ...added.created.map(({ file }) => file)],
    ...(added.created.length === 0 ? {} : { created: added.created }),
    left: [...left, ...added.left, ...elsewhere],
  };
  if (adoption.files.length === 0) return adoption;
  if (options.commit) return commitAdoption(adoption, { repository, planned, sources, files, created: added.files, options });
  const writer = treeWriter(config.root);
  const before = textsByPath(sources);
  for (const { path, text } of files) writer.replace(relative(config.root, absolutePath(path, context)), text, before.get(path));
  for (const { path, text } of added.files) writer.create(path, text);
  return adoption;
}

const nothing = { files: [], created: [], left: [], accepted: undefined };

type AcceptedDrift = { readonly files: readonly SourceFile[]; readonly accepted: Drift | undefined; readonly left: readonly Diagnostic[] };

/** Edits the manifests to the drifted state as far as manifests can declare it; writes no files. */
function acceptDrift(drift: Drift, sources: ManifestSources, planned: PlannedProject, context: ProjectContext): AcceptedDrift {
  const { config, target, live, base } = planned;
  const which = base === undefined ? 'all' : 'drift';
  const acceptance = acceptLive({ ...loadInputOf(sources, wholeTarget(config, target, context)), live, plan: drift.plan, which });
  const { files, accepted, diagnostics } = acceptance;
  if (hasErrors(diagnostics)) throw new InputError(diagnostics);
  const left = [...diagnostics, ...(which === 'all' ? [] : warnConflicts(drift.plan))];
  if (files.length === 0) return { files, accepted: undefined, left };
  requireAccepted(acceptance, sources, planned, context);
  const plan = { ...drift.plan, ...selectAccepted(drift.plan, selectionOf(accepted)), unwatched: [], refusals: [] };
  const adopted = { plan, pending: 0, unfinished: 0, protection: protectionOfDrift(plan, live, registry) };
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
    return [{ code: 'adopt/both-moved', severity: 'warning', message, hint, resource: id, ...(at === undefined ? {} : { at }) }];
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
  planned: PlannedProject,
  context: ProjectContext,
): void {
  const { config, target, live, base, plan, identity } = planned;
  const { value: declared, diagnostics } = loadSources(replaceTexts(sources, files), wholeTarget(config, target, context));
  if (declared === undefined) throw new InputError(diagnostics);
  const draft = draftPlan({
    registry,
    target: plan.target,
    borrowed: identity.borrowed,
    desired: declared,
    live,
    base,
    limits: target.limits,
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
export function findAffectedTargets(
  { config, target }: PlannedProject,
  files: readonly SourceFile[],
  context: ProjectContext,
): readonly Diagnostic[] {
  return config.targets.flatMap((other): readonly Diagnostic[] => {
    const objects = other.name === target.name ? [] : changedObjects(other, { config, files, context });
    if (objects.length === 0) return [];
    const message = `the target ${other.name} reads the same files, so its manifests also change: ${shortList(objects, shownObjects).join(', ')}`;
    const hint = `plan with --target ${other.name}; move values for only one target to an overlay`;
    return [{ code: 'adopt/shared', severity: 'notice', message, hint }];
  });
}

type EditedProject = Pick<PlannedProject, 'config'> & { readonly files: readonly SourceFile[]; readonly context: ProjectContext };

/** Returns the objects whose manifests change for the target; none if its manifests are invalid. */
function changedObjects(target: Target, { config, files, context }: EditedProject): readonly string[] {
  const folders = [...target.manifests, ...target.overlays];
  if (!files.some(({ path }) => folders.some((folder) => isAtOrBelow(resolve(context.cwd, path), folder)))) return [];
  const sources = readSources(config, target, context);
  const site = wholeTarget(config, target, context);
  const [before, after] = [sources, replaceTexts(sources, files)].map((one) => loadSources(one, site).value);
  if (before === undefined || after === undefined) return [];
  const [words, next] = [textByResource(before), textByResource(after)];
  return [...next.keys()].filter((id) => words.get(id) !== next.get(id));
}
