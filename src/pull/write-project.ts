import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { codeOf } from '../disk/reason.ts';
import { treeWriter, unwritable, type TreeWriter } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import type { SecretVariable } from '../manifest/pull/secret-writer.ts';
import type { PullResult } from '../model/result/pull-result.ts';
import type { SourceFile } from '../model/source.ts';
import { environmentText, removedBlocks } from '../report/manifest-text.ts';
import { schemaFiles } from '../project/schema-files.ts';
import type { PullManifests } from './make-manifests.ts';
import type { PullProject } from './pull-project.ts';
import type { StateHandover } from './terraform-state.ts';
import type { ProjectContext } from '../project/project-selection.ts';

/**
 * Writes manifests and edits, and returns the paths of other files written. The config file comes last, so that an interrupted
 * pull does not look like a complete project.
 */
export function writeProject(
  { root, folder, newConfig: config, sources }: PullProject,
  {
    manifests,
    drafts,
    inherited,
    edited,
  }: PullManifests & { readonly inherited: StateHandover | undefined; readonly edited: readonly SourceFile[] },
  context: ProjectContext,
): Pick<PullResult, 'files' | 'edited' | 'terraform'> {
  const writer = treeWriter(root);
  const files: string[] = [];
  const create = (path: string, text: string): void => void (writer.create(path, text) && files.push(path));
  if (manifests.length > 0) for (const [path, text] of schemaFiles) create(path, text);
  writer.createAll(manifests);
  const read = new Map([...sources.files, ...sources.overlays.flat()].map(({ path, text }) => [resolve(context.cwd, path), text]));
  for (const { path, text } of edited) writer.replace(relative(root, path), text, read.get(path));
  const extend = (path: string, textAfter: (before: string | undefined) => string): void => {
    if (extended(writer, join(root, path), path, textAfter)) files.push(path);
  };
  const { variables: open } = drafts.secrets;
  if (open.length > 0) extend('secrets.env.example', (before) => environmentText(before, open.map(variableOf)));
  if (inherited !== undefined && inherited.blocks.length > 0) extend(removals, (before) => removedBlocks(before, inherited.blocks));
  // The config names the folder, and neither a plan nor git accepts an empty one.
  if (config !== undefined && manifests.length + sources.files.length === 0) create(join(relative(root, folder), '.gitkeep'), '');
  if (config !== undefined) create('.gitignore', '.ostiary/\nsecrets.env\n');
  if (config !== undefined) create('ostiary.yaml', config);
  const show = shower(context.cwd);
  const terraform = inherited && terraformOf(inherited, show(join(root, removals)));
  return {
    files: files.map((path) => show(join(root, path))),
    edited: edited.map(({ path }) => show(path)),
    ...(terraform === undefined ? {} : { terraform }),
  };
}

const removals = 'terraform-removed.tf';

function terraformOf({ blocks, taken, gone, kept }: StateHandover, file: string): PullResult['terraform'] {
  return { taken, gone, kept, ...(blocks.length === 0 ? {} : { file }) };
}

function variableOf({ name, id }: SecretVariable): { readonly name: string; readonly about: string } {
  return { name, about: id };
}

/** Adds the missing lines to a file; returns false if there are none. */
function extended(writer: TreeWriter, full: string, path: string, textAfter: (before: string | undefined) => string): boolean {
  const before = textIn(full);
  const text = textAfter(before);
  if (text === before) return false;
  writer.replace(path, text);
  return true;
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unwritable(path, error);
  }
}
