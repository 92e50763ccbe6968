import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { kindOf } from '../../src/model/resource.ts';
import { draftChange, isUnchanged, kindFields } from '../../src/reconcile/diff/draft-change.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { scenario } from '../support/scenario.ts';

test('resources that the fast check calls unchanged have no difference, also with hidden values', async () => {
  let glances = 0;
  await fc.assert(
    fc.asyncProperty(scenario, fc.subarray(['/secret', '/git_password', '/reviewers', '/command']), async ({ manifests, live }, unseen) => {
      const { value: state } = await memoryGateway({ registry, agents: ['default', 'other'], resources: live }).readAll([
        ...registry.keys(),
      ]);
      if (state === undefined) throw new Error('incomplete listing');
      const hidden = (path: string): boolean => unseen.some((top) => path.startsWith(top));
      for (const resource of desiredState(manifests).resources) {
        const kind = registry.get(kindOf(resource.id));
        const whole = state.resources.find(({ id }) => id === resource.key);
        if (kind === undefined || whole === undefined) continue;
        const secrets = Object.fromEntries(Object.entries(whole.secrets).filter(([path]) => !hidden(path)));
        const spec = Object.fromEntries(Object.entries(whole.spec).filter(([name]) => !hidden(`/${name}`)));
        const found = { ...whole, spec, secrets, unknown: unseen };
        if (!isUnchanged(kindFields(kind), resource, found)) continue;
        glances += 1;
        const { draft, notCompared, diagnostics } = draftChange(kind, resource, { phase: 'known', live: found, state });
        expect([draft.fields, notCompared, diagnostics]).toEqual([[], [], []]);
      }
    }),
    { numRuns: runCount(30) },
  );
  expect(glances).toBeGreaterThan(10);
});
