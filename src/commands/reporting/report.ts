import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { AppError, UsageError } from '../../model/errors.ts';
import { asObject, asText, isObject, type JsonObject, parseJson } from '../../model/json.ts';
import { type AppliedAccess, readAppliedAccess } from './applied-access.ts';
import { readAnswerOrigins } from './answer-origins.ts';
import { selectionMatcher } from '../../model/resource-selection.ts';
import { accessModes, type AccessMode } from '../../model/protection/access-objects.ts';
import type { Permission } from '../../model/protection/permission.ts';
import { permissionsByGroup } from '../../protection/permission/permission.ts';
import { dataInPage, renderTablePage } from '../../report/html/page.ts';
import { accessReportPage } from '../../report/subjects/access-pages.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { toJsonText } from '../../report/serialize.ts';
import { tableText } from '../../report/text/table.ts';
import {
  accessDigest,
  accessReportListing,
  accessReport,
  accessReportCsv,
  type ReportedConnection,
} from '../../report/subjects/access-report.ts';
import type { CliContext } from '../context/cli-context.ts';
import { collectTag, type DefineCommand } from '../context/options.ts';
import { printerFor } from '../output/printer.ts';
import { type AccessFlags, type Asked, readSubjects, sourceOptions } from '../can.ts';

type ReportFlags = Omit<AccessFlags, 'format'> & {
  readonly format?: 'html' | 'text' | 'csv' | 'json';
  readonly verify?: string;
} & AccessFilter;

/** What a report is restricted to. */
type AccessFilter = { readonly tag: readonly string[]; readonly verb?: AccessMode; readonly withoutApproval: boolean };

/** Defines `ostiary report`. */
export const defineReport: DefineCommand = (command, run) => {
  const asked = command.addArgument(new Argument('<what>', 'access: who can reach what, for auditors').choices(['access']));
  sourceOptions(
    asked,
    new Option('--format <format>', 'output format (default: text on a terminal, else html)').choices(['html', 'text', 'csv', 'json']),
  )
    .option('--tag <key=value>', 'only connections with this tag; repeat to require several tags', collectTag, [])
    .addOption(new Option('--verb <verb>', 'only what people can do with this verb').choices([...accessModes]))
    .option('--without-approval', 'only people who need no approval, or of whom that is not known', false)
    .option('--verify <file>', 'check that a page or JSON of this command was not changed')
    .action((_what, flags) => run((context) => runReport(flags, context)));
};

/** Prints a report on access, or checks one. Returns exit code 0, and 2 for a report that was changed. */
async function runReport(flags: ReportFlags, context: CliContext): Promise<number> {
  if (flags.verify !== undefined) return verifyReport(flags.verify, flags, context);
  // The tags select rows, not manifests: rules have no tags, and decide.
  const { tag: _tag, ...unselected } = flags;
  const sources = { ...unselected, format: 'json' } as const;
  const asked = await readSubjects(sources, context);
  const { placeOf, printer, target, project } = asked;
  const { repository } = project;
  const applied = await readAppliedAccess(asked, sources, context);
  const connections = reportedConnections(asked, applied, flags);
  const people = connections.flatMap((one) => one.people);
  const originOf = await readAnswerOrigins(asked, people, context);
  const commit = !(repository instanceof AppError) ? repository?.head : undefined;
  const report = accessReport({
    target,
    source: asked.view.source,
    commit,
    applied: applied?.summary,
    isApplied: applied?.isApplied,
    connections,
    placeOf,
    originOf,
    filters: filterTexts(flags),
  });
  const format = flags.format ?? (context.stdout.isTTY ? 'text' : 'html');
  if (format === 'json') printer.print(toJsonText(report));
  else if (format === 'text') {
    const listing = accessReportListing(report);
    const none = ['no access', ...filterTexts(flags)].join(' ');
    printer.print(listing.rows.length === 0 ? `${escapeTerminal(none)}\n` : tableText(listing, printer.results.columns));
  } else printer.print(format === 'csv' ? accessReportCsv(report) : renderTablePage(accessReportPage(report)));
  printer.note(`SHA-256 ${asText(report['digest'])}\n`);
  return 0;
}

function verifyReport(file: string, flags: ReportFlags, context: CliContext): number {
  const text = textToVerify(resolve(context.cwd, file), file);
  const report = text.startsWith('<!doctype') ? reportInPage(text) : reportIn(text);
  const { print } = printerFor(context, flags);
  const isSame = report !== undefined && report['digest'] === accessDigest(report);
  print(isSame ? `unchanged: SHA-256 ${asText(report['digest'])}\n` : `changed: ${file} is not what its digest signs\n`);
  return isSame ? 0 : 2;
}

function textToVerify(path: string, shown: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`cannot read ${shown}`, 'name a page or JSON of ostiary report access');
  }
}

/** Returns the report of a page; undefined if the page shows something else, too. */
function reportInPage(page: string): JsonObject | undefined {
  const report = asObject(dataInPage(page));
  return renderTablePage(accessReportPage(report)) === page ? report : undefined;
}

function reportIn(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value) || value['report'] !== 'access')
    throw new UsageError('not a report on access', 'name a page or JSON of ostiary report access');
  return value;
}

function reportedConnections(
  { view: { snapshot }, connections, groups }: Asked,
  applied: AppliedAccess | undefined,
  { tag, verb, withoutApproval }: AccessFilter,
): readonly ReportedConnection[] {
  const isTagged = selectionMatcher({ tag });
  return connections.flatMap((id): readonly ReportedConnection[] => {
    const spec = snapshot.resources.get(id)?.spec ?? {};
    if (!snapshot.resources.has(id) || !isTagged({ id, spec })) return [];
    const { byGroup, others } = permissionsByGroup({ id, snapshot }, groups);
    const type = [spec['type'], spec['subtype']].flatMap((one) => (typeof one === 'string' && one !== '' ? [one] : [])).join('/');
    // What the manifests no longer grant is live until it is applied.
    const former = (applied?.groupsOf(id) ?? []).filter((group) => !byGroup.has(group));
    const unnamed = former.map((group) => others.map((one) => ({ ...one, groups: [group] })));
    const all = [others, ...byGroup.values(), ...unnamed.filter((one) => applied?.isApplied(one) === false)];
    const asked = verb === undefined ? all : all.map((people) => people.filter((one) => one.verb === verb));
    const people = withoutApproval ? asked.filter((permissions) => permissions.some(needsNoApproval)) : asked;
    return [{ id, tags: asObject(spec['connection_tags']), type, people }];
  });
}

/** Returns whether people need no approval, or may need none. */
function needsNoApproval({ answer, approval }: Permission): boolean {
  return answer !== 'no' && (answer === 'unknown' || approval === undefined || approval === 'unknown');
}

function filterTexts({ tag, verb, withoutApproval }: AccessFilter): readonly string[] {
  return [
    ...tag.map((text) => `--tag ${text}`),
    ...(verb === undefined ? [] : [`--verb ${verb}`]),
    ...(withoutApproval ? ['--without-approval'] : []),
  ];
}
