import { describe, expect, it } from 'vitest';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { LiveResource } from '../../../../src/model/live.ts';
import { seal } from '../../../../src/model/secret.ts';
import { isUnchanged, kindFields } from '../../../../src/reconcile/diff/draft-change.ts';
import { fieldOf } from '../../../support/field.ts';
import { desiredOf, fakeKind, liveOf } from '../../../support/resources.ts';

const fields = kindFields(
  fakeKind('Thing', [
    fieldOf('tags', { shape: 'set' }),
    fieldOf('command', { shape: 'list' }, { omitted: 'derived' }),
    fieldOf('secret', { shape: 'map' }, { secret: 'base64', omitted: 'kept' }),
    fieldOf('approvals', { shape: 'scalar' }, { omitted: 'kept', protects: 'higher' }),
    fieldOf('rules', { shape: 'set' }, { edge: 'connection' }),
  ]),
);
const id = 'Thing/a';
const [ours, theirs] = [seal('inline', 'ours'), seal('live', 'theirs')];

function names(some: readonly { readonly name: string }[]): string {
  return some.map(({ name }) => name).join(' ');
}

describe('isUnchanged', () => {
  it.each<[string, Partial<DesiredResource>, Partial<LiveResource>, boolean]>([
    ['of nothing', {}, {}, true],
    ['of the same', { spec: { tags: ['x'] } }, { spec: { tags: ['x'] } }, true],
    ['of an empty value and none', { spec: { tags: [] } }, {}, true],
    ['of what is left out', {}, { spec: { approvals: 2 } }, true],
    ['of edges', {}, { edges: { rules: ['Rule/a'] } }, true],
    ['of a difference', { spec: { tags: ['x'] } }, {}, false],
    ['of a reset that something is filled in for', { spec: { command: [] } }, {}, false],
    ['of what is ignored', { ignore: ['/tags'] }, {}, false],
    ['of unreadable fields', {}, { unknown: ['/tags'] }, false],
    ['of the same secret', { secrets: { '/secret/K': theirs } }, { secrets: { '/secret/K': theirs } }, true],
    ['of another secret', { secrets: { '/secret/K': ours } }, { secrets: { '/secret/K': theirs } }, false],
    ['of a secret that is not live', { secrets: { '/secret/K': ours } }, {}, false],
    ['of a secret to keep', { secrets: { '/secret/K': { state: 'keep', source: 'keep' } } }, { secrets: { '/secret/K': theirs } }, true],
    ['of a secret to keep that is not live', { secrets: { '/secret/K': { state: 'keep', source: 'keep' } } }, {}, false],
    ['of secrets that are unreadable and not stated', {}, { unknown: ['/secret'] }, true],
    ['of an unreadable secret', { secrets: { '/secret/K': { state: 'keep', source: 'keep' } } }, { unknown: ['/secret'] }, false],
    ['of an unreadable map', { wholeSecrets: ['/secret'] }, { unknown: ['/secret'] }, false],
    ['of unreadable objects', {}, { unknown: [''] }, false],
    ['of a secret that is not stated', {}, { secrets: { '/secret/K': theirs } }, true],
    ['of a secret beside a whole map', { wholeSecrets: ['/secret'] }, { secrets: { '/secret/K': theirs } }, false],
    ['of a whole map', { secrets: { '/secret/K': theirs }, wholeSecrets: ['/secret'] }, { secrets: { '/secret/K': theirs } }, true],
  ])('looks at a glance: %s', (_, desired, live, expected) => {
    expect(isUnchanged(fields, desiredOf(id, desired), liveOf(id, live))).toBe(expected);
  });
});

describe('kindFields', () => {
  it('classifies the fields', () => {
    expect([fields.compared, fields.filledIn, fields.silent].map(names)).toEqual([
      'tags command approvals',
      'command approvals',
      'approvals',
    ]);
  });
});
