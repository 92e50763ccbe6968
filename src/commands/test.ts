import { hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { TargetSampleResults } from '../model/protection/protection.ts';
import { patternCache } from '../protection/pattern/compile.ts';
import { trySamples } from '../protection/samples/try-samples.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { formatsFor } from '../report/formats.ts';
import { samplesDocument } from '../report/subjects/samples.ts';
import { loadTarget } from '../project/manifests.ts';
import type { Format, ReportFlag, TargetFlags } from './flags.ts';
import { printerFor } from './output/printer.ts';
import { chooseTarget, resolveConfig } from '../project/resolved-config.ts';
import { emit, requireWritable } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { reportFileOption, formatOption, groups, pathsArgument, selectionOption, targetOptions, type DefineCommand } from './options.ts';

export type TestFlags = TargetFlags & { readonly format: Format; readonly report: readonly ReportFlag[] };

/** Defines `ostiary test`. */
export const defineTest: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument)))
    .addOption(formatOption(formatsFor('test', 'print')))
    .optionsGroup(groups.report)
    .addOption(reportFileOption(formatsFor('test', 'file')))
    .action((paths, flags) => run((context) => runTest({ ...flags, paths }, context)));
};

/**
 * Tries the rules of one target, or of all, on their samples; uses no gateway and no secrets. Returns exit code 0, or 3 if a
 * sample fails.
 */
export async function runTest(flags: TestFlags, context: CliContext): Promise<number> {
  requireWritable(flags.report, context);
  const config = resolveConfig(flags, context);
  const targets = flags.target === undefined ? config.targets : [chooseTarget(config, flags)];
  const patterns = patternCache();
  const warnings = new Map<string, string>();
  const printer = printerFor(context, flags);
  const tried = targets.map((target): TargetSampleResults => {
    const { value, diagnostics } = loadTarget(config, target, { selection: flags, context, secrets: 'leave' });
    if (value === undefined || hasErrors(diagnostics)) throw new InputError(sortDiagnostics(diagnostics));
    for (const one of diagnostics) warnings.set(JSON.stringify(one), diagnosticsText([one], printer.errors));
    return { target: target.name, rules: value.resources.flatMap((resource) => trySamples(resource, patterns) ?? []) };
  });
  for (const text of warnings.values()) printer.hint(text);
  await emit(samplesDocument(tried), { flags, context, printer });
  return tried.some(({ rules }) => rules.some(({ trials }) => trials.some(({ outcome }) => outcome === 'failed'))) ? 3 : 0;
}
