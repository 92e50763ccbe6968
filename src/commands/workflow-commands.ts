import type { ListedCommand } from './command-line/run-command-line.ts';

/** The commands that a step of a workflow can run. */
export const workflowCommands: Readonly<Record<'validate' | 'targets' | 'plan' | 'apply' | 'drift', ListedCommand>> = {
  validate: {
    name: 'validate',
    usage: '[paths...]',
    aliases: ['lint'],
    summary: 'check manifests and rule samples offline',
    list: 'diagnostics',
    load: async () => (await import('./validate.ts')).defineValidate,
  },
  targets: {
    name: 'targets',
    usage: '',
    summary: 'list the targets that a change affects, offline',
    list: 'targets',
    load: async () => (await import('./targets.ts')).defineTargets,
  },
  plan: {
    name: 'plan',
    usage: '[paths...]',
    aliases: ['diff'],
    summary: 'show the changes that apply would make',
    list: 'plans',
    load: async () => (await import('./plan.ts')).definePlan,
  },
  apply: {
    name: 'apply',
    usage: '[paths...]',
    summary: 'apply the manifests to the gateway',
    list: 'targets',
    load: async () => (await import('./apply.ts')).defineApply,
  },
  drift: {
    name: 'drift',
    usage: '[paths...]',
    summary: 'list changes made outside Ostiary since the last apply; revert or adopt them',
    list: 'drifts',
    load: async () => (await import('./drift.ts')).defineDrift,
  },
};
