import { takenNames } from '../disk/tree-writer.ts';
import { registry } from '../kinds/index.ts';
import { matchState } from '../manifest/pull/terraform-state.ts';
import { desiredByKey } from '../model/desired.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { PullResult, PulledSecrets } from '../model/result/outcome.ts';
import { chooseObjects, objectsWithDeclaredSecrets, readDetails, selectLive } from '../pull/choose-objects.ts';
import type { PullManifests } from '../pull/make-manifests.ts';
import { isPartialSelection } from '../project/resolved-config.ts';
import { resolvePullProject, type PullProject } from '../pull/pull-project.ts';
import { handOver, readOwnedObjects } from '../pull/write-project.ts';
import type { ProjectUpdate, UpdateContext } from '../pull/update-manifests.ts';
import { formatsFor } from '../report/formats.ts';
import { escapeTerminal } from '../report/escape.ts';
import { plural, shortList } from '../report/wording/summary.ts';
import { pullDocument } from '../report/subjects/pull.ts';
import { emit } from './output/emit.ts';
import {
  type TargetFlags,
  formatOption,
  groups,
  readConcurrencyOption,
  selectionOption,
  targetOptions,
  type DefineCommand,
} from './options.ts';
import { connect, readLive, trackSecretReads } from './context/connect.ts';
import { printerFor } from './output/printer.ts';
import { recordSecrets, secretCacheOf, withReliableVersion } from './planning/read-secrets.ts';
import type { CliContext } from './context/cli-context.ts';
import { Option } from 'commander';

type PullFlags = TargetFlags & {
  readonly directory?: string;
  readonly secrets: PulledSecrets;
  /** The path of a Terraform state; pull then writes only the objects that the state owns. */
  readonly fromState?: string;
  readonly format: 'text' | 'json';
  readonly dryRun: boolean;
  readonly yes: boolean;
};

/** Defines `ostiary pull`. */
export const definePull: DefineCommand = (command, run) => {
  command.argument('[directory]', 'the project, or a folder of its manifests (default: the current directory)');
  selectionOption(targetOptions(command))
    .optionsGroup(groups.own)
    .addOption(
      new Option('--secrets <how>', 'keep: write only their keys; stubs: write variables to fill in; omit: leave them out')
        .choices(['keep', 'stubs', 'omit'])
        .default('keep'),
    )
    .option('--dry-run', 'write nothing; print what a pull would write', false)
    .option('-y, --yes', 'overwrite local edits without asking for confirmation', false)
    .option('--from-state <file>', 'pull only objects owned by this Terraform or OpenTofu state, and write removed blocks')
    .addOption(readConcurrencyOption())
    .addOption(formatOption(formatsFor('pull', 'print')))
    .addHelpText(
      'after',
      `
If there is no ostiary.yaml, pull creates it; the next plan then has no changes.
Existing manifests are edited in place; comments and order are kept.
Secret values are never written.

  OSTIARY_TOKEN=… ostiary pull access-prod --url https://gateway.example.com/api
  ostiary pull --target staging --only Connection/orders-db`,
    )
    .action((directory, flags) => run((context) => runPull({ ...flags, directory, paths: [] }, context)));
};

/** Writes live objects as manifests; a plan of them then finds no changes. Returns exit code 0. */
async function runPull(flags: PullFlags, context: CliContext): Promise<number> {
  if (flags.fromState !== undefined && isPartialSelection(flags))
    throw new UsageError('--from-state cannot be combined with --only, --tag and --exclude', 'pass one of them');
  const project = resolvePullProject(flags, context);
  const owned = flags.fromState === undefined ? undefined : readOwnedObjects(flags.fromState, context);
  const taken = takenNames(project.folder);
  const { gateway, identity } = await connect(project.target, { flags, context });
  try {
    // The code that makes and writes manifests loads while the gateway answers.
    const [listed, { makeManifests }, { writeProject }] = await Promise.all([
      readLive(gateway, [...registry.keys()], { flags, context }),
      import('../pull/make-manifests.ts'),
      import('../pull/write-project.ts'),
    ]);
    const matched = owned && matchState(owned, listed.resources);
    const asked = matched === undefined ? selectLive(flags, listed) : new Set(matched.flatMap(({ live }) => live ?? []));
    const chosen = chooseObjects(listed, new Set(project.declared.resources.map(({ key }) => key)), asked);
    const detailed = flags.secrets === 'omit' ? [] : [...chosen.live, ...objectsWithDeclaredSecrets(listed, project, asked)];
    const live = await readDetails(listed, detailed, {
      gateway,
      concurrency: project.target.readConcurrency,
      track: trackSecretReads({ flags, context }),
    });
    const { ids, managed } = chosen;
    const updating = { live, identity, asked, context };
    const update = await updateExisting(project, updating);
    const drafted = makeManifests({ ids, managed, live, project: update.project, identity, taken, secrets: flags.secrets, context });
    const { edits, made } = await updateForNewManifests(update, drafted, updating);
    const inherited = matched && handOver(matched, made, project.declared);
    if (!flags.dryRun && !flags.yes) await confirmOverwriting(project, edits.files, context);
    const written = writeProject(project, { ...made, inherited, edited: edits.files, preview: flags.dryRun }, context);
    recordRead(live, detailed, { project, identity, flags, context });
    const pulled = { ...countUpdates(made.pulled, edits.updated), ...written, ...(flags.dryRun ? { preview: true as const } : {}) };
    const printer = printerFor(context, flags);
    context.onEvent?.({ diagnostics: edits.diagnostics });
    printer.diagnostics(edits.diagnostics);
    await emit(pullDocument(pulled, project.configInForce), { flags, context, printer });
    return 0;
  } finally {
    await gateway.close();
  }
}

