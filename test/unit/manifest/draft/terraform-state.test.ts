import { describe, expect, test } from 'vitest';
import { terraformProvider } from '../../../../src/gateway/dialects/choose-dialect.ts';
import { registry } from '../../../../src/kinds/index.ts';
import { handOverState, matchState, readTerraformState } from '../../../../src/manifest/draft/terraform-state.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { runCount } from '../../../support/property-runs.ts';

import * as fc from 'fast-check';

const provider = { ...terraformProvider(), registry };

function read(value: Json | string): ReturnType<typeof readTerraformState> {
  return readTerraformState({ path: 'state', text: typeof value === 'string' ? value : JSON.stringify(value) }, provider);
}

function state(...resources: readonly JsonObject[]): JsonObject {
  return { version: 4, resources };
}

const hoop = 'provider["registry.opentofu.org/hoophq/hoop"].eu';
const orders = {
  type: 'hoop_connection',
  name: 'orders',
  mode: 'managed',
  provider: hoop,
  instances: [{ attributes: { name: 'orders-db' } }],
};

describe('an unusable state is reported with a reason and without its content', () => {
  test.each<[string, Json | string, RegExp]>([
    ['no JSON', '{"version": 4, canary', /not JSON/],
    ['nothing', '', /not JSON/],
    ['a list', [], /not JSON/],
    ['a configuration', 'resource "hoop_connection" "canary" {}', /not JSON/],
    ['what show -json prints', { format_version: '1.0', values: { canary: 1 } }, /show -json/],
    ['an encrypted one', { serial: 1, encrypted_data: 'canary' }, /encrypted/],
    ['an early version', { version: 3, modules: [] }, /version 3/],
    ['a later version', { version: 5, resources: [] }, /version 5/],
    ['no version', { resources: [] }, /not a Terraform state/],
    ['no resources', { version: 4 }, /no list of resources/],
    [
      'nothing of the provider',
      state({ ...orders, provider: 'provider["registry.terraform.io/hashicorp/aws"]' }),
      /no resources of the provider/,
    ],
    ['a data source alone', state({ ...orders, mode: 'data' }), /no resources of the provider/],
    ['a name that would break out', state({ ...orders, name: 'a\n}\nresource "canary"' }), /invalid address/],
    ['a type that would break out', state({ ...orders, type: 'hoop_connection.x {' }), /invalid address/],
    ['a module that would break out', state({ ...orders, module: 'module.a\nmodule.canary' }), /invalid address/],
    ['a module that is none', state({ ...orders, module: 'canary.a' }), /invalid address/],
  ])('%s', (_, value, words) => {
    const { value: objects, diagnostics } = read(value);
    expect(objects).toBeUndefined();
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([['terraform/not-a-state', expect.stringMatching(words)]]);
    expect(JSON.stringify(diagnostics)).not.toContain('canary');
  });
});

test('any JSON is a state or an error', () => {
  const part = fc.oneof(fc.jsonValue(), fc.constantFrom(hoop, 'hoop_connection', 'managed', 4));
  const resource = fc.record(
    { mode: part, type: part, name: part, provider: fc.constant(hoop), module: part, instances: part },
    { requiredKeys: ['provider'] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.record({ version: fc.constant(4), resources: fc.array(resource) }).map((one) => JSON.stringify(one)),
      ),
      (text) => {
        const { value, diagnostics } = read(text);
        expect(value === undefined ? diagnostics.length : 1).toBe(1);
      },
    ),
    { numRuns: runCount(70) },
  );
});

test.each([hoop, 'module.a["x"].provider["registry.terraform.io/hoophq/hoop"]', 'provider.hoop', 'module.a.provider.hoop.eu'])(
  'what %s owns is found',
  (provided) => {
    expect(read(state({ ...orders, provider: provided })).value?.map(({ address }) => address)).toEqual(['hoop_connection.orders']);
  },
);

test('sensitive names, and names with credentials, are reported only by address', () => {
  const hidden = {
    ...orders,
    instances: [{ attributes: { name: 'canary' }, sensitive_attributes: [[{ type: 'get_attr', value: 'name' }]] }],
  };
  const login = {
    ...orders,
    type: 'hoop_runbook_configuration',
    instances: [{ index_key: 'eu', attributes: { git_url: 'https://me:canary@git.example.com/a' } }],
  };
  const objects = matchState(read(state(hidden, login)).value ?? [], []);
  const handover = handOverState(objects, new Set(), new Map());
  expect(handover.gone).toEqual([{ address: 'hoop_connection.orders' }, { address: 'hoop_runbook_configuration.orders["eu"]' }]);
});

test('a deposed object and all instances of its resource stay with Terraform', () => {
  const two = {
    ...orders,
    instances: [
      { index_key: 0, attributes: { name: 'a' } },
      { index_key: 1, attributes: { name: 'b' }, deposed: 'abcd1234' },
      { index_key: 1, attributes: { name: 'b' } },
      { index_key: 2, attributes: {} },
    ],
  };
  const live = [
    { id: 'Connection/a' as const, uid: '1' },
    { id: 'Connection/b' as const, uid: '2' },
  ].map((one) => ({
    ...one,
    spec: {},
    secrets: {},
    edges: {},
    raw: undefined,
    unknown: [],
  }));
  const handover = handOverState(matchState(read(state(two)).value ?? [], live), new Set(['Connection/a', 'Connection/b']), new Map());
  expect([handover.taken, handover.blocks, handover.gone]).toEqual([[], [], []]);
  expect(handover.kept.map(({ address, reason }) => [address, reason])).toEqual([
    ['hoop_connection.orders[1]', expect.stringContaining('replaced')],
    ['hoop_connection.orders[2]', expect.stringContaining('does not name')],
    ['hoop_connection.orders[0]', expect.stringContaining('another instance')],
  ]);
});

const liveOrders = { id: 'Connection/orders-db' as const, uid: 'u1', spec: {}, secrets: {}, edges: {}, raw: undefined, unknown: [] };

function grantOf(name: string, attributes: JsonObject): JsonObject {
  const instances = [{ attributes, dependencies: ['hoop_connection.orders'] }];
  return { type: 'hoop_plugin_connection', name, mode: 'managed', provider: hoop, instances };
}

test('a row of access control goes with its connection; all others stay, and name what breaks', () => {
  const one = state(
    orders,
    grantOf('grant', { plugin_name: 'access_control', connection_id: 'u1', config: ['dba'] }),
    grantOf('slack', { plugin_name: 'slack', connection_id: 'u1', config: [] }),
    grantOf('other', { plugin_name: 'access_control', connection_id: 'u2', config: ['sre'] }),
  );
  const live = [liveOrders, { ...liveOrders, id: 'Connection/other-db' as const, uid: 'u2' }];
  const matched = matchState(read(one).value ?? [], live);
  expect(matched.flatMap(({ live: found }) => found ?? [])).toEqual(['Connection/orders-db', 'Connection/orders-db']);
  const { taken, kept, blocks } = handOverState(matched, new Set(['Connection/orders-db']), new Map());
  expect(taken.map(({ address }) => address)).toEqual(['hoop_connection.orders', 'hoop_plugin_connection.grant']);
  expect(blocks).toEqual(['hoop_connection.orders', 'hoop_plugin_connection.grant']);
  const breaks = 'it refers to hoop_connection.orders, which Terraform forgets: replace the reference with its value';
  expect(kept).toEqual([
    { address: 'hoop_plugin_connection.slack', reason: `manifests do not support this type; ${breaks}` },
    { address: 'hoop_plugin_connection.other', reason: `its Connection is not in this state; ${breaks}` },
  ]);
});
