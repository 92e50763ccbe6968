import { configRefOption, configOption, type DefineCommand, formatOption, groups, type OutputFlags } from './context/options.ts';
import { printerFor } from './output/printer.ts';
import {
  type AffectedFlags,
  affectedDocument,
  affectedLines,
  affectedNames,
  findAffectedTargets,
  unaffectedNames,
} from './planning/affected-targets.ts';
import { requireWritable } from './output/emit.ts';
import { writeReport } from '../disk/write.ts';
import { outputPath } from '../project/resolved-config.ts';
import type { CliContext } from './context/cli-context.ts';
import { escapeTerminal } from '../report/escape.ts';

type TargetsFlags = OutputFlags & AffectedFlags & { readonly format: 'text' | 'json'; readonly out?: string };

/** Defines `ostiary targets`. */
export const defineTargets: DefineCommand = (command, run) => {
  configRefOption(configOption(command))
    .optionsGroup(groups.own)
    .option('--own <ref>', 'the branch (such as origin/main) that the change is for')
    .option('--out <file>', 'write the names of the affected targets to this file, as a JSON list')
    .addOption(formatOption(['text', 'json']))
    .action((flags) => run((context) => runTargets(flags, context)));
};

/** Lists the targets that a change affects, each with what differs; uses no gateway and no secrets. Returns exit code 0. */
async function runTargets(flags: TargetsFlags, context: CliContext): Promise<number> {
  const { format, out } = flags;
  if (out !== undefined) requireWritable([{ what: 'list of targets', path: out }], context);
  const affected = await findAffectedTargets(flags, context);
  const { print, printDocument, diagnostics } = printerFor(context, flags);
  context.onEvent?.({ diagnostics: affected.diagnostics });
  context.onEvent?.({ affected: affectedNames(affected), unaffected: unaffectedNames(affected) });
  diagnostics(affected.diagnostics);
  if (format === 'json') printDocument({ version: 1, ...affectedDocument(affected) });
  else for (const line of affectedLines(affected)) print(`${escapeTerminal(line)}\n`);
  if (out !== undefined) writeReport(outputPath(out, context), `${JSON.stringify(affectedNames(affected))}\n`);
  return 0;
}
