import { runPool } from '../apply/pool.ts';
import { takenNames } from '../disk/tree-writer.ts';
import { registry } from '../kinds/index.ts';
import { matchState } from '../manifest/pull/terraform-state.ts';
import { UsageError } from '../model/errors.ts';
import type { Gateway } from '../model/gateway.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { SkippedObject, PullResult, PulledSecrets } from '../model/result/pull-result.ts';
import type { ResourceId } from '../model/resource.ts';
import { suggest } from '../model/suggest.ts';
import { needsSecrets } from '../reconcile/prepare/verified.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { pullJson, pullText } from '../report/pull.ts';
import type { OutputFlags, TargetFlags } from './flags.ts';
import { connect, readLive } from './live.ts';
import { counted } from './progress.ts';
import type { Made } from './pull-make.ts';
import { projectOf, type Project } from './pull-project.ts';
import { inheritance, ownedIn } from './pull-state.ts';
import type { Updated, Updating } from './pull-update.ts';
import { printerFor } from './printer.ts';
import type { CliContext } from './cli-context.ts';

export type PullFlags = TargetFlags & {
  readonly directory?: string;
  readonly secrets: PulledSecrets;
  /** A state of Terraform: only what it owns is pulled. */
  readonly fromState?: string;
  readonly format: 'text' | 'json';
};

const concurrency = 16;

/** Writes what is live as manifests, so that a plan then finds nothing to do. Exit 0. */
export async function pull(flags: PullFlags, context: CliContext): Promise<number> {
  if (flags.fromState !== undefined && flags.only.length > 0)
    throw new UsageError('--from-state says what is pulled, and so does --only', 'leave out one of them');
  const project = projectOf(flags, context);
  const owned = flags.fromState === undefined ? undefined : ownedIn(flags.fromState, context);
  const taken = takenNames(project.folder);
  const { gateway, identity } = await connect(project.target, { flags, context });
  try {
    // What makes and writes manifests is loaded while the gateway looks its objects up.
    const [listed, { makeFiles }, { writeAll }] = await Promise.all([
      readLive(gateway, [...registry.keys()], { flags, context }),
      import('./pull-make.ts'),
      import('./pull-write.ts'),
    ]);
    const matched = owned && matchState(owned, listed.resources);
    const asked = matched === undefined ? askedFor(flags.only, listed) : new Set(matched.flatMap(({ live }) => live ?? []));
    const chosen = chooseLive(listed, project, asked);
    const short = flags.secrets === 'omit' ? [] : [...chosen.live, ...spokenOf(listed, project, asked)];
    const live = await withDetails(listed, short, gateway, { flags, context });
    const { ids, managed } = chosen;
    const updating = { live, identity, asked, context };
    const begun = await updated(project, updating);
    const drafted = makeFiles({ ids, managed, live, project: begun.project, identity, taken, secrets: flags.secrets, context });
    const { edits, made } = await inAgreement(begun, drafted, updating);
    const inherited = matched && inheritance(matched, made, project.declared);
    const written = writeAll(project, { ...made, inherited, edited: edits.files }, context);
    const pulled = { ...withUpdates(made.pulled, edits.updated), ...written };
    const { print, hint, results, errors } = printerFor(context, flags);
    context.onEvent?.({ diagnostics: edits.diagnostics });
    if (edits.diagnostics.length > 0) hint(diagnosticsText(edits.diagnostics, errors));
    print(flags.format === 'json' ? pullJson(pulled) : pullText(pulled, results));
    return 0;
  } finally {
    await gateway.close();
  }
}

/** The project as it is to be; what edits files is loaded only where there are some. */
async function updated(project: Project, updating: Updating): Promise<Updated> {
  if (project.declared.resources.length === 0) return { project, files: [], updated: [], diagnostics: [] };
  return (await import('./pull-update.ts')).updatedProject(project, updating);
}

/** The edits and the new manifests, made to go together. */
async function inAgreement(begun: Updated, made: Made, updating: Updating): Promise<{ readonly edits: Updated; readonly made: Made }> {
  if (made.manifests.length === 0 || made.pulled.differing.length === 0) return { edits: begun, made };
  return (await import('./pull-update.ts')).settled(begun, made, updating);
}

/** What was updated counts as that, unless it differs in something else still. */
function withUpdates<T extends Pick<PullResult, 'differing' | 'unchanged'>>(
  pulled: T,
  all: PullResult['updated'],
): T & Pick<PullResult, 'updated'> {
  const differing = new Set(pulled.differing.map(({ id }) => id));
  const whole = all.filter(({ id }) => !differing.has(id));
  return { ...pulled, updated: all, unchanged: Math.max(0, pulled.unchanged - whole.length) };
}

/** What `--only` names; undefined where everything is asked for. */
function askedFor(only: readonly string[], { resources }: LiveState): ReadonlySet<string> | undefined {
  const known = new Set<string>(resources.map(({ id }) => id));
  const unknown = only.find((text) => !known.has(text));
  if (unknown === undefined) return only.length === 0 ? undefined : new Set(only);
  const near = suggest(unknown, known);
  throw new UsageError(
    `the gateway has no "${unknown}"`,
    near === undefined ? 'write KIND/NAME; ostiary get lists what there is' : `did you mean "${near}"?`,
  );
}

type Chosen = { readonly ids: ReadonlySet<ResourceId>; readonly live: readonly LiveResource[]; readonly managed: readonly SkippedObject[] };

/** The live objects that get a manifest: all, or those asked for, but for managed ones and those that have one. */
function chooseLive({ resources }: LiveState, { declared }: Project, asked: ReadonlySet<string> | undefined): Chosen {
  const present = new Set(declared.resources.map(({ key }) => key));
  const meant = resources.filter(({ id }) => asked?.has(id) !== false && !present.has(id));
  const live = meant.filter(({ managedBy }) => managedBy === undefined);
  const managed = meant.flatMap(({ id, managedBy }): readonly SkippedObject[] =>
    managedBy === undefined ? [] : [{ id, why: 'managed', reason: `managed by ${managedBy}` }],
  );
  return { ids: new Set(live.map(({ id }) => id)), live, managed };
}

/** The live objects whose manifests speak of secrets: those may have been added or taken away. */
function spokenOf({ resources }: LiveState, { declared }: Project, asked: ReadonlySet<string> | undefined): readonly LiveResource[] {
  const manifests = new Map(declared.resources.map((one) => [one.key, one]));
  return resources.filter((live) => {
    const manifest = asked?.has(live.id) === false ? undefined : manifests.get(live.id);
    return manifest !== undefined && needsSecrets(manifest, live);
  });
}

/** Reads one by one what the bulk read leaves out. */
export async function withDetails(
  state: LiveState,
  chosen: readonly LiveResource[],
  gateway: Gateway,
  { flags, context }: { readonly flags: OutputFlags; readonly context: CliContext },
): Promise<LiveState> {
  const short = chosen.filter(({ leftOut = [] }) => leftOut.length > 0);
  if (short.length === 0) return state;
  const read = new Map<ResourceId, LiveResource | undefined>();
  const work = (step: () => void): Promise<void> =>
    runPool(short, concurrency, async (one) => {
      read.set(one.id, await gateway.readOne(one));
      step();
    });
  await counted('reading the secrets one by one', short.length, { flags, context, work });
  return { ...state, resources: state.resources.flatMap((one) => (read.has(one.id) ? (read.get(one.id) ?? []) : [one])) };
}
