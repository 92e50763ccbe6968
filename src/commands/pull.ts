import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPool } from '../apply/pool.ts';
import { codeOf } from '../disk/reason.ts';
import { takenNames, treeWriter, type TreeWriter } from '../disk/tree-writer.ts';
import { shower } from '../disk/walk.ts';
import { registry } from '../kinds/index.ts';
import type { Stub } from '../manifest/draft-secrets.ts';
import { UsageError } from '../model/errors.ts';
import type { Gateway } from '../model/gateway.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { LeftOut, SecretForm } from '../model/pulled.ts';
import type { ResourceId } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';
import { environmentText } from '../report/manifest-text.ts';
import { pullJson, pullText } from '../report/pull.ts';
import type { TargetFlags } from './flags.ts';
import { schemaFiles } from './init.ts';
import { connect, readLive } from './live.ts';
import { counted } from './progress.ts';
import { makeFiles, type Made } from './pull-make.ts';
import { projectOf, type Project } from './pull-project.ts';
import { printerFor } from './printer.ts';
import type { World } from './world.ts';

export type PullFlags = TargetFlags & {
  readonly directory?: string;
  readonly secrets: SecretForm;
  readonly format: 'text' | 'json';
};

const concurrency = 16;

/** Writes what is live as manifests, so that a plan then finds nothing to do. Exit 0. */
export async function pull(flags: PullFlags, world: World): Promise<number> {
  const project = projectOf(flags, world);
  const taken = takenNames(project.folder);
  const { gateway, identity } = await connect(project.target, { flags, world });
  try {
    const listed = await readLive(gateway, [...registry.keys()], { flags, world });
    const chosen = chooseLive(listed, project, flags.only);
    const live = flags.secrets === 'omit' ? listed : await withDetails(listed, chosen.live, gateway, { flags, world });
    const { ids, managed } = chosen;
    const made = makeFiles({ ids, managed, live, project, identity, taken, secrets: flags.secrets, world });
    const pulled = { ...made.pulled, files: writeAll(project, made, world) };
    const { print, results } = printerFor(world, flags);
    print(flags.format === 'json' ? pullJson(pulled) : pullText(pulled, results));
    return 0;
  } finally {
    await gateway.close();
  }
}

type Chosen = { readonly ids: ReadonlySet<ResourceId>; readonly live: readonly LiveResource[]; readonly managed: readonly LeftOut[] };

/** The live objects that get a manifest: all, or those asked for, but for managed ones and those that have one. */
function chooseLive({ resources }: LiveState, { declared }: Project, only: readonly string[]): Chosen {
  const known = new Set<string>(resources.map(({ id }) => id));
  const unknown = only.find((text) => !known.has(text));
  if (unknown !== undefined) {
    const near = closest(unknown, known);
    throw new UsageError(
      `the gateway has no "${unknown}"`,
      near === undefined ? 'write KIND/NAME; ostiary get lists what there is' : `did you mean "${near}"?`,
    );
  }
  const present = new Set(declared.resources.map(({ key }) => key));
  const asked = resources.filter(({ id }) => (only.length === 0 || only.includes(id)) && !present.has(id));
  const live = asked.filter(({ managedBy }) => managedBy === undefined);
  const managed = asked.flatMap(({ id, managedBy }): readonly LeftOut[] =>
    managedBy === undefined ? [] : [{ id, why: 'managed', reason: `managed by ${managedBy}` }],
  );
  return { ids: new Set(live.map(({ id }) => id)), live, managed };
}

/** Reads one by one what the bulk read leaves out. */
async function withDetails(
  state: LiveState,
  chosen: readonly LiveResource[],
  gateway: Gateway,
  { flags, world }: { readonly flags: PullFlags; readonly world: World },
): Promise<LiveState> {
  const short = chosen.filter(({ leftOut = [] }) => leftOut.length > 0);
  if (short.length === 0) return state;
  const read = new Map<ResourceId, LiveResource | undefined>();
  const work = (step: () => void): Promise<void> =>
    runPool(short, concurrency, async (one) => {
      read.set(one.id, await gateway.readOne(one));
      step();
    });
  await counted('reading the secrets one by one', short.length, { flags, world, work });
  return { ...state, resources: state.resources.flatMap((one) => (read.has(one.id) ? (read.get(one.id) ?? []) : [one])) };
}

/** Writes everything; the config file last, so that what is broken off is not taken for whole. */
function writeAll({ root, config }: Project, { manifests, drafts }: Made, world: World): readonly string[] {
  const writer = treeWriter(root);
  const files: string[] = [];
  const create = (path: string, text: string): void => void (writer.create(path, text) && files.push(path));
  for (const [path, text] of schemaFiles) create(path, text);
  for (const { path, text } of manifests) writer.create(path, text);
  const { stubs } = drafts.secrets;
  if (stubs.length > 0 && addVariables(writer, root, stubs)) files.push(template);
  if (config !== undefined) create('.gitignore', '.ostiary/\nsecrets.env\n');
  if (config !== undefined) create('ostiary.yaml', config);
  const show = shower(world.cwd);
  return files.map((path) => show(join(root, path)));
}

const template = 'secrets.env.example';

/** Adds the variables to the template; false where it has them all. */
function addVariables(writer: TreeWriter, root: string, stubs: readonly Stub[]): boolean {
  const before = textIn(join(root, template));
  const text = environmentText(
    before,
    stubs.map(({ name, id }) => ({ name, about: id })),
  );
  if (text === before) return false;
  writer.replace(template, text);
  return true;
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
