import { setTimeout } from 'node:timers/promises';
import { Argument, Command } from 'commander';
import { workflowCommands } from '../commands/workflow-commands.ts';
import { configLabelHint, type DefineCommand, refuseForgottenValues, refuseRepeated } from '../commands/context/options.ts';
import { printerFor } from '../commands/output/printer.ts';
import type { CiSystem, JobEnvironment } from '../forge/ci-system.ts';
import { UsageError } from '../model/errors.ts';
import { type ActionInputs, type ActionMode, actionModes, inputsOf, optionsOf, plainName } from './inputs.ts';
import type { OnReported } from './report-run.ts';
import { runJob } from './run-job.ts';

type CiFlags = Readonly<Record<string, string | boolean | undefined>>;

/** Returns the definition of `ostiary ci`, which runs in the job of the system that `findSystem` returns. */
export function ciCommand(findSystem: (env: JobEnvironment) => Promise<CiSystem>): DefineCommand {
  return (command, run) => {
    command
      .addArgument(new Argument('<command>', 'the command to run').choices(actionModes))
      .argument('[options...]', 'its options and paths, without --format, --yes, --link-base and --max-length')
      .allowUnknownOption()
      .option('--no-comment', 'do not comment on the pull request or merge request')
      .option('--no-issue', 'drift: do not report the drift in an issue')
      .option('--labels <names>', 'drift: labels of a new issue, separated by commas; the first one identifies it (default: drift)')
      .option('--assignees <names>', 'drift: assignees of a new issue, separated by commas')
      .option('--status', 'set a status of the commit for each target')
      .option('--label <text>', `distinguish this config from others with targets of the same names: ${configLabelHint}`)
      .option('--digest <digest>', 'apply: apply only the plan with this digest; "comment" is that of the comment on the merged request')
      .option('--config-ref <ref>', 'the branch or commit whose history is reviewed (default: the default branch)')
      .option('--detailed-exitcode', 'plan, drift: exit 2 if there are changes')
      .option('--overrides', 'plan, apply: comments of people with write access (GitLab: maintainers) override refusals')
      .option('--sarif <file>', 'file for findings in SARIF 2.1.0')
      .action((mode: ActionMode, words: readonly string[], own: CiFlags) =>
        run(async (context) => {
          const system = await findSystem(context.env);
          const given = new Map([
            ...(await readWords(mode, words)),
            ...textsOf(own),
            ['mode', mode],
            ['github-token', system.tokenIn(context.env)],
          ]);
          const inputsIn = async (): Promise<ActionInputs> => ({ ...(await inputsWithCache(given)), output: outputOptions(own) });
          return runJob(system, context, setTimeout, inputsIn, system.hasAnnotations ? undefined : printUnprinted(own['quiet'] === true));
        }),
      );
  };
}

/** Returns what prints all diagnostics that no command printed: those of the forge, before the commands and while the targets were reported. */
function printUnprinted(quiet: boolean): OnReported {
  return (reported, before) => {
    for (const [index, { findings, context }] of reported.entries()) {
      const known = before[index]?.findings.diagnostics ?? [];
      const unprinted = known.filter(({ code, severity }) => severity !== 'error' && (code.startsWith('forge/') || code === 'git/shallow'));
      const all = [...unprinted, ...findings.diagnostics.slice(known.length)];
      if (all.length > 0) printerFor(context, { color: true, quiet, full: true }).diagnostics(all);
    }
  };
}

/** Returns the inputs; `--cache` names a folder, where the action has a switch. */
async function inputsWithCache(given: ReadonlyMap<string, string>): Promise<ActionInputs> {
  const { cache, ...others } = Object.fromEntries(given);
  const inputs = await inputsOf(new Map(Object.entries(others).filter(([, text]) => text !== '')));
  return cache === undefined ? inputs : { ...inputs, cache: false, flags: { ...inputs.flags, cache } };
}

/** The options that every command has. */
const ownOutput: readonly string[] = ['color', 'quiet', 'full', 'verbose'];

/** Returns the options about output as the command of the job takes them. */
function outputOptions(own: CiFlags): readonly string[] {
  const given = ['quiet', 'full', 'verbose'].flatMap((name) => (own[name] === true ? [`--${name}`] : []));
  return own['color'] === false ? [...given, '--no-color'] : given;
}

/** Returns the texts of the options of `ostiary ci` itself. */
function textsOf(own: CiFlags): readonly (readonly [string, string])[] {
  return Object.entries(own).flatMap(([key, value]) => {
    const isUsual = value === undefined || ownOutput.includes(key) || ((key === 'comment' || key === 'issue') && value === true);
    return isUsual ? [] : [[key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), String(value)] as const];
  });
}

/** Parses the options and paths of a command, and returns their texts by name. Throws UsageError or CommanderError for invalid ones. */
async function readWords(mode: ActionMode, words: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const parser = new Command(mode)
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => undefined })
    .helpOption(false);
  (await workflowCommands[mode].load())(parser, () => Promise.resolve());
  refuseRepeated(parser);
  refuseForgottenValues(parser);
  const options = await optionsOf(mode);
  for (const option of parser.options)
    parser.on(`option:${option.name()}`, (value: unknown) => {
      const name = plainName(option);
      if (!options.has(name)) throw withoutEffect(name);
      const text = typeof value === 'string' ? value : String(!option.negate);
      const earlier = found.get(name);
      found.set(name, earlier === undefined ? text : `${earlier}\n${text}`);
    });
  await parser.parseAsync(words, { from: 'user' });
  if (parser.args.length > 0) found.set('paths', parser.args.join('\n'));
  return found;
}

function withoutEffect(name: string): UsageError {
  return new UsageError(`--${name} has no effect with ostiary ci`, 'remove it');
}
