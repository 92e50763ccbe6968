import type { ApplyFlags } from './flags.ts';
import type { DriftFlags } from './drift.ts';
import type { Verb } from './fleet.ts';
import type { PlanCommandFlags } from './plan.ts';
import type { ValidateFlags } from './validate.ts';

/** Commands that go to several targets; each is loaded when it is asked for. */
export const validate: Verb<ValidateFlags> = {
  list: 'diagnostics',
  work: async (...one) => (await import('./validate.ts')).validate(...one),
};

export const plan: Verb<PlanCommandFlags> = { list: 'plans', work: async (...one) => (await import('./plan.ts')).plan(...one) };

export const apply: Verb<ApplyFlags> = { list: 'targets', work: async (...one) => (await import('./apply.ts')).apply(...one) };

export const drift: Verb<DriftFlags> = { list: 'drifts', work: async (...one) => (await import('./drift.ts')).drift(...one) };
