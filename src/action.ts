import { setTimeout } from 'node:timers/promises';
import { action } from './commands/action/action.ts';
import { stepContext } from './commands/context/process-context.ts';

process.exitCode = await action(stepContext(), setTimeout);
