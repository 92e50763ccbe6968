import { Argument } from 'commander';
import { openConfig, openProject } from '../../project/open-project.ts';
import type { PlanBaseOptions } from '../../project/plan-base.ts';
import { createPlan } from '../../planning/create-plan.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { plural, shortList } from '../../report/wording/summary.ts';
import type { CliContext } from '../../console/context/cli-context.ts';
import {
  baseOptions,
  type DefineCommand,
  groups,
  type PlanFlags,
  secretsOption,
  type TargetFlags,
  targetOptions,
  todayOption,
} from '../../console/options.ts';
import { printerFor } from '../../console/output/printer.ts';
import { type BaselineEdit, editBaselines, type JudgedTarget, writeBaselines } from './edit-baselines.ts';

type PolicyFlags = TargetFlags & PlanBaseOptions & Pick<PlanFlags, 'secrets' | 'today'> & { readonly check: boolean };

/** Defines `ostiary policy`. */
export const definePolicy: DefineCommand = (command, run) => {
  const asked = command
    .addArgument(
      new Argument('<what>', 'baseline: list the present violations in the policies, so that only new ones refuse').choices(['baseline']),
    )
    .optionsGroup(groups.own)
    .option('--check', 'write nothing; exit with 2 if a baseline would change', false);
  baseOptions(targetOptions(asked))
    .addOption(todayOption())
    .addOption(secretsOption().default('unresolved'))
    .action((_what, flags) => run((context) => runBaseline({ ...flags, only: [], paths: [] }, context)));
};

/**
 * Evaluates the policies as a plan of each target would leave its connections (without `--target` of all targets), and writes the baselines.
 * Returns exit code 0; with `check`, which writes nothing, 2 if a baseline would change.
 */
async function runBaseline(flags: PolicyFlags, context: CliContext): Promise<number> {
  const { config } = await openConfig(flags, context);
  const isWhole = flags.target === undefined && config.targets.length > 1;
  const targets: JudgedTarget[] = [];
  for (const target of isWhole ? config.targets.map(({ name }) => name) : [flags.target]) {
    const project = await openProject({ ...flags, target }, context);
    const asked = { ...flags, target, allow: [], import: [], revert: [] };
    const { plan, policies, gateway } = await createPlan(project, asked, context, { purpose: 'preview' });
    await gateway.close();
    if (plan.policies !== undefined) targets.push({ project, report: plan.policies, policies: policies.rules.map(({ policy }) => policy) });
  }
  const edits = editBaselines(targets, isWhole);
  const { print, hint } = printerFor(context, flags);
  if (!flags.check) writeBaselines(edits, targets);
  for (const edit of edits) print(editText(edit, flags.full === true));
  hint(summaryText(targets, edits, flags.check));
  return flags.check && edits.length > 0 ? 2 : 0;
}

const mostLines = 20;

function editText({ policy, added, removed }: BaselineEdit, full: boolean): string {
  const counts = [[added, 'added'] as const, [removed, 'removed'] as const];
  const text = counts.flatMap(([entries, word]) => (entries.length === 0 ? [] : [`${entries.length} ${word}`])).join(', ');
  const lines = counts.flatMap(([entries, word]) => {
    const all = entries.map(({ connection, require }) => `${word === 'added' ? '+' : '-'} ${connection}: ${require}`);
    return shortList(all, full ? all.length : mostLines);
  });
  const head = `${policy.at.file}:${policy.at.line} ${policy.name}: ${text}`;
  return [head, ...lines.map((line) => `  ${line}`)].map((line) => `${escapeTerminal(line)}\n`).join('');
}

function summaryText(targets: readonly JudgedTarget[], edits: readonly BaselineEdit[], isCheck: boolean): string {
  if (targets.length === 0) return 'No policies.\n';
  if (edits.length === 0) return 'No changes.\n';
  const written = plural(edits.length, 'baseline');
  return isCheck ? `${written} to write.\n` : `${written} written. Next: review and commit; only new violations are refused then.\n`;
}
