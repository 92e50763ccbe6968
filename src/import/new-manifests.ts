import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { takenNames } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import type { Diagnostic, SourceFile } from '../model/diagnostic.ts';
import { requireValue, UsageError } from '../model/errors.ts';
import { tokensOf } from '../model/pointer.ts';
import type { PullResult, WrittenManifest } from '../model/result/outcome.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import { loadWhole, type ManifestSources } from '../project/manifests.ts';
import type { WholeProject } from '../project/project.ts';
import { schemaPath } from '../project/templates/schema-files.ts';
import { chooseObjects } from './choose-objects.ts';
import type { UpdateContext } from './update-manifests.ts';
import { makeManifests } from './make-manifests.ts';
import { existingProject, folderToPull } from './pull-project.ts';
import { warnUnknownNames } from '../reconcile/guard/refusals.ts';

type NewManifests = {
  /** The files, with paths below the folder of the config file. */
  readonly files: readonly SourceFile[];
  readonly created: readonly WrittenManifest[];
  /** The objects that get no manifest, and the reasons. */
  readonly left: readonly Diagnostic[];
};

type NewManifestInput = Pick<UpdateContext, 'live' | 'identity'> & { readonly project: WholeProject; readonly sources: ManifestSources };

/** Makes manifests of the named live objects as `pull` does, beside the edited manifests; skips objects that have a manifest. */
export function makeNewManifests(names: readonly string[], { project: opened, live, identity, sources }: NewManifestInput): NewManifests {
  if (opened.config.file === undefined)
    throw new UsageError('--new requires a config file, which names the folders of manifests', 'run ostiary init, or ostiary pull');
  const folder = folderToPull(opened);
  const declared = requireValue(loadWhole(sources, opened));
  const project = existingProject(opened, folder, { sources, declared });
  const present = new Set<string>(declared.resources.flatMap(({ id, key }) => [id, key]));
  const asked = new Set(names.filter((name) => !present.has(name)));
  const { ids, managed } = chooseObjects(live, new Set(), asked);
  const { manifests, pulled } = makeManifests({
    ids,
    managed,
    live,
    project,
    identity,
    taken: takenNames(folder),
    secrets: 'keep',
  });
  const files = pulled.written.flatMap(({ id }, index) => {
    const file = manifests[index];
    return file === undefined ? [] : [withKnownSchema(file, join(project.root, schemaPath(kindOf(id))))];
  });
  const show = shower(opened.context.cwd);
  const unknown = warnUnknownNames(
    [...asked].map((name) => ['--new', name]),
    live.resources,
  );
  return {
    files,
    created: pulled.written.map(({ id }, index) => ({ id, file: show(join(project.root, files[index]?.path ?? '')) })),
    left: [...unknown, ...pulled.leftOut.map(({ id, reason }) => warnImpossible(id, reason)), ...warnSelectors(pulled)],
  };
}

/** Removes the schema comment if the project has no such schema file. */
function withKnownSchema({ path, text }: SourceFile, schema: string): SourceFile {
  return { path, text: existsSync(schema) ? text : text.slice(text.indexOf('\n') + 1) };
}

function warnImpossible(id: ResourceId, reason: string): Diagnostic {
  const message = `no manifest can be written for ${id}: ${reason}`;
  return { code: 'adopt/impossible', severity: 'warning', message, hint: 'remove it from --new', resource: id };
}

/** Reports selectors that match a new manifest: the next apply attaches their rules. */
function warnSelectors({ written, differing }: Pick<PullResult, 'written' | 'differing'>): readonly Diagnostic[] {
  const names = new Set(written.map(({ id }) => nameOf(id)));
  return differing.flatMap(({ id, fields, at }) => {
    const connections = fields.flatMap((path) => tokensOf(path).filter((token, index) => index === 1 && names.has(token)));
    if (connections.length === 0) return [];
    const message = `the next apply also attaches ${id} to ${connections.join(', ')}: its selector matches the new manifests`;
    const hint = 'to prevent that, add an exception to the selector';
    return [{ code: 'adopt/selected', severity: 'notice', message, hint, resource: id, at }];
  });
}
