import * as fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { Gateway, WriteRequest } from '../../src/model/gateway.ts';
import { asArray, asText, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { kindOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import { runCount } from '../support/property-runs.ts';
import { applyPlan, planAgainst, testTarget } from '../support/run-pipeline.ts';
import { type Manifest, type Scenario, scenario } from '../support/scenario.ts';

// The dialect with every kind.
const hoop = { dialect: { dialect: 'hoop' } } as const;
const groups = fc.subarray(['dba', 'sre', 'security']);
const text = fc.constantFrom('', 'why');

/** Specs of the kinds that no scenario has. */
const specs: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  AccessRequestRule: fc.record(
    {
      access_type: fc.constantFrom('jit', 'command'),
      reviewers_groups: groups.filter((names) => names.length > 0),
      min_approvals: fc.integer({ min: 1, max: 3 }),
      description: text,
      attributes: fc.subarray(['red', 'blue']),
      force_approval_groups: groups,
      access_max_duration: fc.option(fc.integer({ min: 60, max: 7200 })),
    },
    { requiredKeys: ['access_type', 'reviewers_groups', 'min_approvals'] },
  ),
  Attribute: fc.record({ description: text, access_groups: groups }, { requiredKeys: [] }),
  RunbookRule: fc.record(
    {
      runbooks: fc.uniqueArray(fc.record({ repository: fc.constant('git.example.com/r0'), name: fc.constantFrom('a', 'b', 'c/') }), {
        selector: ({ name }) => name,
      }),
      user_groups: groups,
      connections: fc.constant([]),
      description: text,
    },
    { requiredKeys: ['runbooks', 'user_groups', 'connections'] },
  ),
};

const others: fc.Arbitrary<Scenario> = fc
  .tuple(
    ...Object.entries(specs).map(([kind, spec]) =>
      fc.record({ desired: spec, found: fc.option(spec, { nil: undefined }) }).map(({ desired, found }) => ({
        manifest: { kind, metadata: { name: 'one' }, spec: desired } satisfies Manifest,
        live: found === undefined ? [] : [{ id: resourceId(kind, 'one'), spec: found } satisfies MemoryResource],
      })),
    ),
  )
  .map((entries) => ({ manifests: entries.map(({ manifest }) => manifest), live: entries.flatMap(({ live }) => live) }));

/**
 * Passes requests on, and keeps what each object was sent: the fields of its first write, with the values of the last one. A write after
 * a creation also repeats what the gateway filled in.
 */
function recordSent(gateway: Gateway, sent: Map<ResourceId, JsonObject>): Gateway {
  const keep = ({ id, spec }: WriteRequest): void => {
    const names = Object.keys(sent.get(id) ?? spec);
    sent.set(id, Object.fromEntries(names.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]]))));
  };
  return {
    ...gateway,
    create(request) {
      keep(request);
      return gateway.create(request);
    },
    update(fresh, request, onWritten) {
      keep(request);
      return gateway.update(fresh, request, onWritten);
    },
  };
}

/** Applies the operations of a patch that are not about secrets, which no spec has. */
function patched(kind: string, live: JsonObject, patch: Json | undefined): Json {
  const secrets = (registry.get(kind)?.fields ?? []).flatMap((field) => (field.secret === undefined ? [] : [field.name]));
  const operations = asArray(patch).filter((one) => isObject(one) && !secrets.includes(asText(one['path']).split('/')[1] ?? ''));
  const list: jsonPatch.Operation[] = JSON.parse(JSON.stringify(operations));
  const copy: JsonObject = JSON.parse(JSON.stringify(live));
  return jsonPatch.applyPatch(copy, list, true).newDocument;
}

test('the patch of a plan document makes of each live object the one that apply sends', async () => {
  const compared = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.oneof(scenario, others), async ({ manifests, live: resources }) => {
      const gateway = memoryGateway({ registry, agents: ['default', 'other'], resources, ...hoop });
      const desired = desiredState(manifests);
      const { plan, live } = await planAgainst(gateway, desired, { target: { ...testTarget, ...hoop.dialect } });
      const document = planDocument([plan]).json();
      const sent = new Map<ResourceId, JsonObject>();
      await applyPlan({ gateway: recordSent(gateway, sent), plan, live, desired });
      const [shown] = asArray(document['plans']);
      for (const [index, { id, key = id, action }] of plan.changes.entries()) {
        const spec = sent.get(key);
        if (spec === undefined || (action !== 'create' && action !== 'update')) continue;
        const change = isObject(shown) ? asArray(shown['changes'])[index] : undefined;
        const before = live.resources.find((one) => one.id === key)?.spec ?? {};
        expect([id, patched(kindOf(id), before, isObject(change) ? change['patch'] : undefined)]).toEqual([id, spec]);
        compared.set(kindOf(id), (compared.get(kindOf(id)) ?? 0) + 1);
      }
    }),
    { numRuns: runCount(20) },
  );
  expect([...compared.keys()].toSorted()).toEqual([...registry.keys()].toSorted());
});
