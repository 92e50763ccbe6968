import { describe, expect, it } from 'vitest';
import type { LiveState } from '../../../../src/model/live.ts';
import { resolveReferences } from '../../../../src/reconcile/cells/resolve-specs.ts';
import { fieldOf } from '../../../support/field.ts';
import { desiredOf, fakeKind, liveOf } from '../../../support/resources.ts';

const kind = fakeKind('Connection', [
  fieldOf('agent_id', { shape: 'scalar' }, { refers: 'Agent' }),
  fieldOf('rules', { shape: 'set' }, { refers: 'GuardrailRule', edge: 'connection' }),
  fieldOf('text', { shape: 'scalar' }),
]);
const uuid = '0000000A-0000-4000-8000-00000000000a';
const state: LiveState = {
  resources: [],
  lookups: {
    Agent: [
      { uid: uuid.toLowerCase(), name: 'prod' },
      { uid: 'one', name: 'twin' },
      { uid: 'two', name: 'twin' },
    ],
  },
};
const disguised: LiveState = {
  resources: [],
  lookups: {
    Agent: [
      { uid: uuid.toLowerCase(), name: 'prod' },
      { uid: 'b', name: uuid.toLowerCase() },
    ],
  },
};
const nothing: LiveState = { resources: [], lookups: { Agent: [] } };
const blind: LiveState = { resources: [], lookups: {} };

describe('resolveReferences', () => {
  it.each<[string, string, LiveState, string]>([
    ['a name', 'prod', state, 'prod'],
    ['an id', uuid, state, 'prod'],
    ['the id of one of two of a name', 'one', state, 'one'],
    ['an id where names cannot be looked up', uuid, blind, uuid.toLowerCase()],
    ['an id that is the name of another, too', uuid.toLowerCase(), disguised, 'prod'],
    ['the id of one whose name is an id of another', 'b', disguised, 'b'],
    ['nothing', '', state, ''],
  ])('takes %s', (_, text, live, expected) => {
    const desired = desiredOf('Connection/db', { spec: { agent_id: text, rules: ['x'], text: 'y' } });
    expect(resolveReferences(kind, desired, undefined, live)).toEqual({
      spec: { agent_id: expected, rules: ['x'], text: 'y' },
      diagnostics: [],
    });
  });

  it.each<[string, string, LiveState, string, string]>([
    ['one of two of a name', 'twin', state, 'manifest/ambiguous-reference', 'use the ID instead: one, two'],
    ['a name that is near', 'prd', state, 'manifest/dangling-reference', 'did you mean "prod"?'],
    ['a name that is not', 'elsewhere', state, 'manifest/dangling-reference', 'it has: prod, twin, twin'],
    ['a name where there is none', 'prod', nothing, 'manifest/dangling-reference', 'the gateway has none'],
    ['a name that cannot be looked up', 'prod', blind, 'manifest/dangling-reference', 'use the ID (a UUID) instead of the name'],
  ])('refuses %s', (_, text, live, code, hint) => {
    const { diagnostics } = resolveReferences(kind, desiredOf('Connection/db', { spec: { agent_id: text } }), undefined, live);
    expect(diagnostics).toMatchObject([{ code, hint, severity: 'error', resource: 'Connection/db', at: { file: 'access/agent_id' } }]);
  });

  it.each<[string, Partial<Parameters<typeof desiredOf>[1]>]>([
    ['equal to live', { spec: { agent_id: 'gone' } }],
    ['ignored', { spec: { agent_id: 'other' }, ignore: ['/agent_id'] }],
  ])('takes what is %s as it is', (_, given) => {
    const live = liveOf('Connection/db', { spec: { agent_id: 'gone' } });
    expect(resolveReferences(kind, desiredOf('Connection/db', given), live, state).diagnostics).toEqual([]);
  });
});
