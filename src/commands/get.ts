import type { JsonObject } from '../model/json.ts';
import { UsageError } from '../model/errors.ts';
import { compareText } from '../model/json.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import { kindOf, nameOf } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';
import { escapeJson } from '../report/escape.ts';
import { tableText } from '../report/table.ts';
import type { Format, TargetFlags } from './flags.ts';
import { connect, readLive } from './live.ts';
import { printerFor } from './printer.ts';
import { chooseTarget, readSetting } from './setting.ts';
import type { World } from './world.ts';

export type GetFlags = TargetFlags & { readonly what: string; readonly format: Format };

type Listing = { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[]; readonly json: readonly JsonObject[] };

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

/** Lists what the gateway has, without secrets. */
export async function get(flags: GetFlags, world: World): Promise<number> {
  const names = [...Object.keys(views), 'agents'];
  if (!names.includes(flags.what)) {
    const near = closest(flags.what, names);
    throw new UsageError(
      `there is nothing to get called "${flags.what}"`,
      near === undefined ? `one of ${names.join(', ')}` : `did you mean "${near}"?`,
    );
  }
  const target = chooseTarget(readSetting(flags, world), flags);
  const { gateway } = await connect(target, { flags, world });
  try {
    const view = views[flags.what];
    const live = await readLive(gateway, view?.kinds ?? ['Connection'], { flags, world });
    const listing = view === undefined ? agentsOf(live) : listingOf(view, live);
    const { print, results } = printerFor(world, flags);
    print(
      flags.format === 'json'
        ? `${escapeJson(JSON.stringify(listing.json, null, 2))}\n`
        : tableText(listing.headers, listing.rows, results.columns),
    );
    return 0;
  } finally {
    await gateway.close();
  }
}

function listingOf(view: View, live: LiveState): Listing {
  const shown = live.resources
    .filter((one) => view.kinds[0] === kindOf(one.id) || (view.headers[0] === 'kind' && 'connection_ids' in one.edges))
    .toSorted((left, right) => compareText(left.id, right.id));
  return { headers: view.headers, rows: shown.map(view.row), json: shown.map(jsonOf) };
}

function agentsOf(live: LiveState): Listing {
  const agents = (live.lookups['Agent'] ?? []).toSorted((left, right) => compareText(left.name, right.name));
  return {
    headers: ['name', 'id'],
    rows: agents.map((agent) => [agent.name, agent.uid]),
    json: agents.map((agent) => ({ name: agent.name, id: agent.uid })),
  };
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
