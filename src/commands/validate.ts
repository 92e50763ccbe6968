import { largestOf } from '../model/collections.ts';
import { registry } from '../kinds/index.ts';
import { findDeferredReferences } from '../manifest/collect-edges.ts';
import type { Acknowledged } from '../model/desired.ts';
import { type Diagnostic, formatPosition, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { escapeTerminal } from '../report/escape.ts';
import type { RuleSampleResults } from '../model/protection/protection.ts';
import { formatsFor } from '../report/formats.ts';
import type { ReportDocument } from '../report/document.ts';
import { findingsDocument } from '../report/subjects/findings.ts';
import { findingDiagnostics } from '../report/subjects/found.ts';
import { diagnosticCounts } from '../report/wording/diagnostics.ts';
import { uncountedLines } from '../report/text/diagnostics.ts';
import { plural } from '../report/wording/phrases.ts';
import { readWorkingTree } from '../project/checkout.ts';
import { loadTarget } from '../project/manifests.ts';
import { findRepository } from '../project/open-project.ts';
import {
  type DefineCommand,
  type Format,
  formatOption,
  pathsArgument,
  reportFileOption,
  type ReportFlag,
  selectionOption,
  type TargetFlags,
  targetOptions,
  todayOption,
} from './context/options.ts';
import { accessDiagnostics, checkDeclaredAccess } from './planning/access-tests.ts';
import { checkManifestPolicies, timeOf, todayOf } from './planning/target-policies.ts';
import { emitForTargets, pathInRepository, requireWritable } from './output/emit.ts';
import { printerFor } from './output/printer.ts';
import { chooseTargets, resolveConfig } from '../project/resolved-config.ts';
import { version } from './context/version.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './command-line/run-for-targets.ts';

type ValidateFlags = TargetFlags & {
  readonly format: Format;
  readonly report: readonly ReportFlag[];
  readonly today?: string;
  readonly allTargets: boolean;
};

/** Defines `ostiary validate`. */
export const defineValidate: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument), true))
    .addOption(todayOption())
    .addOption(formatOption(formatsFor('validate', 'print')))
    .addOption(reportFileOption(formatsFor('validate', 'file')))
    .action((paths, flags) =>
      run((context) => runForTargets({ ...flags, paths }, context, { list: 'diagnostics', isJoint: true, run: runValidate })),
    );
};

/**
 * Checks the manifests of the selected targets, by default of all, and tries rules on their samples; uses no gateway and no secrets.
 * Returns exit code 0 or 3.
 */
async function runValidate(flags: ValidateFlags, context: CliContext): Promise<number> {
  requireWritable(flags.report, context);
  const config = resolveConfig(flags, context);
  const targets = chooseTargets(config, flags);
  const repository = await findRepository(config.root, context);
  const { ruleInspector, notSimulatedNotice } = await import('../protection/rule-inspector.ts');
  const checked: CheckedTarget[] = [];
  const accepted = new Set<string>();
  for (const target of targets) {
    const tried: RuleSampleResults[] = [];
    const inspect = ruleInspector('error', (one) => tried.push(one));
    const project = { config, target, repository, selection: flags, context };
    const read = await readWorkingTree(project);
    const { value, diagnostics } = loadTarget(project, {
      secrets: 'leave',
      inspect,
      checkedDialect: target.dialect,
      ends: { now: timeOf(flags, context), ended: 'error' },
      read,
    });
    const policyDiagnostics = value === undefined ? [] : await checkManifestPolicies(value, target, todayOf(flags, context));
    const { results, misspelled } = await checkDeclaredAccess(value, project);
    const named = value === undefined ? [] : findDeferredReferences(value, registry);
    const judged = named.map((finding) => value?.acknowledge?.(finding) ?? { finding });
    const deferred = judged.flatMap(({ finding, reason }) => (reason === undefined ? [finding] : []));
    const known = judged.flatMap(({ finding, reason }) => (reason === undefined ? [] : [{ finding, reason }]));
    if (flags.verbose === true) for (const one of [...(value?.acknowledged ?? []), ...known]) accepted.add(acknowledgedLine(one));
    checked.push({
      target: target.name,
      resources: value?.resources.length ?? 0,
      diagnostics: [
        ...diagnostics,
        ...deferred,
        ...policyDiagnostics,
        ...accessDiagnostics(results),
        ...misspelled,
        ...notSimulatedNotice(tried),
      ],
    });
  }
  const all = sortDiagnostics(findingDiagnostics({ targets: checked }));
  context.onEvent?.({ diagnostics: all });
  const printer = printerFor(context, flags);
  for (const line of accepted) printer.hint(`${line}\n`);
  const isText = flags.format === 'text';
  // The sentence about valid manifests counts the diagnostics.
  if (isText && hasErrors(all)) printer.diagnostics(all);
  else if (isText) {
    printer.hint(
      uncountedLines(all, printer.errors)
        .map((line) => `${line}\n`)
        .join(''),
    );
    printer.print(`${printer.results.color.green('Valid.')} ${countsOf(checked)}\n`);
  }
  const place = { version, pathOf: pathInRepository(context), fallback: config.file ?? 'ostiary.yaml' };
  const documentOf = (some: readonly CheckedTarget[]): ReportDocument =>
    findingsDocument(
      { targets: some, ...place },
      some.some(({ diagnostics }) => hasErrors(diagnostics)) ? 'The manifests are not valid.' : `Valid. ${countsOf(some)}`,
    );
  await emitForTargets(checked, documentOf, { flags, context, printer, printed: isText });
  return hasErrors(all) ? 3 : 0;
}

/** Returns `access/rule.yaml:12:7 acknowledged rule/case-variant  …` and the reason in another line. */
function acknowledgedLine({ finding, reason }: Acknowledged): string {
  const { code, message, at } = finding;
  const place = at === undefined ? '' : `${formatPosition(at)} `;
  return `${escapeTerminal(`${place}acknowledged ${code}  ${message}`)}\n  because: ${escapeTerminal(reason)}`;
}

type CheckedTarget = { readonly target: string; readonly resources: number; readonly diagnostics: readonly Diagnostic[] };

/** Returns `7 resources in 2 targets. 1 warning.` */
function countsOf(checked: readonly CheckedTarget[]): string {
  const resources = largestOf(
    checked.map((one) => one.resources),
    0,
  );
  const all = findingDiagnostics({ targets: checked });
  const where = checked.length > 1 ? ` in ${checked.length} targets` : '';
  return `${plural(resources, 'resource')}${where}.${all.length > 0 ? ` ${diagnosticCounts(all)}.` : ''}`;
}
