import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/model/diagnostic.ts';
import type { Json } from '../../../src/model/json.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import type { Change } from '../../../src/model/plan/plan.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { changeOf, connection, fieldOf, guardrail, masking, protectionOfWrites, sentences, types } from './protection-fixtures.ts';

/** Returns the headlines for one connection with one changed field, and for the reverse change. */
function thereAndBack(
  field: string,
  before: Json,
  after: Json,
  others: Readonly<Record<string, Json>> = {},
  longestAccess?: number,
): readonly (readonly string[])[] {
  return [
    [before, after],
    [after, before],
  ].map(([from, to]) => {
    const live = connection('db', { ...others, [field]: from ?? null });
    const protection = protectionOfWrites([live], [changeOf('Connection/db', [fieldOf(`/${field}`, from, to)])], { longestAccess });
    return protection.headlines.map(({ direction, text }) => `${direction}: ${text}`);
  });
}

describe('headlines of a connection’s own fields', () => {
  it('compares forced approval where review is required', () => {
    const both = [
      'weakens: 1 connection can be force-approved by group sre',
      'strengthens: 1 connection can no longer be force-approved by group sre',
    ];
    expect(thereAndBack('force_approve_groups', [], ['sre'], { reviewers: ['dba'] })).toEqual(both.map((text) => [text]));
    expect(thereAndBack('force_approve_groups', [], ['sre'])).toEqual([[], []]);
    // The only reviewer can approve alone in any case.
    expect(thereAndBack('force_approve_groups', [], ['dba'], { reviewers: ['dba'] })).toEqual([[], []]);
  });

  it('names the fields that make approval easier only together, beside groups that may force it', () => {
    const before = { reviewers: ['x'], min_review_approvals: 2, force_approve_groups: ['x'] };
    const write = changeOf('Connection/db', [
      fieldOf('/force_approve_groups/a', undefined, 'a'),
      fieldOf('/reviewers/a', undefined, 'a'),
      fieldOf('/min_review_approvals', 2, 1),
    ]);
    const { headlines } = protectionOfWrites([connection('db', before)], [write]);
    expect(headlines.map((one) => [one.text, ...one.causes.map(({ path }) => path)])).toEqual([
      ['1 connection can be approved by any 1 of 2 groups (was 1 of 1)', '/min_review_approvals', '/reviewers/a'],
      ['1 connection can be force-approved by group a', '/force_approve_groups/a'],
    ]);
  });

  it('names what changes the own review where a rule of the gateway may require another one', () => {
    const force = changeOf('Connection/db', [fieldOf('/force_approve_groups/sre', undefined, 'sre')]);
    const forced = (spec: JsonObject): unknown => protectionOfWrites([connection('db', spec)], [force], { dialect: 'hoop' }).headlines;
    const open = { access_mode_connect: 'enabled' };
    expect(forced({ ...open, reviewers: ['dba'] })).toMatchObject([
      { direction: 'weakens', causes: [{ by: 'Connection/db', path: '/force_approve_groups/sre' }] },
    ]);
    // Without reviewers, no one can force anything, whatever a rule asks for.
    expect(forced(open)).toEqual([]);
  });

  it('compares no limit of access with the limit of the gateway, if the gateway reports it', () => {
    const unknown = ['unknown: 1 connection changes the duration of access in a way that cannot be compared'];
    expect(thereAndBack('access_max_duration', null, 60)).toEqual([unknown, unknown]);
    expect(thereAndBack('access_max_duration', null, 2_592_000)).toEqual([unknown, unknown]);
    const longer = 'weakens: 1 connection allows longer access:';
    const shorter = 'strengthens: 1 connection allows only shorter access:';
    expect(thereAndBack('access_max_duration', null, 60, {}, 172_800)).toEqual([
      [`${shorter} 1 min (was 2 d)`],
      [`${longer} 2 d (was 1 min)`],
    ]);
    expect(thereAndBack('access_max_duration', null, 2_592_000, {}, 172_800)).toEqual([
      [`${longer} 30 d (was 2 d)`],
      [`${shorter} 2 d (was 30 d)`],
    ]);
    expect(thereAndBack('access_max_duration', null, 172_800, {}, 172_800)).toEqual([[], []]);
  });

  it('compares the number of approvals, not only the groups', () => {
    const reviewers = ['dba', 'sre'];
    expect(thereAndBack('min_review_approvals', null, 1, { reviewers })).toEqual([
      ['weakens: 1 connection can be approved by any 1 of 2 groups (was 2 of 2)'],
      ['strengthens: 1 connection needs approval by 2 of 2 groups (was 1 of 2)'],
    ]);
    expect(thereAndBack('min_review_approvals', 2, null, { reviewers })).toEqual([[], []]);
    // If one approval is enough, another reviewer group is another way in.
    expect(thereAndBack('reviewers', ['dba'], ['dba', 'sre'], { min_review_approvals: 1 })).toEqual([
      ['weakens: 1 connection can be approved by any 1 of 2 groups (was 1 of 1)'],
      ['strengthens: 1 connection needs approval by 1 of 1 group (was 1 of 2)'],
    ]);
  });

  it('reports a loss and a gain when one group replaces another', () => {
    expect(thereAndBack('reviewers', ['dba'], ['sre'])).toEqual([
      ['weakens: 1 connection loses reviewer group dba', 'strengthens: 1 connection gains reviewer group sre'],
      ['weakens: 1 connection loses reviewer group sre', 'strengthens: 1 connection gains reviewer group dba'],
    ]);
  });

  it.each<[string, Json, Json]>([
    ['connection_tags', { env: 'dev' }, { env: 'prod' }],
    ['command', ['sh'], ['bash']],
    ['min_review_approvals', null, 1],
  ])('says nothing of %s %j → %j', (field, before, after) => {
    expect(thereAndBack(field, before, after)).toEqual([[], []]);
  });
});

