import type { ApplyFlags } from './flags.ts';
import type { DriftFlags } from './drift.ts';
import type { MultiTargetCommand } from './fleet.ts';
import type { PlanCommandFlags } from './plan.ts';
import type { ValidateFlags } from './validate.ts';

/** Commands that go to several targets; each is loaded when it is asked for. */
export const validate: MultiTargetCommand<ValidateFlags> = {
  list: 'diagnostics',
  run: async (...one) => (await import('./validate.ts')).validate(...one),
};

export const plan: MultiTargetCommand<PlanCommandFlags> = {
  list: 'plans',
  run: async (...one) => (await import('./plan.ts')).plan(...one),
};

export const apply: MultiTargetCommand<ApplyFlags> = { list: 'targets', run: async (...one) => (await import('./apply.ts')).apply(...one) };

export const drift: MultiTargetCommand<DriftFlags> = { list: 'drifts', run: async (...one) => (await import('./drift.ts')).drift(...one) };
