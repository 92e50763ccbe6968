import { requireValue } from '../../model/errors.ts';
import { readWorkingTree } from '../../project/checkout.ts';
import { loadTarget } from '../../project/manifests.ts';
import { openProject } from '../../project/open-project.ts';
import { deciderPositions } from '../../protection/permission/decider-positions.ts';
import { findUnused, revocableGrants, ruleMatches } from '../../replay/find-unused.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { unusedCsv, unusedListing, unusedSentence } from '../../report/subjects/unused.ts';
import { tableText } from '../../report/text/table.ts';
import type { CliContext } from '../context/cli-context.ts';
import { type DefineCommand, formatOption, groups, parseDays, type TargetFlags, targetOptions } from '../context/options.ts';
import { printerFor } from '../output/printer.ts';
import { withSessions } from '../planning/read-sessions.ts';
import { readAccessView } from '../planning/access-view.ts';

type UnusedFlags = TargetFlags & { readonly since: number; readonly edit: boolean; readonly format: 'text' | 'csv' };

/** Defines `ostiary unused`. */
export const defineUnused: DefineCommand = (command, run) => {
  targetOptions(command)
    .optionsGroup(groups.own)
    .option('--since <days>', 'the sessions of the last days, at most 10,000: 90d', parseDays, 90)
    .option('--edit', 'remove the unused grants from the manifests, for a person to review', false)
    .addOption(formatOption(['text', 'csv']))
    .action((flags) => run((context) => runUnused(flags, context)));
};

/** As many sessions as the public gateway lists. */
const most = 10_000;

/** Lists grants that no session used, rules that matched none, and groups without members. Returns exit code 0. */
async function runUnused(flags: UnusedFlags, context: CliContext): Promise<number> {
  const project = await openProject(flags, context);
  const desired = requireValue(loadTarget(project, { secrets: 'leave', read: await readWorkingTree(project) }));
  const printer = printerFor(context, flags);
  const { snapshot, live } = await readAccessView(project, { ...flags, origin: false, source: 'live' }, context);
  return withSessions(project.target, { days: flags.since, most }, { flags, context }, async (read) => {
    if ('missing' in read) {
      printer.print(`not known since ${read.since}: ${escapeTerminal(read.missing)}\n`);
      return 0;
    }
    const matches = ruleMatches(snapshot);
    await read.readScripts(matches.needsScript, matches.add);
    const unused = findUnused({ ...read, snapshot, positionOf: deciderPositions(desired, snapshot) }, matches);
    printer.hint(`${unusedSentence(unused)}\n`);
    if (flags.format === 'csv') printer.print(unusedCsv(unused));
    else printer.print(tableText(unusedListing(unused), printer.results.columns));
    if (!flags.edit || live === undefined) return 0;
    const { revokeGrants } = await import('../../import/revoke-grants.ts');
    const { files, left } = revokeGrants(revocableGrants(snapshot, unused), { project, desired, live });
    printer.diagnostics(left);
    printer.hint(`${files.length === 0 ? 'nothing to edit' : `edited: ${files.map(({ path }) => escapeTerminal(path)).join(', ')}`}\n`);
    return 0;
  });
}
