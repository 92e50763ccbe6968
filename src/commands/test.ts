import { hasErrors, type Diagnostic } from '../model/diagnostic.ts';
import { InputError } from '../model/errors.ts';
import { patternCache } from '../protection/pattern/compile.ts';
import { trySamples } from '../protection/samples/try-samples.ts';
import { formatsFor } from '../report/formats.ts';
import { findingDiagnostics } from '../report/subjects/found.ts';
import { samplesDocument } from '../report/subjects/samples.ts';
import { accessTrials, checkDeclaredAccess } from './planning/access-tests.ts';
import { readWorkingTree } from '../project/checkout.ts';
import { loadTarget } from '../project/manifests.ts';
import { findRepository } from '../project/open-project.ts';
import {
  type Format,
  type ReportFlag,
  type TargetFlags,
  reportFileOption,
  formatOption,
  groups,
  pathsArgument,
  selectionOption,
  targetOptions,
  type DefineCommand,
} from './context/options.ts';
import { printerFor } from './output/printer.ts';
import { chooseTargets, resolveConfig } from '../project/resolved-config.ts';
import { emitForTargets, requireWritable } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './command-line/run-for-targets.ts';

type TestFlags = TargetFlags & { readonly format: Format; readonly report: readonly ReportFlag[]; readonly allTargets: boolean };

/** Defines `ostiary test`. */
export const defineTest: DefineCommand = (command, run) => {
  selectionOption(targetOptions(command.argument(...pathsArgument), true))
    .addOption(formatOption(formatsFor('test', 'print')))
    .optionsGroup(groups.report)
    .addOption(reportFileOption(formatsFor('test', 'file')))
    .action((paths, flags) =>
      run((context) => runForTargets({ ...flags, paths }, context, { list: 'targets', isJoint: true, run: runTest })),
    );
};

/**
 * Tries the rules of the selected targets, by default of all, on their samples, and checks access tests; uses no
 * gateway and no secrets. Returns exit code 0, or 3 if a sample or an access test fails.
 */
async function runTest(flags: TestFlags, context: CliContext): Promise<number> {
  requireWritable(flags.report, context);
  const config = resolveConfig(flags, context);
  const targets = chooseTargets(config, flags);
  const repository = await findRepository(config.root, context);
  const patterns = patternCache();
  const tried = targets.map(async (target) => {
    const project = { config, target, repository, selection: flags, context };
    const read = await readWorkingTree(project);
    const { value, diagnostics } = loadTarget(project, { secrets: 'leave', read });
    const samples = (value?.resources ?? []).flatMap((resource) => trySamples(resource, patterns) ?? []);
    const { results, misspelled } = await checkDeclaredAccess(value, project);
    return { target: target.name, diagnostics, misspelled, rules: [...samples, ...accessTrials(results, value ?? {})] };
  });
  const loaded = await Promise.all(tried);
  const found: readonly Diagnostic[] = findingDiagnostics({ targets: loaded });
  if (hasErrors(found)) throw new InputError(found);
  const printer = printerFor(context, flags);
  const warnings = findingDiagnostics({ targets: loaded.map(({ target, misspelled }) => ({ target, diagnostics: misspelled })) });
  printer.diagnostics([...found, ...warnings]);
  await emitForTargets(loaded, samplesDocument, { flags, context, printer });
  const fails = loaded.some(({ rules }) => rules.some(({ trials }) => trials.some(({ outcome }) => outcome === 'failed')));
  return fails ? 3 : 0;
}