type RecordContext = {
  readonly project: PullProject;
  readonly identity: GatewayIdentity;
  readonly flags: PullFlags;
  readonly context: CliContext;
};

/** Caches the secrets that were read one object at a time, which the next plan then does not read. */
function recordRead(
  live: LiveState,
  detailed: readonly LiveResource[],
  { project: { root, target, declared }, identity, flags, context }: RecordContext,
): void {
  if (flags.dryRun) return;
  const bulk = new Map(detailed.flatMap((one) => (one.leftOut === undefined ? [] : [[one.uid, one] as const])));
  const manifests = desiredByKey(declared.resources);
  const known = live.resources.flatMap((one) => {
    const before = bulk.get(one.uid);
    const read = before === undefined ? undefined : withReliableVersion(one, before);
    return read === undefined ? [] : [{ desired: manifests.get(one.id), live: read }];
  });
  recordSecrets(known, secretCacheOf({ root, target, identity }, flags, context));
}

/**
 * Asks before a pull overwrites manifests that are not committed. Without a terminal it throws UsageError for manifests with uncommitted
 * changes.
 */
async function confirmOverwriting({ root }: PullProject, edited: readonly SourceFile[], context: CliContext): Promise<void> {
  if (edited.length === 0) return;
  const { findLocalEdits } = await import('../project/local-edits.ts');
  const { changed, uncommitted } = await findLocalEdits(edited, { root, context });
  if (context.interactive && uncommitted.length > 0) {
    const question = `Overwrite ${plural(uncommitted.length, 'uncommitted manifest')} with the live state (${nameFiles(uncommitted)})?`;
    if (!(await context.confirm(question)))
      throw new UsageError('canceled; nothing was written', 'see what would change: ostiary pull --dry-run');
  }
  if (!context.interactive && changed.length > 0)
    throw new UsageError(
      `pull would overwrite uncommitted changes in ${nameFiles(changed)}`,
      'commit them, or pass --yes; ostiary pull --dry-run writes nothing',
    );
}

function nameFiles(files: readonly string[]): string {
  return shortList(files.map(escapeTerminal), 3).join(', ');
}

/** Edits the manifests of the project to the live state; loads the editor only if there are manifests. */
async function updateExisting(project: PullProject, updating: UpdateContext): Promise<ProjectUpdate> {
  if (project.declared.resources.length === 0) return { project, files: [], updated: [], diagnostics: [] };
  return (await import('../pull/update-manifests.ts')).updateProject(project, updating);
}

/** Edits selectors that would match the new manifests although the live rules do not. */
async function updateForNewManifests(
  update: ProjectUpdate,
  made: PullManifests,
  updating: UpdateContext,
): Promise<{ readonly edits: ProjectUpdate; readonly made: PullManifests }> {
  if (made.manifests.length === 0 || made.pulled.differing.length === 0) return { edits: update, made };
  return (await import('../pull/update-manifests.ts')).updateBeside(update, made, updating);
}

/** Moves updated objects from `unchanged` to `updated`, except those that still differ in another field. */
function countUpdates<T extends Pick<PullResult, 'differing' | 'unchanged'>>(
  pulled: T,
  updated: PullResult['updated'],
): T & Pick<PullResult, 'updated'> {
  const differing = new Set(pulled.differing.map(({ id }) => id));
  const complete = updated.filter(({ id }) => !differing.has(id));
  return { ...pulled, updated, unchanged: Math.max(0, pulled.unchanged - complete.length) };
}
