import { expect, test } from 'vitest';
import { withImplied, withoutImplied } from '../../../src/gateway/implied-element.ts';
import type { Json } from '../../../src/model/json.ts';

test.each<readonly [wire: Json, manifest: Json, back: Json]>([
  [[], null, []],
  [null, null, []],
  [['admin'], [], ['admin']],
  [['admin', 'dba', 'admin'], ['dba'], ['dba']],
  [
    ['dba', 'sre'],
    ['dba', 'sre'],
    ['dba', 'sre'],
  ],
])('%j on the wire is %j in a manifest, which is %j on the wire', (wire, manifest, back) => {
  expect(withoutImplied('admin', wire)).toEqual(manifest);
  expect(withImplied('admin', manifest)).toEqual(back);
});
