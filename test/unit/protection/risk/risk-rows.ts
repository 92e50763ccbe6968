import { destinationRows } from './destination-rows.ts';
import { credentialRows, oneWay, secret, type Row, type Side } from './credential-rows.ts';
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
  ['access', own({}), own({ access_mode_exec: 'enabled' }), 'weakens access'],
  ['schema', own({}), own({ access_schema: 'enabled' }), 'weakens schema'],
  ['reviewers', own({ reviewers: ['dba', 'sre'] }), own({ reviewers: ['dba'] }), 'weakens review'],
  ['one reviewer for another', own({ reviewers: ['dba'] }), own({ reviewers: ['sre'] }), 'strengthens review, weakens review'],
  [
    'two more groups, of which two together can approve',
    own({ reviewers: ['dba'], min_review_approvals: 2 }),
    own({ reviewers: ['dba', 'sre', 'security'], min_review_approvals: 2 }),
    'strengthens review, weakens review',
  ],
  [
    'how many must approve',
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 2 }),
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 1 }),
    'weakens review',
  ],
  [
    'one more group where one is enough',
    own({ reviewers: ['dba'], min_review_approvals: 1 }),
    own({ reviewers: ['dba', 'sre'], min_review_approvals: 1 }),
    'weakens review',
  ],
  [
    'a number that asks for no less',
    own({ reviewers: ['dba'] }),
    own({ reviewers: ['dba'], min_review_approvals: 1 }),
    'neutral neutral',
    oneWay,
  ],
  ['force approval', own({ reviewers: ['dba'] }), own({ reviewers: ['dba'], force_approve_groups: ['sre'] }), 'weakens force'],
  ['force approval without review', own({}), own({ force_approve_groups: ['sre'] }), 'neutral neutral'],
  ['durations', own({ access_max_duration: 60 }), own({ access_max_duration: 90 }), 'weakens duration'],
  ['no limit', own({ access_max_duration: 60 }), own({}), 'unknown duration'],
  ['metadata', own({ mandatory_metadata_fields: ['ticket'] }), own({ mandatory_metadata_fields: null }), 'weakens metadata'],
  ['redaction', own({ redact_types: ['PERSON_NAME', 'EMAIL_ADDRESS'] }), own({ redact_types: ['PERSON_NAME'] }), 'weakens redaction'],
  ['guardrail edges', attached, blocking(words('DROP'), { connection_ids: [] }), 'weakens input'],
  ['masking edges', masked, hiding({ ...registered('PERSON'), connection_ids: [] }), 'weakens masking'],
  ['words', blocking(words('DROP', 'ALTER')), attached, 'weakens input'],
  ['a word that a shorter one covers', blocking(words('DROP', 'DROP TABLE')), attached, 'neutral neutral'],
  ['patterns', blocking(words('x'), { input: { rules: [words('x'), pattern('a+')] } }), blocking(words('x')), 'weakens input'],
  [
    'an entry of a type that gateways do not know',
    blocking(words('x'), { input: { rules: [words('x'), { ...pattern('a+'), type: 'pattern' }] } }),
    blocking(words('x')),
    'neutral neutral',
  ],
  ['a pattern whose type is misspelled', blocking(pattern('a+')), blocking({ ...pattern('a+'), type: 'pattern' }), 'weakens input'],
  [
    'a word that returns',
    [connection('orders'), guardrail('g', [], { connection_ids: ['orders'] })],
    [connection('orders'), guardrail('g', [], { connection_ids: ['orders'], output: { rules: [words('SECRET')] } })],
    'strengthens output',
  ],
  ['a pattern for another', blocking(pattern('a+')), blocking(pattern('b+')), 'weakens input', 'weakens input'],
  ['a pattern for one that is not compared', blocking(pattern('a+')), blocking(pattern('(?i)é+')), 'unknown input'],
  ['a wider pattern', blocking(pattern('a+')), blocking(pattern('[ab]+')), 'strengthens input'],
  ['a pattern for its words', blocking(words('DROP', 'drop')), blocking(pattern('(?i)drop')), 'strengthens input'],
  [
    'a pattern that a word covers',
    blocking(words('DROP'), { input: { rules: [words('DROP'), pattern('^DROP')] } }),
    blocking(words('DROP')),
    'neutral neutral',
  ],
  [
    'a word that another rule blocks',
    [...blocking(words('DROP', 'ALTER')), guardrail('h', [words('DROP')], { connection_ids: ['orders'] })],
    [...blocking(words('ALTER')), guardrail('h', [words('DROP')], { connection_ids: ['orders'] })],
    'neutral neutral',
  ],
  [
    'a word that moves between rules',
    [...blocking(words('DROP', 'ALTER')), guardrail('h', [words('GRANT')], { connection_ids: ['orders'] })],
    [...blocking(words('ALTER')), guardrail('h', [words('GRANT', 'DROP')], { connection_ids: ['orders'] })],
    'neutral neutral, neutral neutral',
  ],
  [
    'a rule on no connection',
    [connection('orders'), guardrail('g', [words('DROP')])],
    [connection('orders'), guardrail('g', [words('GRANT')])],
    'neutral neutral',
  ],
  ['entity types', hiding(registered('PERSON', 'URL')), masked, 'weakens masking'],
  [
    'custom entity types',
    hiding({ ...registered('PERSON'), ...custom({}), score_threshold: 0.5 }),
    hiding({ ...registered('PERSON'), score_threshold: 0.5 }),
    'weakens masking',
  ],
  [
    'a registered entity type for a custom one of the same name',
    hiding({ ...registered('PERSON'), score_threshold: 0.5 }),
    hiding({ custom_entity_types: [{ name: 'PERSON', score: 0.5, regex: 'E[0-9]+' }], score_threshold: 0.5 }),
    'strengthens masking, weakens masking',
  ],
  [
    'thresholds',
    hiding({ ...registered('PERSON'), score_threshold: 0.4 }),
    hiding({ ...registered('PERSON'), score_threshold: 0.6 }),
    'weakens masking',
  ],
  ['the gateway’s own threshold', hiding({ ...registered('PERSON'), score_threshold: 0.4 }), masked, 'unknown masking'],
  [
    'scores',
    hiding({ ...custom({ score: 0.8 }), score_threshold: 0.5 }),
    hiding({ ...custom({ score: 0.2 }), score_threshold: 0.5 }),
    'weakens masking',
  ],
  [
    'scores that both reach the threshold',
    hiding({ ...custom({ score: 0.9 }), score_threshold: 0.5 }),
    hiding({ ...custom({ score: 0.7 }), score_threshold: 0.5 }),
    'neutral neutral',
  ],
  [
    'scores where the gateway’s own threshold counts',
    hiding(custom({ score: 0.8 })),
    hiding(custom({ score: 0.2 })),
    'unknown masking',
    'strengthens masking',
  ],
  ['a custom regex', hiding(custom({})), hiding(custom({ regex: 'X+' })), 'unknown masking'],
  [
    'a custom list',
    hiding({ ...custom({ deny_list: ['a', 'b'] }), score_threshold: 0.5 }),
    hiding({ ...custom({ deny_list: ['a'] }), score_threshold: 0.5 }),
    'weakens masking',
  ],
  [
    'a selector that asks for more tags',
    selecting({ match_tags: { env: 'prod' } }),
    selecting({ match_tags: { env: 'prod', team: 'a' } }),
    'weakens selector-narrowed',
    'strengthens selector-widened',
  ],
  [
    'a selector that leaves names out',
    [...selecting({ match_tags: { env: 'prod' } }), connection('other')],
    [...selecting({ match_tags: { env: 'prod' }, except: ['other'] }), connection('other')],
    'weakens selector-narrowed',
    'strengthens selector-widened',
  ],
  ['what is ignored', ignoring(), ignoring('/reviewers'), 'weakens ignore-added', 'strengthens ignore-removed'],
  ['protection from deletion', [connection('orders', {}, { protect: true })], [connection('orders')], 'availability protect-removed', ''],
  ['a later end', ending('2026-12-31'), ending('2027-06-30'), 'weakens access-extended', ''],
  ['no end any more', ending('2026-12-31'), own({ access_groups: ['contractors'] }), 'weakens access-extended', ''],
  ['ignored settings', ignoring(), ignoring('/command'), ''],
  [
    'a secret from a reference to the file',
    own({ secret: { 'envvar:PASS': '_cloudsecrets:orders/db:pass' } }),
    own({ secret: { 'envvar:PASS': { value: 'secret' } } }),
    'weakens secret-inlined',
    'strengthens secret-referenced',
  ],
  ['agents', own({ secret }), own({ secret, agent_id: 'other' }), 'reroutes agent-rerouted'],
  ['commands', own({ secret }), own({ secret, command: ['sh'] }), 'reroutes command-rerouted'],
  ['resources', own({ secret }), own({ secret, resource_name: 'shared' }), 'reroutes resource-rerouted', oneWay],
  ['endpoints', own({ secret }), own({ secret: { ...secret, 'envvar:HOST': { value: 'two' } } }), 'reroutes endpoint-rerouted'],
  ['a new password', own({ secret }), own({ secret: { ...secret, 'envvar:PASS': { value: 'next' } } }), 'neutral neutral'],
  ['an agent without a credential', own({}), own({ agent_id: 'other' }), 'neutral neutral'],
  ['tags', own({}), own({ connection_tags: { env: 'dev' } }), 'neutral neutral'],
  ['a new connection', [], [connection('orders', { reviewers: ['dba'] })], 'neutral created', oneWay],
  ['a new connection that is accessible without protection', [], [connection('orders')], 'exposes exposed', oneWay],
  [
    'a new connection without review, with a guardrail',
    [],
    [connection('orders'), guardrail('g', [words('zzzzzz')], { connection_ids: ['orders'] })],
    'exposes exposed, neutral created',
    oneWay,
  ],
  [
    'a new connection without review, with masking',
    [],
    [connection('orders'), masking('m', { connection_ids: ['orders'], ...registered('IN_VOTER') })],
    'exposes exposed, neutral created',
    oneWay,
  ],
  [
    'a new connection without review, with redaction',
    [],
    [connection('orders', { redact_types: ['IN_VOTER'] })],
    'exposes exposed',
    oneWay,
  ],
  ['a new connection that is closed', [], own({ access_mode_connect: 'disabled' }), 'neutral created', oneWay],
  [
    'a successor with less protection',
    [connection('db', { reviewers: ['dba'] })],
    [connection('db2', { reviewers: [] }, { replaces: 'db' })],
    'strengthens access, weakens review',
    oneWay,
  ],
  [
    'a successor with more protection',
    [connection('db')],
    [connection('db2', { reviewers: ['dba'] }, { replaces: 'db' })],
    'strengthens access, strengthens review',
    oneWay,
  ],
  [
    'a successor that is protected in the same way',
    [connection('db', { reviewers: ['dba'] })],
    [connection('db2', { reviewers: ['dba'] }, { replaces: 'db' })],
    'neutral created, strengthens access',
    oneWay,
  ],
  [
    'a type that forwards what it cannot read, with masking',
    [connection('orders'), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    [connection('orders', { subtype: 'tcp' }), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    'weakens masking',
    'reroutes program-changed, strengthens masking',
  ],
  [
    'a type that forwards what it cannot read, with a guardrail',
    blocking(words('DROP')),
    [connection('orders', { subtype: 'tcp' }), ...blocking(words('DROP')).slice(1)],
    'unknown input',
    'reroutes program-changed, unknown input',
  ],
  [
    'a type that no documentation describes, with masking',
    [connection('orders'), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    [connection('orders', { subtype: 'newdb' }), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    'unknown masking',
    'reroutes program-changed, unknown masking',
  ],
  [
    'a type that forwards what it cannot read, without rules',
    own({}),
    own({ subtype: 'tcp' }),
    'neutral neutral',
    'reroutes program-changed',
  ],
  ...credentialRows,
  ...destinationRows,
  [
    'a guardrail where commands have no proxy',
    [connection('orders', { type: 'custom', subtype: 'dynamodb' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'custom', subtype: 'dynamodb' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    'strengthens input',
  ],
];
