import type { JsonObject } from '../model/json.ts';
import { UsageError } from '../model/errors.ts';
import { compareText } from '../model/json.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { suggest } from '../model/suggest.ts';
import { viewFormats, type ViewFlags } from './flags.ts';
import { connect, readLive } from './live.ts';
import { lookUp, lookUpNames, printView } from './look-up.ts';
import { printerFor } from './printer.ts';
import { chooseTarget, resolveConfig } from '../project/resolved-config.ts';
import type { CliContext } from './cli-context.ts';
import { formatOption, targetOptions, type DefineCommand } from './options.ts';

export type GetFlags = ViewFlags & { readonly what: string };

type View = {
  readonly kinds: readonly string[];
  readonly headers: readonly string[];
  readonly row: (resource: LiveResource) => readonly string[];
};

const views: Readonly<Record<string, View>> = {
  connections: {
    kinds: ['Connection', 'GuardrailRule'],
    headers: ['name', 'type', 'agent', 'open for', 'reviewers', 'guardrails', 'managed by'],
    row: (one) => [
      nameOf(one.id),
      [text(one, 'type'), text(one, 'subtype')].filter((part) => part !== '').join('/'),
      text(one, 'agent_id'),
      ['connect', 'exec', 'runbooks'].filter((mode) => one.spec[`access_mode_${mode}`] === 'enabled').join(' ') || 'nothing',
      list(one, 'reviewers'),
      ends(one, 'guardrail_rules'),
      one.managedBy ?? '',
    ],
  },
  rules: {
    kinds: ['GuardrailRule', 'DataMaskingRule', 'Connection'],
    headers: ['kind', 'name', 'connections', 'managed by', 'description'],
    row: (one) => [kindOf(one.id), nameOf(one.id), ends(one, 'connection_ids'), one.managedBy ?? '', text(one, 'description')],
  },
  runbooks: {
    kinds: ['RunbookConfiguration'],
    headers: ['repository', 'git url', 'user', 'hook ttl', 'managed by'],
    row: (one) => [nameOf(one.id), text(one, 'git_url'), text(one, 'git_user'), count(one, 'git_hook_ttl'), one.managedBy ?? ''],
  },
};

/** Defines `ostiary get`. */
export const defineGet: DefineCommand = (command, run) => {
  targetOptions(command.argument('<what>', 'connections, rules, resources, runbooks, templates, reviews or agents'))
    .addOption(formatOption(viewFormats))
    .action((what, flags) => run((context) => get({ ...flags, what, only: [], paths: [] }, context)));
};

/** Lists what the gateway has, without secrets. */
export async function get(flags: GetFlags, context: CliContext): Promise<number> {
  const { what } = flags;
  const names = ['connections', 'rules', 'resources', 'runbooks', 'templates', 'reviews', 'agents'];
  const view = views[what];
  if (view !== undefined) return getView(view, flags, context);
  if (lookUpNames.includes(what)) return lookUp(what, flags, context);
  const near = suggest(what, names);
  throw new UsageError(
    `there is nothing to get called "${what}"`,
    near === undefined ? `one of ${names.join(', ')}` : `did you mean "${near}"?`,
  );
}

async function getView(view: View, flags: GetFlags, context: CliContext): Promise<number> {
  const target = chooseTarget(resolveConfig(flags, context), flags);
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

function shownOf(view: View, live: LiveState): readonly LiveResource[] {
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

function text(one: LiveResource, field: string): string {
  const value = one.spec[field];
  return typeof value === 'string' ? value : '';
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
