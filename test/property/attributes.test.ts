import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { textsIn } from '../../src/model/json.ts';
import { desiredState } from '../support/desired-state.ts';
import { connection } from '../support/manifests.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { applyPlan, planAgainst, testTarget } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

const dialect = { dialect: 'hoop' } as const;
const attributes = fc.subarray(['x', 'y']);

function connections(name: string): fc.Arbitrary<Manifest> {
  const reviewers = fc.subarray(['dba', 'sre']);
  const protection = { reviewers, min_review_approvals: fc.constantFrom(null, 1, 2), redact_types: fc.subarray(['EMAIL_ADDRESS']) };
  const mode = fc.constantFrom('enabled', 'disabled');
  return fc.record({ attributes, ...protection, access_mode_runbooks: mode }).map((spec) => connection(name, spec));
}

function guardrails(name: string): fc.Arbitrary<Manifest> {
  const words = fc.subarray(['ALTER', 'DROP', 'GRANT'], { minLength: 1 });
  const input = words.map((some) => ({ rules: [{ name: 'words', type: 'deny_words_list', words: some }] }));
  return fc.record({ attributes, connection_ids: fc.subarray(['a', 'b']), input }).map((spec) => ({
    kind: 'GuardrailRule',
    metadata: { name },
    spec,
  }));
}

/** Manifests of some connections and rules; the rules name only connections that are there. */
const manifests = fc
  .tuple(...[connections('a'), connections('b'), guardrails('g'), guardrails('h')].map((one) => fc.option(one, { freq: 5 })))
  .map((all): readonly Manifest[] => {
    const given = all.filter((one) => one !== null);
    const names = new Set<string>(given.map(({ metadata }) => metadata.name));
    return given.map(({ spec, ...rest }) => {
      const ids = textsIn(spec['connection_ids']).filter((name) => names.has(name));
      return { ...rest, spec: rest.kind === 'Connection' ? spec : { ...spec, connection_ids: ids } };
    });
  })
  .filter((some) => some.length > 0);

test('an apply finishes and leaves nothing to do, where attributes attach rules and a number of reviewers is needed', async () => {
  await fc.assert(
    fc.asyncProperty(manifests, manifests, async (first, second) => {
      const gateway = memoryGateway({ registry, agents: ['default'], resources: [], dialect });
      for (const some of [first, second]) {
        const desired = desiredState(some);
        const target = { ...testTarget, ...dialect };
        const planned = await planAgainst(gateway, desired, { target });
        const { outcomes } = await applyPlan({ gateway, desired, ...planned });
        expect(outcomes.filter(({ status }) => status !== 'done')).toEqual([]);
        expect((await planAgainst(gateway, desired, { target })).plan.changes).toEqual([]);
      }
    }),
    { numRuns: runCount(40) },
  );
});
