import { type Checked, suggest } from '../model/diagnostic.ts';
import { asText, type Json, type JsonObject, compareText } from '../model/json.ts';
import type { Service } from '../model/service.ts';
import { toJsonText, toYamlText } from '../report/serialize.ts';
import { agentListing, resourceListing, templateListing, type TableListing, tableText } from '../report/text/listings.ts';
import { reviewJsonOf, reviewListing } from '../report/text/reviews.ts';
import { readReviewDetails } from './review.ts';
import { UsageError } from '../model/errors.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { viewFormats, type ViewFlags, type ViewFormat, formatOption, targetOptions, type DefineCommand } from '../console/options.ts';
import { announceTarget, connect, withService, readLive, requireWhole } from '../console/connect.ts';
import { waiting } from '../console/output/progress.ts';
import { resolveProject } from '../project/project.ts';
import { printerFor, type Printer } from '../console/output/printer.ts';
import type { CliContext } from '../console/context/cli-context.ts';
import { Argument } from 'commander';

type GetFlags = ViewFlags & { readonly what: string };

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
      ['connect', 'exec', 'runbooks'].filter((mode) => one.spec[`access_mode_${mode}`] === 'enabled').join(' ') || 'nothing',
      list(one, 'reviewers'),
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

const listedThings = ['connections', 'rules', 'resources', 'runbooks', 'templates', 'reviews', 'agents'];

/** Defines `ostiary get`. */
export const defineGet: DefineCommand = (command, run) => {
  const listed = new Argument('<what>', 'what to list').choices(listedThings).argParser((word) => word);
  targetOptions(command.addArgument(listed))
    .addOption(formatOption(viewFormats))
    .action((what, flags) => run((context) => runGet({ ...flags, what, only: [], paths: [] }, context)));
};

/** Lists live objects without their secrets, or other things that the gateway has. Returns exit code 0. */
async function runGet(flags: GetFlags, context: CliContext): Promise<number> {
  const { what } = flags;
  const view = Object.hasOwn(objectViews, what) ? objectViews[what] : undefined;
  const read = Object.hasOwn(serviceViews, what) ? serviceViews[what] : undefined;
  if (view !== undefined) return printObjectView(view, flags, context);
  if (read !== undefined) return printServiceView(read, flags, context);
  const near = suggest(what, listedThings);
  throw new UsageError(
    `unknown resource type "${what}"`,
    near === undefined ? `expected one of: ${listedThings.join(', ')}` : `did you mean "${near}"?`,
  );
}

async function printObjectView(view: ObjectView, flags: GetFlags, context: CliContext): Promise<number> {
  const target = announceTarget(resolveProject(flags, context), flags, context);
  const { gateway } = await connect(target, { flags, context });
  try {
    const shown = shownOf(view, await readLive(gateway, view.kinds, { flags, context }));
    const listing = { headers: view.headers, rows: shown.map(view.row) };
    printView({ document: shown.map(jsonOf), listing }, flags.format, printerFor(context, flags));
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

function list(one: LiveResource, field: string): string {
  const value = one.spec[field];
  return Array.isArray(value) ? value.join(' ') : '';
}

function ends(one: LiveResource, field: string): string {
  return (one.edges[field] ?? []).map(nameOf).join(' ');
}

/** An answer of the gateway as a document and as a table. */
type ServiceView = Checked<unknown> & { readonly document: Json; readonly listing: TableListing };

type ReadView = (service: Service, context: CliContext) => Promise<ServiceView>;

const serviceViews: Readonly<Record<string, ReadView>> = {
  async resources(service) {
    const [read, agents] = await Promise.all([service.resources(), service.agents()]);
    const resources = requireWhole(read);
    return { ...read, document: resources, listing: resourceListing(resources, agents.value ?? []) };
  },
  async templates(service) {
    const read = await service.templates();
    const templates = requireWhole(read);
    return { ...read, document: templates, listing: templateListing(templates) };
  },
  async reviews(service, { now }) {
    const read = await service.reviews();
    const reviews = await readReviewDetails(service, requireWhole(read), now());
    const secondsSince = (time: string): number => (now().getTime() - Date.parse(time)) / 1000;
    return { ...read, document: reviews.map(reviewJsonOf), listing: reviewListing(reviews, secondsSince) };
  },
  async agents(service) {
    const read = await service.agents();
    const agents = requireWhole(read);
    return { ...read, document: agents, listing: agentListing(agents) };
  },
};

/** Lists objects that no manifest declares, as far as the token may read them. */
async function printServiceView(read: ReadView, flags: ViewFlags, context: CliContext): Promise<number> {
  const printer = printerFor(context, flags);
  return withService(announceTarget(resolveProject(flags, context), flags, context), { flags, context }, async (service) => {
    const view = await waiting('reading the gateway', { flags, context }, () => read(service, context));
    printer.diagnostics(view.diagnostics);
    printView(view, flags.format, printer);
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
