import { describe, expect, it } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { liveKeyOf } from '../../../../src/model/plan/plan.ts';
import { resourceId } from '../../../../src/model/resource.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connection } from '../../../support/manifests.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { planAgainst } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

function guardrail(name: string, spec: JsonObject = {}): Manifest {
  return { kind: 'GuardrailRule', metadata: { name }, spec: { input: { rules: [] }, ...spec } };
}

type Labels = Readonly<Record<string, boolean | undefined>>;

/** Plans the manifests for an empty gateway or for one with other objects, and returns the labels of changes, fields and attachments. */
async function labelsOf(head: readonly Manifest[], start: readonly Manifest[], live: readonly Manifest[] = []): Promise<Labels> {
  const resources = live.map(({ kind, metadata, spec }) => ({ id: resourceId(kind, metadata.name), spec }));
  const gateway = memoryGateway({ registry, resources, agents: ['default'] });
  const { plan } = await planAgainst(gateway, desiredState(head), { start: desiredState(start) });
  return Object.fromEntries([
    ...plan.changes.flatMap((change) => [
      [liveKeyOf(change), change.own] as const,
      ...change.fields.map(({ path, own }) => [`${liveKeyOf(change)}${path}`, own] as const),
    ]),
    ...plan.edges.map(({ rule, connection: end, own }) => [`${rule} ${end}`, own] as const),
  ]);
}

const live = [connection('a', { reviewers: ['ops'], connection_tags: { env: 'dev' } })];

describe('what a proposal changes itself', () => {
  it('is each field, element and key that differs from its start, and nothing that was merged before', async () => {
    const head = connection('a', { reviewers: ['dba', 'sre'], connection_tags: { env: 'prod' } });
    const start = connection('a', { reviewers: ['dba', 'ops'], connection_tags: { env: 'prod' } });
    expect(await labelsOf([head], [start], live)).toMatchObject({
      'Connection/a': true,
      'Connection/a/reviewers/dba': false,
      'Connection/a/reviewers/sre': true,
      'Connection/a/reviewers/ops': true,
      'Connection/a/connection_tags/env': false,
    });
    expect(await labelsOf([head], [head], live)).toMatchObject({ 'Connection/a': false, 'Connection/a/reviewers/sre': false });
  });

  it.each<readonly [string, JsonObject, JsonObject, boolean]>([
    ['another value in the manifest', { value: 'one' }, { value: 'two' }, true],
    ['the same value in the manifest', { value: 'one' }, { value: 'one' }, false],
    ['another source', { valueFrom: { env: 'OSTIARY_SECRET_A' } }, { valueFrom: { env: 'OSTIARY_SECRET_B' } }, true],
    ['the same source', { valueFrom: { env: 'OSTIARY_SECRET_A' } }, { valueFrom: { env: 'OSTIARY_SECRET_A' } }, false],
  ])('compares secrets by what manifests state: %s', async (_, one, other, own) => {
    const [head, start] = [one, other].map((secret) => [connection('a', { secret: { 'envvar:P': secret } })]);
    const found = await labelsOf(head ?? [], start ?? [], live);
    expect(found['Connection/a/secret/envvar:P']).toBe(own);
  });

  it('is the whole object if it is new, or if its metadata differs', async () => {
    const head = [connection('a', { reviewers: ['x'] }, { protect: true })];
    expect(await labelsOf(head, [connection('a', { reviewers: ['x'] })], live)).toMatchObject({ 'Connection/a/reviewers/x': true });
    expect(await labelsOf(head, [connection('b')], live)).toMatchObject({ 'Connection/a': true, 'Connection/a/reviewers/x': true });
    // What it compares again.
    const ignored = [connection('a', { reviewers: ['x'] }, { ignore: ['/reviewers'] })];
    expect(await labelsOf([connection('a', { reviewers: ['x'] })], ignored, live)).toMatchObject({ 'Connection/a/reviewers/x': true });
  });

  it('is an attachment that one of both declares, whichever end declares it, and the change that writes it', async () => {
    const both = [connection('a'), guardrail('g'), guardrail('h')];
    const onRule = [connection('a'), guardrail('g', { connection_ids: ['a'] }), guardrail('h')];
    const onConnection = [connection('a', { guardrail_rules: ['g'] }), guardrail('g'), guardrail('h')];
    const present = [connection('a'), guardrail('g'), guardrail('h', { description: 'other' })];
    expect(await labelsOf(onRule, both, present)).toMatchObject({ 'GuardrailRule/g Connection/a': true, 'GuardrailRule/h': false });
    expect(await labelsOf(onConnection, onRule, present)).toMatchObject({ 'GuardrailRule/g Connection/a': false });
  });
});
