import type { Diagnostic } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { escapeTerminal } from '../report/escape.ts';
import { searchListing } from '../report/subjects/listings.ts';
import { viewFormats, type ViewFlags, formatOption, targetOptions, type DefineCommand } from './context/options.ts';
import { announceTarget, withService } from './session/connect.ts';
import { printView } from './get.ts';
import { resolveProject } from '../project/project.ts';
import { printerFor } from './output/printer.ts';
import { waiting } from './output/progress.ts';
import type { CliContext } from './context/cli-context.ts';

/** Defines `ostiary search`. */
export const defineSearch: DefineCommand = (command, run) => {
  targetOptions(command.argument('<term>', 'part of a name'))
    .addOption(formatOption(viewFormats))
    .action((term, flags) => run((context) => runSearch({ ...flags, term }, context)));
};

/** Searches connections, resources and runbooks. A part that could not be searched is a warning. Returns exit code 0. */
async function runSearch(flags: ViewFlags & { readonly term: string }, context: CliContext): Promise<number> {
  const { term, format } = flags;
  if (term.trim() === '') throw new UsageError('the search term is empty', 'pass a part of a name: ostiary search orders');
  const printer = printerFor(context, flags);
  return withService(announceTarget(resolveProject(flags, context), flags, context), { flags, context }, async (service) => {
    const document = await waiting('searching the gateway', { flags, context }, () => service.search(term));
    printer.diagnostics(document.errors.map(partial));
    const { connections, resources, runbooks } = document;
    if (format === 'text' && connections.length + resources.length + runbooks.length === 0) {
      printer.hint(`no results for "${escapeTerminal(term)}"\n`);
    } else printView({ document, listing: searchListing(document) }, format, printer);
    return 0;
  });
}

function partial(text: string): Diagnostic {
  return { code: 'api/partial', severity: 'warning', message: `incomplete search: ${text}` };
}
