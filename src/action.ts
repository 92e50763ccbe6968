import { setTimeout } from 'node:timers/promises';
import { runJob } from './ci/run-job.ts';
import { tuneForOneCommand, stepContext } from './commands/context/process-context.ts';
import { openProcessOutput } from './commands/context/process-output.ts';
import { githubSystem } from './forge/github/github-system.ts';

tuneForOneCommand();
const output = openProcessOutput();
process.exitCode = await output.finish(await runJob(githubSystem, stepContext(output), setTimeout));
