import { describe, expect, it } from 'vitest';
import { changesSincePlan } from '../../../src/apply/fingerprint.ts';
import { differingPaths, findExtras, isInSync, requestOf } from '../../../src/apply/request.ts';
import type { WriteRequest } from '../../../src/model/gateway.ts';
import type { LiveResource } from '../../../src/model/live.ts';
import type { Change, EdgeAction, EdgeChange, FieldChange, Value } from '../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../src/model/resource.ts';
import type { Step, StepPart } from '../../../src/model/plan/schedule.ts';
import { seal } from '../../../src/model/secret.ts';
import { fieldOf } from '../../support/field.ts';
import { fakeKind, liveOf } from '../../support/resources.ts';

const kind = fakeKind('Thing', [
  fieldOf('mode', { shape: 'scalar' }, { closed: 'off', empty: '' }),
  fieldOf('tags', { shape: 'set' }, { protects: 'entries' }),
  fieldOf('text', { shape: 'scalar' }, { empty: '' }),
  fieldOf('kept', { shape: 'scalar' }, { empty: '', omitted: 'kept' }),
  fieldOf('rules', { shape: 'set' }, { edge: 'connection', refers: 'Rule' }),
  fieldOf('secret', { shape: 'map' }, { secret: 'base64' }),
]);
const id = 'Thing/a';
const secret = '/secret/KEY';
const absent: Value = { absent: true };
const [ours, theirs] = [seal('inline', 'ours'), seal('live', 'theirs')];

function field(path: string, before: Value, after: Value): FieldChange {
  return { path, before, after };
}

function edge(rule: ResourceId, action: EdgeAction): EdgeChange {
  return { rule, connection: id, action, declared: [], by: id };
}

function stepOf(
  part: StepPart,
  fields: readonly FieldChange[],
  given: Partial<Change> & { readonly edges?: readonly EdgeChange[] } = {},
): Step {
  const { edges = [], ...rest } = given;
  const change: Change = { id, action: 'update', fields, needs: [], carried: [], ...rest };
  return { key: { id, phase: 'main' }, change, kind, edges, part, round: 1, needs: [] };
}

const live = liveOf(id, {
  spec: { mode: 'on', tags: ['x'], text: 'a', kept: 'k' },
  secrets: { [secret]: theirs },
  edges: { rules: ['Rule/old', 'Rule/theirs'] },
});
const retagged = [
  field('/tags/x', { value: 'x' }, absent),
  field('/tags/y', absent, { value: 'y' }),
  field('/text', { value: 'a' }, { value: 'b' }),
];
const edges = [edge('Rule/new', 'attach'), edge('Rule/old', 'detach'), edge('Other/none', 'attach')];

describe('requestOf', () => {
  it.each<[string, Step, LiveResource | undefined, Partial<WriteRequest>]>([
    [
      'the whole change',
      stepOf('whole', retagged, { edges }),
      live,
      { spec: { mode: 'on', tags: ['y'], text: 'b', kept: 'k' }, edges: { rules: ['Rule/new', 'Rule/theirs'] } },
    ],
    [
      'what protects',
      stepOf('gain', retagged, { edges }),
      live,
      { spec: { mode: 'on', tags: ['x', 'y'], text: 'a', kept: 'k' }, edges: { rules: ['Rule/new', 'Rule/old', 'Rule/theirs'] } },
    ],
    [
      'a closed create',
      stepOf('closed', [field('/mode', absent, { value: 'on' }), field('/tags', absent, { value: ['y'] })], { action: 'create', edges }),
      undefined,
      { spec: { mode: 'off', tags: ['y'] }, edges: { rules: ['Rule/new'] } },
    ],
    [
      'the opening alone',
      stepOf(
        'open',
        [
          field('/mode', absent, { value: 'on' }),
          field('/text', absent, { value: 'b' }),
          field(secret, absent, { secret: 'inline', state: 'set' }),
        ],
        { action: 'create', edges },
      ),
      { ...live, spec: { ...live.spec, mode: 'off' } },
      { spec: { mode: 'on', tags: ['x'], text: 'a', kept: 'k' }, secrets: {}, edges: { rules: ['Rule/old', 'Rule/theirs'] } },
    ],
    [
      'a secret that is set',
      stepOf('whole', [field(secret, absent, { secret: 'inline', state: 'set' })]),
      live,
      { secrets: { [secret]: ours }, dropped: [] },
    ],
    [
      'a secret that goes',
      stepOf('whole', [field(secret, { secret: 'live', state: 'removed' }, absent)]),
      live,
      { secrets: {}, dropped: [secret] },
    ],
    ['the key for the id', stepOf('whole', [], { key: 'Thing/key' }), live, { id: 'Thing/key' }],
    ['no edges where the gateway has none', stepOf('whole', []), { ...live, edges: {} }, { edges: { rules: [] } }],
  ])('asks for %s', (_, step, fresh, expected) => {
    expect(requestOf(step, () => ours, fresh)).toMatchObject(expected);
  });

  it('is never made without the value of a secret', () => {
    const step = stepOf('whole', [field(secret, absent, { secret: 'env:KEY', state: 'set' })]);
    expect(() => requestOf(step, () => undefined, live)).toThrow(`${id} has no value for ${secret}`);
  });
});

