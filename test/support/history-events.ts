import * as fc from 'fast-check';
import { inlineForms, secretForms } from './history-manifests.ts';

/** How an apply ends early: its write with this number fails, takes effect without an answer, or is never sent because the process is killed. */
export type Fault = { readonly how: 'before' | 'after' | 'killed'; readonly at: number };

/** What a commit states about an object. */
export type Statement = { readonly name: string; readonly variant: number; readonly secret: number };

/** A change of the gateway that Ostiary did not make. */
export type OutsideEvent =
  | { readonly type: 'created outside'; readonly name: string; readonly variant: number }
  | { readonly type: 'deleted outside'; readonly name: string }
  | { readonly type: 'detached outside'; readonly name: string }
  | { readonly type: 'reviewers changed outside'; readonly name: string; readonly reviewers: readonly string[] }
  | { readonly type: 'secret changed outside'; readonly name: string; readonly value: string | undefined };

/** One event in the life of a repository and its gateway. */
export type HistoryEvent =
  | ({ readonly type: 'add' | 'change' } & Statement)
  | { readonly type: 'set secret'; readonly name: string; readonly secret: number }
  | { readonly type: 'write file'; readonly content: string }
  | { readonly type: 'delete' | 'rename' | 'restore'; readonly name: string }
  | { readonly type: 'revert'; readonly back: number }
  | { readonly type: 'squash' }
  | OutsideEvent
  | { readonly type: 'apply'; readonly prune: boolean; readonly fault: Fault | undefined };

const names = { connections: ['c1', 'c2', 'c3'], rules: ['g1', 'g2'], unmanaged: ['x1', 'x2'] };
const anyName = fc.constantFrom(...names.connections, ...names.rules, ...names.unmanaged);
const anyConnection = fc.constantFrom('keep', ...names.connections);
const variant = fc.nat({ max: 2 });
// Often inline, so that many changes have the same source.
const secret = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...inlineForms) },
  { weight: 1, arbitrary: fc.nat({ max: secretForms - 1 }) },
);

const applying = fc.record({
  type: fc.constant('apply' as const),
  prune: fc.boolean(),
  fault: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 2,
      arbitrary: fc.record({ how: fc.constantFrom('before' as const, 'after' as const, 'killed' as const), at: fc.nat({ max: 3 }) }),
    },
  ),
});

const committing: fc.Arbitrary<HistoryEvent> = fc.oneof(
  fc.record({ type: fc.constantFrom('add' as const, 'change' as const, 'change' as const), name: anyName, variant, secret }),
  { weight: 2, arbitrary: fc.record({ type: fc.constant('set secret' as const), name: anyConnection, secret }) },
  fc.record({ type: fc.constant('write file' as const), content: fc.constantFrom('one', 'two') }),
  fc.record({ type: fc.constantFrom('delete' as const, 'rename' as const, 'restore' as const), name: anyName }),
  fc.record({ type: fc.constant('revert' as const), back: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ type: 'squash' as const }),
);

/** The values are those that manifests have, and one that none has. */
const outside: fc.Arbitrary<OutsideEvent> = fc.oneof(
  fc.record({ type: fc.constant('created outside' as const), name: anyName, variant }),
  fc.record({ type: fc.constant('deleted outside' as const), name: anyName }),
  fc.record({ type: fc.constant('detached outside' as const), name: anyConnection }),
  fc.record({
    type: fc.constant('reviewers changed outside' as const),
    name: anyConnection,
    reviewers: fc.constantFrom<readonly string[]>([], ['dba'], ['sre']),
  }),
  fc.record({
    type: fc.constant('secret changed outside' as const),
    name: anyConnection,
    value: fc.constantFrom('YQ==', 'Yg==', 'b3RoZXI=', undefined),
  }),
);

/** Generates the events of a history; `often` is how often the gateway is changed outside, compared with 5 commits and 4 applies. */
export function historyEvents(often: number, maxLength: number): fc.Arbitrary<readonly HistoryEvent[]> {
  return fc.array(
    fc.oneof({ weight: 5, arbitrary: committing }, { weight: 4, arbitrary: applying }, { weight: often, arbitrary: outside }),
    { minLength: 4, maxLength },
  );
}

const added = (name: string): fc.Arbitrary<HistoryEvent> =>
  fc.record({ type: fc.constant('add'), name: fc.constant(name), variant, secret });

const applied: HistoryEvent = { type: 'apply', prune: true, fault: undefined };

/** Generates the events of a history that begins with a complete apply of a few objects, and changes outside as often as by commits. */
export const busyEvents: fc.Arbitrary<readonly HistoryEvent[]> = beginning(historyEvents(5, 12));

/** Generates the events of a history that begins the same, and that nothing else changes. */
export const quietEvents: fc.Arbitrary<readonly HistoryEvent[]> = beginning(historyEvents(0, 12));

function beginning(rest: fc.Arbitrary<readonly HistoryEvent[]>): fc.Arbitrary<readonly HistoryEvent[]> {
  return fc
    .tuple(added('c1'), added('c2'), added('g1'), fc.constant(applied), rest)
    .map(([one, two, rule, apply, events]) => [one, two, rule, apply, ...events]);
}
