import { Argument, Command, CommanderError, Option } from 'commander';
import { runForTargets } from './fleet.ts';
import * as verbs from './fleet-verbs.ts';
import { defaultDatabase, planReportFormats, trialFormats, viewFormats } from './flags.ts';
import {
  baseOptions,
  cacheOption,
  collect,
  collectReport,
  command,
  configRefOption,
  digestOf,
  formatOption,
  groups,
  planOptions,
  refuseRepeated,
  reportOptions,
  secretsOption,
  selectionOption,
  targetOptions,
  todayOption,
  wholeNumber,
  writeOptions,
} from './options.ts';
import { usageError } from './usage-error.ts';
import { version } from './version.ts';
import type { CliContext } from './cli-context.ts';

const footer = `
Exit codes: 0 done, 1 internal error, 2 changes (--detailed-exitcode) or drift,
3 input invalid, 4 gateway unreachable or access denied,
5 apply finished with failures, 6 refused for safety.

Start with nothing: ostiary init, then ostiary plan.
From a gateway that is there: ostiary pull access-prod --url https://…
The flags of a command: ostiary plan --help`;

/** Parses the command line, runs its command and returns the exit code; unknown flags and arguments are usage errors. */
export async function parseArguments(argv: readonly string[], context: CliContext): Promise<number> {
  let exitCode = 0;
  const program = build(context, (code) => {
    exitCode = code;
  });
  for (const one of program.commands) refuseRepeated(one);
  if (argv.length === 0) program.outputHelp();
  if (argv.length === 0) return 0;
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError(error, argv, program);
  }
  return exitCode;
}

type Finish = (exitCode: number) => void;

function build(context: CliContext, finish: Finish): Command {
  const program = new Command('ostiary')
    .description('GitOps for access gateways: keep a gateway equal to a directory of YAML manifests.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', footer)
    .showSuggestionAfterError(true)
    .configureHelp({ optionDescription })
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => context.stdout.columns ?? 100,
    });
  program.commandsGroup('Begin:');
  addInit(program, context, finish);
  addPull(program, context, finish);
  program.commandsGroup('Change:');
  addChecking(program, context, finish);
  addPlanning(program, context, finish);
  program.commandsGroup('Watch:');
  addDrift(program, context, finish);
  addExplain(program, context, finish);
  program.commandsGroup('Look up and decide, without manifests:');
  addReading(program, context, finish);
  addReviewing(program, context, finish);
  program.commandsGroup('More:').helpCommand('help [command]', 'print help for a command');
  addServe(program, context, finish);
  return program;
}

