import { hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import type { TargetSampleResults } from '../model/result/sample-result.ts';
import { writeReport } from '../disk/write.ts';
import { patternCache } from '../protection/pattern/compile.ts';
import { trySamples } from '../protection/samples/try-samples.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { junitText } from '../report/junit.ts';
import { plainPalette, type Terminal } from '../report/text/terminal.ts';
import { trialsJson } from '../report/trials-json.ts';
import { trialsText } from '../report/text/samples.ts';
import { loadTarget } from '../project/manifests.ts';
import { trialFormats, type ReportFlag, type TargetFlags, type TrialFormat } from './flags.ts';
import { printerFor } from './printer.ts';
import { absolutePath, chooseTarget, resolveConfig } from '../project/resolved-config.ts';
import { requireWritable } from './tell.ts';
import type { CliContext } from './context/cli-context.ts';
import { collectReport, formatOption, groups, pathsArgument, selectionOption, targetOptions, type DefineCommand } from './options.ts';

export type TestFlags = TargetFlags & { readonly format: TrialFormat; readonly report: readonly ReportFlag<TrialFormat>[] };

/** Defines `ostiary test`. */
export const defineTest: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument)))
    .addOption(formatOption(trialFormats))
    .optionsGroup(groups.report)
    .option('--report <format=path>', 'also write the results to a file (repeatable)', collectReport(trialFormats), [])
    .action((paths, flags) => run((context) => test({ ...flags, paths }, context)));
};

/** Tries the rules of one target, or of all, on their samples; asks no gateway and resolves no secret. Exit 0, or 3 where one fails. */
export async function test(flags: TestFlags, context: CliContext): Promise<number> {
  requireWritable(flags.report, context);
  const config = resolveConfig(flags, context);
  const targets = flags.target === undefined ? config.targets : [chooseTarget(config, flags)];
  const patterns = patternCache();
  const warnings = new Map<string, string>();
  const { print, hint, results, errors } = printerFor(context, flags);
  const tried = targets.map((target): TargetSampleResults => {
    const { value, diagnostics } = loadTarget(config, target, { selection: flags, context, secrets: 'leave' });
    if (value === undefined || hasErrors(diagnostics)) throw new InputError(sortDiagnostics(diagnostics));
    for (const one of diagnostics) warnings.set(JSON.stringify(one), diagnosticsText([one], errors));
    return { target: target.name, rules: value.resources.flatMap((resource) => trySamples(resource, patterns) ?? []) };
  });
  for (const text of warnings.values()) hint(text);
  print(render(tried, flags.format, results));
  for (const { format, path } of flags.report) writeReport(absolutePath(path, context), render(tried, format, { color: plainPalette }));
  return tried.some(({ rules }) => rules.some(({ trials }) => trials.some(({ outcome }) => outcome === 'failed'))) ? 3 : 0;
}

function render(tried: readonly TargetSampleResults[], format: TrialFormat, terminal: Terminal): string {
  switch (format) {
    case 'json':
      return trialsJson(tried);
    case 'junit':
      return junitText(tried);
    case 'text':
      return trialsText(tried, terminal);
  }
}