const asked: WriteRequest = { id, spec: { mode: 'on' }, secrets: {}, dropped: [], edges: { rules: [] } };

describe('differences', () => {
  it.each<[string, Partial<WriteRequest>, Partial<LiveResource>, readonly string[]]>([
    ['nothing', {}, { spec: { mode: 'on', text: 'other' } }, []],
    ['a field', {}, { spec: { mode: 'off' } }, ['/mode']],
    ['a field that is not there', {}, {}, ['/mode']],
    ['the empty value of one that is not there', { spec: { mode: '' } }, {}, []],
    ['a hidden field', {}, { unknown: ['/mode'] }, []],
    ['no edges', { spec: {}, edges: { rules: ['Rule/a'] } }, {}, []],
    ['a secret', { spec: {}, secrets: { [secret]: ours } }, { secrets: { [secret]: theirs } }, [secret]],
    ['the same secret', { spec: {}, secrets: { [secret]: ours } }, { secrets: { [secret]: ours } }, []],
    ['a secret that is not there', { spec: {}, secrets: { [secret]: ours } }, {}, [secret]],
    [
      'a secret that is hidden',
      { spec: {}, secrets: { [secret]: ours } },
      { secrets: { [secret]: { state: 'hidden', source: 'live' } } },
      [],
    ],
    ['a secret that the gateway does not mention', { spec: {}, secrets: { [secret]: ours } }, { unknown: ['/secret'] }, []],
    ['a secret that should be gone', { spec: {}, dropped: [secret] }, { secrets: { [secret]: theirs } }, [secret]],
  ])('finds %s', (_, request, found, expected) => {
    expect(differingPaths({ ...asked, ...request }, kind, liveOf(id, found))).toEqual(expected);
  });
});

describe('extras', () => {
  it.each<[string, Partial<LiveResource>, readonly string[]]>([
    ['nothing', { spec: { mode: 'on', tags: [], text: '' } }, []],
    ['a field that was not asked for', { spec: { tags: ['x'] } }, ['/tags']],
    ['no field that would be kept', { spec: { kept: 'k' } }, []],
    ['a secret', { secrets: { [secret]: theirs } }, [secret]],
  ])('finds %s', (_, found, expected) => {
    expect(findExtras(asked, kind, liveOf(id, found))).toEqual(expected);
  });
});

describe('isDone', () => {
  it.each<[string, Partial<WriteRequest>, Partial<LiveResource>, boolean]>([
    ['where nothing differs', {}, { spec: { mode: 'on' } }, true],
    ['where a field differs', {}, { spec: { mode: 'off' } }, false],
    ['where an edge is missing', { edges: { rules: ['Rule/a'] } }, { spec: { mode: 'on' } }, false],
    ['where another edge is there', { edges: { rules: ['Rule/a'] } }, { spec: { mode: 'on' }, edges: { rules: ['Rule/b'] } }, false],
    [
      'where the edges are the same',
      { edges: { rules: ['Rule/a', 'Rule/b'] } },
      { spec: { mode: 'on' }, edges: { rules: ['Rule/b', 'Rule/a'] } },
      true,
    ],
    ['where a secret is the same', { secrets: { [secret]: ours } }, { spec: { mode: 'on' }, secrets: { [secret]: ours } }, true],
    [
      'where a secret is hidden',
      { secrets: { [secret]: ours } },
      { spec: { mode: 'on' }, secrets: { [secret]: { state: 'hidden', source: 'live' } } },
      false,
    ],
    ['where a secret is not there', { secrets: { [secret]: ours } }, { spec: { mode: 'on' } }, false],
  ])('reports %s', (_, request, found, expected) => {
    expect(isInSync({ ...asked, ...request }, kind, liveOf(id, found))).toBe(expected);
  });
});

describe('movedIn', () => {
  it.each<[string, readonly FieldChange[], Partial<Change>, string | undefined]>([
    ['what it was', [field('/text', { value: 'a' }, { value: 'b' })], {}, undefined],
    ['what it is to be', [field('/text', { value: 'z' }, { value: 'a' })], {}, undefined],
    ['neither', [field('/tags/x', { value: 'x' }, absent), field('/text', { value: 'y' }, { value: 'z' })], {}, '/text'],
    ['an element that is not there yet', [field('/tags/y', absent, { value: 'y' })], {}, undefined],
    ['an element that is gone already', [field('/tags/y', { value: 'y' }, absent)], {}, undefined],
    ['a secret', [field(secret, { secret: 'live', state: 'differs' }, { secret: 'inline', state: 'differs' })], {}, undefined],
    ['a secret that is set', [field(secret, absent, { secret: 'inline', state: 'set' })], {}, undefined],
    ['a secret that goes', [field(secret, { secret: 'live', state: 'removed' }, absent)], {}, undefined],
    ['what is created', [field('/text', absent, { value: 'z' })], { action: 'create' }, undefined],
  ])('reports %s', (_, fields, given, expected) => {
    const { change } = stepOf('whole', fields, given);
    expect(changesSincePlan(change, kind, live)[0]?.path).toBe(expected);
  });
});
