import { setTimeout } from 'node:timers/promises';
import { action } from './commands/action/action.ts';
import { compileLess, stepContext } from './commands/context/process-context.ts';

compileLess();
process.exitCode = await action(stepContext(), setTimeout);
