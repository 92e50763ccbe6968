import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/model/json.ts';
import { seal } from '../../../../src/model/secret.ts';
import { type Cell, causeOf, originOf, prove, type Side } from '../../../../src/reconcile/cells/cell.ts';

const [left, absent, unread] = [{ is: 'left' }, { is: 'absent', at: '/x' }, { is: 'unread' }] as const;

function value(one: Json): Side {
  return { is: 'value', value: one };
}

/** A secret of a manifest; without a text its source was not read. */
function stated(source: string, text?: string, changed?: 'gateway' | 'source'): Side {
  const proof = text === undefined ? ({ state: 'unresolved', source } as const) : seal(source, text);
  return { is: 'secret', source, proof, changed };
}

function onGateway(text?: string): Side {
  return { is: 'secret', source: 'live', proof: text === undefined ? { state: 'hidden', source: 'live' } : seal('live', text) };
}

function cellOf(base: Side | undefined, head: Side, live: Side, written: readonly Side[] = []): Cell {
  return { path: '/x', base, head, live, written };
}

describe('the row of a place', () => {
  it.each<readonly [string, Side, Side, ReturnType<typeof prove>]>([
    ['two values', value(1), value(2), 'different'],
    ['nothing on both sides', absent, absent, 'equal'],
    ['a value and nothing', value(1), absent, 'different'],
    ['a value and what a manifest leaves', value(1), left, 'different'],
    ['what the token may not read', value(1), unread, 'unknown'],
    ['two sources', stated('env:A', 'x'), stated('env:B', 'x'), 'different'],
    ['a source and the value on the gateway', stated('env:A', 'x'), onGateway('x'), 'equal'],
    ['a source and another value', stated('env:A', 'x'), onGateway('y'), 'different'],
    ['a source and a hidden value', stated('env:A', 'x'), onGateway(), 'unknown'],
    ['a hidden value that was changed', stated('env:A', undefined, 'gateway'), onGateway(), 'different'],
    ['a changed secret that the token may not read', stated('env:A', undefined, 'gateway'), unread, 'different'],
    ['a hidden value that was not changed', stated('env:A', undefined, 'source'), onGateway(), 'equal'],
  ])('proves whether both sides are the same: %s', (_, one, other, proof) => {
    expect([prove(one, other), prove(other, one)]).toEqual([proof, proof]);
  });

  it.each<readonly [string, Cell, ReturnType<typeof originOf>, ReturnType<typeof causeOf>]>([
    ['without a base', cellOf(undefined, value(1), value(2)), undefined, undefined],
    ['changed in the manifests', cellOf(value(1), value(2), value(1)), 'intent', undefined],
    ['changed on the gateway', cellOf(value(1), value(1), value(2)), 'drift', undefined],
    ['changed on both sides', cellOf(value(1), value(2), value(3)), 'both', undefined],
    ['removed on the gateway', cellOf(value(1), value(1), absent), 'drift', undefined],
    ['an element of an entry that was added on both sides', cellOf({ is: 'absent', at: '/' }, absent, value(2)), 'both', undefined],
    ['left to the gateway before', cellOf(left, value(1), value(2)), 'intent', undefined],
    ['a value in the manifest', cellOf(stated('inline', 'x'), stated('inline', 'y'), onGateway('x')), 'intent', undefined],
    ['a rotated source', cellOf(stated('env:A', undefined, 'source'), stated('env:A', 'y'), onGateway('x')), 'intent', 'source'],
    ['a source or the gateway', cellOf(stated('env:A'), stated('env:A', 'y'), onGateway('x')), 'drift', 'undetermined'],
    ['a secret of the gateway', cellOf(stated('env:A', undefined, 'gateway'), stated('env:A', 'y'), onGateway('x')), 'drift', undefined],
    ['both sides, of what is unread', cellOf(stated('env:A', undefined, 'gateway'), stated('env:B'), unread), 'both', undefined],
    ['an interrupted apply', cellOf(stated('env:A'), stated('env:A'), onGateway(), [stated('env:B')]), 'intent', undefined],
  ])('says which side changed: %s', (_, cell, origin, cause) => {
    expect([originOf(cell), causeOf(cell)]).toEqual([origin, cause]);
  });
});
