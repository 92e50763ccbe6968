import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { AppError, requireValue, UsageError } from '../model/errors.ts';
import { createFile } from '../disk/write.ts';
import { escapeTerminal, quoteWord } from '../report/escape.ts';
import type { OutputFlags, DefineCommand } from './context/options.ts';
import { printerFor } from './output/printer.ts';
import { firstManifests } from '../project/templates/example-documents.ts';
import { newDigestKey } from '../project/new-digest-key.ts';
import { loadTarget } from '../project/manifests.ts';
import { findRepository } from '../project/open-project.ts';
import { absolutePath, outputPath, resolveConfig } from '../project/resolved-config.ts';
import { schemaFiles } from '../project/templates/schema-files.ts';
import { pipelineFiles, workflowFiles } from '../project/templates/workflow-files.ts';
import type { CliContext } from './context/cli-context.ts';

function configText(digestKey: string): string {
  return `# yaml-language-server: $schema=schemas/config.schema.json
# The gateways of these manifests. Tokens are read from the environment.
apiVersion: ostiary/v1
kind: Config
manifests: [access/]
# Seals inline values in the digests of plans. It opens nothing; readers of the repository may know it.
digest_key: "${digestKey}"
# As soon as other people may push: a key that signs the record of applies. Run ostiary record key.
# record: { keys: ["ed25519:…"] }
targets:
  production:
    url: http://127.0.0.1:8009
    token: { env: OSTIARY_TOKEN }
    prune: true
`;
}

function newProject(): readonly (readonly [string, string])[] {
  return [['ostiary.yaml', configText(newDigestKey())], ...firstManifests, ['.gitignore', '.ostiary/\n']];
}

type InitFlags = OutputFlags & { readonly folder: string; readonly github: boolean; readonly gitlab: boolean; readonly action?: string };

/** Defines `ostiary init`. */
export const defineInit: DefineCommand = (command, run) => {
  command
    .argument('[folder]', 'the folder of the project (default: the current directory)')
    .option('--github', 'also write workflows for GitHub: validate, plan, apply, drift', false)
    .option('--gitlab', 'also write .gitlab-ci.yml with the same jobs for GitLab', false)
    .option('--action <owner/name@commit>', 'the action that the workflows use, by the commit of a release', parseAction)
    .action((folder = '.', flags) => run((context) => runInit({ ...flags, folder }, context)));
};

/** Returns an action with its commit. Throws InvalidArgumentError for anything else: a tag can be moved. */
function parseAction(text: string): string {
  if (!/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(text))
    throw new InvalidArgumentError('expected OWNER/NAME@COMMIT with the 40 digits of a commit');
  return text;
}

/** Writes a first project into a folder, or the missing schemas and workflows of an existing project; never changes an existing file. */
async function runInit(flags: InitFlags, context: CliContext): Promise<number> {
  const { print, hint } = printerFor(context, flags);
  if (flags.action !== undefined && !flags.github)
    throw new UsageError('--action names the action of workflows, and none are written', 'pass --github, too');
  const hasConfig = ['ostiary.yaml', 'ostiary.yml'].some((name) => existsSync(absolutePath(join(flags.folder, name), context)));
  const written = writeFiles([...(hasConfig ? [] : newProject()), ...schemaFiles()], flags.folder, context);
  const workflows = flags.github || flags.gitlab ? await writeWorkflows(flags, context) : [];
  const all = [...written, ...workflows];
  if (all.length === 0)
    throw new UsageError(
      `${flags.folder === '.' ? 'this folder' : flags.folder} already has all files that init creates`,
      'edit them, then run ostiary plan',
    );
  for (const path of all) print(`wrote ${escapeTerminal(path)}\n`);
  if (flags.gitlab && workflows.length > 0)
    hint('\nFill in the release in .gitlab-ci.yml; its first lines list the variables and the webhook that the jobs need.\n');
  if (flags.github && workflows.length > 0 && flags.action === undefined)
    hint('\nThe workflows use acme/ostiary at commit 0: fill in the repository of the action, and the commit of a release.\n');
  if (hasConfig) return 0;
  const isHere = resolve(context.cwd, flags.folder) === resolve(context.cwd);
  const enter = isHere ? '' : `  cd ${escapeTerminal(quoteWord(flags.folder))}\n`;
  hint(
    `\nNext:\n${enter}  OSTIARY_SERVE_KEY=try-me ostiary serve   # a gateway; in another terminal\n  export OSTIARY_TOKEN=try-me OSTIARY_SECRET_EXAMPLE_DB_PASS=secret\n  ostiary plan\n`,
  );
  return 0;
}

/** Writes the files that do not exist yet, and returns their paths as the user reads them. */
function writeFiles(files: readonly (readonly [string, string])[], folder: string, context: CliContext): readonly string[] {
  const outputs = files.map(([path, text]) => ({ path: join(folder, path), text, file: outputPath(join(folder, path), context) }));
  return outputs.filter(({ file, text }) => createFile(file, text)).map(({ path }) => path);
}

/** Writes workflows whose path filters cover everything that the config names, and the pipeline, at the top of the repository. */
async function writeWorkflows({ folder, action, github, gitlab }: InitFlags, context: CliContext): Promise<readonly string[]> {
  const selection = {};
  const config = resolveConfig(selection, { ...context, cwd: absolutePath(folder, context) });
  const found = await findRepository(config.root, context);
  const prefix = found === undefined || found instanceof AppError ? '' : found.prefix;
  const top = prefix === '' ? folder : join(folder, relative(join('/', prefix), '/'));
  const states = config.targets.map((target) => {
    const project = { config, target, selection, context };
    return requireValue(loadTarget(project, { secrets: 'leave' }));
  });
  const files = [
    ...(github ? workflowFiles({ config, prefix, states, action }) : []),
    ...(gitlab ? pipelineFiles({ config, prefix }) : []),
  ];
  return writeFiles(files, top, context);
}
