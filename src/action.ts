import { setTimeout } from 'node:timers/promises';
import { action } from './commands/action/action.ts';
import { processWorld } from './commands/process-world.ts';

process.exitCode = await action(processWorld(), setTimeout);
