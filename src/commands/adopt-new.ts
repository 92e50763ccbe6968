import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { takenNames } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import type { Gateway } from '../model/gateway.ts';
import type { LiveState } from '../model/live.ts';
import { tokensOf } from '../model/pointer.ts';
import type { PullResult, WrittenManifest } from '../model/result/pull-result.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';
import type { SourceFile } from '../model/source.ts';
import type { OutputFlags, TargetFlags } from './flags.ts';
import { loadSources, type ManifestSources } from '../project/manifests.ts';
import { schemaPath } from './init.ts';
import type { Planned } from './planning.ts';
import { withDetails } from './pull.ts';
import { makeFiles } from './pull-make.ts';
import { loadingOf, projectOf } from './pull-project.ts';
import { unknownNames } from './unknown-names.ts';
import type { CliContext } from './cli-context.ts';

/** The live state with all that manifests of these objects are made from. */
export async function liveFor(
  names: readonly string[],
  { live, gateway }: { readonly live: LiveState; readonly gateway: Gateway },
  { flags, context }: { readonly flags: OutputFlags; readonly context: CliContext },
): Promise<LiveState> {
  const asked = new Set(names);
  const chosen = live.resources.filter(({ id }) => asked.has(id));
  return withDetails(live, chosen, gateway, { flags, context });
}

/** Manifests of live objects that had none. */
export type NewManifests = {
  /** Their paths below the folder of the config file, and their texts. */
  readonly files: readonly SourceFile[];
  readonly created: readonly WrittenManifest[];
  /** What there is no manifest of, and why. */
  readonly left: readonly Diagnostic[];
};

type Making = { readonly flags: TargetFlags; readonly seen: Planned; readonly sources: ManifestSources; readonly context: CliContext };

/** Makes manifests of the named live objects as pull does, beside manifests as they are to be; what is declared has one already. */
export function newManifests(names: readonly string[], { flags, seen, sources, context }: Making): NewManifests {
  const { config, target, live, identity } = seen;
  if (config.file === undefined)
    throw new UsageError('--new needs a config file: it says where manifests lie', 'run ostiary init, or ostiary pull');
  const project = projectOf({ ...flags, only: [], paths: [] }, context);
  const { value: loaded } = loadSources(sources, loadingOf(config, target, context));
  const declared = loaded ?? project.declared;
  const present = new Set<string>(declared.resources.flatMap(({ id, key }) => [id, key]));
  const asked = new Set(names.filter((name) => !present.has(name)));
  const meant = live.resources.filter(({ id }) => asked.has(id));
  const ids = new Set<ResourceId>(meant.filter(({ managedBy }) => managedBy === undefined).map(({ id }) => id));
  const { manifests, pulled } = makeFiles({
    ids,
    managed: meant.flatMap(({ id, managedBy }) =>
      managedBy === undefined ? [] : [{ id, why: 'managed', reason: `managed by ${managedBy}` }],
    ),
    live,
    project: { ...project, sources, declared },
    identity,
    taken: takenNames(project.folder),
    secrets: 'keep',
    context,
  });
  const files = pulled.written.flatMap(({ id }, index) => {
    const file = manifests[index];
    return file === undefined ? [] : [withKnownSchema(file, join(project.root, schemaPath(kindOf(id))))];
  });
  const show = shower(context.cwd);
  const unknown = unknownNames(
    [...asked].map((name) => ['--new', name]),
    live.resources,
  );
  return {
    files,
    created: pulled.written.map(({ id }, index) => ({ id, file: show(join(project.root, files[index]?.path ?? '')) })),
    left: [...unknown, ...pulled.leftOut.map(({ id, reason }) => impossible(id, reason)), ...selected(pulled)],
  };
}

/** An editor is told of no schema that is not there. */
function withKnownSchema({ path, text }: SourceFile, schema: string): SourceFile {
  return { path, text: existsSync(schema) ? text : text.slice(text.indexOf('\n') + 1) };
}

function impossible(id: ResourceId, reason: string): Diagnostic {
  const message = `there is no manifest of ${id}: ${reason}`;
  return { code: 'adopt/impossible', severity: 'warning', message, hint: 'leave it out of --new', resource: id };
}

/** A selector may take in what it does not protect yet: then an apply attaches it. */
function selected({ written, differing }: Pick<PullResult, 'written' | 'differing'>): readonly Diagnostic[] {
  const names = new Set(written.map(({ id }) => nameOf(id)));
  return differing.flatMap(({ id, fields, at }) => {
    const connections = fields.flatMap((path) => tokensOf(path).filter((token, index) => index === 1 && names.has(token)));
    if (connections.length === 0) return [];
    const message = `the next apply also attaches ${id} to ${connections.join(', ')}: its selector takes in the new manifests`;
    const hint = 'if that is not meant, write an exception into the selector';
    return [{ code: 'adopt/selected', severity: 'notice', message, hint, resource: id, ...(at === undefined ? {} : { at }) }];
  });
}
