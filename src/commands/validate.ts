import { registry } from '../kinds/index.ts';
import { findDeferredReferences } from '../manifest/collect-edges.ts';
import { hasErrors, sortDiagnostics, type Diagnostic } from '../model/diagnostic.ts';
import type { RuleSampleResults } from '../model/protection/protection.ts';
import { formatsFor, renderJsonDocument, renderReport } from '../report/formats.ts';
import { findingsDocument } from '../report/subjects/findings.ts';
import { diagnosticCounts } from '../report/text/diagnostics.ts';
import { loadTarget } from '../project/manifests.ts';
import type { Format, TargetFlags } from './flags.ts';
import { checkManifestPolicies } from './planning/target-policies.ts';
import { printerFor } from './output/printer.ts';
import { chooseTarget, resolveConfig } from '../project/resolved-config.ts';
import { version } from './context/version.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './run-for-targets.ts';
import { formatOption, pathsArgument, selectionOption, targetOptions, todayOption, type DefineCommand } from './options.ts';

export type ValidateFlags = TargetFlags & { readonly format: Format; readonly today?: string };

/** Defines `ostiary validate`. */
export const defineValidate: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument), true))
    .addOption(todayOption())
    .addOption(formatOption(formatsFor('validate', 'print')))
    .action((paths, flags) => run((context) => runForTargets({ ...flags, paths }, context, { list: 'diagnostics', run: runValidate })));
};

/**
 * Checks the manifests of one target, or of all, and tries rules on their samples; uses no gateway and no secrets. Returns
 * exit code 0 or 3.
 */
export async function runValidate(flags: ValidateFlags, context: CliContext): Promise<number> {
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
  const { print, printDocument, note, hint, results, errors } = printerFor(context, flags);
  const fallback = config.file ?? 'ostiary.yaml';
  const document = findingsDocument({ targets: [{ diagnostics: all }], version, pathOf: (file) => file, fallback });
  const json = await renderJsonDocument(document, flags.format);
  if (json !== undefined) printDocument(json);
  else if (all.length > 0) (hasErrors(all) ? note : hint)(await renderReport(document, 'text', { terminal: errors }));
  if (hasErrors(all)) return 3;
  if (json === undefined)
    print(
      `${results.color.green('Valid.')} ${resources} ${resources === 1 ? 'resource' : 'resources'}${targets.length > 1 ? ` in ${targets.length} targets` : ''}.${all.length > 0 ? ` ${diagnosticCounts(all)}.` : ''}\n`,
    );
  return 0;
}
