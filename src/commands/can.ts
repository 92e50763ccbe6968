import { Option } from 'commander';
import { didYouMean } from '../model/diagnostic.ts';
import { UsageError } from '../model/errors.ts';
import { asObject, type Json } from '../model/json.ts';
import { accessModes, type AccessMode, type AccessUser } from '../model/protection/access-objects.ts';
import type { Permission, PermissionFact } from '../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../model/resource.ts';
import { matchesPattern } from '../model/resource-selection.ts';
import { namedGroups } from '../model/protection/access-test.ts';
import { groupsNamedBy } from '../protection/permission/named-groups.ts';
import { groupsIn, permissionOf, permissionsByGroup } from '../protection/permission/permission.ts';
import { seeingAll } from '../protection/access/effective-access.ts';
import { allConnections, rolesIn } from '../protection/posture/protection-snapshot.ts';
import { renderTablePage } from '../report/html/page.ts';
import { accessReportPage } from '../report/subjects/access-pages.ts';
import { accessReport } from '../report/subjects/access-report.ts';
import { tableText } from '../report/text/table.ts';
import {
  answerText,
  foldPermissions,
  permissionListing,
  permissionObject,
  permissionsCsv,
  type PlaceOf,
  whoListing,
} from '../report/subjects/permissions.ts';
import { escapeTerminal } from '../report/escape.ts';
import { toJsonText } from '../report/serialize.ts';
import { announceTarget, requireWhole, withService } from './session/connect.ts';
import type { CliContext } from './context/cli-context.ts';
import { baseOptions, type DefineCommand, formatOption, groups, type TargetFlags, targetOptions } from './context/options.ts';
import { type Printer, printerFor } from './output/printer.ts';
import { type OpenProject, resolveProject } from '../project/project.ts';
import { openProject } from '../project/open-project.ts';
import type { PlanBaseOptions } from '../project/plan-base.ts';
import { type AccessSource, type AccessView, readAccessView } from './planning/access-view.ts';

export type AccessFlags = TargetFlags &
  PlanBaseOptions & {
    readonly format: 'text' | 'json' | 'csv' | 'html';
    readonly live: boolean;
    readonly plan: boolean;
  };

type CanFlags = AccessFlags & { readonly words: readonly string[]; readonly matrix: boolean; readonly user?: string };

/** Defines `ostiary can`. */
export const defineCan: DefineCommand = (command, run) => {
  const asked = command
    .argument('[group]', 'a group, or several of one person: a,b')
    .argument('[verb]', `one of: ${accessModes.join(', ')}`)
    .argument('[connection]', 'the name of a connection');
  sourceOptions(asked, formatOption(['text', 'json', 'csv', 'html']))
    .option('--user <email>', 'ask for the groups of this user of the gateway instead of a group')
    .addOption(new Option('--matrix', 'print what every group can do on every connection').default(false).conflicts('user'))
    .action((group, verb, connection, flags) => {
      const words = [group, verb, connection].filter((word) => word !== undefined);
      return run((context) => runCan({ ...flags, words }, context));
    });
};

/** Defines `ostiary who`. */
export const defineWho: DefineCommand = (command, run) => {
  sourceOptions(command.argument('<connection>', "the name of a connection, or a pattern: 'orders-*'")).action((connection, flags) =>
    run((context) => runWho({ ...flags, connection }, context)),
  );
};

/** Adds the options of commands that ask for access. */
export function sourceOptions(
  on: Parameters<DefineCommand>[0],
  format: Option = formatOption(['text', 'json', 'csv']),
): Parameters<DefineCommand>[0] {
  return baseOptions(targetOptions(on))
    .optionsGroup(groups.own)
    .option('--live', 'ask the gateway as it is (default: the manifests alone)', false)
    .addOption(new Option('--plan', 'ask the gateway as the plan would leave it').default(false).conflicts('live'))
    .addOption(format);
}

