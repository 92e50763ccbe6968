import type { CliContext } from '../commands/context/cli-context.ts';
import { affectedLines, type ComparedTarget, findAffectedTargets, reasonsText } from '../commands/planning/affected-targets.ts';
import { escapeTerminal } from '../report/escape.ts';
import { UsageError } from '../model/errors.ts';
import type { ActionInputs } from './inputs.ts';
import type { Proposal } from './proposal.ts';
import { type ActionTask, configFlags, listStep } from './task.ts';

/** The targets that a step plans because a proposal affects them, each with the sentence at the top of its report. */
type AffectedPlans = {
  /** Returns the tasks of the affected targets; if there are none, one that lists none, so that the report of an earlier run is replaced. */
  readonly select: (tasks: readonly ActionTask[]) => readonly ActionTask[];
};

/**
 * Finds the targets that a proposal affects, if the step plans only those. Throws UsageError for a selection of targets, and without a proposal.
 */
export async function findAffectedPlans(
  { inputs, proposal }: { readonly inputs: ActionInputs; readonly proposal: Proposal | undefined },
  context: CliContext,
): Promise<AffectedPlans | undefined> {
  if (inputs.flags['affected'] === undefined) return undefined;
  if (inputs.flags['all-targets'] === undefined)
    throw new UsageError('affected requires all-targets: it selects among all targets of the config', 'add all-targets, and remove target');
  const listing = listStep(inputs, proposal);
  const own = inputs.flags['own'] ?? proposal?.own;
  const found = await findAffectedTargets({ ...configFlags(inputs, proposal?.configRef), ...(own === undefined ? {} : { own }) }, context);
  context.onEvent?.({ diagnostics: found.diagnostics });
  const [counted = '', ...lines] = affectedLines(found);
  context.stdout.write(`${[counted, ...lines].map(escapeTerminal).join('\n')}\n\n`);
  const reasons = new Map(found.targets.filter(isAffected).map(({ name, reasons: some }) => [name, reasonsText(some)]));
  return {
    select(tasks) {
      const affected = tasks.flatMap((task) => {
        const reason = reasons.get(task.inputs.flags['target'] ?? '');
        return reason === undefined ? [] : [{ ...task, step: { ...task.step, notes: [`Affected: ${reason}.`, ...task.step.notes] } }];
      });
      const [first, ...others] = affected;
      if (first !== undefined)
        return [{ ...first, step: { ...first.step, notes: [counted.replace(/:$/, '.'), ...first.step.notes] } }, ...others];
      const { target: _, ...flags } = tasks[0]?.inputs.flags ?? {};
      const note = `The plan of each of the ${found.targets.length} targets is the same as without this change.`;
      return tasks.slice(0, 1).map((task) => ({ ...task, inputs: { ...task.inputs, flags }, step: { ...listing, notes: [note] } }));
    },
  };
}

function isAffected({ reasons }: ComparedTarget): boolean {
  return reasons.length > 0;
}
