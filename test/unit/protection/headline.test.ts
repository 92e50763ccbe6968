import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/model/diagnostic.ts';
import type { Json } from '../../../src/model/json.ts';
import { changeOf, connection, fieldOf, guardrail, masking, protectionOfWrites, sentences, types } from './protection-fixtures.ts';

const word = (name: string, text: string): readonly [string, readonly [Json, Json]] => [
  name,
  [{ name, type: 'pattern_match', pattern_regex: text }, ''],
];

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