/** Returns exit code 0 if the group can, 2 if it cannot, and 4 if that cannot be known; 0 with `--matrix`. */
async function runCan(flags: CanFlags, context: CliContext): Promise<number> {
  const { words, matrix, format } = flags;
  if (matrix) {
    if (words.length > 0) throw new UsageError('--matrix prints all groups and connections', 'remove the arguments, or --matrix');
    const asked = await readSubjects(flags, context);
    printWho(asked.connections, asked, format);
    return 0;
  }
  if (format === 'html') throw new UsageError('a page shows all groups and connections', 'add --matrix, or choose another --format');
  const [verb, connection, ...more] = flags.user === undefined ? words.slice(1) : words;
  const [group] = words;
  if (group === undefined || verb === undefined || connection === undefined || more.length > 0)
    throw new UsageError(
      `expected ${flags.user === undefined ? 'a group, ' : ''}a verb and a connection`,
      `example: ostiary can ${flags.user === undefined ? 'contractors' : '--user ana@example.com'} exec orders-db`,
    );
  const asked = await readSubjects(flags, context);
  const user = flags.user === undefined ? undefined : await userNamed(flags.user, flags, context);
  const question = { groups: user?.groups ?? groupsNamed(group), verb: verbNamed(verb), id: connectionNamed(connection, asked) };
  const answer = permissionIn(asked, question);
  const permission = user?.isActive === false ? refusedTo(user, answer) : answer;
  const { printer, placeOf } = asked;
  // The gateway has the groups of its users.
  if (flags.user === undefined) warnUnknownGroups(permission, asked);
  if (format === 'json') printer.print(toJsonText(permissionObject(permission, placeOf)));
  else if (format === 'csv') printer.print(permissionsCsv([permission], placeOf));
  else {
    printer.print(`${escapeTerminal(answerText(permission))}\n`);
    if (permission.facts.length > 0) printer.print(`\n${tableText(permissionListing(permission, placeOf), printer.results.columns)}`);
  }
  return exitCodes[permission.answer];
}

const exitCodes = { yes: 0, no: 2, unknown: 4 } as const;

/** Lists everybody who can use a connection, or those of a pattern. Returns exit code 0. */
async function runWho(flags: AccessFlags & { readonly connection: string }, context: CliContext): Promise<number> {
  const asked = await readSubjects(flags, context);
  const matched = asked.connections.filter((id) => matchesPattern(nameOf(id), flags.connection));
  printWho(matched.length === 0 ? [connectionNamed(flags.connection, asked)] : matched, asked, flags.format);
  return 0;
}

/** The state that is asked about, and its connections and groups. */
export type Asked = {
  /** The name of the target. */
  readonly target: string;
  readonly project: OpenProject;
  readonly view: AccessView;
  readonly placeOf: PlaceOf;
  readonly connections: readonly ResourceId[];
  /** Those that something names, and those whose members see everything. */
  readonly groups: readonly string[];
  readonly printer: Printer;
};

/** Reads the state that is asked about. */
export async function readSubjects(flags: AccessFlags, context: CliContext): Promise<Asked> {
  const source: AccessSource = flags.live ? 'live' : flags.plan ? 'plan' : 'manifests';
  const project = await openProject(flags, context);
  const view = await readAccessView(project, { ...flags, source }, context);
  if (source !== 'manifests') announceTarget(project, flags, context);
  const printer = printerFor(context, flags);
  printer.diagnostics(view.diagnostics.filter(({ severity }) => severity !== 'notice'));
  if (source === 'manifests') printer.hint(manifestsNote);
  return {
    target: project.target.name,
    project,
    view,
    placeOf: view.placeOf,
    connections: allConnections(view.snapshot).toSorted(),
    groups: [...new Set([...groupsIn(view.snapshot), ...seeingAll([{ roles: rolesIn(view.snapshot) }])])],
    printer,
  };
}

const manifestsNote =
  'decided by the manifests alone: missing rules and attributes count as none, and ? is for the gateway to decide; --plan asks it\n';

function permissionIn(
  { view }: Asked,
  { groups: people, verb, id }: Pick<Permission, 'groups' | 'verb'> & { readonly id: ResourceId },
): Permission {
  return permissionOf({ id, snapshot: view.snapshot }, { groups: people, verb });
}

/** Returns the permission of a user who cannot sign in: none. */
function refusedTo({ name }: AccessUser, answer: Permission): Permission {
  const fact: PermissionFact = { part: 'sees it', answer: 'no', text: `${name} is not active, and cannot sign in`, by: [] };
  const { connection, verb } = answer;
  return { connection, groups: answer.groups, verb, answer: 'no', blocked: [], masked: [], tools: [], facts: [fact] };
}

