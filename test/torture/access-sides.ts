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

function approval(spec: Readonly<Record<string, string | number | readonly string[]>>): string {
  return manifest('AccessRequestRule', 'cards', { access_type: 'jit_command', ...JSON.parse(JSON.stringify(spec)) });
}

/** What the public gateway alone has: an attribute that grants and links a rule, an approval, and the first and last runbook rule. */
const deciding: readonly [Side, Side] = [
  {
    'access/tagged.yaml': connection('tagged-db', { access_groups: ['sre'], attributes: ['pci'] }),
    'access/plain.yaml': connection('plain-db', { access_groups: ['dev'], attributes: [] }),
    'access/pci.yaml': manifest('Attribute', 'pci', { access_groups: ['dba'] }),
    'access/cards.yaml': approval({ attributes: ['pci'], reviewers_groups: ['dba', 'sec'], min_approvals: 2 }),
    'access/books.yaml': runbooks(['tagged-db'], ['sre'], 'ops/'),
  },
  {
    'access/tagged.yaml': connection('tagged-db', { access_groups: ['sre', 'dev'], attributes: [], reviewers: ['sec'] }),
    'access/plain.yaml': connection('plain-db', { access_groups: ['dev'], attributes: ['shared'] }),
    'access/shared.yaml': manifest('Attribute', 'shared', { access_groups: ['sec'] }),
    'access/ledger.yaml': approval({ attributes: ['shared'], reviewers_groups: ['sre'], min_approvals: 1 }).replace('"cards"', '"ledger"'),
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
