import { type Checked, didYouMean } from '../model/diagnostic.ts';
import { asText, type Json, type JsonObject, compareText } from '../model/json.ts';
import type { Service } from '../model/service.ts';
import { toYamlText } from '../manifest/yaml/write-yaml.ts';
import { toJsonText } from '../report/serialize.ts';
import type { TableListing } from '../report/blocks.ts';
import { agentListing, resourceListing, templateListing } from '../report/subjects/listings.ts';
import { tableText } from '../report/text/table.ts';
import { reviewJsonOf, reviewListing } from '../report/text/reviews.ts';
import { readReviewDetails } from './review.ts';
import { UsageError } from '../model/errors.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import { accessLists, accessModes, type AccessList } from '../model/protection/access-objects.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { viewFormats, type ViewFlags, type ViewFormat, formatOption, targetOptions, type DefineCommand } from './context/options.ts';
import { announceTarget, connect, withService, readLive, requireWhole } from './session/connect.ts';
import { waiting } from './output/progress.ts';
import { resolveProject } from '../project/project.ts';
import { printerFor, type Printer } from './output/printer.ts';
import type { CliContext } from './context/cli-context.ts';
import { Argument } from 'commander';
import { spellingOf } from '../gateway/dialects/choose-dialect.ts';
import { respellSpec } from '../model/spec/spelling.ts';
import { accessListing } from '../report/subjects/access-listings.ts';

type GetFlags = ViewFlags & { readonly what: string; readonly named: string | undefined };

/** A table of live objects; the first kind is the one that is listed. */
type ObjectView = {
  readonly kinds: readonly string[];
  readonly headers: readonly string[];
  readonly row: (resource: LiveResource) => readonly string[];
};

const objectViews: Readonly<Record<string, ObjectView>> = {
  connections: {
    kinds: ['Connection', 'GuardrailRule'],
    headers: ['name', 'type', 'agent', 'open for', 'reviewers', 'guardrails', 'managed by'],
    row: (one) => [
      nameOf(one.id),
      [asText(one.spec['type']), asText(one.spec['subtype'])].filter((part) => part !== '').join('/'),
      asText(one.spec['agent_id']),
      accessModes.filter((mode) => one.spec[`access_mode_${mode}`] === 'enabled').join(' ') || 'nothing',
      words(one, 'reviewers'),
      ends(one, 'guardrail_rules'),
      one.managedBy ?? '',
    ],
  },
  rules: {
    kinds: ['GuardrailRule', 'DataMaskingRule', 'Connection'],
    headers: ['kind', 'name', 'connections', 'managed by', 'description'],
    row: (one) => [kindOf(one.id), nameOf(one.id), ends(one, 'connection_ids'), one.managedBy ?? '', asText(one.spec['description'])],
  },
  runbooks: {
    kinds: ['RunbookConfiguration'],
    headers: ['repository', 'git url', 'user', 'hook ttl', 'managed by'],
    row: (one) => [
      nameOf(one.id),
      asText(one.spec['git_url']),
      asText(one.spec['git_user']),
      count(one, 'git_hook_ttl'),
      one.managedBy ?? '',
    ],
  },
};

/** What can be listed. */
const listedThings = ['connections', 'rules', 'resources', 'runbooks', 'templates', 'reviews', 'agents', ...accessLists] as const;

/** Returns the singular of a list. */
function singularOf(list: string): string {
  return list.replace(/ies$/, 'y').replace(/s$/, '');
}

/** Defines `ostiary get`. */
export const defineGet: DefineCommand = (command, run) => {
  const listed = new Argument('<what>', 'what to list, in the plural or singular').choices(listedThings).argParser((word) => word);
  targetOptions(command.addArgument(listed).argument('[name]', 'list only the one with this name or ID'))
    .addOption(formatOption(viewFormats))
    .action((word, name, flags) => run((context) => runGet({ ...flags, what: listNamed(word), named: name }, context)));
};

/** Lists live objects without their secrets, or other things that the gateway has. Returns exit code 0. */
async function runGet(flags: GetFlags, context: CliContext): Promise<number> {
  const { what } = flags;
  const view = Object.hasOwn(objectViews, what) ? objectViews[what] : undefined;
  const read = Object.hasOwn(serviceViews, what) ? serviceViews[what] : undefined;
  if (view !== undefined) return printObjectView(view, flags, context);
  if (read !== undefined) return printServiceView(read, flags, context);
  const byName = `ostiary search ${what} finds an object by its name, and ostiary get connection ${what} prints a connection`;
  throw new UsageError(
    `unknown resource type "${what}"`,
    didYouMean(
      what,
      listedThings.flatMap((list) => [list, singularOf(list)]),
    ) ?? `${byName}; expected one of: ${listedThings.join(', ')}`,
  );
}

/** Returns the list that a word names in the plural or singular; the word itself if it names none. */
function listNamed(word: string): string {
  return listedThings.find((list) => list === word || singularOf(list) === word) ?? word;
}

async function printObjectView(view: ObjectView, flags: GetFlags, context: CliContext): Promise<number> {
  const project = resolveProject(flags, context);
  const target = announceTarget(project, flags, context);
  const names = spellingOf(project.config.targets)?.toGateway;
  const { gateway } = await connect(target, { flags, context });
  try {
    const found = shownOf(view, await readLive(gateway, { flags, context }, view.kinds));
    const shown = found.map((one) => ({ ...one, spec: respellSpec(names?.get(kindOf(one.id)), one.spec) }));
    const listing = { headers: view.headers, rows: shown.map(view.row) };
    const known = shown.map(({ id, uid }) => [nameOf(id), uid]);
    printView(selectNamed({ document: shown.map(jsonOf), listing, names: known }, flags), flags.format, printerFor(context, flags));
    return 0;
  } finally {
    await gateway.close();
  }
}

