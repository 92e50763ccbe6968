import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DesiredState } from '../../src/model/desired.ts';
import { everyNth, runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { applyHoop, hoopScenario, onHoopWorld, openHoop, planHoop, scenarioWorld, stopAt } from '../support/hoop-scenario.ts';
import { exposedConnections } from '../support/posture.ts';
import { resume, savedText } from '../support/saved-plan.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

const some = scenario.filter(({ manifests }) => manifests.length > 0).map((one) => hoopScenario(one));

/** A handful of objects, for what is done once a request. */
const few = scenario.filter(({ manifests }) => manifests.length > 1 && manifests.length < 5).map((one) => hoopScenario(one));

const timeout = runCount(120_000);

test('a saved plan that stops at any request, applied again from the same file, ends like an uninterrupted one', { timeout }, async () => {
  await fc.assert(fc.asyncProperty(few, fc.constantFrom('before', 'after'), expectSavedGoesOn), { numRuns: runCount(1) });
});

test('a saved plan that changes the spelling of an address, and so its id, does so too', async () => {
  const id = 'RunbookConfiguration/books';
  const spec = { git_url: 'https://git.example.com/r0', git_hook_ttl: 0 };
  const manifest = { kind: 'RunbookConfiguration', metadata: { name: 'books' }, spec: { ...spec, git_url: `${spec.git_url}.git` } };
  await expectSavedGoesOn({ manifests: [manifest], live: [{ id, spec }] }, 'after');
});

test('an apply that stops at any request, planned and applied again, ends like an uninterrupted one', { timeout }, async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom('before', 'after'), (one, when) =>
      expectGoesOn(one, when, (model) => Promise.resolve(() => applyHoop(model, one, 1))),
    ),
    { numRuns: runCount(1) },
  );
});

/** Lists the requests to stop at, by number: a third of them in CI. */
function stopsIn(requests: number): readonly number[] {
  return everyNth(
    Array.from({ length: requests }, (_, index) => index + 1),
    3,
  );
}

/** Prepares an apply on a model, and returns what runs it and lists what is not as it should be. */
type Prepare = (model: HoopModel) => Promise<() => Promise<readonly unknown[]>>;

/** Stops an apply of the scenario at each of its requests, before or after the gateway has done what it was asked, and runs it again. */
async function expectGoesOn(one: Scenario, when: 'before' | 'after', prepare: Prepare): Promise<void> {
  const { requests, end, before } = await onHoopWorld(one, async (model) => {
    const first = scenarioWorld(model);
    const run = await prepare(model);
    const begun = model.log.count();
    expect(await run()).toEqual([]);
    return { requests: model.log.count() - begun, end: scenarioWorld(model), before: first };
  });
  for (const stop of stopsIn(requests)) {
    await onHoopWorld(one, async (model) => {
      const run = await prepare(model);
      stopAt(model, stop, when);
      await run().catch(() => undefined);
      expect(exposedConnections(scenarioWorld(model), before, end)).toEqual([]);
      model.setFault(undefined);
      expect(await run()).toEqual([]);
      expect(scenarioWorld(model)).toEqual(end);
    });
  }
}

/** Like `expectGoesOn`, with one plan file for all. */
async function expectSavedGoesOn(one: Scenario, when: 'before' | 'after'): Promise<void> {
  const desired = desiredState(one.manifests);
  const texts = new Set<string>();
  await expectGoesOn(one, when, async (model) => {
    const saved = await savedOn(model, desired);
    texts.add(idless(saved));
    return () => resumedOn(model, saved, desired);
  });
  expect(texts.size).toBe(1);
}

/** The file of a plan over what the model holds. */
async function savedOn(model: HoopModel, desired: DesiredState): Promise<string> {
  const gateway = await openHoop(model);
  try {
    return savedText({ ...(await planHoop(gateway, desired)), desired });
  } finally {
    await gateway.close();
  }
}

/** Carries a plan's file out, and returns what is not as it should be. */
async function resumedOn(model: HoopModel, saved: string, desired: DesiredState): Promise<readonly unknown[]> {
  const gateway = await openHoop(model);
  try {
    const { refusals, result } = await resume(saved, { gateway, desired });
    return [...refusals, ...(result?.outcomes ?? []).filter(({ status }) => !['done', 'already', 'blocked'].includes(status))];
  } finally {
    await gateway.close();
  }
}

/** A plan's file without what every model chooses anew. */
function idless(saved: string): string {
  return saved.replaceAll(/"(?:uid|checksum|url|digest)": "[^"]*"/g, '');
}
