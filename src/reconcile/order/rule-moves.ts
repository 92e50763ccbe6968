import type { Registry } from '../../model/kind.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import { type Change, type Diff, type EdgeChange, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { isRequestRule } from '../../model/protection/access-objects.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { findReleases, isReleased, type RulesById, type RuleTargets, targetsOf } from '../../protection/access/rule-moves.ts';

/** A write of a rule that lets go of what others take: a part of its change, or its deletion. Writes of one round run together. */
export type Release = { readonly change: Change; readonly edges: readonly EdgeChange[]; readonly round: number };

/** Access-request rules before and after a plan, and what the plan writes so that rules can take from each other. */
export type RuleMoves = {
  readonly before: RulesById;
  readonly after: RulesById;
  /** By the live key of the rule. */
  readonly releases: ReadonlyMap<ResourceId, Release>;
  /** Rules that cannot let go first, because they keep what another rule takes at another step. */
  readonly stuck: readonly ResourceId[];
};

const noRules: RulesById = new Map();
const noMoves: RuleMoves = { before: noRules, after: noRules, releases: new Map(), stuck: [] };

/** Finds what moves from one access-request rule to another; `before` is `after` where no rule changes. `live` has the names after the plan. */
export function findMoves(plan: Pick<Diff, 'changes' | 'edges'>, live: LiveState, registry: Registry): RuleMoves {
  const changes = plan.changes.filter((change) => isRequestRule(change.id) && isWritten(change));
  if (changes.length === 0) return noMoves;
  const before = rulesOf(live, registry);
  const after = new Map(before);
  const found = liveById(live.resources);
  for (const change of changes) {
    const key = liveKeyOf(change);
    const kind = registry.get(kindOf(key));
    if (change.action === 'delete' || kind === undefined) after.delete(key);
    else after.set(key, targetsOf(specAfter(change, kind, found.get(key)?.spec ?? {}), connectionsAfter(key, before.get(key), plan)));
  }
  const { releases, stuck } = findReleases(before, after);
  const byRule = new Map(changes.map((change) => [liveKeyOf(change), change]));
  return {
    before,
    after,
    stuck,
    releases: new Map(
      releases.flatMap(({ rule, targets, round }) => {
        const change = byRule.get(rule);
        return change === undefined ? [] : [[rule, { ...releaseOf(change, targets, plan.edges), round }] as const];
      }),
    ),
  };
}

function rulesOf({ resources }: LiveState, registry: Registry): RulesById {
  return new Map(
    resources
      .filter(({ id }) => isRequestRule(id))
      .map(({ id, spec, edges }) => {
        const named = (registry.get(kindOf(id))?.fields ?? []).flatMap((field) => (field.edge === 'rule' ? (edges[field.name] ?? []) : []));
        return [id, targetsOf(spec, named)];
      }),
  );
}

/** Returns the connections that a rule names after a plan; it keeps the name of a connection that is deleted. */
function connectionsAfter(rule: ResourceId, before: RuleTargets | undefined, { edges }: Pick<Diff, 'edges'>): ReadonlySet<ResourceId> {
  const named = new Set(before?.connections);
  for (const edge of edges.filter((one) => one.rule === rule && one.by === rule)) {
    if (edge.action === 'attach') named.add(edge.connection);
    if (edge.action === 'detach') named.delete(edge.connection);
  }
  return named;
}

function releaseOf(change: Change, targets: RuleTargets | undefined, edges: readonly EdgeChange[]): Omit<Release, 'round'> {
  const key = liveKeyOf(change);
  const own = edges.filter(({ by, action }) => by === key && (action === 'attach' || action === 'detach'));
  if (targets === undefined) return { change, edges: own };
  // A renamed rule has its new name already.
  const { key: former, ...named } = change;
  const keyed = former === undefined || change.action === 'rename' ? named : { ...named, key: former };
  return {
    change: { ...keyed, action: 'update', fields: change.fields.filter((field) => isReleased(field, targets)) },
    edges: own.filter(({ action, connection }) => targets.connections.has(connection) === (action === 'attach')),
  };
}