function shownOf(view: ObjectView, live: LiveState): readonly LiveResource[] {
  return live.resources
    .filter((one) => view.kinds[0] === kindOf(one.id) || (view.headers[0] === 'kind' && 'connection_ids' in one.edges))
    .toSorted((left, right) => compareText(left.id, right.id));
}

function jsonOf(one: LiveResource): JsonObject {
  const edges = Object.fromEntries(Object.entries(one.edges).map(([field, ids]) => [field, ids.map(nameOf)]));
  const secrets = Object.keys(one.secrets);
  return {
    kind: kindOf(one.id),
    name: nameOf(one.id),
    id: one.uid,
    managed_by: one.managedBy ?? '',
    spec: { ...one.spec, ...edges },
    secrets,
  };
}

function count(one: LiveResource, field: string): string {
  const value = one.spec[field];
  return typeof value === 'number' ? String(value) : '0';
}

function words(one: LiveResource, field: string): string {
  const value = one.spec[field];
  return Array.isArray(value) ? value.join(' ') : '';
}

function ends(one: LiveResource, field: string): string {
  return (one.edges[field] ?? []).map(nameOf).join(' ');
}

/** A list as a document and as a table; `names` are the name and the ID of each entry. */
type ListView = { readonly document: readonly Json[]; readonly listing: TableListing; readonly names: readonly (readonly string[])[] };

/** Returns the entries with the name that was asked for. Throws UsageError if there is none. */
function selectNamed(view: ListView, { what, named }: Pick<GetFlags, 'what' | 'named'>): ListView {
  if (named === undefined) return view;
  const isMeant = (_: unknown, index: number): boolean => view.names[index]?.includes(named) === true;
  const document = view.document.filter(isMeant);
  if (document.length === 0) {
    const hint = didYouMean(named, view.names.flat()) ?? `ostiary get ${what} lists all`;
    throw new UsageError(`the gateway has no ${singularOf(what).replaceAll('-', ' ')} "${named}"`, hint);
  }
  const { headers, rows, details } = view.listing;
  const listing = { headers, rows: rows.filter(isMeant), ...(details === undefined ? {} : { details: details.filter(isMeant) }) };
  return { document, listing, names: view.names.filter(isMeant) };
}

/** A list that the gateway answered; a note says what its absence means. */
type ServiceView = Checked<unknown> & ListView & { readonly note?: string | undefined };

type ReadView = (service: Service, context: CliContext) => Promise<ServiceView>;

const serviceViews: Readonly<Record<string, ReadView>> = {
  async resources(service) {
    const [read, agents] = await Promise.all([service.resources(), service.agents()]);
    const resources = requireWhole(read);
    return { ...read, document: resources, listing: resourceListing(resources, agents.value ?? []), names: namesOf(resources) };
  },
  async templates(service) {
    const read = await service.templates();
    const templates = requireWhole(read);
    return { ...read, document: templates, listing: templateListing(templates), names: templates.map(({ name }) => [name]) };
  },
  async reviews(service, { now }) {
    const read = await service.reviews();
    const reviews = await readReviewDetails(service, requireWhole(read), now());
    const secondsSince = (time: string): number => (now().getTime() - Date.parse(time)) / 1000;
    const names = reviews.map(({ id }) => [id]);
    return { ...read, document: reviews.map(reviewJsonOf), listing: reviewListing(reviews, secondsSince), names };
  },
  async agents(service) {
    const read = await service.agents();
    const agents = requireWhole(read);
    return { ...read, document: agents, listing: agentListing(agents), names: namesOf(agents) };
  },
  ...Object.fromEntries(accessLists.map((list): [string, ReadView] => [list, (service) => readAccessView(service, list)])),
};

/** Reads what decides access on the gateway. Throws UsageError if it has nothing of the kind. */
async function readAccessView(service: Service, list: AccessList): Promise<ServiceView> {
  const read = await service.access(list);
  if (read === undefined)
    throw new UsageError(
      `this gateway has no ${list.replaceAll('-', ' ')}`,
      list === 'groups' || list === 'users' ? 'it has no users of its own' : 'the public gateway has them',
    );
  const objects = requireWhole(read);
  const note = read.off === true ? 'access control is off: every user can see every connection' : undefined;
  return {
    ...read,
    document: objects,
    listing: accessListing(list, objects),
    names: namesOf(objects),
    note,
  };
}

function namesOf(entries: readonly { readonly id: string; readonly name: string }[]): ListView['names'] {
  return entries.map(({ id, name }) => [name, id]);
}

/** Lists objects that no manifest declares, as far as the token may read them. */
async function printServiceView(read: ReadView, flags: GetFlags, context: CliContext): Promise<number> {
  const printer = printerFor(context, flags);
  return withService(announceTarget(resolveProject(flags, context), flags, context), { flags, context }, async (service) => {
    const view = await waiting('reading the gateway', { flags, context }, () => read(service, context));
    printer.diagnostics(view.diagnostics);
    if (view.note !== undefined) printer.hint(`${view.note}\n`);
    printView(selectNamed(view, flags), flags.format, printer);
    return 0;
  });
}

/** Prints a document as JSON or YAML, or its table as text. */
export function printView(
  { document, listing }: { readonly document: Json; readonly listing: TableListing },
  format: ViewFormat,
  { print, results }: Printer,
): void {
  if (format === 'text') print(tableText(listing, results.columns));
  else print(format === 'json' ? toJsonText(document) : toYamlText(document));
}
