import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { previewWriter, treeWriter, unwritable, type TreeWriter } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import type { SecretVariable } from '../manifest/draft/secret-writer.ts';
import type { PullResult } from '../model/result/outcome.ts';
import type { Checked, SourceFile } from '../model/diagnostic.ts';
import { escapeTerminal } from '../report/escape.ts';
import { schemaFiles } from '../project/templates/schema-files.ts';
import type { PullManifests } from './make-manifests.ts';
import type { PullProject } from './pull-project.ts';
import { terraformProvider } from '../gateway/dialects/choose-dialect.ts';
import { registry } from '../kinds/index.ts';
import { handOverState, type MatchedObjects, readTerraformState, type StateObject } from '../manifest/draft/terraform-state.ts';
import type { DesiredState } from '../model/desired.ts';
import { requireValue, systemCodeOf } from '../model/errors.ts';

/** Returns the objects that a Terraform state owns. Throws InputError for an unreadable or unusable state. */
export function readOwnedObjects(file: Checked<SourceFile>): readonly StateObject[] {
  return requireValue(readTerraformState(requireValue(file), { ...terraformProvider(), registry }));
}

type StateHandover = ReturnType<typeof handOverState>;

/** Returns the `removed` blocks that make Terraform forget objects with a manifest, and the addresses of all objects. */
export function handOver(objects: MatchedObjects, { drafts, pulled }: PullManifests, declared: DesiredState): StateHandover {
  const keys = [...declared.resources, ...drafts.drafts].map(({ key }) => key);
  return handOverState(objects, new Set(keys), new Map(pulled.leftOut.map(({ id, reason }) => [id, reason])));
}

/**
 * Writes manifests and edits, and returns the paths of other files written. The config file comes last, so that an interrupted
 * pull does not look like a complete project. A preview writes nothing and returns the same.
 */
export function writeProject(
  { root, folder, target, newConfig: config, sources, context }: PullProject,
  {
    manifests,
    drafts,
    inherited,
    edited,
    preview,
  }: PullManifests & {
    readonly inherited: StateHandover | undefined;
    readonly edited: readonly SourceFile[];
    readonly preview: boolean;
  },
): Pick<PullResult, 'files' | 'edited' | 'terraform'> {
  const writer = preview ? previewWriter(root) : treeWriter(root);
  const files: string[] = [];
  const create = (path: string, text: string): void => void (writer.create(path, text) && files.push(path));
  if (manifests.length > 0 || config !== undefined) for (const [path, text] of schemaFiles()) create(path, text);
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
  if (config !== undefined) create('ostiary.yaml', config(target));
  const show = shower(context.cwd);
  const terraform = inherited && terraformOf(inherited, show(join(root, removals)));
  return {
    files: files.map((path) => show(join(root, path))),
    edited: edited.map(({ path }) => show(path)),
    terraform,
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
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw unwritable(path, error);
  }
}

/** Adds variables without values to a template, one block for each object. Existing text stays unchanged. */
function environmentText(before: string | undefined, variables: readonly { readonly name: string; readonly about: string }[]): string {
  const head =
    before ?? '# Variables with the secrets of the manifests. Copy this file, fill in the values, and keep the copy out of git.\n';
  const known = new Set(head.split('\n').map((line) => line.replace(/=.*$/, '').trim()));
  const missing = variables.filter(({ name }) => !known.has(name));
  const blocks = new Map<string, string>();
  for (const { name, about } of missing) blocks.set(about, `${blocks.get(about) ?? ''}${name}=\n`);
  const added = [...blocks].map(([about, lines]) => `\n# ${escapeTerminal(about)}\n${lines}`);
  return `${head}${head.endsWith('\n') ? '' : '\n'}${added.join('')}`;
}

const removedHead = `# Manifests manage these resources now: Terraform forgets them and destroys nothing.
# Move this file next to the configuration, delete the resource blocks that it names, and apply.
# Requires Terraform 1.7 or OpenTofu 1.10, or later.
`;

/** Adds blocks that make Terraform forget resources. Existing text stays unchanged. */
function removedBlocks(before: string | undefined, addresses: readonly string[]): string {
  const known = new Set([...(before ?? '').matchAll(/^\s*from\s*=\s*(\S+)/gm)].map(([, address]) => address));
  const missing = addresses.filter((address) => !known.has(address));
  const start = before ?? removedHead;
  return `${start}${start.endsWith('\n') ? '' : '\n'}${missing.map(blockText).join('')}`;
}

function blockText(address: string): string {
  return `\nremoved {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}\n`;
}
