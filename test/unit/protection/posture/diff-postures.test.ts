import { describe, expect, it } from 'vitest';
import type { EdgeChange } from '../../../../src/model/plan/plan.ts';
import { changeOf, connection, fieldOf, guardrail, masking, protectionOfWrites, sentences } from '../protection-fixtures.ts';

const detach: EdgeChange = {
  rule: 'DataMaskingRule/m',
  connection: 'Connection/a',
  action: 'detach',
  declared: [],
  by: 'DataMaskingRule/m',
};

describe('hidden values', () => {
  it('are marked, and are incomparable with readable ones', () => {
    const hidden = connection('a', {}, { unknown: ['/access_max_duration', '/reviewers'] });
    const changes = [
      changeOf('Connection/a', [
        { path: '/reviewers', before: { unknown: 'not shown' }, after: { value: ['dba'] } },
        fieldOf('/redact_types/URL', undefined, 'URL'),
      ]),
    ];
    expect(protectionOfWrites([hidden], changes).connections).toMatchObject([
      {
        direction: 'unknown',
        controls: [
          { control: 'review', direction: 'unknown', atLeast: true },
          { control: 'redaction', direction: 'strengthens' },
        ],
      },
    ]);
  });

  it('make a posture a minimum if access-request rules may add to it', () => {
    const change = changeOf('Connection/a', [fieldOf('/reviewers/dba', 'dba', undefined)]);
    const live = [connection('a', { reviewers: ['dba'] })];
    expect(protectionOfWrites(live, [change], { dialect: 'hoop' }).connections[0]?.controls).toMatchObject([
      { control: 'review', atLeast: true },
    ]);
    expect(protectionOfWrites(live, [change]).connections[0]?.controls[0]?.atLeast).toBeUndefined();
  });

  it('count an unreadable rule as a control', () => {
    const live = connection('a', {}, { edges: { guardrail_rules: ['GuardrailRule/00000000-0000-4000-8000-000000000001'] } });
    const edge: EdgeChange = { ...detach, rule: 'GuardrailRule/00000000-0000-4000-8000-000000000001', by: 'Connection/a' };
    expect(protectionOfWrites([live], [changeOf('Connection/a', [])], { edges: [edge] }).connections[0]?.controls).toMatchObject([
      { control: 'input', direction: 'unknown', atLeast: true },
      { control: 'output', direction: 'unknown', atLeast: true },
    ]);
  });

  it('include the hidden part of a masking rule', () => {
    const rule = masking('m', {}, ['a']);
    const change = changeOf('DataMaskingRule/m', [{ path: '/score_threshold', before: { unknown: 'x' }, after: { value: 0.5 } }]);
    const protection = protectionOfWrites([connection('a'), { ...rule, unknown: ['/score_threshold', ''] }], [change]);
    expect(protection.connections).toEqual([]);
  });
});

describe('attributes', () => {
  const pci = guardrail('g', ['DROP'], [], { attributes: ['pci'] });

  it('name the loss of a rule that they attached', () => {
    const back = changeOf('Connection/a', [fieldOf('/attributes/pci', 'pci', undefined)]);
    const live = [connection('a', { attributes: ['pci'] }), pci];
    expect(sentences(protectionOfWrites(live, [back], { dialect: 'hoop' }))).toEqual([
      'weakens: 1 connection loses guardrail g (Connection/a)',
      'unknown: 1 connection changes attributes in a way that cannot be compared (Connection/a)',
    ]);
  });

  it('may bring approvals that cannot be read, which make unclear neither who sees a connection nor which modes are open', () => {
    const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
    const closing = fieldOf('/access_mode_runbooks', 'enabled', 'disabled');
    const change = changeOf('Connection/a', [closing, fieldOf('/attributes/pci', undefined, 'pci')]);
    expect(sentences(protectionOfWrites([connection('a', modes)], [change], { dialect: 'hoop' }))).toEqual([
      'unknown: 1 connection changes attributes in a way that cannot be compared (Connection/a)',
      'strengthens: 1 connection disables runbooks (Connection/a)',
    ]);
  });
});
