import { destinationRows } from './destination-rows.ts';
import { credentialRows, credentialsOneWay, secret, type Row, type Side } from './credential-rows.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Manifest } from '../../../support/scenario.ts';
import {
  connectionManifest as connection,
  guardrailManifest as guardrail,
  maskingManifest as masking,
  pattern,
  registered,
  words,
} from '../../../support/risks.ts';

export const closed: Manifest = connection('orders', { access_mode_connect: 'disabled', access_mode_exec: 'enabled' });

export function own(spec: JsonObject): Side {
  return [connection('orders', spec)];
}

export function blocking(rule: JsonObject, spec: JsonObject = {}): Side {
  return [connection('orders'), guardrail('g', [rule], { connection_ids: ['orders'], ...spec })];
}

function hiding(spec: JsonObject): Side {
  return [connection('orders'), masking('m', { connection_ids: ['orders'], ...spec })];
}

function custom(entity: JsonObject): JsonObject {
  return { custom_entity_types: [{ name: 'EMP', score: 0.5, regex: 'EMP-[0-9]+', ...entity }] };
}

export function selecting(selector: JsonObject): Side {
  const tags = { connection_tags: { env: 'prod', team: 'a' } };
  return [connection('orders', tags), guardrail('g', [words('DROP')], { connection_selector: selector })];
}

function ignoring(...paths: readonly string[]): Side {
  return [connection('orders', { reviewers: ['dba'] }, { ignore: paths })];
}

function ending(until: string): Side {
  return own({ access_groups: [{ group: 'contractors', until }] });
}

export const attached: Side = blocking(words('DROP'));
const masked = hiding(registered('PERSON'));

