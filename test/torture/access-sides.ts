import type { JsonObject } from '../../src/model/json.ts';
import { connection, guardrail, manifest, type Files } from '../e2e/project.ts';

/** A set of manifests. */
type Side = Readonly<Record<string, string>>;

/** What both gateways have: connections whose groups and reviewers change together, one for each. */
const connections: readonly [Side, Side] = [
  {
    'access/orders.yaml': connection('orders-db', { access_groups: ['dev', 'sre'], reviewers: ['dba'] }),
    'access/billing.yaml': connection('billing-db', { access_groups: ['dba'] }),
    'access/stale.yaml': connection('stale-db', { access_groups: ['sre', 'sec'] }),
    'access/shop.yaml': connection('shop-db', { access_groups: ['dev'], reviewers: ['sre'] }, { replaces: 'store-db' }),
    'access/words.yaml': guardrail('words', ['DROP'], { connection_ids: ['orders-db', 'billing-db'] }),
  },
  {
    'access/orders.yaml': connection('orders-db', { access_groups: ['sre', 'sec'] }),
    'access/billing.yaml': connection('billing-db', { access_groups: ['dev', 'dba'], reviewers: ['sec'], access_mode_exec: 'disabled' }),
    'access/fresh.yaml': connection('fresh-db', { access_groups: ['dev'], reviewers: ['dba'] }),
    'access/store.yaml': connection('store-db', { access_groups: ['sec'] }, { replaces: 'shop-db' }),
    'access/words.yaml': guardrail('words', ['GRANT'], { connection_ids: ['orders-db', 'fresh-db'] }),
  },
];

function runbooks(connectionNames: readonly string[], groups: readonly string[], name: string): string {
  const files = [{ repository: 'git.example.com/ops', name }];
  return manifest('RunbookRule', 'books', { runbooks: files, connections: [...connectionNames], user_groups: [...groups] });
}

function approval(name: string, spec: JsonObject): string {
  return manifest('AccessRequestRule', name, { access_type: 'jit_command', ...spec });
}

/** Two rules of native access, each with one connection. */
function exchanging(north: string, south: string): Side {
  const usual = { access_type: 'jit', min_approvals: 1 };
  return {
    'access/north.yaml': approval('north', { ...usual, connection_names: [north], reviewers_groups: ['dba'] }),
    'access/south.yaml': approval('south', { ...usual, connection_names: [south], reviewers_groups: ['sre'] }),
    'access/north-db.yaml': connection('north-db', { access_groups: ['dev'] }),
    'access/south-db.yaml': connection('south-db', { access_groups: ['dev'] }),
  };
}

/** A connection to a server of tools, with the tools that it denies. */
function tools(denied: string, channels: readonly string[]): string {
  const secret = { 'envvar:REMOTE_URL': { value: 'https://tools.example.com/mcp' }, 'envvar:MCP_DENIED_TOOLS': { value: denied } };
  const server = { type: 'application', subtype: 'mcpproxy', access_mode_connect: 'enabled', access_groups: ['dev'], secret };
  return connection('tools', { ...server, slack_channels: [...channels] });
}

/** An analyzer that no manifest declares: it asks for the approval of a rule by its name. */
export const analyzer: JsonObject = {
  name: 'watches',
  connection_names: ['north-db'],
  risk_evaluation: {
    low_risk: { action: 'allow_execution' },
    medium_risk: { action: 'require_access_request', access_request_rule_name: 'north' },
    high_risk: { action: 'block_execution' },
  },
};

/**
 * What the public gateway alone has: an attribute that grants and links a rule, an approval, the first and last runbook rule, rules that exchange their
 * only connections, lists of tools, and channels that hear of reviews.
 */
const deciding: readonly [Side, Side] = [
  {
    'access/tagged.yaml': connection('tagged-db', { access_groups: ['sre'], attributes: ['pci'] }),
    'access/plain.yaml': connection('plain-db', { access_groups: ['dev'], attributes: [] }),
    'access/pci.yaml': manifest('Attribute', 'pci', { access_groups: ['dba'] }),
    'access/cards.yaml': approval('cards', { attributes: ['pci'], reviewers_groups: ['dba', 'sec'], min_approvals: 2 }),
    'access/books.yaml': runbooks(['tagged-db'], ['sre'], 'ops/'),
    'access/tools.yaml': tools('drop_*', ['C1']),
    ...exchanging('north-db', 'south-db'),
  },
  {
    'access/tagged.yaml': connection('tagged-db', { access_groups: ['sre', 'dev'], attributes: [], reviewers: ['sec'] }),
    'access/plain.yaml': connection('plain-db', { access_groups: ['dev'], attributes: ['shared'] }),
    'access/shared.yaml': manifest('Attribute', 'shared', { access_groups: ['sec'] }),
    'access/ledger.yaml': approval('ledger', { attributes: ['shared'], reviewers_groups: ['sre'], min_approvals: 1 }),
    'access/tools.yaml': tools('delete_*', ['C2']),
    ...exchanging('south-db', 'north-db'),
  },
];

/** Two sets of manifests for each kind of gateway, between which who may use what, and after whose approval, changes in both directions. */
export const accessSides: Readonly<Record<'serve' | 'hoop', readonly [Files, Files]>> = {
  serve: connections,
  hoop: [
    { ...connections[0], ...deciding[0] },
    { ...connections[1], ...deciding[1] },
  ],
};
