import { setTimeout } from 'node:timers/promises';
import { action } from './action/action.ts';
import { compileLess, stepContext } from './console/context/process-context.ts';

compileLess();
process.exitCode = await action(stepContext(), setTimeout);
