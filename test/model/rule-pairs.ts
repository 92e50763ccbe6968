import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import type { RequestRule } from './access-model.ts';
import { accessPairs, type AccessPair } from './access-pairs.ts';
import { accessPools } from './access-pools.ts';
import { ruleOf } from './access-state.ts';

const { groups, attributes, durations, connections } = accessPools;
const groupsOf = (least: number, most: number): fc.Arbitrary<string[]> => fc.subarray([...groups], { minLength: least, maxLength: most });

/** The spec of an access-request rule without its type and its connections. */
export const approval: fc.Arbitrary<JsonObject> = fc
  .record({
    who: fc.oneof(
      fc.constant({}),
      groupsOf(1, 2).map((approval_required_groups) => ({ approval_required_groups })),
      groupsOf(1, 2).map((skip_review_groups) => ({ skip_review_groups })),
    ),
    reviewers_groups: groupsOf(1, 3),
    isAll: fc.boolean(),
    force_approval_groups: fc.oneof(fc.constant([]), groupsOf(0, 2)),
    longest: fc.constantFrom<Json>(null, null, ...durations),
  })
  .chain(({ who, isAll, longest, ...rest }) =>
    fc.integer({ min: 1, max: rest.reviewers_groups.length }).map((count) => ({
      ...rest,
      ...who,
      ...(isAll ? { all_groups_must_approve: true } : { min_approvals: count }),
      ...(longest === null ? {} : { access_max_duration: longest }),
    })),
  );

/** A rule on one side. */
type DrawnRule = {
  readonly approval: JsonObject;
  readonly named: readonly boolean[];
  readonly attributes: readonly string[];
  readonly present: boolean;
};

const drawnRule: fc.Arbitrary<DrawnRule> = fc.record({
  approval,
  named: fc.tuple(...connections.map(() => fc.boolean())),
  attributes: fc.oneof(
    { weight: 2, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.subarray([...attributes], { maxLength: 1 }) },
  ),
  present: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

const sidesOfRule = fc.record({
  base: drawnRule,
  desired: fc.option(drawnRule, { nil: undefined }),
  live: fc.option(drawnRule, { nil: undefined, freq: 6 }),
});

/** Two rules that never share a connection: the first governs native access or both steps, the second commands. */
const drawnRules = fc.record({
  first: sidesOfRule,
  second: sidesOfRule,
  isBoth: fc.boolean(),
  /** Which rule may name each connection, where both would overlap. */
  owners: fc.tuple(...connections.map(() => fc.boolean())),
});

/** Pairs whose access-request rules have manifests, on a gateway with every other object that decides access. */
export const rulePairs: fc.Arbitrary<AccessPair> = fc.tuple(accessPairs, drawnRules).map(([pair, drawn]) => {
  const on = (side: 'base' | 'desired' | 'live', among: readonly Manifest[]): readonly Manifest[] => {
    const names = new Set(among.map(({ metadata }) => metadata.name));
    return (['first', 'second'] as const).flatMap((which) => {
      const { base, [side]: own } = drawn[which];
      const rule = own ?? base;
      const isMine = (index: number): boolean => !drawn.isBoth || drawn.owners[index] === (which === 'first');
      const named = connections.filter((name, index) => rule.named[index] === true && isMine(index) && names.has(name));
      const byAttribute = which === 'first' || !drawn.isBoth ? rule.attributes : [];
      if (!rule.present || named.length + byAttribute.length === 0) return [];
      const type = which === 'second' ? 'command' : drawn.isBoth ? 'jit_command' : 'jit';
      const { access_max_duration: longest, ...rest } = rule.approval;
      const limit = type === 'command' || longest === undefined ? {} : { access_max_duration: longest };
      const spec = { ...rest, ...limit, access_type: type, connection_names: named, attributes: byAttribute };
      return [{ kind: 'AccessRequestRule', metadata: { name: which }, spec }];
    });
  };
  const { base, manifests, live, objects } = pair;
  const liveRules = base === undefined ? [] : on('live', live);
  return {
    ...pair,
    base: base && [...base, ...on('base', base)],
    manifests: [...manifests, ...on('desired', manifests)],
    unread: undefined,
    objects: { ...objects, license: 'enterprise', analyzers: [], rules: liveRules.map(asRule) },
  };
});

/** Returns a rule of a manifest as the gateway has it. */
export function asRule({ metadata: { name }, spec }: Manifest, index: number): RequestRule {
  return ruleOf({ ...spec, id: `00000000-0000-4000-8000-9${String(index).padStart(11, '0')}`, name });
}