const word = (name: string, text: string): readonly [string, readonly [Json, Json]] => [
  name,
  [{ name, type: 'pattern_match', pattern_regex: text }, ''],
];

type Fields = readonly Parameters<typeof fieldOf>[];

function onRule(...fields: Fields): readonly Change[] {
  return [
    changeOf(
      'GuardrailRule/g',
      fields.map((field) => fieldOf(...field)),
    ),
  ];
}

function onMask(...fields: Fields): readonly Change[] {
  return onRule(...fields).map((change) => ({ ...change, id: 'DataMaskingRule/m' }));
}

function headlinesOf(rule: LiveResource, changes: readonly Change[]): readonly string[] {
  return sentences(protectionOfWrites([connection('a'), rule], changes));
}

describe('headlines of masking rules', () => {
  it('compares masking by entity type and threshold', () => {
    const rule = masking('m', { score_threshold: 0.5, supported_entity_types: types('PERSON', 'URL') }, ['a']);
    expect(headlinesOf(rule, onMask(['/score_threshold', 0.5, 0.8]))).toEqual([
      'weakens: 1 connection masks PERSON and URL only from a score of 0.8 (was 0.5) (Connection/a)',
    ]);
    expect(headlinesOf(rule, onMask(['/score_threshold', 0.5, 0.2]))).toEqual([
      'strengthens: 1 connection masks PERSON and URL already from a score of 0.2 (was 0.5) (Connection/a)',
    ]);
    expect(headlinesOf(rule, onMask(['/supported_entity_types/GROUP/entity_types/URL', 'URL', undefined]))).toEqual([
      'weakens: 1 connection no longer masks URL (Connection/a)',
    ]);
    expect(headlinesOf(rule, onMask(['/supported_entity_types/GROUP', types('PERSON', 'URL'), undefined]))).toEqual([
      'weakens: 1 connection loses masking of PERSON and URL (Connection/a)',
    ]);
    expect(headlinesOf(rule, onMask(['/score_threshold', 0.5, null]))).toEqual([
      'unknown: 1 connection changes masking in a way that cannot be compared (Connection/a)',
    ]);
  });

  it('compares custom types by their words, patterns and scores', () => {
    const custom = [{ name: 'EMP', score: 0.5, deny_list: ['x', 'y'], regex: 'E+' }];
    const rule = masking('m', { score_threshold: 0.4, custom_entity_types: custom }, ['a']);
    const at = '/custom_entity_types/EMP';
    expect(headlinesOf(rule, onMask([`${at}/deny_list/x`, 'x', undefined]))).toEqual([
      'weakens: 1 connection no longer masks x as EMP (Connection/a)',
    ]);
    // A score that reaches the threshold masks everything that is found, however high it is.
    expect(headlinesOf(rule, onMask([`${at}/score`, 0.5, 0.9]))).toEqual([]);
    expect(headlinesOf(rule, onMask([`${at}/score`, 0.5, 0.1]))).toEqual(['weakens: 1 connection loses masking of EMP (Connection/a)']);
    expect(headlinesOf(rule, onMask([`${at}/regex`, 'E+', 'E*']))).toEqual([
      'unknown: 1 connection changes masking in a way that cannot be compared (Connection/a)',
    ]);
  });
});

