import { describe, expect, it } from 'vitest';
import type { EdgeChange } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { orderByNeeds, needsOf } from '../../../../src/reconcile/diff/order-by-needs.ts';

function one(id: ResourceId, ...needs: readonly ResourceId[]): { readonly id: ResourceId; readonly needs: readonly ResourceId[] } {
  return { id, needs };
}

function edge(rule: ResourceId, connection: ResourceId, given: Partial<EdgeChange>): EdgeChange {
  return { rule, connection, action: 'attach', declared: [], ...given };
}

describe('orderByNeeds', () => {
  it.each<[string, readonly ReturnType<typeof one>[], string]>([
    ['by id', [one('K/b'), one('K/a')], 'K/a K/b'],
    ['what is needed first', [one('K/a', 'K/b'), one('K/b', 'K/c'), one('K/c')], 'K/c K/b K/a'],
    ['by the longest way', [one('K/a', 'K/c', 'K/d'), one('K/d'), one('K/c', 'K/d')], 'K/d K/c K/a'],
    ['what is needed and not there does not matter', [one('K/b', 'K/z'), one('K/c')], 'K/c K/b'],
  ])('orders %s', (_, changes, expected) => {
    expect(
      orderByNeeds(changes)
        .map(({ id }) => id)
        .join(' '),
    ).toBe(expected);
  });

  it('ends if changes depend on each other', () => {
    expect(orderByNeeds([one('K/a', 'K/b'), one('K/b', 'K/a')])).toHaveLength(2);
  });
});

describe('needsOf', () => {
  it('returns the other end of each edge if the same plan creates it', () => {
    const edges = [
      edge('R/b', 'C/new', { by: 'C/new' }),
      edge('R/a', 'C/new', { by: 'C/new' }),
      edge('R/m', 'C/new', { by: 'R/m' }),
      edge('R/a', 'C/live', { by: 'R/a' }),
      edge('R/b', 'C/new', { by: 'C/new', action: 'detach' }),
      edge('R/c', 'C/new', { action: 'blocked' }),
      edge('R/c', 'C/new', {}),
    ];
    const needs = needsOf(edges, new Set<ResourceId>(['R/a', 'R/b', 'C/new']));
    expect([...needs]).toEqual([
      ['C/new', ['R/a', 'R/b']],
      ['R/m', ['C/new']],
    ]);
  });
});
