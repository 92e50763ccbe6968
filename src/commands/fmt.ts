import { basename, dirname, resolve } from 'node:path';
import { missingPaths, readTree } from '../disk/walk.ts';
import { treeWriter } from '../disk/tree-writer.ts';
import { registry } from '../kinds/index.ts';
import { existingDefaultsAbove } from '../project/manifests.ts';
import { defaultsSchema } from '../manifest/read-defaults.ts';
import { defaultsKind } from '../manifest/validate/validate-manifest.ts';
import { configSchema } from '../manifest/read-config.ts';
import { accessTestKind } from '../model/protection/access-test.ts';
import { policyKind } from '../model/protection/policy.ts';
import { accessTestSchema } from '../manifest/read-access-tests.ts';
import { policySchema } from '../manifest/read-policies.ts';
import { type DocumentSchemas, formatFile } from '../manifest/format/format-file.ts';
import { appendAll } from '../model/collections.ts';
import { type Checked, type Diagnostic, hasErrors, sortDiagnostics, type SourceFile } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { absolutePath, resolveConfig } from '../project/resolved-config.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { escapeTerminal } from '../report/escape.ts';
import { plural } from '../report/wording/phrases.ts';
import type { CliContext } from './context/cli-context.ts';
import { configOption, type DefineCommand, groups, type OutputFlags } from './context/options.ts';
import { printerFor } from './output/printer.ts';

type FmtFlags = OutputFlags & { readonly paths: readonly string[]; readonly check: boolean; readonly config?: string };

/** Defines `ostiary fmt`. */
export const defineFmt: DefineCommand = (command, run) => {
  command
    .argument('[paths...]', 'format only these files and folders (default: the config, its manifests and overlays)')
    .optionsGroup(groups.own)
    .option('--check', 'write nothing; exit with 2 if a file is not formatted', false);
  configOption(command).action((paths, flags) => run((context) => runFmt({ ...flags, paths }, context)));
};

/**
 * Formats YAML files: the fields in the order of the schema, one layout. Values and comments stay as they are. Returns exit code 0; with
 * `check` 2 if a file is not formatted; 3 if a file is not valid YAML.
 */
async function runFmt(flags: FmtFlags, context: CliContext): Promise<number> {
  const { value: files = [], diagnostics } = filesToFormat(flags, context);
  const layOutYaml = await loadYamlLayout();
  const found: Diagnostic[] = [...diagnostics];
  const { print, note, hint, errors } = printerFor(context, flags);
  let changed = 0;
  for (const file of files) {
    const { value, diagnostics: problems } = await formatFile(file, schemas, layOutYaml);
    appendAll(found, problems);
    if (value === undefined || value === file.text) continue;
    changed += 1;
    const path = resolve(context.cwd, file.path);
    if (!flags.check) treeWriter(dirname(path)).replace(basename(path), value, file.text);
    print(`${escapeTerminal(file.path)}\n`);
  }
  if (found.length > 0) note(diagnosticsText(sortDiagnostics(found), errors));
  hint(`${plural(files.length, 'file')} checked, ${changed} ${flags.check ? 'not formatted' : 'rewritten'}.\n`);
  if (hasErrors(found)) return 3;
  return flags.check && changed > 0 ? 2 : 0;
}

/** Loads what lays out YAML text uniformly: two spaces, one space inside braces, at most 120 columns; it rejects invalid YAML. */
async function loadYamlLayout(): Promise<(text: string) => Promise<string>> {
  const [{ format }, yaml] = await Promise.all([import('prettier/standalone'), import('prettier/plugins/yaml')]);
  return (text) => format(text, { parser: 'yaml', plugins: [yaml], printWidth: 120, endOfLine: 'auto' });
}

/** Reads the files of the paths; without paths the config file, and the manifests and overlays of all targets. */
function filesToFormat({ paths, config }: FmtFlags, context: CliContext): Checked<readonly SourceFile[]> {
  const { cwd } = context;
  if (paths.length > 0) {
    const absolute = paths.map((path) => absolutePath(path, context));
    const missing = missingPaths(absolute, cwd);
    return missing.length > 0 ? { diagnostics: missing } : readTree(absolute, { root: cwd, cwd, exclude: [] });
  }
  const resolved = resolveConfig({ config }, context);
  if (resolved.file === undefined)
    throw new UsageError('found no config file, and no path was given', 'run ostiary init, or pass the files to format');
  const folders = resolved.targets.flatMap(({ manifests, overlays }) => [...manifests, ...overlays]);
  const all = new Set([resolve(cwd, resolved.file), ...folders, ...existingDefaultsAbove(folders, resolved.root)]);
  return readTree([...all], { root: resolved.root, cwd, exclude: [] });
}

const schemas: DocumentSchemas = new Map([
  ...[...registry.values()].map(({ name, schema }) => [name, schema] as const),
  [policyKind, policySchema],
  [accessTestKind, accessTestSchema],
  [defaultsKind, defaultsSchema],
  ['Config', configSchema],
]);
