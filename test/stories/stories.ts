import type { JsonObject } from '../../src/model/json.ts';
import { connection, type Files, manifest } from '../e2e/project.ts';

/** A change that reviewers meet: what it edits in the common repository, and how its plan begins. */
export type Story = {
  /** The files that the change writes. */
  readonly after?: Files;
  readonly removed?: readonly string[];
  /** What the verdict begins with, where it says more than `Weakens protection`. */
  readonly verdict?: string;
  /** The first line below the verdict, without positions. */
  readonly says: string;
  /** A line that the plan has. */
  readonly prints?: string;
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
    says: '1 connection loses reviewer group security (orders; env=prod)',
  },
  'all reviewers removed': { after: orders({ reviewers: [] }), says: '1 connection loses review (orders; env=prod)' },
  'a reviewer added, any of whom approves': {
    after: orders({ reviewers: ['dba', 'security', 'sre'], min_review_approvals: 1 }),
    says: '1 connection can be approved by any 1 of 3 groups (was 2 of 2) (orders; env=prod)',
  },
  'reviewers reordered': { after: orders({ reviewers: ['security', 'dba'] }), verdict: 'No changes.', says: '' },
  'fewer approvals': {
    after: billing({ min_review_approvals: 1 }),
    says: '1 connection can be approved by any 1 of 3 groups (was 2 of 3) (billing)',
  },
  'two groups may force': {
    after: orders({ force_approve_groups: ['oncall', 'sre'] }),
    says: '1 connection can be force-approved by groups oncall and sre (orders; env=prod)',
  },
  'a group more': { after: ledger({ access_groups: ['dba', 'sre'] }), says: 'sre can reach ledger' },
  'longer sessions': {
    after: orders({ access_max_duration: 28_800 }),
    says: '1 connection allows longer access: 8 h (was 1 h) (orders; env=prod)',
  },
  'native access disabled': {
    after: orders({ access_mode_connect: 'disabled' }),
    says: '1 connection disables native access (orders; env=prod)',
  },
  'runbooks enabled': {
    after: orders({ access_mode_runbooks: 'enabled' }),
    says: '1 connection enables runbooks (orders; env=prod)',
  },
  'a rule detached by attribute': {
    after: orders({ attributes: [] }),
    says: '1 connection loses guardrail cards (orders; env=prod)',
  },
  'a rule detached by a tag': {
    after: shops({ connection_tags: { env: 'retail' } }, 1),
    says: '1 connection loses guardrail no-truncate (shop-1; env=retail)',
  },
  'a rule detached by its selector': {
    after: selected({ except: ['shop-1'] }),
    says: '1 connection loses guardrail no-truncate (shop-1; env=shop)',
  },
  'a rule detached by name': {
    after: billing({ guardrail_rules: [] }),
    says: '1 connection loses guardrail no-drop (billing)',
    prints: 'no-drop (billing)  access/billing.yaml:25\n',
  },
  'a word no longer blocked': {
    after: words(['DROP', 'drop']),
    says: '1 connection no longer blocks ALTER and alter (billing)',
  },
  'a word less in a rule without a name': {
    after: unnamed(['VACUUM', 'vacuum']),
    says: '1 connection no longer blocks ANALYZE and analyze (ledger)',
    prints: '      input.rules.deny_words_list.words  - ANALYZE  - analyze\n',
  },
  'nine attachments of a selector': {
    after: {
      'access/new.yaml': manifest('GuardrailRule', 'no-shutdown', {
        input: { rules: [{ name: 'words', type: 'deny_words_list', words: ['SHUTDOWN'] }] },
        connection_selector: { match_tags: { env: 'shop' } },
      }),
    },
    verdict: '1 to create. Strengthens protection of 9 connections.',
    says: '9 connections gain guardrail no-shutdown (shop-1, shop-2, shop-3, shop-4, shop-5, and 4 more; all env=shop)',
    prints: '      + 9 Connections (by selector): shop-1, shop-2, shop-3, shop-4, shop-5, shop-6, shop-7, shop-8, shop-9\n',
  },
  'a word less in a pattern': {
    after: pattern('(?i)\\b(drop|truncate)\\b'),
    says: '1 connection no longer blocks all of /(?i)\\b(drop|truncate|grant)\\b/ (orders; env=prod)',
  },
  'an entity type no longer masked': {
    after: masking(['EMAIL_ADDRESS']),
    says: '1 connection no longer masks PERSON (orders; env=prod)',
  },
  'a higher threshold': {
    after: masking(['PERSON', 'EMAIL_ADDRESS'], { score_threshold: 0.7 }),
    says: '1 connection masks EMAIL_ADDRESS and PERSON only from a score of 0.7 (was 0.5) (orders; env=prod)',
  },
  'a score below the threshold': {
    after: masking(['PERSON', 'EMAIL_ADDRESS'], { custom_entity_types: [{ name: 'TOKEN', regex: 'ctok_[a-z]{8}', score: 0.4 }] }),
    says: '1 connection no longer masks TOKEN (orders; env=prod)',
  },
  'another command': {
    after: shell(['sh', '-c', 'ssh bastion']),
    verdict: 'Passes credentials of 1 connection to another command.',
    says: '1 connection passes a kept credential to another command or type (shell)',
  },
  'another host': {
    after: orders({ secret: secretOf('attacker.example', 'OSTIARY_SECRET_ORDERS') }),
    verdict: 'Sends credentials of 1 connection to another endpoint.',
    says: '1 connection sends a kept credential to another endpoint (orders; env=prod)',
  },
  'another source of a secret': {
    after: orders({ secret: secretOf('orders.internal', 'OSTIARY_SECRET_SHELL') }),
    verdict: 'Reroutes credentials or code of 1 connection.',
    says: '1 connection uses an existing credential under another key or at another endpoint (orders; env=prod)',
  },
  'another runbook repository': {
    after: runbooks('mallory/runbooks'),
    verdict: 'Runs code from another repository on 9 connections.',
    says: '9 connections accept runbooks from another repository or server (shop-1, shop-2, shop-3, shop-4, shop-5, and 4 more; all env=shop)',
  },
  'a connection deleted': {
    removed: ['access/billing.yaml'],
    verdict: 'Blocks users of 1 connection.',
    says: '1 connection is deleted: dba loses access (billing)',
  },
  'an approver fewer in a rule': {
    after: approval({ min_approvals: 1 }),
    says: '1 connection can be approved by any 1 of 3 groups (was 2 of 3) (ledger)',
  },
  'another group may force in a rule': {
    after: approval({ force_approval_groups: ['sre'] }),
    says: '1 connection can be force-approved by group sre (ledger)',
  },
  'reviewers no longer watched': {
    after: orders({}, { ignore: ['/reviewers'] }),
    says: 'reviewers are no longer watched (orders; env=prod)',
  },
  'a rule deleted': {
    removed: ['access/pii.yaml'],
    says: '1 connection loses masking of EMAIL_ADDRESS, PERSON and TOKEN (orders; env=prod)',
  },
  'two reviewers removed, one approval': {
    after: billing({ reviewers: ['dba'], min_review_approvals: 1 }),
    says: '1 connection loses reviewer groups security and sre (billing)',
  },
  'several losses at once': {
    after: {
      ...orders({ reviewers: ['dba'], access_groups: ['dba', 'sre'], access_mode_runbooks: 'enabled' }),
      ...masking(['EMAIL_ADDRESS']),
    },
    says: '1 connection loses reviewer group security (orders; env=prod)',
  },
  'a connection renamed': {
    removed: ['access/shell.yaml'],
    after: shell(['ssh', 'bastion'], 'bastion', { replaces: 'shell' }),
    says: '+ Connection/bastion',
  },
  'all groups removed': {
    after: orders({ access_groups: [] }),
    verdict: 'Blocks users of 1 connection.',
    says: '1 connection is visible to no group: dba loses access (orders; env=prod)',
  },
  'a group until a day': {
    after: ledger({ access_groups: ['dba', { group: 'sre', until: '2099-01-31', reason: 'migration' }] }),
    says: 'sre can reach ledger',
    prints: '      access_groups  + sre until 2099-01-31 (migration)\n',
  },
  'two fields no longer watched': {
    after: orders({}, { ignore: ['/access_groups', '/reviewers'] }),
    says: 'access_groups and reviewers are no longer watched (orders; env=prod)',
  },
  'a secret no longer watched': {
    after: orders({ secret: { 'envvar:HOST': { value: 'orders.internal' }, 'envvar:PASS': { keep: true } } }),
    verdict: 'Unknown effect on protection of 1 connection.',
    says: 'secret.envvar:PASS is no longer watched (orders; env=prod)',
  },
  'another group may force in a rule and on a connection': {
    after: { ...approval({ force_approval_groups: ['sre'] }), ...orders({ force_approve_groups: ['sre'] }) },
    says: '2 connections can be force-approved by group sre (ledger, orders)',
  },
  'a rule asks one group alone': {
    after: approval({ approval_required_groups: ['sre'] }),
    says: 'people in dba no longer need approval on ledger',
  },
  'a rule asks for commands instead of native access': {
    after: approval({ access_type: 'command' }),
    says: '1 connection loses approval for native access (ledger)',
    prints: '  1 connection gains approval for exec (ledger)',
  },
  'a pattern of a custom entity type narrowed': {
    after: masking(['PERSON', 'EMAIL_ADDRESS'], { custom_entity_types: [{ name: 'TOKEN', regex: 'ctok_[a-z]{9}', score: 0.8 }] }),
    says: '1 connection no longer masks all of /ctok_[a-z]{8}/ as TOKEN (orders; env=prod)',
  },
  'a masking rule detached': {
    after: masking(['PERSON', 'EMAIL_ADDRESS'], { connection_ids: [] }),
    says: '1 connection loses masking of EMAIL_ADDRESS, PERSON and TOKEN (orders; env=prod)',
    prints: 'access/pii.yaml:25\n',
  },
  'three connections lose review': {
    after: shops({ reviewers: [] }, 3),
    says: '3 connections lose review (shop-1, shop-2, shop-3; all env=shop)',
    prints: '  and 2 more objects like it: Connection/shop-2, Connection/shop-3; --full prints them\n',
  },
  'three connections deleted': {
    removed: ['access/shop-1.yaml', 'access/shop-2.yaml', 'access/shop-3.yaml'],
    verdict: 'Blocks users of 3 connections.',
    says: '3 connections are deleted: dba loses access (shop-1, shop-2, shop-3; all env=shop)',
  },
  'the first runbook rule': {
    after: { 'access/nightly.yaml': runbookRule({}) },
    verdict: '1 to create. Strengthens protection of 9 connections.',
    says: '9 connections allow only the runbooks of rules: there were no runbook rules before (shop-1, shop-2, shop-3, shop-4, shop-5, and 4 more; all env=shop)',
  },
  'another subtype': {
    after: orders({ subtype: 'mysql' }),
    verdict: 'Passes credentials of 1 connection to another command.',
    says: '1 connection passes a kept credential to another command or type (orders; env=prod)',
    prints: 'access/orders.yaml:14\n',
  },
  'a harmless change beside a dangerous one': {
    after: { ...ledger({ connection_tags: { team: 'finance' } }), ...orders({ reviewers: [] }) },
    says: '1 connection loses review (orders; env=prod)',
  },
  'a new connection without review': {
    after: { 'access/reports.yaml': connection('reports', { access_groups: ['dba', 'sre'] }) },
    verdict: 'Gives access without review to 1 connection.',
    says: '1 connection becomes accessible to dba and sre without reviewers, guardrails or masking (reports)',
  },
  'no limit of sessions any more': {
    after: orders({ access_max_duration: null }),
    says: '1 connection allows longer access: 2 d (was 1 h) (orders; env=prod)',
  },
};
