import type { JsonObject } from '../../src/model/json.ts';
import { connection, type Files, manifest } from '../e2e/project.ts';

/** A change that reviewers meet: what it edits in the common repository, and how its plan begins. */
export type Story = {
  /** The files that the change writes. */
  readonly after?: Files;
  readonly removed?: readonly string[];
  /** What the first line begins with. */
  readonly verdict: string;
};

function secretOf(host: string, source: string): JsonObject {
  return { 'envvar:HOST': { value: host }, 'envvar:PASS': { valueFrom: { env: source } } };
}

const access_groups = ['dba'];
const reviewers = ['dba', 'security'];
const secret = secretOf('orders.internal', 'OSTIARY_SECRET_ORDERS');

function orders(spec: JsonObject = {}, metadata: JsonObject = {}): Files {
  const usual = { access_groups, reviewers, access_max_duration: 3600, connection_tags: { env: 'prod' }, attributes: ['pci'], secret };
  return { 'access/orders.yaml': connection('orders', { ...usual, ...spec }, metadata) };
}

function billing(spec: JsonObject): Files {
  const usual = {
    access_groups,
    reviewers: [...reviewers, 'sre'],
    min_review_approvals: 2,
    access_max_duration: 3600,
    guardrail_rules: ['no-drop'],
  };
  return { 'access/billing.yaml': connection('billing', { ...usual, ...spec }) };
}

function shops(change: JsonObject = {}, changed = 0): Files {
  const usual = {
    access_groups,
    reviewers: ['dba'],
    access_max_duration: 3600,
    access_mode_runbooks: 'enabled',
    connection_tags: { env: 'shop' },
  };
  const names = Array.from({ length: 9 }, (_, index) => [`shop-${index + 1}`, index < changed] as const);
  const files = names.map(([name, isChanged]) => [`access/${name}.yaml`, connection(name, { ...usual, ...(isChanged ? change : {}) })]);
  return Object.fromEntries(files);
}

function words(list: readonly string[], spec: JsonObject = {}): Files {
  const input = { rules: [{ name: 'words', type: 'deny_words_list', words: [...list] }] };
  return { 'access/no-drop.yaml': manifest('GuardrailRule', 'no-drop', { input, ...spec }) };
}

function pattern(regex: string): Files {
  const input = { rules: [{ name: 'statements', type: 'pattern_match', pattern_regex: regex }] };
  return { 'access/statements.yaml': manifest('GuardrailRule', 'statements', { input, connection_ids: ['orders'] }) };
}

function selected(spec: JsonObject): Files {
  const input = { rules: [{ name: 'words', type: 'deny_words_list', words: ['TRUNCATE', 'truncate'] }] };
  return {
    'access/selected.yaml': manifest('GuardrailRule', 'no-truncate', {
      input,
      connection_selector: { match_tags: { env: 'shop' }, ...spec },
    }),
  };
}

function masking(types: readonly string[], spec: JsonObject = {}): Files {
  const usual = {
    score_threshold: 0.5,
    supported_entity_types: [{ name: 'PEOPLE', entity_types: [...types] }],
    custom_entity_types: [{ name: 'TOKEN', regex: 'ctok_[a-z]{8}', score: 0.8 }],
    connection_ids: ['orders'],
  };
  return { 'access/pii.yaml': manifest('DataMaskingRule', 'pii', { ...usual, ...spec }) };
}

function byAttribute(attributes: readonly string[]): Files {
  const input = { rules: [{ name: 'cards', type: 'deny_words_list', words: ['pan'] }] };
  return { 'access/cards.yaml': manifest('GuardrailRule', 'cards', { input, attributes: [...attributes] }) };
}

function unnamed(blocked: readonly string[]): Files {
  const rules = [
    { type: 'deny_words_list', words: [...blocked] },
    { type: 'pattern_match', pattern_regex: 'grant "x"' },
  ];
  return { 'access/unnamed.yaml': manifest('GuardrailRule', 'unnamed', { input: { rules }, connection_ids: ['ledger'] }) };
}

function runbooks(url: string): Files {
  return { 'access/ops.yaml': manifest('RunbookConfiguration', 'ops', { git_url: `https://git.example.com/${url}.git` }) };
}

function runbookRule(spec: JsonObject): string {
  const runbook = { repository: 'git.example.com/ops/runbooks', name: 'ops/' };
  return manifest('RunbookRule', 'nightly', { runbooks: [runbook], connections: ['shop-1'], user_groups: ['sre'], ...spec });
}

