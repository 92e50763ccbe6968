import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { noAccessObjects } from '../../../../src/protection/access/access-index.ts';
import { protectingFields } from '../../../../src/protection/controls/control-table.ts';
import { createPostureBuilder } from '../../../../src/protection/posture/posture.ts';

test('a posture reads no field of a connection but its tags and those by which connections are alike', () => {
  const read = new Set<string>();
  const build = createPostureBuilder({ access: { lookup: noAccessObjects, incomplete: new Set() }, samples: undefined });
  for (const [type, subtype] of [
    ['database', 'postgres'],
    ['application', 'ssh'],
    ['httpproxy', undefined],
    ['custom', ''],
  ] as const) {
    const modes = { access_mode_connect: 'enabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
    const stated: JsonObject = { type, ...(subtype === undefined ? {} : { subtype }), ...modes, reviewers: ['dba'], attributes: ['pci'] };
    const spec = new Proxy(stated, {
      get: (target, field) => {
        read.add(String(field));
        return typeof field === 'string' ? target[field] : undefined;
      },
    });
    build({ id: 'Connection/a', resource: { spec, unknown: [] }, rules: new Map() });
  }
  expect([...read].filter((field) => !protectingFields.includes(field))).toEqual(['connection_tags']);
});
