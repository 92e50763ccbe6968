import { setTimeout } from 'node:timers/promises';
import { runJob } from './ci/run-job.ts';
import { compileLess, stepContext } from './console/context/process-context.ts';
import { githubSystem } from './github/github-system.ts';

compileLess();
process.exitCode = await runJob(githubSystem, stepContext(), setTimeout);