function approval(spec: JsonObject): Files {
  const usual = {
    access_type: 'jit',
    connection_names: ['ledger'],
    reviewers_groups: ['dba', 'security', 'sre'],
    min_approvals: 2,
    force_approval_groups: [],
  };
  return { 'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...usual, ...spec }) };
}

function ledger(spec: JsonObject = {}): Files {
  return { 'access/ledger.yaml': connection('ledger', { access_groups: ['dba'], ...spec }) };
}

function shell(command: readonly string[], name = 'shell', metadata: JsonObject = {}): Files {
  const spec = { access_groups, type: 'custom', subtype: 'ssh', command: [...command], reviewers: ['sre'], access_max_duration: 3600 };
  const secrets = secretOf('bastion.internal', 'OSTIARY_SECRET_SHELL');
  return { [`access/${name}.yaml`]: connection(name, { ...spec, secret: secrets }, metadata) };
}

/** The repository that every story changes; it is applied. */
export const common: Files = {
  ...orders(),
  ...billing({}),
  ...shops(),
  ...words(['DROP', 'ALTER', 'drop', 'alter']),
  ...pattern('(?i)\\b(drop|truncate|grant)\\b'),
  ...selected({}),
  ...masking(['PERSON', 'EMAIL_ADDRESS']),
  ...byAttribute(['pci']),
  ...unnamed(['VACUUM', 'vacuum', 'ANALYZE', 'analyze']),
  ...runbooks('ops/runbooks'),
  ...approval({}),
  ...ledger(),
  ...shell(['ssh', 'bastion']),
  'access/attributes.yaml': manifest('Attribute', 'pci', {}),
};

/** Realistic changes by what they do. */
export const stories: Readonly<Record<string, Story>> = {
  'a reviewer removed': {
    after: orders({ reviewers: ['dba'] }),
    verdict: 'orders (env=prod) loses reviewer group security. 1 to update.',
  },
  'reviewers reordered': { after: orders({ reviewers: ['security', 'dba'] }), verdict: 'No changes.' },
  'a rule detached by attribute': {
    after: orders({ attributes: [] }),
    verdict: 'orders (env=prod) loses guardrail cards.',
  },
  'a rule detached by its selector': {
    after: selected({ except: ['shop-1'] }),
    verdict: 'shop-1 (env=shop) loses guardrail no-truncate.',
  },
  'a word no longer blocked': {
    after: words(['DROP', 'drop']),
    verdict: 'billing no longer blocks ALTER and alter.',
  },
  'a word less in a pattern': {
    after: pattern('(?i)\\b(drop|truncate)\\b'),
    verdict: 'orders (env=prod) no longer blocks all of /(?i)\\b(drop|truncate|grant)\\b/.',
  },
  'an entity type no longer masked': {
    after: masking(['EMAIL_ADDRESS']),
    verdict: 'orders (env=prod) no longer masks PERSON.',
  },
  'another command': {
    after: shell(['sh', '-c', 'ssh bastion']),
    verdict:
      'shell passes a kept credential to another command or type. 1 to update: Connection/shell (command: [ssh, bastion] → [sh, -c, ssh bastion]).',
  },
  'another host': {
    after: orders({ secret: secretOf('attacker.example', 'OSTIARY_SECRET_ORDERS') }),
    verdict:
      'orders (env=prod) sends a kept credential to another endpoint or with other settings. 1 to update: Connection/orders (secret envvar:HOST).',
  },
  'another runbook repository': {
    after: runbooks('mallory/runbooks'),
    verdict: '9 connections accept runbooks from another repository or server (shop-1, ',
  },
  'a connection deleted': {
    removed: ['access/billing.yaml'],
    verdict: 'billing is deleted: dba loses access. 1 to delete.',
  },
  'an approver fewer in a rule': {
    after: approval({ min_approvals: 1 }),
    verdict: 'ledger can be approved by any 1 of 3 groups (was 2 of 3).',
  },
  'several losses at once': {
    after: {
      ...orders({ reviewers: ['dba'], access_groups: ['dba', 'sre'], access_mode_runbooks: 'enabled' }),
      ...masking(['EMAIL_ADDRESS']),
    },
    verdict: 'orders (env=prod) loses reviewer group security.',
  },
  'a connection renamed': {
    removed: ['access/shell.yaml'],
    after: shell(['ssh', 'bastion'], 'bastion', { replaces: 'shell' }),
    verdict: '1 to replace: Connection/shell by bastion (same protection).',
  },
  'all groups removed': {
    after: orders({ access_groups: [] }),
    verdict: 'orders (env=prod) is visible to no group: dba loses access. 1 to update.',
  },
  'the first runbook rule': {
    after: { 'access/nightly.yaml': runbookRule({}) },
    verdict: '1 to create. 9 connections allow only the runbooks of rules: ',
  },
  'a new connection without review': {
    after: { 'access/reports.yaml': connection('reports', { access_groups: ['dba', 'sre'] }) },
    verdict: 'reports becomes accessible to dba and sre without reviewers, guardrails or masking. 1 to create.',
  },
};
