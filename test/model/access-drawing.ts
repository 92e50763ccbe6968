import * as fc from 'fast-check';
import type { Json } from '../../src/model/json.ts';
import { accessPools } from './access-pools.ts';
import type { Analyzer, Machine, RequestRule, RunbookFile, RunbookPermission } from './access-model.ts';
import { seldom, sides, type Sides } from './pair-fields.ts';

const { connections: names, groups, attributes, durations, files, patterns } = accessPools;

/** `fresh` is created by the manifests, and `successor` replaces `orders`. */
export const declaredNames: readonly string[] = ['orders', 'billing', 'ledger', 'fresh'];

const own = ['dev', 'dba', 'sre', 'sec', 'admin'];
const few = (choices: readonly string[], most = 2): fc.Arbitrary<readonly string[]> => fc.subarray([...choices], { maxLength: most });
const least = (choices: readonly string[], most = 3): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...choices], { minLength: 1, maxLength: most });
const often = <Value>(weight: number, value: fc.Arbitrary<Value>, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight, arbitrary: value }, { weight: 1, arbitrary: other });
const nothing = fc.constant<readonly string[]>([]);
const mode = fc.constantFrom('disabled', 'enabled', 'enabled', 'enabled');

/** The fields of a connection that decide access; `undefined` leaves a field out of the manifest. */
const fields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>> = {
  attributes: often(5, few(attributes, 3), fc.constant(undefined)),
  access_groups: often(2, fc.constant(undefined), few(groups, 3)),
  reviewers: fc.oneof(nothing, few(groups, 3)),
  min_review_approvals: fc.constantFrom(undefined, null, 1, 2),
  force_approve_groups: often(1, nothing, few(groups)),
  access_max_duration: fc.constantFrom(null, ...durations),
  subtype: often(6, fc.constant('postgres'), fc.constant('ssh')),
  access_mode_connect: mode,
  access_mode_exec: mode,
  access_mode_runbooks: mode,
};

export type DrawnAccess = {
  readonly fields: Readonly<Record<string, Sides<Json | undefined>>>;
  readonly present: Sides<boolean>;
};

const rule: fc.Arbitrary<Omit<RequestRule, 'name'>> = fc
  .record({
    id: fc.uuid(),
    type: fc.constantFrom('jit', 'command', 'jit_command', 'jit_command'),
    connections: often(1, few(names), nothing),
    attributes: few(attributes),
    who: fc.oneof(
      { weight: 3, arbitrary: fc.constant({ required: [], skipped: [] }) },
      { weight: 2, arbitrary: least(own, 2).map((required) => ({ required, skipped: [] })) },
      { weight: 2, arbitrary: least(own, 2).map((skipped) => ({ required: [], skipped })) },
    ),
    reviewers: least(groups),
    forcing: often(1, nothing, few(groups)),
    mustAllApprove: fc.boolean(),
    minApprovals: fc.constantFrom(null, 1, 2, 3),
    longest: fc.constantFrom(null, ...durations),
  })
  .map(({ who, minApprovals, ...rest }) => ({ ...rest, ...who, minApprovals: rest.mustAllApprove ? minApprovals : (minApprovals ?? 1) }));

const runbookRule: fc.Arbitrary<RunbookPermission> = fc.record({
  groups: few(own),
  connections: few(names, 3),
  files: often(
    1,
    fc.constant<readonly RunbookFile[]>([]),
    fc
      .record({ repository: fc.constantFrom(...files.map(({ repository }) => repository)), name: fc.constantFrom(...patterns) })
      .map((one) => [one]),
  ),
});

const tier = fc.constantFrom('allow_execution', 'block_execution', 'require_access_request');
function tierOf(action: string): Analyzer['risk']['low'] {
  return { action, rule: action === 'require_access_request' ? 'rule-0' : null };
}

const analyzer: fc.Arbitrary<Analyzer> = fc
  .record({ id: fc.uuid(), connections: least(names), tiers: fc.tuple(tier, tier, tier) })
  .map((drawn) => {
    const [low, medium, high] = drawn.tiers;
    return {
      id: drawn.id,
      connections: drawn.connections,
      attributes: [],
      risk: { low: tierOf(low), medium: tierOf(medium), high: tierOf(high) },
    };
  });

const machine: fc.Arbitrary<Omit<Machine, 'name'>> = fc.record({ connections: few(names), attributes: often(2, few(attributes), nothing) });

function named<Row>(prefix: string, rows: readonly Row[]): readonly (Row & { readonly name: string })[] {
  return rows.map((row, index) => ({ ...row, name: `${prefix}-${index}` }));
}

/** The lists that a token may be unable to read. */
export const unreadLists = [
  'access-control',
  'attributes',
  'access-request-rules',
  'runbook-rules',
  'analyzer-rules',
  'machine-identities',
] as const;

export type UnreadList = (typeof unreadLists)[number];

/** Everything that is drawn for one pair: the manifests on all sides, and what only the gateway has. */
export type AccessDrawing = {
  /** `accepted`: the gateway was changed by hand as the manifests are now. */
  readonly scenario: 'intent' | 'drift' | 'both' | 'first' | 'accepted';
  readonly license: 'free' | 'enterprise';
  readonly prune: boolean;
  /** A list that the token of another plan cannot read. */
  readonly unread: UnreadList | undefined;
  readonly replaces: boolean | undefined;
  readonly connections: readonly DrawnAccess[];
  /** The groups of the rows by connection, undefined for no row; absent where access control is off. */
  readonly rows: readonly (readonly string[] | undefined)[] | undefined;
  readonly granted: readonly (readonly string[])[];
  readonly rules: readonly RequestRule[];
  readonly runbookRules: readonly RunbookPermission[];
  readonly analyzers: readonly Analyzer[];
  readonly machines: readonly Machine[];
};

/** Draws a gateway with objects that decide access, and manifests that change what they decide. */
export const accessDrawing: fc.Arbitrary<AccessDrawing> = fc.record({
  scenario: fc.constantFrom<AccessDrawing['scenario']>('intent', 'intent', 'intent', 'drift', 'drift', 'both', 'first', 'accepted'),
  license: often(4, fc.constant<AccessDrawing['license']>('enterprise'), fc.constant<AccessDrawing['license']>('free')),
  prune: fc.boolean(),
  unread: fc.constantFrom(undefined, ...unreadLists),
  replaces: seldom(fc.constant(true), 3),
  connections: fc.tuple(
    ...declaredNames.map((name) =>
      fc.record({
        fields: fc.record(
          Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, sides(value, key === 'attributes' ? 6 : 2)])),
        ),
        present:
          name === 'fresh'
            ? fc.boolean().map((desired) => ({ base: false, desired }))
            : fc.record({ base: fc.constant(true), desired: seldom(fc.constant(false)), live: seldom(fc.constant(false)) }),
      }),
    ),
  ),
  rows: often(3, fc.tuple(...names.map(() => often(3, few(own), fc.constant(undefined)))), fc.constant(undefined)),
  granted: fc.tuple(...attributes.map(() => often(1, nothing, few(own)))),
  rules: fc.array(rule, { maxLength: 3 }).map((rows) => named('rule', rows)),
  runbookRules: fc.array(runbookRule, { maxLength: 2 }),
  analyzers: fc.array(analyzer, { maxLength: 1 }),
  machines: fc.array(machine, { maxLength: 2 }).map((rows) => named('robot', rows)),
});
