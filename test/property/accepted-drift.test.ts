import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { highestRisk, planRisks, type RiskClass, riskClasses } from '../../src/model/plan/plan.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import { compareAspects } from '../../src/protection/compare/compare-aspects.ts';
import { compare } from '../../src/protection/compare/compare.ts';
import { directionsOf } from '../../src/protection/compare/plan-differences.ts';
import { liveSnapshot, plannedSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { desiredState } from '../support/desired-state.ts';
import { runCount } from '../support/property-runs.ts';
import { connectionManifest, guardrailManifest, liveAs, maskingManifest, registered, words } from '../support/risks.ts';
import { runReconcile } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

const optional = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> => fc.array(one, { maxLength: 1 });

const some = (...all: readonly string[]): fc.Arbitrary<readonly string[]> => fc.subarray([...all]);

const mode = fc.constantFrom('enabled', 'disabled');

const connection = (name: string): fc.Arbitrary<Manifest> =>
  fc
    .record({
      reviewers: some('a', 'b'),
      access_max_duration: fc.constantFrom(600, 3600),
      access_mode_exec: mode,
      access_mode_connect: mode,
    })
    .map((spec) => connectionManifest(name, spec));

const guardrail = (name: string): fc.Arbitrary<Manifest> =>
  fc
    .tuple(some('DROP', 'GRANT'), some('one', 'two'))
    .map(([list, connections]) => guardrailManifest(name, list.length === 0 ? [] : [words(...list)], { connection_ids: connections }));

const masking = fc
  .tuple(fc.subarray(['EMAIL_ADDRESS', 'PHONE_NUMBER'], { minLength: 1 }), some('one', 'two'))
  .map(([types, connections]) => maskingManifest('pii', { ...registered(...types), connection_ids: connections }));

/** The manifests of one moment; both connections always exist, because attachments name them. */
const moment: fc.Arbitrary<readonly Manifest[]> = fc
  .tuple(connection('one'), connection('two'), optional(guardrail('first')), optional(guardrail('second')), optional(masking))
  .map(([one, two, ...rules]) => [one, two, ...rules.flat()]);

function isAtLeast(found: RiskClass | undefined, least: RiskClass): boolean {
  return found !== undefined && riskClasses.indexOf(found) >= riskClasses.indexOf(least);
}

test('what an apply leaves weaker than the base is a risk of a change, or of drift that the manifests accept', () => {
  fc.assert(
    fc.property(moment, moment, moment, fc.boolean(), (before, between, after, prune) => {
      const [base, desired] = [desiredState(before), desiredState(after)];
      const live = liveAs(desiredState(between));
      const { value: plan } = runReconcile({
        desired,
        live,
        base: { commit: 'a'.repeat(40), desired: base, removedIn: new Map() },
        consent: { imports: [], revert: [], prune },
      });
      fc.pre(plan !== undefined);
      const [had, has] = [liveSnapshot(liveAs(base), registry, 'interface'), plannedSnapshot(plan, live, registry)];
      const sides = { before: had, after: has, formerOf: (id: ResourceId) => id };
      for (const id of ['Connection/one', 'Connection/two'] as const) {
        if (!had.resources.has(id) || !has.resources.has(id)) continue;
        const differences = [...compare(sides, [id]), ...compareAspects(sides, [id])];
        const classes = { more: 'weakens', less: 'strengthens', unclear: 'unknown' } as const;
        const effects = new Set(differences.flatMap((one) => directionsOf(one).map((direction) => classes[direction])));
        const risks = planRisks(plan).filter(({ id: by, risk: { connections = [] } }) => by === id || connections.includes(id));
        const found = highestRisk(risks.map(({ risk }) => risk));
        const hidden = (['weakens', 'unknown'] as const).filter((effect) => effects.has(effect) && !isAtLeast(found, effect));
        expect([id, hidden]).toEqual([id, []]);
      }
      const named = new Set<ResourceId>(
        plan.accepted.flatMap(({ id, risks }) => [id, ...risks.flatMap(({ connections = [] }) => connections)]),
      );
      const stated = plan.protection.headlines.flatMap(({ accepted, connections }) => (accepted === true ? connections : []));
      expect(stated.filter((id) => !named.has(id))).toEqual([]);
    }),
    { numRuns: runCount(40) },
  );
});

test('a plan of manifests that were applied accepts nothing, also where they are loaded once more', () => {
  fc.assert(
    fc.property(moment, moment, fc.boolean(), (before, between, isLoadedAgain) => {
      const desired = desiredState(before);
      const applied = isLoadedAgain ? desiredState(before) : desired;
      const { value: plan } = runReconcile({
        desired,
        live: liveAs(desiredState(between)),
        base: { commit: 'a'.repeat(40), desired: applied, removedIn: new Map() },
      });
      expect(plan?.accepted).toEqual([]);
    }),
    { numRuns: runCount(10) },
  );
});
