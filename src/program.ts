import type { suggestWords } from './commands/completion/suggest.ts';
import { type CommandList, runCommandLine } from './commands/command-line/run-command-line.ts';
import { askToConfirm } from './commands/command-line/confirm.ts';
import { workflowCommands } from './commands/workflow-commands.ts';
import type { CliContext } from './commands/context/cli-context.ts';
import { tuneForOneCommand, processContext, stepContext } from './commands/context/process-context.ts';
import type { ProcessOutput } from './commands/context/process-output.ts';
import { findCiSystem } from './forge/find-ci-system.ts';

/** All commands by the headings of the help. A new command is one file and one entry here. */
const commandsByHeading: CommandList['byHeading'] = {
  'Get started:': [
    {
      name: 'init',
      usage: '[folder]',
      summary: 'create ostiary.yaml, example manifests and the schemas',
      load: async () => (await import('./commands/init.ts')).defineInit,
    },
    {
      name: 'pull',
      usage: '[directory]',
      aliases: ['export', 'dump'],
      summary: 'import the objects of a gateway as manifests',
      load: async () => (await import('./commands/pull.ts')).definePull,
    },
    {
      name: 'record',
      usage: '<what>',
      summary: 'make a key that signs the record of applies',
      load: async () => (await import('./commands/record.ts')).defineRecord,
    },
    {
      name: 'completion',
      usage: '<shell>',
      summary: 'print a completion script for bash, zsh or fish',
      load: async () => (await import('./commands/completion/completion.ts')).defineCompletion,
    },
  ],
  'Change:': [
    workflowCommands.validate,
    {
      name: 'test',
      usage: '[paths...]',
      summary: 'run rule samples offline',
      list: 'targets',
      load: async () => (await import('./commands/test.ts')).defineTest,
    },
    {
      name: 'schema',
      usage: '<kind>',
      summary: 'print an example manifest of a kind',
      load: async () => (await import('./commands/schema.ts')).defineSchema,
    },
    {
      name: 'fmt',
      usage: '[paths...]',
      summary: 'format manifests and the config; comments are kept',
      load: async () => (await import('./commands/fmt.ts')).defineFmt,
    },
    workflowCommands.plan,
    workflowCommands.apply,
    {
      name: 'ci',
      usage: '<command> [options...]',
      summary: 'run validate, plan, apply or drift in a job of GitHub or GitLab, and report there',
      load: async () => (await import('./ci/ci.ts')).ciCommand(findCiSystem),
    },
  ],
  'Inspect:': [
    workflowCommands.targets,
    workflowCommands.drift,
    {
      name: 'explain',
      usage: '<resource> [field]',
      summary: 'explain why an object or a field changes or does not change, or what a code means',
      load: async () => (await import('./commands/explain.ts')).defineExplain,
    },
    {
      name: 'can',
      usage: '[group] [verb] [connection]',
      summary: 'answer whether a group can use a connection, and why',
      load: async () => (await import('./commands/can.ts')).defineCan,
    },
    {
      name: 'who',
      usage: '<connection>',
      summary: 'list who can use a connection, or those of a pattern',
      load: async () => (await import('./commands/can.ts')).defineWho,
    },
    {
      name: 'report',
      usage: '<what>',
      summary: 'print who can reach what, for auditors',
      load: async () => (await import('./commands/reporting/report.ts')).defineReport,
    },
    {
      name: 'unused',
      usage: '',
      summary: 'list grants, rules and groups that no recorded session used',
      load: async () => (await import('./commands/reporting/unused.ts')).defineUnused,
    },
    {
      name: 'list',
      usage: '[paths...]',
      summary: 'list managed objects with their manifest and state',
      load: async () => (await import('./commands/list.ts')).defineList,
    },
  ],
  'Operate:': [
    {
      name: 'get',
      usage: '<what> [name]',
      summary: 'list objects of the gateway',
      load: async () => (await import('./commands/get.ts')).defineGet,
    },
    {
      name: 'search',
      usage: '<term>',
      summary: 'find connections, resources and runbooks by part of their name',
      load: async () => (await import('./commands/search.ts')).defineSearch,
    },
    {
      name: 'review',
      usage: '<verdict> <id>',
      summary: 'approve, reject or revoke a review',
      load: async () => (await import('./commands/review.ts')).defineReview,
    },
    { name: 'serve', usage: '', summary: 'run an access gateway', load: async () => (await import('./commands/serve.ts')).defineServe },
    {
      name: 'version',
      usage: '',
      summary: 'print the version; --json adds build and platform',
      load: async () => (await import('./commands/version.ts')).defineVersion,
    },
  ],
};

async function loadSuggestions(): Promise<typeof suggestWords> {
  return (await import('./commands/completion/suggest.ts')).suggestWords;
}

/** Runs one command line and returns its exit code (`ostiary --help` lists them); never throws. */
export async function run(argv: readonly string[], context: CliContext): Promise<number> {
  return runCommandLine(argv, context, { byHeading: commandsByHeading, loadSuggestions });
}

/** Runs the command line of this process and returns its exit code; never throws. */
export async function runProcess(argv: readonly string[], output: ProcessOutput): Promise<number> {
  const [command] = argv;
  if (command !== 'serve') tuneForOneCommand();
  return run(argv, command === 'ci' ? stepContext(output) : processContext(output, askToConfirm));
}
