import { resolve } from 'node:path';
import { acceptLive } from '../manifest/accept/accept-live.ts';
import type { DesiredState } from '../model/desired.ts';
import type { Diagnostic, SourceFile } from '../model/diagnostic.ts';
import { InputError, requireValue } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import { canonical, type JsonObject } from '../model/json.ts';
import type { LiveState } from '../model/live.ts';
import type { WrittenManifest } from '../model/result/outcome.ts';
import type { ResourceId } from '../model/resource.ts';
import { loadWhole, replaceTexts, wholeInputOf } from '../project/manifests.ts';
import { planWithoutBase, checkDrafts } from './check-drafts.ts';
import { withDisplayPaths, type PullManifests } from './make-manifests.ts';
import type { PullProject } from './pull-project.ts';

/** A project whose manifests were edited to the live state, as far as manifests can declare it. */
export type ProjectUpdate = {
  readonly project: PullProject;
  /** The edited files, by absolute path. */
  readonly files: readonly SourceFile[];
  readonly updated: readonly WrittenManifest[];
  /** The differences that no edit can express, and the reasons. */
  readonly diagnostics: readonly Diagnostic[];
};

/** The live state that manifests are edited to. */
export type UpdateContext = {
  readonly live: LiveState;
  readonly identity: GatewayIdentity;
  /** The live ids to consider; all if undefined. */
  readonly asked: ReadonlySet<string> | undefined;
};

/** Edits the existing manifests to the live state; writes no files. Throws InputError for invalid manifests. */
export function updateProject(project: PullProject, { live, identity, asked }: UpdateContext): ProjectUpdate {
  const { declared, target, sources } = project;
  const { value: plan, diagnostics: found } = planWithoutBase({ desired: declared, live, identity, target });
  if (plan === undefined) throw new InputError(found.filter(({ severity }) => severity === 'error'));
  const isSelected = (...ids: readonly (ResourceId | undefined)[]): boolean =>
    ids.some((id) => id !== undefined && asked?.has(id) !== false);
  const selected = {
    changes: plan.changes.filter(({ id, key, action }) => action !== 'create' && isSelected(id, key)),
    edges: plan.edges.filter(({ rule, connection }) => isSelected(rule, connection)),
  };
  const { files, diagnostics } = acceptLive({
    ...wholeInputOf(sources, project),
    live,
    plan: selected,
    which: 'all',
    watch: plan.unwatched.filter(({ id }) => isSelected(id)),
  });
  const edited = replaceTexts(sources, files);
  const after = requireValue(loadWhole(edited, project));
  const [before, now] = [textByResource(declared), textByResource(after)];
  const updated = after.resources.flatMap(({ id, locate }) => (before.get(id) === now.get(id) ? [] : [{ id, file: locate('').file }]));
  return {
    project: { ...project, sources: edited, declared: after },
    files: files.map(({ path, text }) => ({ path: resolve(project.context.cwd, path), text })),
    updated,
    diagnostics,
  };
}

/**
 * Edits selectors that would match the new manifests although the live rules do not. Gives the edits up where they would
 * change a new manifest.
 */
export function updateBeside(
  update: ProjectUpdate,
  made: PullManifests,
  updating: UpdateContext,
): { readonly edits: ProjectUpdate; readonly made: PullManifests } {
  const { project } = update;
  const { live, identity } = updating;
  const { context, target, sources } = project;
  const news = withDisplayPaths(made.manifests, project);
  const beside = { ...sources, files: [...sources.files, ...news] };
  const { value: declared } = loadWhole(beside, project);
  const next = declared && updateProject({ ...project, sources: beside, declared }, updating);
  const isTouched = next?.files.some(({ path }) => news.some((file) => resolve(context.cwd, file.path) === path));
  if (next === undefined || isTouched === true) return { edits: update, made };
  const { differing, gone } = checkDrafts({ drafts: made.drafts.drafts, desired: next.project.declared, live, identity, target });
  const { pulled } = made;
  const unchanged = pulled.unchanged + pulled.differing.length - differing.length;
  return {
    edits: {
      ...next,
      files: lastByKey([...update.files, ...next.files], ({ path }) => path),
      updated: lastByKey([...update.updated, ...next.updated], ({ id }) => id),
    },
    made: { ...made, pulled: { ...pulled, differing, gone, unchanged } },
  };
}

/** Keeps the last value of each key. */
function lastByKey<T>(values: readonly T[], keyOf: (value: T) => string): readonly T[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}

/** Returns everything that the manifest of each resource declares, as one text to compare. */
export function textByResource({ resources, edges }: DesiredState): ReadonlyMap<ResourceId, string> {
  const words = new Map(resources.map(({ id, spec, ignore, secrets }) => [id, canonical([spec, ignore, sourcesOf(secrets)])]));
  for (const { rule, connection, declarations } of edges) {
    for (const { by, how } of declarations) words.set(by, `${words.get(by) ?? ''}\n${how} ${rule} ${connection}`);
  }
  return words;
}

function sourcesOf(secrets: DesiredState['resources'][number]['secrets']): JsonObject {
  return Object.fromEntries(Object.entries(secrets).map(([path, { source }]) => [path, source]));
}
