import { expect, test } from 'vitest';
import { createIdIndex } from '../../../src/gateway/id-index.ts';

const uuid = '0000000a-0000-4000-8000-00000000000a';

test('a name of something that manifests only refer to never replaces the ID of something else', () => {
  const index = createIdIndex();
  index.replaceLookup('Agent', [
    { uid: uuid, name: 'prod' },
    { uid: 'other', name: uuid.toUpperCase() },
    { uid: 'third', name: uuid },
    { uid: 'fourth', name: 'free' },
  ]);
  expect([index.lookupUid('Agent', uuid), index.lookupUid('Agent', 'free')]).toEqual([uuid, 'fourth']);
  expect([index.textOf('Agent', 'third'), index.textOf('Agent', 'fourth')]).toEqual(['third', 'free']);
});

test('a name of two things is the name of none', () => {
  const index = createIdIndex();
  index.replaceLookup('Agent', [
    { uid: 'one', name: 'prod' },
    { uid: 'two', name: 'prod' },
  ]);
  expect([index.lookupUid('Agent', 'prod'), index.textOf('Agent', 'one')]).toEqual([undefined, 'one']);
});
