import type { AccessConnection, AccessState, Analyzer, Machine, RequestRule, RunbookPermission } from './access-model.ts';
import { isModeOpen, modes } from './open-modes.ts';
import { entriesOf, fieldsOf, textOf, textsOf, type Fields } from './gateway-objects.ts';

/** Reads a path of the API; undefined if it is 404. */
export type ReadPath = (path: string) => Promise<unknown>;

/** Reads everything that decides access through the API of the public gateway, as an admin. */
export async function readAccessState(read: ReadPath): Promise<AccessState> {
  const [info, listed, plugin, attributes, rules, runbookRules, analyzers, machines] = await Promise.all([
    read('/serverinfo'),
    read('/connections'),
    read('/plugins/access_control'),
    readPages(read, '/attributes'),
    read('/access-requests/rules'),
    read('/runbooks/rules'),
    read('/ai/session-analyzer/rules'),
    read('/machineidentities'),
  ]);
  const names = entriesOf(listed).map(({ name }) => textOf(name));
  const details = await Promise.all(names.map((name) => read(`/connections/${name}`)));
  const rows = plugin === undefined ? undefined : entriesOf(fieldsOf(plugin)['connections']);
  return {
    license: textOf(fieldsOf(fieldsOf(info)['license_info'])['type']) === 'enterprise' ? 'enterprise' : 'free',
    connections: Object.fromEntries(details.map((one) => [textOf(fieldsOf(one)['name']), connectionOf(fieldsOf(one))])),
    rows: rows === undefined ? undefined : Object.fromEntries(rows.map(({ name, config }) => [textOf(name), textsOf(config)])),
    granted: Object.fromEntries(attributes.map((row) => [textOf(row['name']), textsOf(row['access_control_group_names'])])),
    rules: entriesOf(fieldsOf(rules)['data']).map(ruleOf),
    runbookRules: entriesOf(runbookRules).map(runbookRuleOf),
    analyzers: entriesOf(fieldsOf(analyzers)['data']).map(analyzerOf),
    machines: entriesOf(machines).map(machineOf),
  };
}

/** Reads who can use the connections of an `ostiary serve`: it has their groups beside their reviewers, and no rules about access. */
export async function readServedAccess(read: ReadPath): Promise<AccessState> {
  const listed = entriesOf(await read('/connections')).map((row) => [textOf(row['name']), row] as const);
  const nothing = { granted: {}, rules: [], runbookRules: [], analyzers: [], machines: [] };
  return {
    license: 'enterprise',
    connections: Object.fromEntries(listed.map(([name, row]) => [name, connectionOf(row)])),
    rows: Object.fromEntries(listed.map(([name, row]) => [name, textsOf(row['access_groups'])])),
    ...nothing,
  };
}

async function readPages(read: ReadPath, path: string): Promise<readonly Fields[]> {
  const all: Fields[] = [];
  for (let page = 1; ; page += 1) {
    const rows = entriesOf(fieldsOf(await read(`${path}?page=${page}&page_size=100`))['data']);
    all.push(...rows);
    if (rows.length < 100) return all;
  }
}

/** Reads a connection of a gateway; a manifest has the same names, but no secrets in base64. */
export function connectionOf(row: Fields): AccessConnection {
  return {
    lead: {
      secrets: Object.fromEntries(
        Object.entries(fieldsOf(row['secret'])).map(([key, value]) => [key.replace('envvar:', ''), atob(textOf(value))]),
      ),
      agent: textOf(row['agent_id']),
      subtype: textOf(row['subtype']),
      program: JSON.stringify([row['type'], row['subtype'], row['command']]),
    },
    open: modes.filter((mode) => isModeOpen(row, mode, true)),
    attributes: textsOf(row['attributes']),
    reviewers: textsOf(row['reviewers']),
    minApprovals: numberOf(row['min_review_approvals']),
    forcing: textsOf(row['force_approve_groups']),
    longest: numberOf(row['access_max_duration']),
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Reads an access-request rule of the gateway or of a manifest, whose fields have the same names. */
export function ruleOf(row: Fields): RequestRule {
  return {
    id: textOf(row['id']),
    name: textOf(row['name']),
    type: textOf(row['access_type']),
    connections: textsOf(row['connection_names']),
    attributes: textsOf(row['attributes']),
    required: textsOf(row['approval_required_groups']),
    skipped: textsOf(row['skip_review_groups']),
    reviewers: textsOf(row['reviewers_groups']),
    forcing: textsOf(row['force_approval_groups']),
    mustAllApprove: row['all_groups_must_approve'] === true,
    minApprovals: numberOf(row['min_approvals']),
    longest: numberOf(row['access_max_duration']),
  };
}

function runbookRuleOf(row: Fields): RunbookPermission {
  return {
    name: textOf(row['name']),
    groups: textsOf(row['user_groups']),
    connections: textsOf(row['connections']),
    files: entriesOf(row['runbooks']).map(({ repository, name }) => ({ repository: textOf(repository), name: textOf(name) })),
  };
}

/** No list shows the attributes of an analyzer rule. */
function analyzerOf(row: Fields): Analyzer {
  const evaluation = fieldsOf(row['risk_evaluation']);
  const tier = (level: string): Analyzer['risk']['low'] => {
    const { action, access_request_rule_name: rule } = fieldsOf(evaluation[`${level}_risk`]);
    return { action: textOf(action), rule: rule === undefined ? null : textOf(rule) };
  };
  const risk = { low: tier('low'), medium: tier('medium'), high: tier('high') };
  return { id: textOf(row['id']), connections: textsOf(row['connection_names']), attributes: [], risk };
}

function machineOf(row: Fields): Machine {
  return { name: textOf(row['name']), connections: textsOf(row['connection_names']), attributes: textsOf(row['attributes']) };
}
