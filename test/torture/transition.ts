import { config, connection, guardrail, manifest, type Files } from '../e2e/project.ts';

/** A guardrail that blocks two words with a message. */
function denying(word: string, message: string): string {
  const rules = [{ name: 'words', type: 'deny_words_list', words: ['DROP', word], message }];
  return manifest('GuardrailRule', 'no-drop', { input: { rules } });
}

function pattern(name: string, text: string, ends: readonly string[]): string {
  const rules = [{ name: 'pattern', type: 'pattern_match', pattern_regex: text }];
  return manifest('GuardrailRule', name, { input: { rules }, connection_ids: [...ends] });
}

function masking(name: string, type: string, threshold: number, ends: readonly string[]): string {
  return manifest('DataMaskingRule', name, {
    connection_ids: [...ends],
    score_threshold: threshold,
    supported_entity_types: [{ name: 'CONTACT', entity_types: [type] }],
  });
}

function runbooks(ttl: number): string {
  return manifest('RunbookConfiguration', 'books', {
    git_url: 'https://git.example.com/ops/books.git',
    git_hook_ttl: ttl,
    git_password: { valueFrom: { env: 'OSTIARY_SECRET_GIT' } },
  });
}

/** A config whose limits a transition does not reach: an interrupted one counts anew, with the objects that it created. */
export function transitionConfig(url: string): string {
  return config(url).replace("' }", "', limits: { from: 1000 } }");
}

/** The values of the secrets in both sides. */
export const transitionSecrets: Readonly<Record<string, string>> = {
  OSTIARY_SECRET_GIT: 'password-of-the-torture',
  OSTIARY_SECRET_DB: 'secret-of-the-torture',
};

/**
 * Two sets of manifests. To go from either to the other, an apply creates, updates, replaces, renames and deletes, moves attachments, and
 * exchanges one protection for another on the same connection, so that the order of its writes matters.
 */
export const sides: readonly [Files, Files] = [
  {
    'access/orders.yaml': connection('orders-db', {
      reviewers: ['dba'],
      guardrail_rules: ['no-drop'],
      secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_DB' } } },
    }),
    'access/billing.yaml': connection('billing-db', { access_max_duration: 3600, redact_types: ['PERSON'] }),
    'access/stale.yaml': connection('stale-db', { reviewers: ['sre'] }),
    'access/shop.yaml': connection('shop-db', { reviewers: ['dba'], access_mode_connect: 'disabled' }, { replaces: 'store-db' }),
    'access/no-drop.yaml': denying('TRUNCATE', 'Ask #dba.'),
    'access/old.yaml': pattern('old-rule', 'drop\\s+table', ['billing-db', 'stale-db']),
    'access/words.yaml': guardrail('words', ['GRANT'], { connection_ids: ['billing-db', 'shop-db'] }, { renamedFrom: 'phrases' }),
    'access/mask.yaml': masking('pii', 'EMAIL_ADDRESS', 0.6, ['billing-db']),
    'access/books.yaml': runbooks(60),
  },
  {
    'access/orders.yaml': connection('orders-db', {
      force_approve_groups: ['sre'],
      secret: { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_DB' } }, 'envvar:HOST': { value: '10.0.0.5' } },
    }),
    'access/billing.yaml': connection('billing-db', { reviewers: ['sre'], access_mode_exec: 'disabled' }),
    'access/fresh.yaml': connection('fresh-db', { reviewers: ['dba'], guardrail_rules: ['no-drop'] }),
    'access/store.yaml': connection('store-db', { reviewers: ['sre'], access_mode_connect: 'disabled' }, { replaces: 'shop-db' }),
    'access/no-drop.yaml': denying('DELETE', 'Ask #security.'),
    'access/new.yaml': pattern('new-rule', 'alter\\s+role', ['billing-db', 'fresh-db', 'orders-db']),
    'access/words.yaml': guardrail('phrases', ['REVOKE'], { connection_ids: ['orders-db', 'store-db'] }, { renamedFrom: 'words' }),
    'access/mask.yaml': masking('pii', 'PERSON', 0.4, ['orders-db', 'fresh-db']),
    'access/books.yaml': runbooks(120),
  },
];
