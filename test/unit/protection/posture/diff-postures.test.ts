import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { EdgeChange } from '../../../../src/model/plan/plan.ts';
import { protectionOf } from '../../../../src/protection/protection.ts';
import { accessState, requestRule } from '../../../support/access-objects.ts';
import { stateOf } from '../../../support/resources.ts';
import { changeOf, connection, fieldOf, guardrail, masking, protectionOfWrites, sentences, types } from '../protection-fixtures.ts';

const detach: EdgeChange = {
  rule: 'DataMaskingRule/m',
  connection: 'Connection/a',
  action: 'detach',
  declared: [],
  by: 'DataMaskingRule/m',
};

const forNativeAccess = { access_type: 'jit', reviewers_groups: ['sre'] };

describe('access-request rules of the gateway', () => {
  const live = [connection('a', { attributes: ['pii'], reviewers: ['dba'] })];
  const change = changeOf('Connection/a', [fieldOf('/attributes/pii', 'pii', undefined), fieldOf('/reviewers/dba', 'dba', undefined)]);

  it('count by name and by attribute', () => {
    const writes = { target: { name: 'test', url: 'http://test', dialect: 'hoop' }, changes: [change], edges: [] };
    const state = {
      ...stateOf(...live),
      access: accessState({
        'access-request-rules': [
          requestRule('by-name', { ...forNativeAccess, connections: ['a'] }),
          requestRule('by-pii', { ...forNativeAccess, attributes: ['pii'], reviewers_groups: ['dba'] }),
          requestRule('other', { ...forNativeAccess, connections: ['b'] }),
        ],
      }),
    };
    const { connections } = protectionOf(writes, state, registry);
    expect(connections.flatMap(({ controls }) => controls.map(({ control, before, atLeast }) => ({ control, before, atLeast })))).toEqual([
      { control: 'approval', before: ['by-pii: 1 of dba for jit'], atLeast: undefined },
    ]);
  });

  it('mark a posture as a minimum when they cannot be read', () => {
    const { connections } = protectionOfWrites(live, [change], { dialect: 'hoop' });
    expect(connections[0]?.controls.find(({ control }) => control === 'review')?.atLeast).toBe(true);
  });
});

describe('the protection of connections in a plan', () => {
  it('does not change when nothing is written', () => {
    const fields = [fieldOf('/reviewers/dba', 'dba', undefined)];
    const live = [connection('a', { reviewers: ['dba'] }), masking('m', { supported_entity_types: types('URL') }, ['a'])];
    for (const action of ['blocked', 'held'] as const) {
      const changes = [changeOf('Connection/a', fields, { action })];
      expect(protectionOfWrites(live, changes, { edges: [{ ...detach, action }] })).toEqual({ headlines: [], connections: [], losing: [] });
    }
  });

  it('ignores held changes', () => {
    const live = [connection('a', { reviewers: ['dba', 'sre'] })];
    const fields = [fieldOf('/reviewers/dba', 'dba', undefined, { held: true }), fieldOf('/reviewers/sre', 'sre', undefined)];
    expect(protectionOfWrites(live, [changeOf('Connection/a', fields)]).connections).toMatchObject([
      { controls: [{ before: ['sre'], after: [], causes: [{ path: '/reviewers/sre' }] }] },
    ]);
  });

  it('names the positions of its causes and marks drift', () => {
    const live = [
      connection('a', { reviewers: ['dba'], access_max_duration: 60 }),
      guardrail('g', ['DROP'], ['a']),
      masking('m', { supported_entity_types: types('URL') }, ['a']),
    ];
    const at = { file: 'access.yaml', line: 3, column: 5 };
    const changes = [
      changeOf(
        'Connection/a',
        [
          fieldOf('/reviewers/dba', 'dba', undefined),
          fieldOf('/access_max_duration', 60, 90, { origin: 'drift' }),
          fieldOf('/command', ['sh'], ['bash']),
        ],
        { positions: { byPath: { '/reviewers/dba': at, '/access_max_duration': at, '/command': at } } },
      ),
      changeOf('GuardrailRule/g', [fieldOf('/input/rules/ddl/words/DROP', 'DROP', undefined)], {
        positions: { byPath: { '/input/rules/ddl/words/DROP': at } },
      }),
      changeOf('DataMaskingRule/m', []),
    ];
    const { connections } = protectionOfWrites(live, changes, { edges: [detach] });
    expect(connections).toEqual([
      {
        connection: 'Connection/a',
        direction: 'weakens',
        tags: {},
        controls: [
          {
            control: 'review',
            direction: 'weakens',
            before: ['dba'],
            after: [],
            causes: [{ by: 'Connection/a', path: '/reviewers/dba', place: 'access.yaml:3:5' }],
          },
          {
            control: 'input',
            direction: 'weakens',
            before: ['DROP'],
            after: [],
            causes: [{ by: 'GuardrailRule/g', path: '/input/rules/ddl', place: 'access.yaml:3:5' }],
          },
          {
            control: 'masking',
            direction: 'weakens',
            before: ['URL'],
            after: [],
            causes: [{ by: 'DataMaskingRule/m', edge: 'Connection/a', place: 'access.yaml:7:1' }],
          },
          {
            control: 'duration',
            direction: 'weakens',
            before: ['60 s'],
            after: ['90 s'],
            causes: [{ by: 'Connection/a', path: '/access_max_duration', place: 'access.yaml:3:5', byHand: true }],
          },
        ],
        rules: [
          { rule: 'DataMaskingRule/m', before: { controls: ['masking'], by: [{ how: 'edge' }] } },
          {
            rule: 'GuardrailRule/g',
            before: { controls: ['input'], by: [{ how: 'edge' }] },
            after: { controls: [], by: [{ how: 'edge' }] },
          },
        ],
      },
    ]);
  });

  it('names the declaration of an attached edge, whichever object writes it', () => {
    const edge: EdgeChange = { ...detach, action: 'attach', declared: ['access.yaml:9:7'], by: 'Connection/a', origin: 'drift' };
    const live = [connection('a'), masking('m', { supported_entity_types: types('URL') }, [])];
    expect(protectionOfWrites(live, [changeOf('Connection/a', [])], { edges: [edge] }).connections).toMatchObject([
      {
        direction: 'strengthens',
        controls: [{ causes: [{ by: 'Connection/a', edge: 'DataMaskingRule/m', place: 'access.yaml:9:7', byHand: true }] }],
      },
    ]);
  });

  it('is mixed when one control is lost and another gained', () => {
    const fields = [fieldOf('/access_schema', 'disabled', 'enabled'), fieldOf('/reviewers/dba', undefined, 'dba')];
    const { connections, losing } = protectionOfWrites(
      [connection('a', { access_schema: 'disabled' })],
      [changeOf('Connection/a', fields)],
    );
    expect(connections.map(({ direction }) => direction)).toEqual(['both']);
    expect(losing).toEqual(['Connection/a']);
  });

  it('does not change when another rule compensates', () => {
    const live = [connection('a'), guardrail('g', ['DROP'], ['a']), guardrail('h', ['DROP'], ['a'])];
    const gone = changeOf('GuardrailRule/g', [], { action: 'delete' });
    expect(protectionOfWrites(live, [gone]).connections).toEqual([]);
    expect(sentences(protectionOfWrites(live.slice(0, 2), [gone]))).toEqual(['weakens: 1 connection loses guardrail g (Connection/a)']);
  });

  it('keeps the controls of a renamed rule', () => {
    const live = [connection('a'), guardrail('g', ['DROP'], ['a'])];
    expect(protectionOfWrites(live, [changeOf('GuardrailRule/h', [], { action: 'rename', key: 'GuardrailRule/g' })]).connections).toEqual(
      [],
    );
  });
});

