import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeManifests } from '../../src/import/make-manifests.ts';
import { updateBeside, updateProject } from '../../src/import/update-manifests.ts';
import type { PulledSecrets } from '../../src/model/result/outcome.ts';
import { runCount } from '../support/property-runs.ts';
import { filesOf, loadState } from '../support/desired-state.ts';
import { desiredOf, empty, gatewayOf, identity, liveOf, project } from '../support/pull-fixtures.ts';
import { planOf } from '../support/run-pipeline.ts';
import { scenario } from '../support/scenario.ts';

const form = fc.constantFrom<PulledSecrets>('keep', 'stubs', 'omit');

test('an updating pull writes the live values into the manifests, and reports the rest', async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(scenario, form, async (one, secrets) => {
      const live = await liveOf(gatewayOf({ resources: one.live }));
      const files = filesOf(one.manifests);
      const begun = { ...project, sources: { files, overlays: [], diagnostics: [] }, declared: loadState(one.manifests).value ?? empty };
      const updating = { live, identity, asked: undefined };
      const updated = updateProject(begun, updating);
      const declared = new Set(updated.project.declared.resources.map(({ key }) => key));
      const ids = live.resources.filter(({ id, managedBy }) => managedBy === undefined && !declared.has(id)).map(({ id }) => id);
      const drafted = makeManifests({
        ids: new Set(ids),
        managed: [],
        live,
        project: updated.project,
        identity,
        taken: new Set(),
        secrets,
      });
      const { edits, made: pulled } = updateBeside(updated, drafted, updating);
      const desired = desiredOf({ ...pulled, manifests: [...edits.project.sources.files] }, live);
      const { changes: all, edges } = planOf(desired, live);
      const changes = all.filter(({ action }) => action !== 'blocked');
      const gone = new Set(changes.flatMap(({ id, action }) => (action === 'create' ? [id] : [])));
      const wrong = edges.filter(({ action, rule, connection }) => action === 'attach' && !gone.has(rule) && !gone.has(connection));
      expect(pulled.pulled.differing.map(({ id }) => id)).toEqual(expect.arrayContaining(wrong.map(({ rule }) => rule)));
      // A change of edges only is reported for the rule.
      const left = new Set<string>(changes.filter(({ action, fields }) => action !== 'create' && fields.length > 0).map(({ id }) => id));
      const reported = new Set<string>(pulled.pulled.differing.map(({ id }) => id));
      for (const id of left) expect(reported).toContain(id);
      expect(pulled.pulled.gone.map(({ id }) => id).toSorted()).toEqual(
        changes
          .filter(({ action }) => action === 'create')
          .map(({ id }) => id)
          .toSorted(),
      );
      if (left.size === 0) whole += 1;
    }),
    { numRuns: runCount(7) },
  );
  expect(whole).toBeGreaterThan(3);
});
