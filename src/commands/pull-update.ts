import { resolve } from 'node:path';
import { acceptLive } from '../manifest/accept/accept.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { LiveState } from '../model/live.ts';
import type { Written } from '../model/pulled.ts';
import type { ResourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import { inputOf, loadSources } from './desired.ts';
import { comparison } from './pull-check.ts';
import { loadingOf, type Project } from './pull-project.ts';
import type { World } from './world.ts';

/** A project whose manifests say what is live, as far as they can. */
export type Updated = {
  readonly project: Project;
  /** The files that change, by absolute path. */
  readonly files: readonly SourceFile[];
  readonly updated: readonly Written[];
  /** What could not be said, and why. */
  readonly diagnostics: readonly Diagnostic[];
};

type Updating = {
  readonly live: LiveState;
  readonly identity: GatewayIdentity;
  /** The only live objects that this is about; all where nobody says. */
  readonly asked: ReadonlySet<string> | undefined;
  readonly world: World;
};

/** Edits what the project declares already so that it says what is live; nothing is written yet. */
export function updatedProject(project: Project, { live, identity, asked, world }: Updating): Updated {
  const { declared, setting, target, sources } = project;
  if (declared.resources.length === 0) return { project, files: [], updated: [], diagnostics: [] };
  const loading = loadingOf(setting, target, world);
  const { value: plan, diagnostics: found } = comparison({ desired: declared, live, identity, target });
  if (plan === undefined) throw new InputError(found.filter(({ severity }) => severity === 'error'));
  const isMeant = (...ids: readonly (ResourceId | undefined)[]): boolean => ids.some((id) => id !== undefined && asked?.has(id) !== false);
  const meant = {
    changes: plan.changes.filter(({ id, key, action }) => action !== 'create' && isMeant(id, key)),
    edges: plan.edges.filter(({ rule, connection }) => isMeant(rule, connection)),
  };
  const { files, accepted, diagnostics } = acceptLive({ ...inputOf(sources, loading), live, plan: meant, which: 'all' });
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const now = ({ path, text }: SourceFile): SourceFile => ({ path, text: texts.get(path) ?? text });
  const edited = { ...sources, files: sources.files.map(now), overlays: sources.overlays.map((folder) => folder.map(now)) };
  const { value: after, diagnostics: wrong } = loadSources(edited, loading);
  if (after === undefined) throw new InputError(wrong);
  const places = new Map(after.resources.map((one) => [one.id, one.locate('').file]));
  const ids = accepted.flatMap((one) => (one.is === 'field' ? [one.id] : [one.ends.connection, one.ends.rule]));
  const isOverlaid = sources.overlays.flat().some(({ path }) => texts.has(path));
  const updated = [...new Set(ids)].flatMap((id) => {
    const file = places.get(id);
    return file === undefined || !(texts.has(file) || isOverlaid) ? [] : [{ id, file }];
  });
  return {
    project: { ...project, sources: edited, declared: after },
    files: files.map(({ path, text }) => ({ path: resolve(world.cwd, path), text })),
    updated,
    diagnostics,
  };
}