describe('created and deleted connections', () => {
  const fields = [fieldOf('/access_mode_connect', undefined, 'enabled')];

  it('reports a connection that is created accessible without protection', () => {
    const create = changeOf('Connection/a', fields, { action: 'create' });
    expect(sentences(protectionOfWrites([], [create]))).toEqual([
      'exposes: 1 connection becomes accessible without reviewers, guardrails or masking (Connection/a)',
    ]);
    expect(sentences(protectionOfWrites([], [create], { dialect: 'hoop' }))).toEqual([
      'exposes: 1 connection becomes accessible without guardrails or masking (Connection/a)',
    ]);
    const guarded = { ...create, fields: [...fields, fieldOf('/reviewers', undefined, ['dba'])] };
    expect(sentences(protectionOfWrites([], [guarded]))).toEqual([]);
  });

  it('counts opening a connection that was created closed as its creation', () => {
    const open = changeOf('Connection/a', [fieldOf('/access_mode_connect', 'disabled', 'enabled')], { reasons: ['unfinished'] });
    const { connections, losing } = protectionOfWrites([connection('a', { access_mode_connect: 'disabled', reviewers: ['dba'] })], [open]);
    expect(connections).toMatchObject([{ created: true, direction: 'neutral' }]);
    expect(losing).toEqual([]);
  });

  it('reports no loss for a deleted connection', () => {
    const gone = changeOf('Connection/a', [], { action: 'delete' });
    const protection = protectionOfWrites([connection('a', { reviewers: ['dba'] }), guardrail('g', ['DROP'], ['a'])], [gone]);
    expect(protection).toMatchObject({
      headlines: [{ direction: 'availability', text: '1 connection is deleted: everybody loses access' }],
      connections: [{ deleted: true, direction: 'neutral' }],
      losing: [],
    });
  });
});

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
    expect(protectionOfWrites(live, [change]).connections[0]?.controls[0]).not.toHaveProperty('atLeast');
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

  it('attach the rules that share them', () => {
    const there = changeOf('Connection/a', [fieldOf('/attributes/pci', undefined, 'pci')]);
    expect(sentences(protectionOfWrites([connection('a'), pci], [there], { dialect: 'hoop' }))).toEqual([
      'unknown: 1 connection changes attributes in a way that cannot be compared (Connection/a)',
      'strengthens: 1 connection gains guardrail g (Connection/a)',
    ]);
  });

  it('name the loss of a rule that they attached', () => {
    const back = changeOf('Connection/a', [fieldOf('/attributes/pci', 'pci', undefined)]);
    const live = [connection('a', { attributes: ['pci'] }), pci];
    expect(sentences(protectionOfWrites(live, [back], { dialect: 'hoop' }))).toEqual([
      'weakens: 1 connection loses guardrail g (Connection/a)',
      'unknown: 1 connection changes attributes in a way that cannot be compared (Connection/a)',
    ]);
  });

  it('pass on the losses of a rule', () => {
    const live = [connection('a', { attributes: ['pci'] }), connection('b'), pci];
    const change = changeOf('GuardrailRule/g', [fieldOf('/attributes/pci', 'pci', undefined)]);
    expect(sentences(protectionOfWrites(live, [change], { dialect: 'hoop' }))).toEqual([
      'weakens: 1 connection loses guardrail g (Connection/a)',
    ]);
  });
});
