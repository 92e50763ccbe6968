import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { resourceId } from '../../../src/model/resource.ts';
import { isOwn, labelOwn, ownChanges } from '../../../src/reconcile/own-changes.ts';
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

  it('lists new and removed resources as a whole', () => {
    const other = connection('other');
    expect(own([connection('new'), other], [connection('gone'), other])).toStrictEqual({ 'Connection/new': [''], 'Connection/gone': [''] });
  });

  it('distinguishes a stated empty field from an omitted one', () => {
    expect(own([connection('a', { resource_name: 'r' })], [connection('a')])).toStrictEqual({ 'Connection/a': ['/resource_name'] });
    expect(own([connection('a')], [connection('a', { resource_name: 'r' })])).toStrictEqual({ 'Connection/a': ['/resource_name'] });
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

  it('omits unselected resources', () => {
    const head = desiredState([connection('a', { reviewers: ['x'] }), connection('b', { reviewers: ['x'] })], { only: ['Connection/a'] });
    const changes = ownChanges(head, desiredState([connection('a'), connection('b')]), registry);
    expect(Object.fromEntries(changes.places)).toStrictEqual({ 'Connection/a': ['/reviewers/x'] });
  });
});

test('isOwn matches paths above and below', () => {
  const changes = ownChanges(
    desiredState([connection('a', { reviewers: ['x'] }), connection('new')]),
    desiredState([connection('a')]),
    registry,
  );
  expect(isOwn(changes, 'Connection/a')).toBe(true);
  expect(isOwn(changes, 'Connection/a', '/reviewers')).toBe(true);
  expect(isOwn(changes, 'Connection/a', '/reviewers/x')).toBe(true);
  expect(isOwn(changes, 'Connection/a', '/reviewers/y')).toBe(false);
  expect(isOwn(changes, 'Connection/a', '/command')).toBe(false);
  expect(isOwn(changes, 'Connection/new', '/command')).toBe(true);
  expect(isOwn(changes, 'Connection/other')).toBe(false);
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
    { numRuns: runCount(100) },
  );
});