/** Every reason, in both directions. */
export const rows: readonly Row[] = [
  ['access', own({}), own({ access_mode_exec: 'enabled' }), ['weakens access-opened'], ['strengthens access-closed']],
  ['schema', own({}), own({ access_schema: 'enabled' }), ['weakens schema-shown'], ['strengthens schema-hidden']],
  [
    'reviewers',
    own({ reviewers: ['dba', 'sre'] }),
    own({ reviewers: ['dba'] }),
    ['weakens reviewer-removed'],
    ['strengthens reviewer-added'],
  ],
  [
    'one reviewer for another',
    own({ reviewers: ['dba'] }),
    own({ reviewers: ['sre'] }),
    ['strengthens reviewer-added', 'weakens reviewer-removed'],
    ['strengthens reviewer-added', 'weakens reviewer-removed'],
  ],
  [
    'two more groups, of which two together can approve',
    own({ reviewers: ['dba'], min_review_approvals: 2 }),
    own({ reviewers: ['dba', 'sre', 'security'], min_review_approvals: 2 }),
    ['strengthens reviewer-added', 'weakens reviewer-added'],
    ['strengthens reviewer-removed', 'weakens reviewer-removed'],
  ],
  [
    'how many must approve',
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 2 }),
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 1 }),
    ['weakens approvals-lowered'],
    ['strengthens approvals-raised'],
  ],
  [
    'one more group where one is enough',
    own({ reviewers: ['dba'], min_review_approvals: 1 }),
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 1 }),
    ['weakens reviewer-added'],
    ['strengthens reviewer-removed'],
  ],
  [
    'a number that asks for no less',
    own({ reviewers: ['dba'] }),
    own({ reviewers: ['dba'], min_review_approvals: 1 }),
    ['neutral approvals-lowered'],
    ['neutral neutral'],
  ],
  [
    'force approval',
    own({ reviewers: ['dba'] }),
    own({ reviewers: ['dba'], force_approve_groups: ['sre'] }),
    ['weakens force-approver-added'],
    ['strengthens force-approver-removed'],
  ],
  [
    'force approval without review',
    own({}),
    own({ force_approve_groups: ['sre'] }),
    ['neutral force-approver-added'],
    ['neutral force-approver-removed'],
  ],
  [
    'durations',
    own({ access_max_duration: 60 }),
    own({ access_max_duration: 90 }),
    ['weakens duration-raised'],
    ['strengthens duration-lowered'],
  ],
  ['no limit', own({ access_max_duration: 60 }), own({}), ['unknown duration-changed'], ['unknown duration-changed']],
  [
    'metadata',
    own({ mandatory_metadata_fields: ['ticket'] }),
    own({ mandatory_metadata_fields: null }),
    ['weakens metadata-removed'],
    ['strengthens metadata-added'],
  ],
  [
    'redaction',
    own({ redact_types: ['PERSON_NAME', 'EMAIL_ADDRESS'] }),
    own({ redact_types: ['PERSON_NAME'] }),
    ['weakens redaction-removed'],
    ['strengthens redaction-added'],
  ],
  [
    'guardrail edges',
    attached,
    blocking(words('DROP'), { connection_ids: [] }),
    ['weakens guardrail-detached'],
    ['strengthens guardrail-attached'],
  ],
  [
    'masking edges',
    masked,
    hiding({ ...registered('PERSON'), connection_ids: [] }),
    ['weakens masking-detached'],
    ['strengthens masking-attached'],
  ],
  ['words', blocking(words('DROP', 'ALTER')), attached, ['weakens word-removed'], ['strengthens word-added']],
  ['a word that a shorter one covers', blocking(words('DROP', 'DROP TABLE')), attached, ['neutral neutral'], ['neutral neutral']],
  [
    'patterns',
    blocking(words('x'), { input: { rules: [words('x'), pattern('a+')] } }),
    blocking(words('x')),
    ['weakens pattern-removed'],
    ['strengthens pattern-added'],
  ],
  [
    'an entry of a type that gateways do not know',
    blocking(words('x'), { input: { rules: [words('x'), { ...pattern('a+'), type: 'pattern' }] } }),
    blocking(words('x')),
    ['neutral neutral'],
    ['neutral neutral'],
  ],
  [
    'a pattern whose type is misspelled',
    blocking(pattern('a+')),
    blocking({ ...pattern('a+'), type: 'pattern' }),
    ['weakens pattern-removed'],
    ['strengthens pattern-added'],
  ],
  ['a pattern for another', blocking(pattern('a+')), blocking(pattern('b+')), ['weakens pattern-changed'], ['weakens pattern-changed']],
  [
    'a pattern for one that is not compared',
    blocking(pattern('a+')),
    blocking(pattern('(?i)é+')),
    ['unknown pattern-changed'],
    ['unknown pattern-changed'],
  ],
  ['a wider pattern', blocking(pattern('a+')), blocking(pattern('[ab]+')), ['strengthens pattern-added'], ['weakens pattern-removed']],
  [
    'a pattern for its words',
    blocking(words('DROP', 'drop')),
    blocking(pattern('(?i)drop')),
    ['strengthens pattern-added'],
    ['weakens pattern-removed'],
  ],
  [
    'a pattern that a word covers',
    blocking(words('DROP'), { input: { rules: [words('DROP'), pattern('^DROP')] } }),
    blocking(words('DROP')),
    ['neutral neutral'],
    ['neutral neutral'],
  ],
  [
    'a word that another rule blocks',
    [...blocking(words('DROP', 'ALTER')), guardrail('h', [words('DROP')], { connection_ids: ['orders'] })],
    [...blocking(words('ALTER')), guardrail('h', [words('DROP')], { connection_ids: ['orders'] })],
    ['neutral word-removed'],
    ['neutral word-added'],
  ],
  [
    'a word that moves between rules',
    [...blocking(words('DROP', 'ALTER')), guardrail('h', [words('GRANT')], { connection_ids: ['orders'] })],
    [...blocking(words('ALTER')), guardrail('h', [words('GRANT', 'DROP')], { connection_ids: ['orders'] })],
    ['neutral word-added', 'neutral word-removed'],
    ['neutral word-added', 'neutral word-removed'],
  ],
  [
    'a rule on no connection',
    [connection('orders'), guardrail('g', [words('DROP')])],
    [connection('orders'), guardrail('g', [words('GRANT')])],
    ['neutral word-added', 'neutral word-removed'],
    ['neutral word-added', 'neutral word-removed'],
  ],
  ['entity types', hiding(registered('PERSON', 'URL')), masked, ['weakens entity-type-removed'], ['strengthens entity-type-added']],
  [
    'custom entity types',
    hiding({ ...registered('PERSON'), ...custom({}), score_threshold: 0.5 }),
    hiding({ ...registered('PERSON'), score_threshold: 0.5 }),
    ['weakens entity-type-removed'],
    ['strengthens entity-type-added'],
  ],
  [
    'a registered entity type for a custom one of the same name',
    hiding({ ...registered('PERSON'), score_threshold: 0.5 }),
    hiding({ custom_entity_types: [{ name: 'PERSON', score: 0.5, regex: 'E[0-9]+' }], score_threshold: 0.5 }),
    ['strengthens entity-type-added', 'weakens entity-type-removed'],
    ['strengthens entity-type-added', 'weakens entity-type-removed'],
  ],
  [
    'thresholds',
    hiding({ ...registered('PERSON'), score_threshold: 0.4 }),
    hiding({ ...registered('PERSON'), score_threshold: 0.6 }),
    ['weakens threshold-raised'],
    ['strengthens threshold-lowered'],
  ],
  [
    'the gateway’s own threshold',
    hiding({ ...registered('PERSON'), score_threshold: 0.4 }),
    masked,
    ['unknown threshold-changed'],
    ['unknown threshold-changed'],
  ],
  [
    'scores',
    hiding({ ...custom({ score: 0.8 }), score_threshold: 0.5 }),
    hiding({ ...custom({ score: 0.2 }), score_threshold: 0.5 }),
    ['weakens score-lowered'],
    ['strengthens score-raised'],
  ],
  [
    'scores that both reach the threshold',
    hiding({ ...custom({ score: 0.9 }), score_threshold: 0.5 }),
    hiding({ ...custom({ score: 0.7 }), score_threshold: 0.5 }),
    ['neutral score-lowered'],
    ['neutral score-raised'],
  ],
  [
    'scores where the gateway’s own threshold counts',
    hiding(custom({ score: 0.8 })),
    hiding(custom({ score: 0.2 })),
    ['unknown score-lowered'],
    ['strengthens score-raised'],
  ],
  ['a custom regex', hiding(custom({})), hiding(custom({ regex: 'X+' })), ['unknown pattern-changed'], ['unknown pattern-changed']],
  [
    'a custom list',
    hiding({ ...custom({ deny_list: ['a', 'b'] }), score_threshold: 0.5 }),
    hiding({ ...custom({ deny_list: ['a'] }), score_threshold: 0.5 }),
    ['weakens word-removed'],
    ['strengthens word-added'],
  ],
  [
    'a selector that asks for more tags',
    selecting({ match_tags: { env: 'prod' } }),
    selecting({ match_tags: { env: 'prod', team: 'a' } }),
    ['weakens selector-narrowed'],
    ['strengthens selector-widened'],
  ],
  [
    'a selector that leaves names out',
    [...selecting({ match_tags: { env: 'prod' } }), connection('other')],
    [...selecting({ match_tags: { env: 'prod' }, except: ['other'] }), connection('other')],
    ['weakens selector-narrowed'],
    ['strengthens selector-widened'],
  ],
  ['what is ignored', ignoring(), ignoring('/reviewers'), ['weakens ignore-added'], ['strengthens ignore-removed']],
  ['protection from deletion', [connection('orders', {}, { protect: true })], [connection('orders')], ['availability protect-removed'], []],
  ['a later end', ending('2026-12-31'), ending('2027-06-30'), ['weakens access-extended'], []],
  ['no end any more', ending('2026-12-31'), own({ access_groups: ['contractors'] }), ['weakens access-extended'], []],
  ['ignored settings', ignoring(), ignoring('/command'), [], []],
  [
    'a secret from a reference to the file',
    own({ secret: { 'envvar:PASS': '_cloudsecrets:orders/db:pass' } }),
    own({ secret: { 'envvar:PASS': { value: 'secret' } } }),
    ['weakens secret-inlined'],
    ['strengthens secret-referenced'],
  ],
  ['agents', own({ secret }), own({ secret, agent_id: 'other' }), ['reroutes agent-rerouted'], ['reroutes agent-rerouted']],
  ['commands', own({ secret }), own({ secret, command: ['sh'] }), ['reroutes command-rerouted'], ['reroutes command-rerouted']],
  ['resources', own({ secret }), own({ secret, resource_name: 'shared' }), ['reroutes resource-rerouted'], ['neutral neutral']],
  [
    'endpoints',
    own({ secret }),
    own({ secret: { ...secret, 'envvar:HOST': { value: 'two' } } }),
    ['reroutes endpoint-rerouted'],
    ['reroutes endpoint-rerouted'],
  ],
  [
    'a new password',
    own({ secret }),
    own({ secret: { ...secret, 'envvar:PASS': { value: 'next' } } }),
    ['neutral neutral'],
    ['neutral neutral'],
  ],
  ['an agent without a credential', own({}), own({ agent_id: 'other' }), ['neutral neutral'], ['neutral neutral']],
  ['tags', own({}), own({ connection_tags: { env: 'dev' } }), ['neutral neutral'], ['neutral neutral']],
  ['a new connection', [], [connection('orders', { reviewers: ['dba'] })], ['neutral created'], []],
  ['a new connection that is accessible without protection', [], [connection('orders')], ['exposes exposed'], []],
  [
    'a new connection without review, with a guardrail',
    [],
    [connection('orders'), guardrail('g', [words('zzzzzz')], { connection_ids: ['orders'] })],
    ['exposes exposed', 'neutral created'],
    [],
  ],
  [
    'a new connection without review, with masking',
    [],
    [connection('orders'), masking('m', { connection_ids: ['orders'], ...registered('IN_VOTER') })],
    ['exposes exposed', 'neutral created'],
    [],
  ],
  ['a new connection without review, with redaction', [], [connection('orders', { redact_types: ['IN_VOTER'] })], ['exposes exposed'], []],
  ['a new connection that is closed', [], own({ access_mode_connect: 'disabled' }), ['neutral created'], []],
  [
    'a successor with less protection',
    [connection('db', { reviewers: ['dba'] })],
    [connection('db2', { reviewers: [] }, { replaces: 'db' })],
    ['strengthens access-closed', 'weakens replacement-differs'],
    [],
  ],
  [
    'a successor with more protection',
    [connection('db')],
    [connection('db2', { reviewers: ['dba'] }, { replaces: 'db' })],
    ['strengthens access-closed', 'strengthens replacement-differs'],
    [],
  ],
  [
    'a successor that is protected in the same way',
    [connection('db', { reviewers: ['dba'] })],
    [connection('db2', { reviewers: ['dba'] }, { replaces: 'db' })],
    ['neutral replacement-differs', 'strengthens access-closed'],
    [],
  ],
  [
    'a type that forwards what it cannot read, with masking',
    [connection('orders'), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    [connection('orders', { subtype: 'tcp' }), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    ['weakens enforcement-changed'],
    ['reroutes program-changed', 'strengthens enforcement-changed'],
  ],
  [
    'a type that forwards what it cannot read, with a guardrail',
    blocking(words('DROP')),
    [connection('orders', { subtype: 'tcp' }), ...blocking(words('DROP')).slice(1)],
    ['availability unenforceable', 'unknown enforcement-changed'],
    ['reroutes program-changed', 'unknown enforcement-changed'],
  ],
  [
    'a type that no documentation describes, with masking',
    [connection('orders'), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    [connection('orders', { subtype: 'newdb' }), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    ['unknown enforcement-changed'],
    ['reroutes program-changed', 'unknown enforcement-changed'],
  ],
  [
    'a type that forwards what it cannot read, without rules',
    own({}),
    own({ subtype: 'tcp' }),
    ['neutral enforcement-changed'],
    ['neutral enforcement-changed', 'reroutes program-changed'],
  ],
  ...credentialRows,
  ...destinationRows,
  [
    'a guardrail where commands have no proxy',
    [connection('orders', { type: 'custom', subtype: 'dynamodb' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'custom', subtype: 'dynamodb' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    ['strengthens guardrail-attached'],
    ['weakens guardrail-detached'],
  ],
];

const beside = ['a guardrail', 'masking', 'redaction'].map((what) => ` without review, with ${what}`);

/** Resources that keep what a manifest leaves out have nothing to go back to; so the way back of one row is nothing. */
export const oneWay: ReadonlySet<string> = new Set([
  ...credentialsOneWay,
  ...['', ' that is accessible without protection', ' that is closed', ...beside].map((how) => `a new connection${how}`),
  ...['less protection', 'more protection'].map((what) => `a successor with ${what}`),
  'a successor that is protected in the same way',
  'resources',
  'a number that asks for no less',
]);
