import { matchState } from '../../manifest/draft/terraform-state.ts';
import { desiredByKey } from '../../model/desired.ts';
import type { SourceFile } from '../../model/diagnostic.ts';
import { UsageError } from '../../model/errors.ts';
import type { Gateway, GatewayIdentity } from '../../model/gateway.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import type { PullResult, PulledSecrets } from '../../model/result/outcome.ts';
import { chooseObjects, objectsWithDeclaredSecrets, readDetails, selectLive } from '../../import/choose-objects.ts';
import { ruleInspector } from '../../protection/rule-inspector.ts';
import { acknowledgeFindings } from '../../import/acknowledge-findings.ts';
import { makeManifests, type PullManifests } from '../../import/make-manifests.ts';
import type { PullProject } from '../../import/pull-project.ts';
import type { ProjectUpdate, UpdateContext } from '../../import/update-manifests.ts';
import { handOver, type readOwnedObjects, writeProject } from '../../import/write-project.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { pullDocument } from '../../report/subjects/pull.ts';
import { plural, shortList } from '../../report/wording/phrases.ts';
import type { CliContext } from '../context/cli-context.ts';
import { trackSecretReads } from '../session/connect.ts';
import type { TargetFlags } from '../context/options.ts';
import { emit } from '../output/emit.ts';
import { printerFor } from '../output/printer.ts';
import { recordSecrets, secretCacheOf, withReliableVersion } from './read-secrets.ts';

export type PullFlags = TargetFlags & {
  readonly directory?: string;
  readonly secrets: PulledSecrets;
  /** The path of a Terraform state; pull then writes only the objects that the state owns. */
  readonly fromState?: string;
  readonly format: 'text' | 'json';
  readonly dryRun: boolean;
  readonly yes: boolean;
};

/** The data that a pull has read before it makes and writes manifests. */
type PullInput = {
  readonly project: PullProject;
  /** The objects of the Terraform state; undefined without one. */
  readonly owned: ReturnType<typeof readOwnedObjects> | undefined;
  /** The names in the folder of the project, in lower case. */
  readonly taken: ReadonlySet<string>;
  readonly gateway: Gateway;
  readonly identity: GatewayIdentity;
  readonly listed: LiveState;
  readonly flags: PullFlags;
  readonly context: CliContext;
};

/** Makes manifests of the listed objects, writes them and reports what was written. */
export async function pullObjects({ project, owned, taken, gateway, identity, listed, flags, context }: PullInput): Promise<void> {
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
  const updating = { live, identity, asked };
  const update = await updateExisting(project, updating);
  const drafted = makeManifests({ ids, managed, live, project: update.project, identity, taken, secrets: flags.secrets });
  const { edits, made: plain } = await updateForNewManifests(update, drafted, updating);
  const checks = { checkedDialect: identity.dialect, inspect: ruleInspector('warning') };
  const made = { ...plain, manifests: acknowledgeFindings(plain.manifests, edits.project, checks) };
  const inherited = matched && handOver(matched, made, project.declared);
  if (!flags.dryRun && !flags.yes) await confirmOverwriting(project, edits.files, context);
  const written = writeProject(project, {
    ...made,
    inherited,
    edited: edits.files,
    preview: flags.dryRun,
  });
  recordRead(live, detailed, { project, identity, flags });
  const pulled = { ...countUpdates(made.pulled, edits.updated), ...written, ...(flags.dryRun ? { preview: true as const } : {}) };
  const printer = printerFor(context, flags);
  context.onEvent?.({ diagnostics: edits.diagnostics });
  printer.diagnostics(edits.diagnostics);
  await emit(pullDocument(pulled, project.configInForce), { flags, context, printer });
}

type RecordContext = {
  readonly project: PullProject;
  readonly identity: GatewayIdentity;
  readonly flags: PullFlags;
};

/** Caches the secrets that were read one object at a time, which the next plan then does not read. */
function recordRead(live: LiveState, detailed: readonly LiveResource[], { project, identity, flags }: RecordContext): void {
  if (flags.dryRun) return;
  const bulk = new Map(detailed.flatMap((one) => (one.leftOut === undefined ? [] : [[one.uid, one] as const])));
  const manifests = desiredByKey(project.declared.resources);
  const known = live.resources.flatMap((one) => {
    const before = bulk.get(one.uid);
    const read = before === undefined ? undefined : withReliableVersion(one, before);
    return read === undefined ? [] : [{ desired: manifests.get(one.id), live: read }];
  });
  recordSecrets(known, secretCacheOf(project, identity, flags));
}

/**
 * Asks before a pull overwrites manifests that are not committed. Without a terminal it throws UsageError for manifests with uncommitted
 * changes.
 */
async function confirmOverwriting({ root }: PullProject, edited: readonly SourceFile[], context: CliContext): Promise<void> {
  if (edited.length === 0) return;
  const { findLocalEdits } = await import('../../project/local-edits.ts');
  const { mayBeInRepository, openRepository } = await import('../../git/repository.ts');
  const repository = mayBeInRepository(root) ? await openRepository({ folder: root, env: context.env }) : undefined;
  const { changed, uncommitted } = await findLocalEdits(edited, repository, context);
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
  return (await import('../../import/update-manifests.ts')).updateProject(project, updating);
}

/** Edits selectors that would match the new manifests although the live rules do not. */
async function updateForNewManifests(
  update: ProjectUpdate,
  made: PullManifests,
  updating: UpdateContext,
): Promise<{ readonly edits: ProjectUpdate; readonly made: PullManifests }> {
  if (made.manifests.length === 0 || made.pulled.differing.length === 0) return { edits: update, made };
  return (await import('../../import/update-manifests.ts')).updateBeside(update, made, updating);
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
