import { setTimeout } from 'node:timers/promises';
import { runJob } from './ci/run-job.ts';
import { compileLess, stepContext } from './console/context/process-context.ts';
import { openProcessOutput } from './console/context/process-output.ts';
import { githubSystem } from './github/github-system.ts';

compileLess();
const output = openProcessOutput();
process.exitCode = await output.finish(await runJob(githubSystem, stepContext(output), setTimeout));