function optionDescription({ description, argChoices, defaultValue }: Option): string {
  const worth = typeof defaultValue === 'string' || typeof defaultValue === 'number';
  const notes = [...(argChoices === undefined ? [] : [argChoices.join(', ')]), ...(worth ? [`default: ${defaultValue}`] : [])];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

const pathsArgument = ['[paths...]', 'only manifests of these files and folders'] as const;

function addChecking(program: Command, context: CliContext, finish: Finish): void {
  const validate = command(program, 'validate', 'check the manifests and their samples, without asking any gateway').argument(
    ...pathsArgument,
  );
  selectionOption(targetOptions(validate, true))
    .addOption(todayOption())
    .addOption(formatOption(['text', 'json', 'sarif']));
  validate.action(async (paths, flags) => finish(await runForTargets({ ...flags, paths }, context, verbs.validate)));

  const test = command(program, 'test', 'try the rules on their samples, without asking any gateway').argument(...pathsArgument);
  selectionOption(targetOptions(test))
    .addOption(formatOption(trialFormats))
    .optionsGroup(groups.report)
    .option('--report <format=path>', 'also write the results to a file (repeatable)', collectReport(trialFormats), []);
  test.action(async (paths, flags) => finish(await (await import('./test.ts')).test({ ...flags, paths }, context)));
}

function addReading(program: Command, context: CliContext, finish: Finish): void {
  const get = command(program, 'get', 'list what the gateway has').argument(
    '<what>',
    'connections, rules, resources, runbooks, templates, reviews or agents',
  );
  targetOptions(get).addOption(formatOption(viewFormats));
  get.action(async (what, flags) => finish(await (await import('./get.ts')).get({ ...flags, what, only: [], paths: [] }, context)));

  const search = command(program, 'search', 'find connections, resources and runbooks by a part of their name').argument(
    '<term>',
    'the part',
  );
  targetOptions(search).addOption(formatOption(viewFormats));
  search.action(async (term, flags) =>
    finish(await (await import('./search.ts')).search({ ...flags, term, only: [], paths: [] }, context)),
  );
}

function addExplain(program: Command, context: CliContext, finish: Finish): void {
  const explain = command(program, 'explain', 'say why an object is, or is not, a change')
    .argument('<resource>', 'KIND/NAME')
    .argument('[field]', 'one field, such as reviewers');
  baseOptions(cacheOption(targetOptions(explain)))
    .addOption(formatOption(['text', 'json']))
    .addOption(todayOption())
    .addOption(secretsOption());
  explain.action(async (resource, field, flags) =>
    finish(await (await import('./explain.ts')).explain({ ...flags, resource, field, only: [], paths: [] }, context)),
  );
}

function addPull(program: Command, context: CliContext, finish: Finish): void {
  const pull = command(program, 'pull', 'write what the gateway has as manifests').argument(
    '[directory]',
    'the project, or a folder of its manifests (default: here)',
  );
  selectionOption(targetOptions(pull))
    .optionsGroup(groups.own)
    .addOption(
      new Option('--secrets <how>', 'keep: their keys alone; stubs: variables to fill in; omit: not at all')
        .choices(['keep', 'stubs', 'omit'])
        .default('keep'),
    )
    .option('--from-state <file>', 'only what this state of Terraform or OpenTofu owns, and blocks that make it forget')
    .addOption(formatOption(['text', 'json']))
    .addHelpText(
      'after',
      `
Where there is no ostiary.yaml yet, one is written: ostiary plan then finds no
changes.
Manifests that are there are edited in place, comments and order kept.
Values of secrets are never written.

  OSTIARY_TOKEN=… ostiary pull access-prod --url https://gateway.example.com/api
  ostiary pull --target staging --only Connection/orders-db`,
    );
  pull.action(async (directory, flags) => finish(await (await import('./pull.ts')).pull({ ...flags, directory, paths: [] }, context)));
}

function addReviewing(program: Command, context: CliContext, finish: Finish): void {
  const review = command(program, 'review', 'approve, reject or revoke a review')
    .addArgument(new Argument('<verdict>', 'what becomes of it').choices(['approve', 'reject', 'revoke']))
    .argument('<id>', 'the review, as ostiary get reviews lists it');
  targetOptions(review)
    .optionsGroup(groups.own)
    .option('--force', 'approve for all groups, as a group that may', false)
    .option('--window <hours>', 'approve for these hours of the day alone, in UTC, such as 09:00-18:00')
    .addOption(formatOption(viewFormats));
  review.action(async (verdict, id, flags) =>
    finish(await (await import('./review.ts')).review({ ...flags, verdict, id, only: [], paths: [] }, context)),
  );
}

function addPlanning(program: Command, context: CliContext, finish: Finish): void {
  const plan = command(program, 'plan', 'show what apply would do; changes nothing').argument(...pathsArgument);
  planOptions(configRefOption(selectionOption(targetOptions(plan, true))), planReportFormats)
    .optionsGroup(groups.own)
    .option('--detailed-exitcode', 'exit 2 when there are changes', false)
    .option('--out <file>', 'also save the plan, for apply --plan')
    .addOption(secretsOption());
  plan.action(async (paths, flags) => finish(await runForTargets({ ...flags, paths }, context, verbs.plan)));

  const apply = command(program, 'apply', 'make the gateway as the manifests want it').argument(...pathsArgument);
  writeOptions(planOptions(selectionOption(targetOptions(apply, true)), planReportFormats))
    .addOption(new Option('--on-managed <what>', 'when a change is blocked by managed_by').choices(['refuse', 'skip']).default('refuse'))
    .option('--plan <file>', 'carry out the plan that plan --out saved, and nothing else')
    .option('--digest <digest>', 'carry out the plan with this digest alone; none: only one that writes nothing', digestOf);
  apply.action(async (paths, flags) => finish(await runForTargets({ ...flags, paths }, context, verbs.apply)));
}

function addDrift(program: Command, context: CliContext, finish: Finish): void {
  const drift = command(
    program,
    'drift',
    'show what somebody changed on the gateway since the last apply, and who; revert or adopt it',
  ).argument(...pathsArgument);
  reportOptions(baseOptions(cacheOption(selectionOption(targetOptions(drift, true)))))
    .optionsGroup(groups.own)
    .option('--since <time>', 'how far back to ask who it was: 2026-11-01, 12h, 7d (default: the last apply, or 30d)')
    .option('--revert', 'undo it, also what was tightened by hand; shows the plan and asks', false)
    .option('--adopt', 'accept it: edit the manifests in place, as a commit on the branch ostiary/adopt/TARGET', false)
    .option('--new <kind/name>', 'with --adopt: also write a manifest of this object, which has none (repeatable)', collect, [])
    .option('--no-commit', 'with --adopt: edit the files here instead')
    .addOption(secretsOption());
  writeOptions(drift);
  drift.action(async (paths, flags) => finish(await runForTargets({ ...flags, paths }, context, verbs.drift)));
}

function addInit(program: Command, context: CliContext, finish: Finish): void {
  const init = command(program, 'init', 'write a first ostiary.yaml, an example manifest and the schemas').argument(
    '[folder]',
    'where',
    '.',
  );
  init.action(async (folder, flags) => finish(await (await import('./init.ts')).init({ ...flags, folder }, context)));
}

function addServe(program: Command, context: CliContext, finish: Finish): void {
  const serve = command(program, 'serve', 'run a gateway of your own').addHelpText(
    'after',
    `
Keys come from the environment:
  OSTIARY_SERVE_KEY                      an admin's
  OSTIARY_SERVE_MANAGER_KEY              whose objects are managed,
  OSTIARY_SERVE_MANAGER                  by this name
  OSTIARY_SERVE_ENCRYPTION_KEY           32 bytes in base64; required on PostgreSQL
  OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS  keys to read with`,
  );
  serve
    .option('--port <n>', 'where to listen; 0 picks a free port', wholeNumber(0, 65_535), 8009)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--database <where>', 'a folder for the embedded database, or postgres://…', defaultDatabase)
    .option('--agent <name>', 'register an agent of this name (repeatable)', collect, [])
    .option('--init', 'make the first admin’s key, print it, and stop', false)
    .option('--trust-proxy', 'take callers’ addresses from X-Forwarded-For', false)
    .addOption(
      new Option('--log <form>', 'lines for people or one JSON object each (default: text on a terminal, else json)').choices([
        'text',
        'json',
      ]),
    )
    .option('--drain <seconds>', 'serve on for so long after SIGTERM, while /readyz answers 503', wholeNumber(0, 3600), 0)
    .option('--audit-keep <days>', 'remove older entries of the audit log (default: keep all)', wholeNumber(1, 36_500))
    .option('--chaos', 'let requests ask to fail; for tests only', false)
    .option('--local-repositories', 'read runbooks from file://… too; for tests only', false);
  serve.action(async (flags) => finish(await (await import('./serve.ts')).serve(flags, context)));
}
