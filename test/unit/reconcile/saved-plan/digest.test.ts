import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DesiredResource } from '../../../../src/model/desired.ts';
import type { Change, EdgeChange } from '../../../../src/model/plan/plan.ts';
import { seal } from '../../../../src/model/secret.ts';
import { cpuTime } from '../../../support/cpu-time.ts';
import { canonical } from '../../../../src/model/json.ts';
import { digestOf, secretFactsOf } from '../../../../src/reconcile/saved-plan/plan-digest.ts';
import { desiredOf, wantedOf } from '../../../support/resources.ts';
import { testTarget } from '../../../support/run-pipeline.ts';

const secret = {
  path: '/secret/envvar:KEY',
  before: { secret: 'live', state: 'differs' },
  after: { secret: 'inline', state: 'differs' },
} as const;
const field = { path: '/description', before: { value: 'a' }, after: { value: 'b' } };
const change: Change = { id: 'GuardrailRule/a', action: 'update', fields: [field], needs: [], reasons: ['differs'], carried: [] };
const edge: EdgeChange = {
  rule: 'GuardrailRule/a',
  connection: 'Connection/db',
  action: 'attach',
  by: 'GuardrailRule/a',
  declared: ['x:1:1'],
};
const resource = desiredOf('GuardrailRule/a', { secrets: { '/secret/envvar:KEY': seal('inline', 'YQ==') } });

function digest(
  changes: readonly Change[] = [change],
  edges: readonly EdgeChange[] = [edge],
  resources: readonly DesiredResource[] = [resource],
): string {
  return digestOf(testTarget, changes, edges, secretFactsOf(wantedOf(resources), undefined));
}

describe('the digest', () => {
  it.each<[string, string]>([
    ['positions and reasons', digest([{ ...change, reasons: [], at: { file: 'x', line: 1, column: 1 }, carried: ['/x'] }])],
    ['a secret that differs besides', digest([{ ...change, fields: [field, secret] }])],
    ['a change of secrets alone', digest([change, { ...change, id: 'GuardrailRule/b', fields: [secret] }])],
    ['a foreign edge', digest([change], [edge, { ...edge, connection: 'Connection/x', action: 'foreign' }])],
    ['where an edge is declared', digest([change], [{ ...edge, declared: [] }])],
  ])('does not cover %s', (_, other) => {
    expect(other).toBe(digest());
  });

  it.each<[string, string]>([
    ['the target', digestOf({ ...testTarget, url: 'https://elsewhere' }, [change], [edge], secretFactsOf(wantedOf([resource]), undefined))],
    ['an action', digest([{ ...change, action: 'blocked' }])],
    ['a value before', digest([{ ...change, fields: [{ ...field, before: { absent: true } }] }])],
    ['a value after', digest([{ ...change, fields: [{ ...field, after: { value: 'c' } }] }])],
    ['an edge', digest([change], [])],
    ['what becomes of an edge', digest([change], [{ ...edge, action: 'detach' }])],
    ['a create of secrets alone', digest([change, { ...change, id: 'GuardrailRule/b', action: 'create', fields: [secret] }])],
    ['a delete of secrets alone', digest([change, { ...change, id: 'GuardrailRule/b', action: 'delete', fields: [secret] }])],
    ['a delete of nothing but the object', digest([change, { ...change, id: 'GuardrailRule/b', action: 'delete', fields: [] }])],
    ['a new name alone', digest([change, { ...change, id: 'GuardrailRule/b', key: 'GuardrailRule/c', action: 'rename', fields: [] }])],
    ['what is held', digest([{ ...change, fields: [{ ...field, held: true }] }])],
    ['a change of an edge alone', digest([{ ...change, fields: [] }])],
    ['a change of an edge alone, by its key', digest([{ ...change, id: 'GuardrailRule/label', key: 'GuardrailRule/a', fields: [] }])],
    ['an inline value', digest([change], [edge], [{ ...resource, secrets: { '/secret/envvar:KEY': seal('inline', 'Yg==') } }])],
    ['a map of secrets that is removed as a whole', digest([change], [edge], [{ ...resource, wholeSecrets: ['/secret'] }])],
    ['a secret that is ignored', digest([change], [edge], [{ ...resource, ignore: ['/secret'] }])],
    ['a secret’s source', digest([change], [edge], [{ ...resource, secrets: { '/secret/envvar:KEY': seal('env:KEY', 'YQ==') } }])],
    ['a secret', digest([change], [edge], [])],
  ])('covers %s', (_, other) => {
    expect(other).not.toBe(digest());
    expect(other).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('is the hash of one text, however many sources there are', () => {
  const sources = Array.from({ length: 5000 }, (_, index) => ({
    id: `Connection/db-${index}` as const,
    path: '/secret/envvar:É',
    source: 'env:A',
  }));
  const lines = sources.map(({ id, path, source }) => `\n${id.length} ${path.length} ${source.length} ${id} ${path} ${source}`);
  const text = `{"changes":[],"edges":[],"target":${canonical({ ...testTarget })}}${lines.join('')}`;
  expect(digestOf(testTarget, [], [], { sources, seal: 'seal' })).toBe(createHash('sha256').update(`${text}\nseal`).digest('hex'));
});

/** Returns the CPU milliseconds of the digest of a plan that attaches a rule to many connections. */
function costOfAttachments(count: number): number {
  const ids = Array.from({ length: count }, (_, index): `Connection/${string}` => `Connection/db-${index}`);
  const changes = ids.map((id) => ({ id, action: 'update' as const, fields: [], needs: [], reasons: [], carried: [] }));
  const edges = ids.toReversed().map((connection) => ({ ...edge, connection, by: connection }));
  const started = cpuTime();
  digestOf(testTarget, changes, edges, { sources: [], seal: '' });
  return cpuTime() - started;
}

/** Other processes and garbage collection only add: the least of several runs counts. */
function leastCost(count: number): number {
  return Math.min(...Array.from({ length: 5 }, () => costOfAttachments(count)));
}

it('costs per attachment of 20,000 at most four times as much as of 1,000', () => {
  const few = leastCost(1000);
  expect(leastCost(20_000) / 20 / few).toBeLessThan(4);
});
