import { workflowCommands } from './workflow-commands.ts';
import type { suggestWords } from './completion/suggest.ts';
import type { CliContext } from '../console/context/cli-context.ts';
import { compileLess, outputOf, processContext } from '../console/context/process-context.ts';
import { type CommandList, runCommandLine } from './command-line/run-command-line.ts';

/** All commands by the headings of the help. A new command is one file and one entry here. */
const commandsByHeading: CommandList['byHeading'] = {
  'Get started:': [
    {
      name: 'init',
      usage: '[folder]',
      summary: 'create ostiary.yaml, example manifests and the schemas',
      load: async () => (await import('./init.ts')).defineInit,
    },
    {
      name: 'pull',
      usage: '[directory]',
      summary: 'import the objects of a gateway as manifests',
      load: async () => (await import('./pull.ts')).definePull,
    },
    {
      name: 'record',
      usage: '<what>',
      summary: 'make a key that signs the record of applies',
      load: async () => (await import('./record.ts')).defineRecord,
    },
    {
      name: 'completion',
      usage: '<shell>',
      summary: 'print a completion script for bash, zsh or fish',
      load: async () => (await import('./completion.ts')).defineCompletion,
    },
  ],
  'Change:': [
    workflowCommands.validate,
    {
      name: 'test',
      usage: '[paths...]',
      summary: 'run rule samples offline',
      list: 'targets',
      load: async () => (await import('./test.ts')).defineTest,
    },
    {
      name: 'fmt',
      usage: '[paths...]',
      summary: 'format manifests and the config; comments are kept',
      load: async () => (await import('./fmt.ts')).defineFmt,
    },
    workflowCommands.plan,
    workflowCommands.apply,
  ],
  'Inspect:': [
    workflowCommands.drift,
    {
      name: 'explain',
      usage: '<resource> [field]',
      summary: 'explain why an object or a field changes or does not change',
      load: async () => (await import('./explain.ts')).defineExplain,
    },
    {
      name: 'can',
      usage: '[group] [verb] [connection]',
      summary: 'answer whether a group can use a connection, and why',
      load: async () => (await import('./can.ts')).defineCan,
    },
    {
      name: 'who',
      usage: '<connection>',
      summary: 'list who can use a connection',
      load: async () => (await import('./can.ts')).defineWho,
    },
    {
      name: 'list',
      usage: '[paths...]',
      summary: 'list managed objects with their manifest and state',
      load: async () => (await import('./list.ts')).defineList,
    },
  ],
  'Operate:': [
    { name: 'get', usage: '<what> [name]', summary: 'list objects of the gateway', load: async () => (await import('./get.ts')).defineGet },
    {
      name: 'search',
      usage: '<term>',
      summary: 'find connections, resources and runbooks by part of their name',
      load: async () => (await import('./search.ts')).defineSearch,
    },
    {
      name: 'review',
      usage: '<verdict> <id>',
      summary: 'approve, reject or revoke a review',
      load: async () => (await import('./review.ts')).defineReview,
    },
    { name: 'serve', usage: '', summary: 'run an access gateway', load: async () => (await import('./serve.ts')).defineServe },
    {
      name: 'version',
      usage: '',
      summary: 'print the version; --json adds build and platform',
      load: async () => (await import('./version.ts')).defineVersion,
    },
  ],
};

async function loadSuggestions(): Promise<typeof suggestWords> {
  return (await import('./completion/suggest.ts')).suggestWords;
}

/** Runs one command line and returns its exit code (`ostiary --help` lists them); never throws. */
export async function run(argv: readonly string[], context: CliContext): Promise<number> {
  return runCommandLine(argv, context, { byHeading: commandsByHeading, loadSuggestions });
}

/** Runs the command line of this process and returns its exit code; never throws. */
export async function runProcess(argv: readonly string[]): Promise<number> {
  if (argv[0] !== 'serve') compileLess();
  return run(argv, processContext(askToConfirm));
}

/** Asks on stderr, because stdout is for results and may be redirected. */
async function askToConfirm(message: string): Promise<boolean> {
  if (!outputOf(process.stderr).ansi) return askInPlainText(message);
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({ message, initialValue: false, output: process.stderr });
  return !isCancel(answer) && answer;
}

/** Asks without moving the cursor. The end of input and Ctrl-C mean no. */
async function askInPlainText(message: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, terminal: false });
  const cancel = (): void => lines.close();
  process.once('SIGINT', cancel);
  process.stderr.write(`${message} [y/N] `);
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
    });
    if (answer === undefined) process.stderr.write('\n');
    return /^y(?:es)?$/i.test(answer?.trim() ?? '');
  } finally {
    process.removeListener('SIGINT', cancel);
    lines.close();
  }
}
