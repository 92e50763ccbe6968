import { registry } from '../kinds/index.ts';
import { findDeferredReferences } from '../manifest/collect-edges.ts';
import { hasErrors, sortDiagnostics, type Diagnostic } from '../model/diagnostic.ts';
import type { RuleSampleResults } from '../model/protection/protection.ts';
import { formatsFor } from '../report/formats.ts';
import { findingsDocument } from '../report/subjects/findings.ts';
import { diagnosticCounts, diagnosticsText } from '../report/text/diagnostics.ts';
import { plural } from '../report/wording/counts.ts';
import { loadTarget } from '../project/manifests.ts';
import type { Format, ReportFlag, TargetFlags } from './flags.ts';
import { checkManifestPolicies } from './planning/target-policies.ts';
import { emit, pathInRepository, requireWritable } from './output/emit.ts';
import { printerFor } from './output/printer.ts';
import { chooseTarget, resolveConfig } from '../project/resolved-config.ts';
import { version } from './context/version.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './run-for-targets.ts';
import {
  formatOption,
  pathsArgument,
  reportFileOption,
  selectionOption,
  targetOptions,
  todayOption,
  type DefineCommand,
} from './options.ts';

export type ValidateFlags = TargetFlags & { readonly format: Format; readonly report: readonly ReportFlag[]; readonly today?: string };

/** Defines `ostiary validate`. */
export const defineValidate: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument), true))
    .addOption(todayOption())
    .addOption(formatOption(formatsFor('validate', 'print')))
    .addOption(reportFileOption(formatsFor('validate', 'file')))
    .action((paths, flags) => run((context) => runForTargets({ ...flags, paths }, context, { list: 'diagnostics', run: runValidate })));
};

/**
 * Checks the manifests of one target, or of all, and tries rules on their samples; uses no gateway and no secrets. Returns
 * exit code 0 or 3.
 */
export async function runValidate(flags: ValidateFlags, context: CliContext): Promise<number> {
  requireWritable(flags.report, context);
  const config = resolveConfig(flags, context);
  const targets = flags.target === undefined ? config.targets : [chooseTarget(config, flags)];
  const [{ ruleInspector }, { notSimulatedNotice: notSimulated }] = await Promise.all([
    import('../protection/rule-inspector.ts'),
    import('../protection/samples/sample-findings.ts'),
  ]);
  const tried: RuleSampleResults[] = [];
  const inspect = ruleInspector('error', (one) => tried.push(one));
  const found = new Map<string, Diagnostic>();
  let resources = 0;
  for (const target of targets) {
    const { value, diagnostics } = loadTarget(config, target, { selection: flags, context, secrets: 'leave', inspect });
    resources = Math.max(resources, value?.resources.length ?? 0);
    const policyDiagnostics = value === undefined ? [] : await checkManifestPolicies(value, target, { flags, context });
    for (const one of [...diagnostics, ...(value === undefined ? [] : findDeferredReferences(value, registry)), ...policyDiagnostics])
      found.set(JSON.stringify(one), one);
  }
  const all = sortDiagnostics([...found.values(), ...notSimulated(tried)]);
  context.onEvent?.({ diagnostics: all });
  const printer = printerFor(context, flags);
  const { print, note, hint, results, errors } = printer;
  const isValid = !hasErrors(all);
  const counted = `${plural(resources, 'resource')}${targets.length > 1 ? ` in ${targets.length} targets` : ''}.${all.length > 0 ? ` ${diagnosticCounts(all)}.` : ''}`;
  const isText = flags.format === 'text';
  if (isText) {
    if (all.length > 0) (isValid ? hint : note)(diagnosticsText(all, errors));
    if (isValid) print(`${results.color.green('Valid.')} ${counted}\n`);
  }
  const run = { targets: [{ diagnostics: all }], version, pathOf: pathInRepository(context), fallback: config.file ?? 'ostiary.yaml' };
  const document = findingsDocument(run, isValid ? `Valid. ${counted}` : 'The manifests are not valid.');
  await emit(document, { flags, context, printer, printed: isText });
  return isValid ? 0 : 3;
}