/** Returns a user of the gateway. Throws UsageError if the gateway has no such user, or none at all. */
async function userNamed(name: string, flags: AccessFlags, context: CliContext): Promise<AccessUser> {
  return withService(resolveProject(flags, context).target, { flags, context }, async (service) => {
    const users = await service.access('users');
    if (users === undefined) throw new UsageError('this gateway has no users of its own', 'name a group instead of --user');
    const all = requireWhole(users);
    const found = all.find((user) => user.name === name || user.id === name);
    if (found !== undefined) return found;
    throw new UsageError(
      `the gateway has no user "${name}"`,
      didYouMean(
        name,
        all.map((user) => user.name),
      ) ?? 'ostiary get users lists all',
    );
  });
}

function groupsNamed(text: string): readonly string[] {
  const named = text.split(',').map((group) => group.trim());
  if (named.includes('')) throw new UsageError('a group has no name', 'name one group, or several of one person: a,b');
  return named;
}

function verbNamed(text: string): AccessMode {
  const verb = accessModes.find((one) => one === text);
  if (verb !== undefined) return verb;
  throw new UsageError(`unknown verb "${text}"`, didYouMean(text, accessModes) ?? `expected one of: ${accessModes.join(', ')}`);
}

function connectionNamed(name: string, { connections, view: { source } }: Asked): ResourceId {
  const found = connections.find((id) => id === name || nameOf(id) === name);
  if (found !== undefined) return found;
  const where = source === 'manifests' ? 'no manifest declares' : 'the gateway has no';
  throw new UsageError(`${where} connection "${name}"`, didYouMean(name, connections.map(nameOf)) ?? 'ostiary can --matrix lists all');
}

/** Lists the groups that something names: objects, also as reviewers, ends of access, or access tests. */
function groupsNamedIn({ snapshot: { resources }, desired }: AccessView): readonly string[] {
  const named = groupsNamedBy(resources.values());
  const ended = (desired?.resources ?? []).flatMap(({ grants = [] }) => grants.map(({ group }) => group));
  const tested = (desired?.accessTests ?? []).flatMap(({ expectations }) => expectations.flatMap(namedGroups));
  return [...named, ...ended, ...tested];
}

/** A group that nothing names is as good as none; it may be misspelled. */
function warnUnknownGroups({ groups: people, answer }: Permission, { printer, view }: Asked): void {
  const named = new Set([...groupsNamedIn(view), ...seeingAll([{ roles: rolesIn(view.snapshot) }])]);
  for (const group of people) {
    // What is not known may name it.
    if (named.has(group) || answer === 'unknown') continue;
    const several = group.split(/[\s+;]+/).filter((one) => named.has(one));
    const hint =
      several.length > 1
        ? `ask for people in all of several groups with commas: ${several.join(',')}`
        : (didYouMean(group, [...named]) ?? 'it has only what everybody has');
    printer.diagnostics([{ code: 'cli/unknown-group', severity: 'warning', message: `nothing names the group "${group}"`, hint }]);
  }
}

function printWho(connections: readonly ResourceId[], asked: Asked, format: AccessFlags['format']): void {
  const { printer, placeOf, target, groups: known, view } = asked;
  const { source, snapshot } = view;
  const all = connections.map((id) => {
    const tags = asObject(snapshot.resources.get(id)?.spec['connection_tags']);
    if (!snapshot.resources.has(id)) return { id, tags, people: [] };
    const { byGroup, others } = permissionsByGroup({ id, snapshot }, known);
    return {
      id,
      tags,
      people: [others, ...known.map((group) => byGroup.get(group) ?? others.map((one) => ({ ...one, groups: [group] })))],
    };
  });
  const flat = all.flatMap(({ people }) => people.flat());
  if (format === 'html')
    printer.print(
      renderTablePage(
        accessReportPage(accessReport({ target, source, commit: undefined, connections: all, placeOf, originOf: () => undefined })),
      ),
    );
  else if (format === 'csv') printer.print(permissionsCsv(flat, placeOf));
  else if (format === 'json') {
    const document: readonly Json[] = flat.map((one) => permissionObject(one, placeOf));
    printer.print(toJsonText(document));
  } else {
    const rows = all.flatMap(({ people }) => foldPermissions(people));
    if (connections.length === 0) printer.print('no connections\n');
    else if (rows.length === 0) printer.print(`no group can use ${escapeTerminal(connections.map(nameOf).join(', '))}\n`);
    else printer.print(tableText(whoListing(rows, accessModes), printer.results.columns));
  }
}
