import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/model/diagnostic.ts';
import type { Json } from '../../../src/model/json.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import type { Change } from '../../../src/model/plan/plan.ts';
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
  it.each<[string, Json, Json, string, string]>([
    ['access_mode_exec', 'disabled', 'enabled', 'weakens: 1 connection enables exec', 'strengthens: 1 connection disables exec'],
    [
      'access_mode_runbooks',
      'disabled',
      'enabled',
      'weakens: 1 connection enables runbooks',
      'strengthens: 1 connection disables runbooks',
    ],
    ['access_groups', null, ['dba'], 'strengthens: only dba can reach db', 'weakens: everybody can reach db'],
    ['access_groups', ['dba', 'sre'], ['sre'], 'strengthens: dba can no longer reach db', 'weakens: dba can reach db'],
    ['access_groups', ['dba'], [], 'availability: 1 connection is visible to no group: dba loses access', 'weakens: dba can reach db'],
    ['access_groups', null, ['everybody'], 'strengthens: only everybody can reach db', 'weakens: everybody can reach db'],
    [
      'access_groups',
      [],
      ['a', 'b', 'c', 'd'],
      'weakens: a, b and 2 more groups can reach db',
      'availability: 1 connection is visible to no group: a, b and 2 more groups lose access',
    ],
    ['reviewers', ['dba'], [], 'weakens: 1 connection loses review', 'strengthens: 1 connection gains review'],
    [
      'reviewers',
      ['dba', 'sre'],
      ['dba'],
      'weakens: 1 connection loses reviewer group sre',
      'strengthens: 1 connection gains reviewer group sre',
    ],
    [
      'access_max_duration',
      60,
      3600,
      'weakens: 1 connection allows longer access: 1 h (was 1 min)',
      'strengthens: 1 connection allows only shorter access: 1 min (was 1 h)',
    ],
    ['access_schema', 'disabled', 'enabled', 'weakens: 1 connection shows the schema', 'strengthens: 1 connection hides the schema'],
    ['redact_types', ['PERSON'], [], 'weakens: 1 connection loses redaction', 'strengthens: 1 connection gains redaction'],
    [
      'redact_types',
      ['PERSON', 'URL'],
      ['URL'],
      'weakens: 1 connection no longer redacts PERSON',
      'strengthens: 1 connection now redacts PERSON',
    ],
    [
      'reviewers',
      ['dba', 'a', 'b', 'c', 'd'],
      ['dba'],
      'weakens: 1 connection loses 4 reviewer groups',
      'strengthens: 1 connection gains 4 reviewer groups',
    ],
    [
      'mandatory_metadata_fields',
      ['ticket'],
      [],
      'weakens: 1 connection no longer requires metadata field ticket',
      'strengthens: 1 connection now requires metadata field ticket',
    ],
  ])('%s %j → %j', (field, before, after, there, back) => {
    expect(thereAndBack(field, before, after)).toEqual([[there], [back]]);
  });

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
      ['1 connection can be approved by any 1 of 2 groups (was 1 of 1)', '/reviewers/a', '/min_review_approvals'],
      ['1 connection can be force-approved by group a', '/force_approve_groups/a'],
    ]);
  });

  it('names the field where only a rule of the gateway may require review', () => {
    const write = changeOf('Connection/db', [fieldOf('/force_approve_groups/sre', undefined, 'sre')]);
    const protection = protectionOfWrites([connection('db', {})], [write], { dialect: 'hoop' });
    expect(protection.headlines).toMatchObject([
      { direction: 'unknown', causes: [{ by: 'Connection/db', path: '/force_approve_groups/sre' }] },
    ]);
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

describe('headlines of rules', () => {
  const both = [connection('a'), connection('b')];
  const headlinesOf = (rule: LiveResource, changes: readonly Change[]): readonly string[] =>
    sentences(protectionOfWrites([...both, rule], changes));

  it('names every connection of a rule', () => {
    expect(
      headlinesOf(guardrail('g', ['DROP', 'GRANT'], ['a', 'b']), onRule(['/input/rules/ddl/words/GRANT', 'GRANT', undefined])),
    ).toEqual(['weakens: 2 connections no longer block GRANT (Connection/a, Connection/b)']);
  });

  it('counts a longer word as covered by a shorter word inside it', () => {
    const rule = guardrail('g', ['DROP TABLE'], ['a']);
    expect(headlinesOf(rule, onRule(['/input/rules/ddl/words/DROP', undefined, 'DROP']))).toEqual([
      'strengthens: 1 connection now blocks DROP (Connection/a)',
    ]);
    expect(
      headlinesOf(guardrail('g', ['DROP', 'DROP TABLE'], ['a']), onRule(['/input/rules/ddl/words/DROP TABLE', 'DROP TABLE', undefined])),
    ).toEqual([]);
  });

  it('compares two patterns, and reports it if it cannot', () => {
    const [name, [entry]] = word('p', 'a+');
    const rule = guardrail('g', [], ['a'], { input: { rules: [entry] } });
    expect(headlinesOf(rule, onRule([`/input/rules/${name}/pattern_regex`, 'a+', '(?i)é+']))).toEqual([
      'unknown: 1 connection changes guardrail patterns in a way that cannot be compared (Connection/a)',
    ]);
    expect(headlinesOf(rule, onRule([`/input/rules/${name}/pattern_regex`, 'a+', 'b+']))).toEqual([
      'weakens: 1 connection no longer blocks all of /a+/ (Connection/a)',
    ]);
    expect(headlinesOf(rule, onRule([`/input/rules/${name}/pattern_regex`, 'a+', '[ab]+']))).toEqual([
      'strengthens: 1 connection now blocks /[ab]+/ (Connection/a)',
    ]);
    expect(headlinesOf(rule, onRule([`/input/rules/${name}/pattern_regex`, 'a+', '^a+']))).toEqual([
      'weakens: 1 connection no longer blocks all of /a+/ (Connection/a)',
    ]);
    expect(headlinesOf(rule, onRule([`/input/rules/${name}`, entry, undefined]))).toEqual([
      'weakens: 1 connection loses guardrail g (Connection/a)',
    ]);
  });

  it('ignores fields that the type of an entry does not use', () => {
    const [, [entry]] = word('p', 'a+');
    const rule = guardrail('g', [], ['a'], { input: { rules: [entry] } });
    expect(headlinesOf(rule, onRule(['/input/rules/p/words/DROP', undefined, 'DROP']))).toEqual([]);
  });

  it('ignores an entry of an unknown type', () => {
    const entry = { name: 'x', type: 'pattern', pattern_regex: 'DROP' };
    const rule = guardrail('g', [], ['a'], { output: { rules: [entry] } });
    expect(headlinesOf(rule, onRule(['/output/rules/x', entry, undefined]))).toEqual([]);
    expect(headlinesOf(rule, onRule(['/output/rules/x/type', 'pattern', 'pattern_match']))).toEqual([
      'strengthens: 1 connection gains guardrail g (Connection/a)',
    ]);
  });

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

  it('reports nothing when an entity type moves between groups', () => {
    const rule = masking('m', { supported_entity_types: types('PERSON', 'URL') }, ['a']);
    const moved = onMask(
      ['/supported_entity_types/GROUP/entity_types/URL', 'URL', undefined],
      ['/supported_entity_types/OTHER', undefined, { name: 'OTHER', entity_types: ['URL'] }],
    );
    expect(headlinesOf(rule, moved)).toEqual([]);
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
