import { pathForTarget, requirePathPerTarget, selectTargets, type TargetSelector } from '../../project/select-targets.ts';
import type { CliContext } from '../context/cli-context.ts';
import { digestFromComment } from './agreement.ts';
import { linesOf, type ActionInputs } from './inputs.ts';

/** Returns the inputs for each selected target, with files of its own. Throws UsageError for an invalid selection. */
export function splitByTarget(inputs: ActionInputs, context: CliContext): readonly ActionInputs[] {
  const names = selectTargets(aimOf(inputs), context);
  if (names === undefined) return [inputs];
  const { 'all-targets': _, ...flags } = inputs.flags;
  const written = files.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  requirePathPerTarget(written.flatMap(([name, text]) => (name === 'report' ? linesOf(text).map(pathOf) : [text])));
  return names.map((target) => ({
    ...inputs,
    flags: { ...flags, ...Object.fromEntries(written.map(([name, text]) => [name, pathForTarget(text, target)])), target },
  }));
}

/** Inputs that name files to write. */
const files = ['report', 'out', 'journal'] as const;

function pathOf(report: string): string {
  return report.slice(report.indexOf('=') + 1);
}

function aimOf({ flags: { config, target, url, plan, digest, 'all-targets': all } }: ActionInputs): TargetSelector {
  // Each target has its own comment, and so its own digest.
  const one = digest === digestFromComment ? undefined : digest;
  const given = Object.entries({ config, target, url, plan, digest: one }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), allTargets: all !== undefined };
}
