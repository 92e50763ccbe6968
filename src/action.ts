import { action } from './commands/action/action.ts';
import { processWorld } from './commands/process-world.ts';

process.exitCode = await action(processWorld());
