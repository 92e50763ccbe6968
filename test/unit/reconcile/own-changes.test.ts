import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { resourceId } from '../../../src/model/resource.ts';
import { labelOwn, ownChanges } from '../../../src/reconcile/own-changes.ts';
import { runCount } from '../../support/property-runs.ts';
import { desiredState } from '../../support/desired-state.ts';
import { connection } from '../../support/manifests.ts';
import { memoryGateway } from '../../support/memory-gateway.ts';
import { planAgainst } from '../../support/run-pipeline.ts';
import { scenario, type Manifest } from '../../support/scenario.ts';

function guardrail(name: string, spec: JsonObject = {}): Manifest {
  return { kind: 'GuardrailRule', metadata: { name }, spec: { input: { rules: [] }, ...spec } };
}

function own(head: readonly Manifest[], began: readonly Manifest[]): unknown {
  return Object.fromEntries(ownChanges(desiredState(head), desiredState(began), registry).places);
}

function value(text: string): JsonObject {
  return { 'envvar:P': { value: text } };
}

function env(name: string): JsonObject {
  return { 'envvar:P': { valueFrom: { env: `OSTIARY_SECRET_${name}` } } };
}

function withSecret(secret: JsonObject): readonly Manifest[] {
  return [connection('a', { secret })];
}

describe('ownChanges', () => {
  it('lists each field, element and key that differs', () => {
    const head = connection('a', { reviewers: ['dba', 'sre'], connection_tags: { env: 'prod' }, access_max_duration: 60 });
    const began = connection('a', { reviewers: ['dba', 'ops'], connection_tags: { env: 'dev' }, access_max_duration: 60 });
    expect(own([head], [began])).toStrictEqual({ 'Connection/a': ['/connection_tags/env', '/reviewers/ops', '/reviewers/sre'] });
  });

  it('compares secrets by source, and by value if the manifest contains it', () => {
    const place = { 'Connection/a': ['/secret/envvar:P'] };
    expect(own(withSecret(value('one')), withSecret(value('two')))).toStrictEqual(place);
    expect(own(withSecret(value('one')), withSecret(value('one')))).toStrictEqual({});
    expect(own(withSecret(env('A')), withSecret(env('B')))).toStrictEqual(place);
    expect(own(withSecret(env('A')), withSecret(env('A')))).toStrictEqual({});
    expect(own(withSecret({ 'envvar:P': { keep: true } }), withSecret(env('A')))).toStrictEqual(place);
    expect(own(withSecret(env('A')), [connection('a')])).toStrictEqual({ 'Connection/a': ['/secret', '/secret/envvar:P'] });
  });

  it('includes metadata of the resource', () => {
    expect(own([connection('a', {}, { ignore: ['/reviewers'] })], [connection('a')])).toStrictEqual({ 'Connection/a': ['/reviewers'] });
    for (const terms of [{ protect: true }, { adopt: true }, { replaces: 'b' }])
      expect(own([connection('a', {}, terms)], [connection('a')])).toStrictEqual({ 'Connection/a': [''] });
  });

  it('lists an edge on each end that has a field for it, whichever declares it', () => {
    const place = { 'Connection/a': ['/guardrail_rules/g'], 'GuardrailRule/g': ['/connection_ids/a'] };
    expect(own([connection('a', { guardrail_rules: ['g'] }), guardrail('g')], [connection('a'), guardrail('g')])).toStrictEqual(place);
    expect(own([connection('a'), guardrail('g')], [connection('a'), guardrail('g', { connection_ids: ['a'] })])).toStrictEqual(place);
    const either = [connection('a', { guardrail_rules: ['g'] }), guardrail('g', { connection_ids: ['a'] })];
    expect(own(either, [connection('a'), guardrail('g', { connection_ids: ['a'] })])).toStrictEqual({});
  });
});

test('labelOwn labels changes by their fields, by the edges they write, and as a whole', async () => {
  const [g, h] = [guardrail('g', { description: 'g' }), guardrail('h', { description: 'h' })];
  const began = [connection('a', { reviewers: ['x'] }), connection('b'), g, h];
  const desired = desiredState([
    connection('a', { reviewers: ['y'] }),
    connection('b'),
    connection('c'),
    guardrail('g', { description: 'g', connection_ids: ['b'] }),
    h,
  ]);
  const resources = began.map(({ kind, metadata, spec }) => ({ id: resourceId(kind, metadata.name), spec: { ...spec, description: '' } }));
  const { plan } = await planAgainst(memoryGateway({ registry, resources, agents: ['default'] }), desired);
  const labels = labelOwn(plan, ownChanges(desired, desiredState(began), registry)).changes;
  expect(Object.fromEntries(labels.map(({ id, own: label }) => [id, label]))).toStrictEqual({
    'Connection/a': true,
    'Connection/c': true,
    'GuardrailRule/g': true,
    'GuardrailRule/h': false,
  });
});

test('equal states have no own changes, and both directions list the same paths', () => {
  fc.assert(
    fc.property(scenario, scenario, ({ manifests: left }, { manifests: right }) => {
      const [one, other] = [left, right].map((manifests) => (manifests.length === 0 ? undefined : desiredState(manifests)));
      fc.pre(one !== undefined && other !== undefined);
      expect(ownChanges(one, one, registry).places.size).toBe(0);
      expect(ownChanges(one, other, registry)).toEqual(ownChanges(other, one, registry));
    }),
    { numRuns: runCount(35) },
  );
});