describe('the order of headlines', () => {
  it('lists weakening, then incomparable, then strengthening headlines, each by weight', () => {
    const [, [entry]] = word('p', 'a+');
    const live = [
      connection('a', { reviewers: ['dba'], access_schema: 'disabled', connection_tags: { env: 'prod', team: 'x' } }),
      connection('b', { reviewers: ['dba'], connection_tags: { env: 'prod', team: 'y' } }),
      guardrail('g', [], ['a'], { input: { rules: [entry] } }),
    ];
    const changes = [
      changeOf('Connection/a', [fieldOf('/access_schema', 'disabled', 'enabled'), fieldOf('/reviewers/dba', 'dba', undefined)]),
      changeOf('Connection/b', [fieldOf('/redact_types/URL', undefined, 'URL'), fieldOf('/reviewers/dba', 'dba', undefined)]),
      changeOf('GuardrailRule/g', [fieldOf('/input/rules/p/pattern_regex', 'a+', '(?i)é+')]),
    ];
    const protection = protectionOfWrites(live, changes);
    expect(sentences(protection)).toEqual([
      'weakens: 2 connections lose review (Connection/a, Connection/b)',
      'weakens: 1 connection shows the schema (Connection/a)',
      'unknown: 1 connection changes guardrail patterns in a way that cannot be compared (Connection/a)',
      'strengthens: 1 connection gains redaction (Connection/b)',
    ]);
    expect(protection.headlines[0]?.tags).toEqual({ env: 'prod' });
    expect(protection.losing).toEqual(['Connection/a', 'Connection/b']);
  });
});

/** Returns the causes of each headline. */
function causes(...given: Parameters<typeof protectionOfWrites>): unknown {
  const { headlines } = protectionOfWrites(...given);
  return Object.fromEntries(
    headlines.map(({ text, causes: all }) => [text, all.map(({ by, path, place }) => [by, path ?? '', place ?? ''])]),
  );
}

function atLine(line: number): Position {
  return { file: 'a.yaml', line, column: 3 };
}

describe('the causes of a headline', () => {
  it('have the same verdict, each listed once at its line', () => {
    const live = connection('db', { reviewers: ['dba'] });
    const fields = [fieldOf('/reviewers/dba', 'dba', undefined), fieldOf('/reviewers/sre', undefined, 'sre')];
    const positions = { byPath: { '/reviewers/dba': atLine(3), '/reviewers/sre': atLine(4) } };
    expect(causes([live], [changeOf('Connection/db', fields, { positions })])).toEqual({
      '1 connection loses reviewer group dba': [['Connection/db', '/reviewers/dba', 'a.yaml:3:3']],
      '1 connection gains reviewer group sre': [['Connection/db', '/reviewers/sre', 'a.yaml:4:3']],
    });
  });

  it('are one line for all connections of a rule, or the resource that is created, deleted or restored', () => {
    const live = [connection('a'), connection('b'), guardrail('g', ['DROP', 'ALTER'], ['a', 'b'])];
    const words = fieldOf('/input/rules/ddl/words/ALTER', 'ALTER', undefined);
    expect(causes(live, [changeOf('GuardrailRule/g', [words])])).toEqual({
      '2 connections no longer block ALTER': [['GuardrailRule/g', '/input/rules/ddl', 'access.yaml:7:1']],
    });
    const { at: _, ...gone } = changeOf('GuardrailRule/g', [], { action: 'delete' });
    expect(causes(live, [gone])).toEqual({ '2 connections lose guardrail g': [['GuardrailRule/g', '', '']] });
    const open = [fieldOf('/access_mode_connect', undefined, 'enabled', { origin: 'drift' })];
    const [back] = protectionOfWrites([], [changeOf('Connection/new', open, { action: 'create' })]).headlines;
    expect(back?.causes).toEqual([{ by: 'Connection/new', place: 'access.yaml:7:1', byHand: true }]);
  });
});

function afterMasking(more: Readonly<Record<string, Json>>): readonly string[] {
  const write = changeOf('DataMaskingRule/contacts', [
    fieldOf('/score_threshold', 0.5, 0.9),
    fieldOf('/supported_entity_types/GROUP/entity_types/PHONE_NUMBER', 'PHONE_NUMBER', undefined),
  ]);
  const { headlines } = protectionOfWrites(
    [
      connection('db', more),
      masking('contacts', { score_threshold: 0.5, supported_entity_types: types('EMAIL_ADDRESS', 'PHONE_NUMBER') }, ['db']),
    ],
    [write],
  );
  return headlines.map(({ direction, text }) => `${direction}: ${text}`);
}

describe('headlines of masking', () => {
  it('name a raised threshold beside a removed type', () => {
    expect(afterMasking({})).toEqual([
      'weakens: 1 connection no longer masks PHONE_NUMBER, and masks EMAIL_ADDRESS only from a score of 0.9 (was 0.5)',
    ]);
  });

  it('leave out a type that the connection redacts itself', () => {
    expect(afterMasking({ redact_types: ['PHONE_NUMBER'], redact_enabled: true })).toEqual([
      'weakens: 1 connection masks EMAIL_ADDRESS only from a score of 0.9 (was 0.5)',
    ]);
    expect(afterMasking({ redact_types: ['PHONE_NUMBER', 'EMAIL_ADDRESS'], redact_enabled: true })).toEqual([]);
  });
});
