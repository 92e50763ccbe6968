import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { resolveDefaults } from '../../../../src/reconcile/compare/resolve-specs.ts';
import { fieldOf } from '../../../support/field.ts';
import { desiredOf, fakeKind, liveOf } from '../../../support/resources.ts';

const kind = fakeKind(
  'Connection',
  [
    fieldOf('subtype', { shape: 'scalar' }, { empty: '' }),
    fieldOf('command', { shape: 'list' }, { omitted: 'derived' }),
    fieldOf('types', { shape: 'set' }),
    fieldOf('redacts', { shape: 'scalar' }, { omitted: 'derived', empty: false }),
    fieldOf('resource', { shape: 'scalar' }, { omitted: 'kept', empty: '' }),
    fieldOf('secret', { shape: 'map' }, { secret: 'base64' }),
  ],
  {
    createDefaults: (name) => ({ resource: name }),
    derived: (spec) => ({
      redacts: Array.isArray(spec['types']) && spec['types'].length > 0,
      ...(typeof spec['subtype'] === 'string' && spec['subtype'] !== '' ? { command: [spec['subtype']] } : {}),
    }),
  },
);

const live: JsonObject = { subtype: 'mysql', command: ['mysql'], types: ['EMAIL'], redacts: true, resource: 'shared' };

describe('resolveDefaults', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['takes the defaults of what is omitted', { subtype: '' }, { subtype: '', resource: 'db' }],
    ['takes what is stated', { resource: 'shared' }, { resource: 'shared' }],
    ['takes the default of what is reset', { resource: '' }, { resource: 'db' }],
    [
      'derives what is reset',
      { subtype: 'postgres', command: [], types: [] },
      { subtype: 'postgres', command: ['postgres'], types: [], redacts: false, resource: 'db' },
    ],
  ])('on create %s', (_, spec, expected) => {
    expect(resolveDefaults(kind, desiredOf('Connection/db', { spec }), undefined)).toEqual(expected);
  });

  it.each<[string, JsonObject, readonly string[], JsonObject]>([
    ['keeps what is omitted', { types: [] }, [], { types: [] }],
    ['takes the default of what is reset', { resource: '' }, [], { resource: 'db' }],
    ['derives what is reset', { subtype: 'postgres', command: [] }, [], { subtype: 'postgres', command: ['postgres'], redacts: true }],
    ['empties what is reset where nothing follows', { subtype: '', command: [] }, [], { subtype: '', command: [], redacts: true }],
    [
      'derives from what is ignored as live has it',
      { subtype: 'postgres', types: [] },
      ['/types'],
      { subtype: 'postgres', types: [], command: ['postgres'], redacts: true },
    ],
    [
      'derives from what is ignored in part',
      { subtype: 'mysql', types: [] },
      ['/types/EMAIL'],
      { subtype: 'mysql', types: [], command: ['mysql'], redacts: true },
    ],
    [
      'leaves what is stated, whatever it would derive',
      { subtype: 'postgres', command: ['psql'] },
      ['/types'],
      { subtype: 'postgres', command: ['psql'], redacts: true },
    ],
  ])('on update %s', (_, spec, ignore, expected) => {
    expect(resolveDefaults(kind, desiredOf('Connection/db', { spec, ignore }), liveOf('Connection/db', { spec: live }))).toEqual(expected);
  });
});
