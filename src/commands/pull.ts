import { readStateFile } from '../disk/cache.ts';
import { takenNames } from '../disk/tree-writer.ts';
import { registry } from '../kinds/index.ts';
import { UsageError } from '../model/errors.ts';
import { isPartialSelection } from '../project/resolved-config.ts';
import { resolvePullProject, withDialect } from '../import/pull-project.ts';
import type { readOwnedObjects } from '../import/write-project.ts';
import { formatsFor, preloadFormat } from '../report/formats.ts';
import { formatOption, groups, readConcurrencyOption, selectionOption, targetOptions, type DefineCommand } from './context/options.ts';
import { connect, readLive } from './session/connect.ts';
import type { CliContext } from './context/cli-context.ts';
import type { PullFlags } from './planning/pull-objects.ts';
import { Option } from 'commander';

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
    .action((directory, flags) => run((context) => runPull({ ...flags, directory }, context)));
};

/** Reads the objects that a Terraform state owns. */
async function readState(path: string, context: CliContext): Promise<ReturnType<typeof readOwnedObjects>> {
  const state = readStateFile(path, context.cwd);
  return (await import('../import/write-project.ts')).readOwnedObjects(state);
}

/** Writes live objects as manifests; a plan of them then finds no changes. Returns exit code 0. */
async function runPull(flags: PullFlags, context: CliContext): Promise<number> {
  if (flags.fromState !== undefined && isPartialSelection(flags))
    throw new UsageError('--from-state cannot be combined with --only, --tag and --exclude', 'pass one of them');
  const project = resolvePullProject(flags, context);
  const owned = flags.fromState === undefined ? undefined : await readState(flags.fromState, context);
  const taken = takenNames(project.folder);
  const { gateway, identity } = await connect(project.target, { flags, context });
  try {
    // The code that makes, writes and reports manifests loads while the gateway answers.
    const [listed, { pullObjects }] = await Promise.all([
      readLive(gateway, { flags, context }, [...registry.keys()]),
      import('./planning/pull-objects.ts'),
      preloadFormat(flags.format),
    ]);
    await pullObjects({ project: withDialect(project, identity.dialect), owned, taken, gateway, identity, listed, flags, context });
    return 0;
  } finally {
    await gateway.close();
  }
}
